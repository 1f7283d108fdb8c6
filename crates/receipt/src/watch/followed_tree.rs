//! A watched tree: its catalog follows the system's reports, and its windows record the changes.

use std::collections::{BTreeSet, HashMap};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::catalog_entry::{CatalogEntry, CatalogKey, DirectoryId, InodeIdentity};
use super::change_window::{ChangeWindow, ChangeWindows, ReportCounts};
use super::changed_files::{ChangedFiles, without_ignored};
use super::hard_links::HardLinks;
use super::tree_catalog::{ROOT, TreeCatalog};
use super::tree_repositories::TreeRepositories;
use super::unread_reports::{FileReports, UnreadReports};
use super::watch_failure::TreeWatchFailure;
use super::watch_limits::{COMPARE_BOUND, MAX_TREE_FILES, WatchBudget};
use crate::net::{NetEffect, ObservedFile, PathListing};
use crate::{ChangeAttribution, ChangedFileKind, ReceiptCompleteness, RunReceipt};
use sys::{TreeEvent, TreeWatch, TreeWatchId};
use undo::coverage_gaps::named;

/// The target of a watch of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchTarget {
    Directory(DirectoryId),
    File(InodeIdentity),
    Git,
}

/// The old half of a rename whose new half has not been read.
#[derive(Debug)]
pub(super) struct HalfReportedRename {
    pub key: CatalogKey,
    pub path: PathBuf,
    pub entry: Option<CatalogEntry>,
    pub mark: Option<FileReports>,
    /// The path that stands for the entry until its new path is known. No file can have this path.
    pub limbo: PathBuf,
}

const NO_WINDOW: &str = "its changes are no longer recorded";
const UNWATCHED_GIT: &str = "its repository cannot be watched as a whole";
const TOUCHED: &str = "something in it changed";
const RACE: &str = "directories were renamed while they were read, so they may be listed as deleted and created";

/// A tree of directories.
#[derive(Debug)]
pub struct FollowedTree {
    pub(super) watch: TreeWatch,
    pub(super) catalog: TreeCatalog,
    pub(super) watched: HashMap<TreeWatchId, WatchTarget>,
    pub(super) marks: UnreadReports,
    pub(super) moving: HashMap<u32, HalfReportedRename>,
    pub(super) links: HardLinks,
    pub(super) windows: ChangeWindows,
    pub(super) git: TreeRepositories,
    pub(super) budget: WatchBudget,
    pub(super) counters: TreeCounters,
    pub(super) trouble: TreeUncertainty,
}

/// Numbers that a tree counts.
#[derive(Debug, Default)]
pub(super) struct TreeCounters {
    pub version: u64,
    pub files: usize,
    pub reports: ReportCounts,
}

/// Problems that make the changes of a tree uncertain.
#[derive(Debug, Default)]
pub(super) struct TreeUncertainty {
    /// Why everything has to be compared.
    pub lost: Option<LostReports>,
    /// A problem that holds for every command.
    pub standing: Option<String>,
    /// Whether a directory was renamed since the last round of reading.
    pub is_racing: bool,
    /// Whether files were read after the last reports, so that later reports may be about changes in between.
    pub may_have_raced: bool,
}

/// Why reports are incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostReports {
    /// The kernel's queue overflowed.
    Overflow,
    /// Directories were renamed while the tree was read.
    Race,
}

/// Whether changes may still be on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatchUpMoment {
    /// Processes are changing files now.
    WhileChanging,
    /// All changes that count have been made, and are in the queue.
    AfterChanges,
}

impl FollowedTree {
    /// Watches a tree, and reads its contents. The watches come first, so that no change is missed.
    ///
    /// # Errors
    /// If the tree cannot be watched as a whole.
    pub fn new(root: &Path, budget: WatchBudget) -> Result<Self, TreeWatchFailure> {
        let watch = TreeWatch::new(root).map_err(|error| TreeWatchFailure::of(root, &error))?;
        let mut tree = Self {
            watch,
            catalog: TreeCatalog::new(root.to_owned()),
            watched: HashMap::new(),
            marks: UnreadReports::default(),
            moving: HashMap::new(),
            links: HardLinks::default(),
            windows: ChangeWindows::default(),
            git: TreeRepositories::default(),
            budget,
            counters: TreeCounters::default(),
            trouble: TreeUncertainty { may_have_raced: true, ..TreeUncertainty::default() },
        };
        tree.read_root()?;
        tree.catch_up(CatchUpMoment::AfterChanges)?;
        Ok(tree)
    }

    /// Returns the root.
    pub fn root(&self) -> &Path {
        self.catalog.root()
    }

