//! The recording of a run whose shim records every change.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use nix::unistd::Pid;

use super::kept_run_files::KeptRunFiles;
use super::other_names;
use super::prepared_recording::remove_in_background;
use super::record_effect::{effect, repositories};
use super::run_record::{RunRecord, RunUndoCoverage};
use crate::git::{GitRepository, RepositorySnapshot, compare};
use crate::port_listeners::ServersBefore;
use crate::watch::WatchedTrees;
use crate::{ChangeAttribution, ReceiptCompleteness, RunReceipt};
use undo::coverage_gaps::{gap, gaps, named};
use undo::path_map::is_within;
use undo::path_state::{FileState, KnownContents, PathState};
use undo::{CoverageExtent, ManifestPurpose, RunManifest, UndoStore};

/// The most repositories whose last snapshot is remembered.
const MAX_REMEMBERED_SNAPSHOTS: usize = 64;

/// The last snapshots, by the tops of their work trees.
static SNAPSHOTS: LazyLock<Mutex<HashMap<PathBuf, Arc<RepositorySnapshot>>>> = LazyLock::new(Mutex::default);

/// The facts about such a run that its record does not have.
#[derive(Debug)]
pub struct ExactRecording {
    store: UndoStore,
    pub(super) run: String,
    /// Whether the record begins with the first change, as only a receipt is wanted.
    pub(super) begins_late: bool,
    /// The repositories, as they were before the run.
    git: Vec<WorkTreeBefore>,
    servers: Option<ServersBefore>,
}

/// A work tree before the run.
#[derive(Debug)]
struct WorkTreeBefore {
    top: PathBuf,
    repository: Option<GitRepository>,
    snapshot: Option<Arc<RepositorySnapshot>>,
}

impl ExactRecording {
    /// Returns the directory of the store.
    pub fn store(&self) -> &Path {
        self.store.path()
    }

    /// Returns a run of which only the record is known.
    #[must_use]
    pub fn of_record_only(store: UndoStore, run: String) -> Self {
        Self { store, run, begins_late: false, git: Vec::new(), servers: None }
    }

    /// Reads the facts that no record shows, right before the run begins. Blocks. `directories` may belong to
    /// repositories that the run changes.
    pub(super) fn read_facts(&mut self, directories: &[PathBuf], is_confined: bool) {
        let tops: BTreeSet<PathBuf> = directories.iter().filter_map(|path| WatchedTrees::root_of(path).ok()).collect();
        self.git = tops.into_iter().map(WorkTreeBefore::read).collect();
        self.servers = ServersBefore::read(is_confined);
    }

    /// Reads the record of a run that has ended. `tree` are its processes that are still alive. Blocks.
    pub fn read(&self, tree: &[Pid]) -> RunRecord {
        let point = match undo::read_ended_run(&self.store, &self.run) {
            Ok(point) => point,
            Err(error) => return record_of_lost_run(&error.to_string()),
        };
        if point.is_undoable() {
            // Points that stay are removed before the next run.
            let _stay = self.store.make_room_after(&self.run, SystemTime::now()).and_then(remove_in_background);
        }
        let receipt = self.receipt(&point, tree);
        let undo = point.is_undoable().then(|| coverage(&point, self.store.path()));
        RunRecord { receipt: Some(receipt), undo, notes: Vec::new() }
    }

    /// Returns the record of a run that has changed no file.
    pub(super) fn record_of_no_change(&self, tree: &[Pid]) -> RunRecord {
        RunRecord::of(self.receipt_of_nothing(tree))
    }

    fn receipt_of_nothing(&self, tree: &[Pid]) -> RunReceipt {
        let mut receipt = RunReceipt::new(ChangeAttribution::Command);
        receipt.add_ports(self.servers.as_ref(), tree);
        receipt
    }

    /// Returns whether the record of the run does not exist, as it begins with the first change.
    pub(super) fn has_not_begun(&self) -> bool {
        self.begins_late && !self.store.has(&self.run)
    }

    /// Returns the record of a run whose recorder was killed before it had a change to write.
    pub(super) fn record_of_killed_recorder(&self, tree: &[Pid]) -> RunRecord {
        let mut receipt = self.receipt_of_nothing(tree);
        receipt.lower(ReceiptCompleteness::Partial, "its recorder was killed, so its changes may be missing");
        RunRecord::of(receipt)
    }

