//! A watched tree: its catalog follows the system's reports, and its windows record the changes.

use std::collections::{BTreeSet, HashMap};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::catalog::{Catalog, ROOT};
use super::changed::{Changed, without_ignored};
use super::entry::{DirectoryId, Entry, Inode, Key};
use super::failure::Failure;
use super::limits::{Budget, COMPARE, FILES};
use super::links::Links;
use super::marks::{Mark, Marks};
use super::repositories::Repositories;
use super::window::{Reports, Window, Windows};
use crate::net::{Effect, Listing, Node};
use crate::{Attribution, Completeness, Kind, Receipt};
use sys::{TreeEvent, TreeWatch, TreeWatchId};
use undo::coverage_gaps::named;

/// The target of a watch of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watched {
    Directory(DirectoryId),
    File(Inode),
    Git,
}

/// The old half of a rename whose new half has not been read.
#[derive(Debug)]
pub(super) struct Moving {
    pub key: Key,
    pub path: PathBuf,
    pub entry: Option<Entry>,
    pub mark: Option<Mark>,
    /// The path that stands for the entry until its new path is known. No file can have this path.
    pub limbo: PathBuf,
}

const NO_WINDOW: &str = "its changes are no longer recorded";
const UNWATCHED_GIT: &str = "its repository cannot be watched as a whole";
const TOUCHED: &str = "something in it changed";
const RACE: &str = "directories were renamed while they were read, so they may be listed as deleted and created";

/// A tree of directories.
#[derive(Debug)]
pub struct Tree {
    pub(super) watch: TreeWatch,
    pub(super) catalog: Catalog,
    pub(super) watched: HashMap<TreeWatchId, Watched>,
    pub(super) marks: Marks,
    pub(super) moving: HashMap<u32, Moving>,
    pub(super) links: Links,
    pub(super) windows: Windows,
    pub(super) git: Repositories,
    pub(super) budget: Budget,
    pub(super) counters: Counters,
    pub(super) trouble: Trouble,
}

/// Numbers that a tree counts.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub version: u64,
    pub files: usize,
    pub reports: Reports,
}

/// Problems that make the changes of a tree uncertain.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// Why everything has to be compared.
    pub lost: Option<Lost>,
    /// A problem that holds for every command.
    pub standing: Option<String>,
    /// Whether a directory was renamed since the last round of reading.
    pub is_racing: bool,
    /// Whether files were read after the last reports, so that later reports may be about changes in between.
    pub may_have_raced: bool,
}

/// Why reports are incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The kernel's queue overflowed.
    Overflow,
    /// Directories were renamed while the tree was read.
    Race,
}

/// Whether changes may still be on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Processes are changing files now.
    During,
    /// All changes that count have been made, and are in the queue.
    After,
}