    /// Returns the descriptor that is readable when something changed.
    pub fn readiness(&self) -> BorrowedFd<'_> {
        self.watch.as_fd()
    }

    /// Reads all changes so far into the catalog.
    ///
    /// # Errors
    /// If the tree is no longer known.
    pub fn catch_up(&mut self, moment: CatchUpMoment) -> Result<(), TreeWatchFailure> {
        if moment == CatchUpMoment::WhileChanging {
            // As long as renames were not reported, a path may name another file by the time it is read.
            return self.handle_reports().map(drop);
        }
        // The next round brings the changes made meanwhile, and watches new directories. Other processes may go on for
        // ever, so the rounds are limited.
        for _ in 0..4 {
            let is_any = self.handle_reports()? || !self.marks.is_empty();
            self.note_race();
            let lost = self.trouble.lost.take();
            self.trouble.may_have_raced = is_any || lost.is_some();
            if let Some(lost) = lost {
                self.compare_all(lost)?;
            }
            // Entries that were renamed into a new directory are found there.
            self.read_marked_files(None)?;
            self.drop_moved_out();
            self.read_marked_files(None)?;
            if !self.trouble.may_have_raced {
                return self.refresh_git();
            }
        }
        // The last round may have read a directory under the old path of another directory. If so, the next comparison
        // covers everything.
        self.handle_reports()?;
        self.note_race();
        if self.trouble.lost.is_some() {
            self.windows.note_trouble(ReceiptCompleteness::Partial, RACE);
        }
        self.refresh_git()
    }

    /// Records whether a directory was renamed while files were read by its path.
    fn note_race(&mut self) {
        if std::mem::take(&mut self.trouble.is_racing) && self.trouble.may_have_raced {
            self.trouble.lost.get_or_insert(LostReports::Race);
        }
    }

    /// Compares everything.
    fn compare_all(&mut self, lost: LostReports) -> Result<(), TreeWatchFailure> {
        self.drop_moved_out();
        self.mark_everything();
        self.read_marked_files(Some(Instant::now() + COMPARE_BOUND))?;
        let overflow = "more changed than the kernel's queue of changes holds, so renamed files may be listed as \
                        deleted and created";
        let why = if lost == LostReports::Overflow { overflow } else { RACE };
        self.windows.note_trouble(ReceiptCompleteness::Partial, why);
        Ok(())
    }

    /// Opens a window.
    ///
    /// # Errors
    /// If the tree is no longer known.
    pub fn begin(&mut self) -> Result<u64, TreeWatchFailure> {
        self.catch_up(CatchUpMoment::AfterChanges)?;
        let git = self.git.snapshots();
        Ok(self.windows.open(git, self.counters.reports))
    }

    /// Closes a window, and returns its changes.
    ///
    /// # Errors
    /// If the tree is no longer known.
    pub fn finish(&mut self, window: u64) -> Result<RunReceipt, TreeWatchFailure> {
        let receipt = self.receipt_so_far(window)?;
        self.windows.close(window);
        Ok(receipt)
    }

    /// Returns the changes in a window so far.
    ///
    /// # Errors
    /// If the tree is no longer known.
    pub fn receipt_so_far(&mut self, window: u64) -> Result<RunReceipt, TreeWatchFailure> {
        self.catch_up(CatchUpMoment::AfterChanges)?;
        self.check_root()?;
        let mut receipt = RunReceipt::new(ChangeAttribution::Window);
        if let Some(window) = self.windows.get(window) {
            self.fill(&mut receipt, window);
        }
        Ok(receipt)
    }

    /// Closes a window whose changes are not wanted.
    pub fn abandon(&mut self, window: u64) {
        self.windows.close(window);
    }

    /// Returns whether a command's window is open.
    pub fn is_in_use(&self) -> bool {
        !self.windows.is_empty()
    }

    /// Returns the paths of all files in a window that changed so far and that git does not ignore.
    ///
    /// # Errors
    /// If the tree is no longer known.
    pub fn changed(&mut self, window: u64) -> Result<ChangedFiles, TreeWatchFailure> {
        self.catch_up(CatchUpMoment::AfterChanges)?;
        self.check_root()?;
        let mut changed = ChangedFiles::default();
        if let Some(window) = self.windows.get(window) {
            let (effect, mut reasons) = self.effect(window);
            let effect = without_ignored(effect, self.root());
            self.add_doubts(&effect, &mut reasons);
            changed.add(effect);
            let (repositories, unread) = self.git.compare(&window.git);
            changed.git = !(repositories.is_empty() && unread.is_empty());
            reasons.into_iter().for_each(|(state, why)| changed.lower(state, why));
        }
        Ok(changed)
    }

    /// Returns why something in the tree may have changed since a window was opened, times included. `None`: nothing
    /// did. `also_ignored`: ignored files and git count, too.
    ///
    /// # Errors
    /// If the tree is no longer known.
    pub fn touched_reason(&mut self, window: u64, also_ignored: bool) -> Result<Option<String>, TreeWatchFailure> {
        self.catch_up(CatchUpMoment::AfterChanges)?;
        self.check_root()?;
        let Some(window) = self.windows.get(window) else { return Ok(Some(NO_WINDOW.to_owned())) };
        let doubt = window.trouble.as_ref().map(|(_, why)| why.clone()).or_else(|| self.trouble.standing.clone());
        let why = match doubt {
            Some(why) => Some(why),
            None if !self.git.is_fresh() => Some(UNWATCHED_GIT.to_owned()),
            None => {
                let (then, now) = (window.reports, self.counters.reports);
                let is_touched = then.files != now.files || also_ignored && then.others != now.others;
                is_touched.then(|| TOUCHED.to_owned())
            }
        };
        Ok(why)
    }

    fn fill(&self, receipt: &mut RunReceipt, window: &ChangeWindow) {
        let (effect, mut reasons) = self.effect(window);
        self.add_doubts(&effect, &mut reasons);
        effect.fill(receipt);
        let (changes, unread) = self.git.compare(&window.git);
        receipt.git = changes;
        reasons.extend(unread);
        for (state, why) in reasons {
            receipt.lower(state, why);
        }
    }

    /// Returns the changes of files in a window, and why they may be incomplete.
    fn effect(&self, window: &ChangeWindow) -> (NetEffect, Vec<(ReceiptCompleteness, String)>) {
        let ChangeWindow { replay, summed_up, trouble, .. } = window;
        let mut reasons: Vec<(ReceiptCompleteness, String)> = trouble.iter().cloned().collect();
        reasons.extend(self.trouble.standing.iter().map(|why| (ReceiptCompleteness::Partial, why.clone())));
        let place = |path: &Path| self.listing_of(path, summed_up);
        let mut effect = replay.effect(|path| self.catalog.find(path).map(|(_, entry)| entry.node), place);
        let changed = summed_up.iter().filter(|path| matches!(place(path), PathListing::Listed));
        effect.directories.extend(changed.cloned());
        effect.directories.sort();
        effect.directories.dedup();
        (effect, reasons)
    }

    /// Adds why changes of files may be listed that are none, or missing.
    fn add_doubts(&self, effect: &NetEffect, reasons: &mut Vec<(ReceiptCompleteness, String)>) {
        reasons.extend(effect.doubt_sentence().map(|why| (ReceiptCompleteness::Partial, why)));
        let other_names = effect.modified.iter().filter(|change| change.kind == ChangedFileKind::File);
        if let Some(path) = other_names.map(|change| &change.path).find(|path| self.has_other_names(path)) {
            let (path, root) = (named(path), named(self.root()));
            reasons.push((
                ReceiptCompleteness::Partial,
                format!("{path} has other names, which are not watched below {root}"),
            ));
        }
    }

    fn listing_of(&self, path: &Path, changed: &BTreeSet<PathBuf>) -> PathListing {
        let below = path.strip_prefix(self.root()).unwrap_or(path);
        if below.iter().any(|name| name == super::GIT) {
            return PathListing::Hidden;
        }
        let summed_up = self.catalog.summed_up(path);
        // A removed directory is not in the catalog.
        let removed = || path.ancestors().skip(1).find(|above| changed.contains(*above)).map(Path::to_owned);
        match summed_up.or_else(|| if changed.is_empty() { None } else { removed() }) {
            Some(directory) => PathListing::SummedUpIn(directory),
            None => PathListing::Listed,
        }
    }

    /// Returns whether a file has names unknown to the tree.
    fn has_other_names(&self, path: &Path) -> bool {
        let entry = self.catalog.find(path).map(|(_, entry)| entry);
        entry.is_some_and(|entry| entry.is_linked() && self.links.count(entry.inode) < entry.links as usize)
    }

    /// # Errors
    /// If the root was removed or renamed.
    fn check_root(&self) -> Result<(), TreeWatchFailure> {
        let known = self.catalog.entry(&(ROOT, std::ffi::OsString::new())).map(|entry| entry.inode);
        let now = std::fs::symlink_metadata(self.root()).ok().map(|metadata| InodeIdentity::of(&metadata));
        if known == now { Ok(()) } else { Err(TreeWatchFailure::Root { root: self.root().to_owned() }) }
    }

    /// Handles the reports that have arrived.
    fn handle_reports(&mut self) -> Result<bool, TreeWatchFailure> {
        let mut events: Vec<TreeEvent> = Vec::new();
        self.watch.read(&mut events).map_err(|error| TreeWatchFailure::of(self.root(), &error))?;
        let is_any = !events.is_empty();
        for event in events {
            self.on_event(event)?;
        }
        Ok(is_any)
    }

    /// Reports to all windows the file at a path before it changes.
    pub(super) fn report_before(&mut self, path: &Path, node: Option<&ObservedFile>) {
        if !self.windows.is_empty() {
            self.windows.record_before(path, node);
        }
    }

    /// Counts a file that is remembered.
    pub(super) fn count_file(&mut self) -> Result<(), TreeWatchFailure> {
        self.counters.files += 1;
        if self.counters.files > MAX_TREE_FILES {
            return Err(TreeWatchFailure::Files { root: self.root().to_owned(), most: MAX_TREE_FILES });
        }
        Ok(())
    }

    /// Returns a version that no content has had.
    pub(super) fn next_version(&mut self) -> u64 {
        self.counters.version += 1;
        self.counters.version
    }
}

impl Drop for FollowedTree {
    fn drop(&mut self) {
        self.budget.give(self.watched.len());
    }
}