    /// Removes the record, unless the run can be undone.
    pub fn remove_record(&self) {
        let purpose = self.store.manifest_path(&self.run).ok().and_then(|path| undo::manifest::read_header(&path).ok());
        if purpose.is_some_and(|header| header.purpose == ManifestPurpose::Receipt) {
            // A record that stays is evicted later.
            let _stays = self.store.remove(&self.run);
        }
    }

    fn receipt(&self, point: &RunManifest, tree: &[Pid]) -> RunReceipt {
        let mut receipt = RunReceipt::new(attribution(point));
        let files = self.store.image_directory(&self.run).unwrap_or_default();
        let kept = KeptRunFiles { point, files, places: OnceCell::new() };
        let mut effect = effect(&kept, self.store.path());
        let root = WatchedTrees::root_of(&point.header.cwd).ok();
        let unfound = other_names::list_other_names(&mut effect, &kept, root.as_deref());
        let doubt = effect.doubt_sentence().or(unfound);
        effect.fill(&mut receipt);
        for why in point.uncovered.iter().take(1).map(gap).chain(doubt) {
            receipt.lower(ReceiptCompleteness::Partial, why);
        }
        if point.end.as_ref().is_some_and(|end| end.extent == CoverageExtent::Guessed) {
            receipt.lower(
                ReceiptCompleteness::Partial,
                "its recorder was killed, so what it changed at its very end may be missing",
            );
        }
        if let Some(beyond) = point.header.beyond() {
            receipt.lower(ReceiptCompleteness::Partial, format!("its changes were not recorded: {beyond}"));
        }
        self.compare_repositories(point, &mut receipt);
        receipt.add_ports(self.servers.as_ref(), tree);
        receipt
    }

    /// Returns whether a file in a git directory belongs to this repository, and not to another known one that shares
    /// the directory. `None` stands for an unknown repository.
    fn belongs_to(&self, path: &Path, repository: Option<&GitRepository>) -> bool {
        let known = || self.git.iter().filter_map(|before| before.repository.as_ref());
        if let Some(linked) = repository.filter(|repository| repository.is_linked()) {
            // The main work tree has the shared files, if it is known.
            let has_main = || known().any(|other| other.own == linked.common);
            return path.starts_with(&linked.own) || linked.is_shared_file(path) && !has_main();
        }
        let has =
            |other: &GitRepository| path.starts_with(&other.own) || repository.is_none() && other.is_shared_file(path);
        !known().filter(|other| other.is_linked()).any(has)
    }

    fn compare_repositories(&self, point: &RunManifest, receipt: &mut RunReceipt) {
        let mut tops = repositories(point);
        tops.extend(self.git.iter().filter(|before| before.is_touched(point)).map(|before| before.top.clone()));
        for top in tops {
            let now = GitRepository::open(&top);
            let known = self.git.iter().find(|before| before.top == top);
            let git = top.join(".git");
            let is_new = point.names.is_made(&git) || point.states_before.get(&git).is_some_and(PathState::is_absent);
            let repository = known.and_then(|known| known.repository.as_ref());
            let directories = repository.map_or([&git, &git], |repository| [&repository.own, &repository.common]);
            let directories = directories.map(PathBuf::as_path);
            let is_touched = has_changed(point, directories, |path| self.belongs_to(path, repository));
            if known.is_none() && !is_new && !is_touched {
                continue;
            }
            if known.is_none() && !is_new {
                let why = format!("{} is another repository, whose state before is not known", named(&top));
                receipt.lower(ReceiptCompleteness::Partial, why);
                continue;
            }
            let before = known.and_then(|known| known.snapshot.as_deref());
            let after = now.map(|now| snapshot_of(&top, &now));
            let Some(compared) = compare(&top, before, after.as_deref(), is_touched) else { continue };
            for why in [compared.unknown, compared.doubt].into_iter().flatten() {
                receipt.lower(ReceiptCompleteness::Partial, why);
            }
            receipt.git.push(compared.change);
        }
    }
}

/// Returns whose changes a record shows. A snapshot shows the changes of other processes, too, and where others have
/// changed the same things, not all of it can be told apart.
fn attribution(point: &RunManifest) -> ChangeAttribution {
    if point.header.is_snapshot() || !point.foreign_paths.is_empty() {
        ChangeAttribution::Window
    } else {
        ChangeAttribution::Command
    }
}