impl Tree {
    /// Watches a tree, and reads its contents. The watches come first, so that no change is missed.
    ///
    /// # Errors
    /// If the tree cannot be watched as a whole.
    pub fn new(root: &Path, budget: Budget) -> Result<Self, Failure> {
        let watch = TreeWatch::new(root).map_err(|error| Failure::of(root, &error))?;
        let mut tree = Self {
            watch,
            catalog: Catalog::new(root.to_owned()),
            watched: HashMap::new(),
            marks: Marks::default(),
            moving: HashMap::new(),
            links: Links::default(),
            windows: Windows::default(),
            git: Repositories::default(),
            budget,
            counters: Counters::default(),
            trouble: Trouble { may_have_raced: true, ..Trouble::default() },
        };
        tree.read_root()?;
        tree.catch_up(Moment::After)?;
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
    pub fn catch_up(&mut self, moment: Moment) -> Result<(), Failure> {
        if moment == Moment::During {
            // As long as renames were not reported, a path may name another file by the time it is read.
            return self.drain().map(drop);
        }
        // The next round brings the changes made meanwhile, and watches new directories. Other processes may go on for
        // ever, so the rounds are limited.
        for _ in 0..4 {
            let is_any = self.drain()? || !self.marks.is_empty();
            self.note_race();
            let lost = self.trouble.lost.take();
            self.trouble.may_have_raced = is_any || lost.is_some();
            if let Some(lost) = lost {
                self.compare_all(lost)?;
            }
            // Entries that were renamed into a new directory are found there.
            self.settle(None)?;
            self.drop_moved_out();
            self.settle(None)?;
            if !self.trouble.may_have_raced {
                return self.refresh_git();
            }
        }
        // The last round may have read a directory under the old path of another directory. If so, the next comparison
        // covers everything.
        self.drain()?;
        self.note_race();
        if self.trouble.lost.is_some() {
            self.windows.trouble(Completeness::Partial, RACE);
        }
        self.refresh_git()
    }

    /// Records whether a directory was renamed while files were read by its path.
    fn note_race(&mut self) {
        if std::mem::take(&mut self.trouble.is_racing) && self.trouble.may_have_raced {
            self.trouble.lost.get_or_insert(Lost::Race);
        }
    }

    /// Compares everything.
    fn compare_all(&mut self, lost: Lost) -> Result<(), Failure> {
        self.drop_moved_out();
        self.mark_everything();
        self.settle(Some(Instant::now() + COMPARE))?;
        let overflow = "more changed than the kernel's queue of changes holds, so renamed files may be listed as \
                        deleted and created";
        let why = if lost == Lost::Overflow { overflow } else { RACE };
        self.windows.trouble(Completeness::Partial, why);
        Ok(())
    }

    /// Opens a window.
    ///
    /// # Errors
    /// If the tree is no longer known.
    pub fn begin(&mut self) -> Result<u64, Failure> {
        self.catch_up(Moment::After)?;
        let git = self.git.snapshots();
        Ok(self.windows.open(git, self.counters.reports))
    }

    /// Closes a window, and returns its changes.
    ///
    /// # Errors
    /// If the tree is no longer known.
    pub fn finish(&mut self, window: u64) -> Result<Receipt, Failure> {
        let receipt = self.peek(window)?;
        self.windows.close(window);
        Ok(receipt)
    }

    /// Returns the changes in a window so far.
    ///
    /// # Errors
    /// If the tree is no longer known.
    pub fn peek(&mut self, window: u64) -> Result<Receipt, Failure> {
        self.catch_up(Moment::After)?;
        self.check_root()?;
        let mut receipt = Receipt::new(Attribution::Window);
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
    pub fn changed(&mut self, window: u64) -> Result<Changed, Failure> {
        self.catch_up(Moment::After)?;
        self.check_root()?;
        let mut changed = Changed::default();
        if let Some(window) = self.windows.get(window) {
            let (effect, mut reasons) = self.effect(window);
            let effect = without_ignored(effect, self.root());
            self.doubt(&effect, &mut reasons);
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
    pub fn touched(&mut self, window: u64, also_ignored: bool) -> Result<Option<String>, Failure> {
        self.catch_up(Moment::After)?;
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

    fn fill(&self, receipt: &mut Receipt, window: &Window) {
        let (effect, mut reasons) = self.effect(window);
        self.doubt(&effect, &mut reasons);
        effect.fill(receipt);
        let (changes, unread) = self.git.compare(&window.git);
        receipt.git = changes;
        reasons.extend(unread);
        for (state, why) in reasons {
            receipt.lower(state, why);
        }
    }

    /// Returns the changes of files in a window, and why they may be incomplete.
    fn effect(&self, window: &Window) -> (Effect, Vec<(Completeness, String)>) {
        let Window { replay, summed_up, trouble, .. } = window;
        let mut reasons: Vec<(Completeness, String)> = trouble.iter().cloned().collect();
        reasons.extend(self.trouble.standing.iter().map(|why| (Completeness::Partial, why.clone())));
        let place = |path: &Path| self.place(path, summed_up);
        let mut effect = replay.effect(|path| self.catalog.find(path).map(|(_, entry)| entry.node), place);
        let changed = summed_up.iter().filter(|path| matches!(place(path), Listing::Listed));
        effect.directories.extend(changed.cloned());
        effect.directories.sort();
        effect.directories.dedup();
        (effect, reasons)
    }

    /// Adds why changes of files may be listed that are none, or missing.
    fn doubt(&self, effect: &Effect, reasons: &mut Vec<(Completeness, String)>) {
        reasons.extend(effect.doubt().map(|why| (Completeness::Partial, why)));
        let other_names = effect.modified.iter().filter(|change| change.kind == Kind::File);
        if let Some(path) = other_names.map(|change| &change.path).find(|path| self.has_other_names(path)) {
            let (path, root) = (named(path), named(self.root()));
            reasons
                .push((Completeness::Partial, format!("{path} has other names, which are not watched below {root}")));
        }
    }

    fn place(&self, path: &Path, changed: &BTreeSet<PathBuf>) -> Listing {
        let below = path.strip_prefix(self.root()).unwrap_or(path);
        if below.iter().any(|name| name == super::GIT) {
            return Listing::Hidden;
        }
        let summed_up = self.catalog.summed_up(path);
        // A removed directory is not in the catalog.
        let removed = || path.ancestors().skip(1).find(|above| changed.contains(*above)).map(Path::to_owned);
        match summed_up.or_else(|| if changed.is_empty() { None } else { removed() }) {
            Some(directory) => Listing::Within(directory),
            None => Listing::Listed,
        }
    }

    /// Returns whether a file has names unknown to the tree.
    fn has_other_names(&self, path: &Path) -> bool {
        let entry = self.catalog.find(path).map(|(_, entry)| entry);
        entry.is_some_and(|entry| entry.is_linked() && self.links.count(entry.inode) < entry.links as usize)
    }

    /// # Errors
    /// If the root was removed or renamed.
    fn check_root(&self) -> Result<(), Failure> {
        let known = self.catalog.entry(&(ROOT, std::ffi::OsString::new())).map(|entry| entry.inode);
        let now = std::fs::symlink_metadata(self.root()).ok().map(|metadata| Inode::of(&metadata));
        if known == now { Ok(()) } else { Err(Failure::Root { root: self.root().to_owned() }) }
    }

    /// Handles the reports that have arrived.
    fn drain(&mut self) -> Result<bool, Failure> {
        let mut events: Vec<TreeEvent> = Vec::new();
        self.watch.read(&mut events).map_err(|error| Failure::of(self.root(), &error))?;
        let is_any = !events.is_empty();
        for event in events {
            self.on_event(event)?;
        }
        Ok(is_any)
    }

    /// Reports to all windows the file at a path before it changes.
    pub(super) fn before(&mut self, path: &Path, node: Option<&Node>) {
        if !self.windows.is_empty() {
            self.windows.before(path, node);
        }
    }

    /// Counts a file that is remembered.
    pub(super) fn count_file(&mut self) -> Result<(), Failure> {
        self.counters.files += 1;
        if self.counters.files > FILES {
            return Err(Failure::Files { root: self.root().to_owned(), most: FILES });
        }
        Ok(())
    }

    /// Returns a version that no content has had.
    pub(super) fn next_version(&mut self) -> u64 {
        self.counters.version += 1;
        self.counters.version
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.budget.give(self.watched.len());
    }
}