fn coverage(point: &RunManifest, store: &Path) -> RunUndoCoverage {
    let end = point.end.clone().unwrap_or_default();
    let missing = point.uncovered.iter().map(gap);
    let not_covered = gaps(end.not_covered.into_iter().chain(lost_files(point, store)).chain(missing));
    RunUndoCoverage { all: end.extent == CoverageExtent::All, not_covered, bytes: end.bytes }
}

impl WorkTreeBefore {
    fn read(top: PathBuf) -> Self {
        let repository = GitRepository::open(&top);
        let snapshot = repository.as_ref().map(|repository| snapshot_of(&top, repository));
        Self { top, repository, snapshot }
    }

    /// Returns whether a run touched a file in its own directories, which may lie elsewhere.
    fn is_touched(&self, point: &RunManifest) -> bool {
        let Some(repository) = &self.repository else { return false };
        let is_in = |path: &Path| is_within(path, &repository.own) || is_within(path, &repository.common);
        point.states_before.keys().chain(point.states_after_run.keys()).any(is_in)
    }
}

/// Returns whether a run changed a file of a repository in a way that a receipt mentions. `directories` are its own
/// directory and the one that it shares. Added objects do not count.
fn has_changed(point: &RunManifest, directories: [&Path; 2], is_its: impl Fn(&Path) -> bool) -> bool {
    let counts = |path: &Path| {
        let Some(rest) = directories.iter().find_map(|directory| path.strip_prefix(directory).ok()) else {
            return false;
        };
        let first = rest.iter().next();
        first.is_none_or(|first| !["objects", "lfs", "logs"].iter().any(|name| first == *name))
            && path.extension().is_none_or(|extension| extension != "lock")
            && rest != Path::new("index")
            && is_its(path)
    };
    let is_alike = |path: &Path, node: &PathState| {
        let now = point.states_after_run.get(path).unwrap_or(&PathState::Absent);
        match (node, now) {
            (PathState::File(before), PathState::File(now)) => before.is_unwritten(now),
            _ => node.is_alike(now),
        }
    };
    point.states_before.iter().any(|(path, node)| counts(path) && !is_alike(path, node))
}

/// Reads a repository. An index file that is unchanged since the last snapshot is not read again.
fn snapshot_of(top: &Path, repository: &GitRepository) -> Arc<RepositorySnapshot> {
    let mut known = SNAPSHOTS.lock().unwrap_or_else(PoisonError::into_inner);
    let earlier = known.get(top).cloned();
    if known.len() >= MAX_REMEMBERED_SNAPSHOTS {
        known.clear();
    }
    drop(known);
    let snapshot = Arc::new(RepositorySnapshot::read_briefly(repository, earlier.as_deref()));
    SNAPSHOTS.lock().unwrap_or_else(PoisonError::into_inner).insert(top.to_owned(), Arc::clone(&snapshot));
    snapshot
}

/// Returns the changed files that the store does not keep, with the reasons. Its own names of files are left out.
fn lost_files<'a>(point: &'a RunManifest, store: &'a Path) -> impl Iterator<Item = String> + 'a {
    let is_same = |path: &Path, before: &FileState| {
        let after = point.names.current_slot(path).and_then(|now| point.states_after_run.get(&now));
        matches!(after, Some(PathState::File(after)) if before.is_untouched(after))
    };
    point.states_before.iter().filter_map(move |(path, node)| match node {
        PathState::File(file @ FileState { contents: KnownContents::Nothing { why }, .. })
            if !is_same(path, file) && !point.is_own(store, path) =>
        {
            Some(format!("{}: {why}", named(path)))
        }
        _ => None,
    })
}

/// Returns the record of a run whose record is lost.
pub fn record_of_lost_run(why: &str) -> RunRecord {
    let mut receipt = RunReceipt::new(ChangeAttribution::Command);
    receipt.lower(ReceiptCompleteness::Unknown, format!("the record of its changes is lost: {why}"));
    let notes = vec![format!("the changes of the command could not be recorded: {why}")];
    RunRecord { receipt: Some(receipt), undo: None, notes }
}
