//! Commits a draft: which differences, in what case none, and how one that was killed goes on.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::base_memory::{BaseThing, committed_things, touched_directories};
use super::commit::{CommitExecutor, CommitOutcome, CommitStopped, applied_paths};
use super::difference::DraftDifference;
use super::draft_effect::listing_of;
use super::draft_error::DraftError;
use super::draft_store::{BegunCommit, DraftState, LockedDraft, StoredDraft};
use super::layer_room::remove_all;
use super::merge::MergedFile;
use serde::Deserialize;

use protocol::task::{MachineIdentity, now_ms};
use receipt::net::PathListing;
use undo::path_lookup::hash_file;
use undo::path_map::is_within;
use undo::path_state::{FileState, PathState};
use undo::{ChangeJournal, ManifestHeader, ManifestPurpose, UndoLimits, UndoStore, UndoStoreError, VERSION};

/// The handling of paths that were changed beside the draft.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConflictHandling {
    /// Nothing is committed.
    #[default]
    Stop,
    /// They stay in the draft.
    Skip,
    /// Files of lines are merged. If one cannot be, nothing is committed.
    Merge,
}

/// What a commit is asked for.
#[derive(Debug, Clone, Default)]
pub struct CommitRequest {
    /// The paths to commit, absolute, with everything below them. Empty: the whole draft.
    pub paths: Vec<PathBuf>,
    #[expect(missing_docs, reason = "see there")]
    pub on_conflict: ConflictHandling,
    /// Whether nothing is done, but told.
    pub dry_run: bool,
}

/// What a commit did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftCommit {
    /// The paths that were changed. A directory that was moved as a whole is one of them.
    pub applied: Vec<PathBuf>,
    /// The paths that stay in the draft, each with the reason.
    pub skipped: Vec<(PathBuf, String)>,
    /// The paths that were changed beside the draft, each with how.
    pub conflicts: Vec<(PathBuf, String)>,
    /// The run that an undo takes back. `None`: nothing was done.
    pub run: Option<String>,
}

/// Why a commit was not made, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[expect(missing_docs, reason = "of the draft")]
    #[error(transparent)]
    Draft(#[from] DraftError),
    #[expect(missing_docs, reason = "of the record")]
    #[error(transparent)]
    Undo(#[from] UndoStoreError),
    /// A test ends it, as a kill would.
    #[error("stopped")]
    Stopped,
}

impl From<CommitStopped> for CommitError {
    fn from(_: CommitStopped) -> Self {
        Self::Stopped
    }
}

impl LockedDraft {
    /// Commits differences, as a run of this store with this id. `stops` is asked before each change, and may end the
    /// commit as a kill would.
    ///
    /// # Errors
    /// If something cannot be read or written. A commit that has begun goes on with [`LockedDraft::go_on`].
    pub fn commit(
        &mut self,
        request: &CommitRequest,
        (undo, run): (&UndoStore, &str),
        stops: &mut dyn FnMut(&str) -> bool,
    ) -> Result<DraftCommit, CommitError> {
        let mut all = self.draft.differences_to_commit(&request.paths)?;
        let mut beside = conflicts_of(&all, &request.paths);
        if request.on_conflict == ConflictHandling::Merge && !beside.is_empty() {
            let merged = self.merge(&all, &beside)?;
            beside.retain(|(path, _)| merged.binary_search_by(|one| one.path.cmp(path)).is_err());
            if beside.is_empty() && !request.dry_run {
                self.put_merged(merged)?;
                all = self.draft.differences_to_commit(&request.paths)?;
                // Someone may have changed another one meanwhile.
                beside = conflicts_of(&all, &request.paths);
            }
        }
        if request.on_conflict != ConflictHandling::Skip && !beside.is_empty() {
            return Ok(DraftCommit { conflicts: beside, ..DraftCommit::default() });
        }
        let paths_beside: Vec<&Path> = beside.iter().map(|(path, _)| &**path).collect();
        let chosen =
            choose(&all, |one| is_chosen(&request.paths, &one.path) && !is_at_or_below(&paths_beside, &one.path));
        if request.dry_run || chosen.iter().all(Vec::is_empty) {
            let applied = chosen.iter().zip(&all).flat_map(|(chosen, all)| applied_paths(chosen, all)).collect();
            return Ok(DraftCommit { applied, skipped: beside, ..DraftCommit::default() });
        }
        let begun = BegunCommit { run: run.into(), undo: undo.path().to_owned(), paths: request.paths.clone() };
        (self.draft.record.state, self.draft.record.commit) = (DraftState::Committing, Some(begun));
        self.draft.save()?;
        let header = ManifestHeader {
            version: VERSION,
            run: run.into(),
            command: format!("draft commit {}", self.draft.record.id),
            cwd: self.draft.record.root.clone(),
            at: now_ms(),
            machine: MachineIdentity::here().clone(),
            purpose: ManifestPurpose::Undo,
            tree: PathBuf::new(),
        };
        let journal = ChangeJournal::begin(undo, header, UndoLimits::NONE)?;
        let mut made = self.take(journal, &chosen, &all, stops)?;
        made.skipped.extend(beside);
        made.skipped.sort();
        Ok(made)
    }

    /// Returns the files among these conflicts that can be merged, sorted by path.
    fn merge(
        &self,
        all: &[Vec<DraftDifference>],
        beside: &[(PathBuf, String)],
    ) -> Result<Vec<MergedFile>, CommitError> {
        let memory = self.draft.memory()?;
        let is_beside = |one: &&DraftDifference| beside.binary_search_by(|(path, _)| path.cmp(&one.path)).is_ok();
        // The files of a repository belong together.
        let is_mergeable = |one: &&DraftDifference| {
            is_within(&one.path, &self.draft.record.root) && listing_of(&one.path) == PathListing::Listed
        };
        let merged = |one| MergedFile::of(one, &memory, |seen| self.draft.kept(seen)).transpose();
        let merged = all
            .iter()
            .flatten()
            .filter(is_beside)
            .filter(is_mergeable)
            .filter_map(merged)
            .collect::<io::Result<Vec<_>>>();
        let mut merged = merged.map_err(|error| self.failed(error))?;
        merged.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(merged)
    }

    /// Puts merged files into the draft. If that ends halfway, the draft has some of them, and no commit has begun.
    fn put_merged(&self, merged: Vec<MergedFile>) -> Result<(), CommitError> {
        for one in merged {
            let Some(layer) = self.draft.record.layers.iter().find(|layer| is_within(&one.path, &layer.base)) else {
                continue;
            };
            one.put(&layer.room).map_err(|error| self.failed(error))?;
            // From here on the base as it is now is no conflict.
            let kept = self.draft.keep(one.theirs.as_bytes());
            self.draft.remember(&[(one.path, BaseThing { kept, ..one.base })])?;
        }
        Ok(())
    }

    /// Returns the draft.
    pub fn stored(&self) -> &StoredDraft {
        &self.draft
    }

    /// Finishes a commit that was killed. Paths that others have changed since stay in the draft.
    ///
    /// # Errors
    /// As [`LockedDraft::commit`].
    pub fn go_on(&mut self, stops: &mut dyn FnMut(&str) -> bool) -> Result<Option<DraftCommit>, CommitError> {
        let Some(BegunCommit { run, undo, paths }) = self.draft.record.commit.clone() else { return Ok(None) };
        let undo = UndoStore::open(&undo)?;
        let path = undo.manifest_path(&run)?;
        if !path.exists() {
            // It was killed before its first step.
            self.settle(&[], &[])?;
            return Ok(None);
        }
        let manifest = undo::manifest::read(&path).map_err(UndoStoreError::from)?;
        let found = touched_directories(manifest.states_before.keys()).map_err(|error| self.failed(error))?;
        self.draft.remember(&found)?;
        let all = self.draft.differences_to_commit(&paths)?;
        let memory = self.draft.memory()?;
        // The record has given a file another name, and so another time, perhaps right before the kill. Directories
        // were made or changed half.
        let is_own = |one: &DraftDifference| match (manifest.states_before.get(&one.path), &one.base) {
            (Some(PathState::File(before)), PathState::File(now)) => is_only_renamed(before, now),
            (None, PathState::File(now)) => memory.get(&one.path).is_some_and(|seen| {
                let is_as_seen = seen.state.file().is_some_and(|before| is_only_renamed(before, now));
                is_as_seen
                    && seen.contents.is_some_and(|contents| hash_file(&one.path).is_ok_and(|now| now == contents))
            }),
            (before, base) => before.is_some() && base.is_directory(),
        };
        let chosen = choose(&all, |one| is_chosen(&paths, &one.path) && (one.conflict.is_none() || is_own(one)));
        let journal = ChangeJournal::resume(&undo, &manifest)?;
        self.take(journal, &chosen, &all, stops).map(Some)
    }

    /// Takes the steps, and ends the record.
    fn take(
        &mut self,
        mut journal: ChangeJournal,
        chosen: &[Vec<&DraftDifference>],
        all: &[Vec<DraftDifference>],
        stops: &mut dyn FnMut(&str) -> bool,
    ) -> Result<DraftCommit, CommitError> {
        let mut made = DraftCommit { run: Some(journal.header().run.clone()), ..DraftCommit::default() };
        let mut moved = Vec::new();
        for ((chosen, all), layer) in chosen.iter().zip(all).zip(&self.draft.record.layers) {
            let copies = (layer.is_apart && !chosen.is_empty())
                .then(|| layer.base.join(format!(".agent-bash-{}", self.draft.record.id)));
            copies.iter().try_for_each(|copies| make_empty(copies)).map_err(|error| self.failed(error))?;
            let CommitOutcome { applied, moved: whole, left } =
                CommitExecutor::new(&mut journal, stops, copies.as_deref()).take(chosen, all)?;
            copies.iter().try_for_each(|copies| remove_all(copies)).map_err(|error| self.failed(error))?;
            made.applied.extend(applied);
            moved.extend(whole);
            made.skipped.extend(left);
        }
        journal.finish(Vec::new())?;
        self.settle(&made.applied, &moved)?;
        Ok(made)
    }

    fn failed(&self, source: io::Error) -> DraftError {
        DraftError::System { path: self.draft.record.root.clone(), source }
    }

    /// Opens the draft again after a commit.
    fn settle(&mut self, applied: &[PathBuf], moved: &[PathBuf]) -> Result<(), DraftError> {
        let found = committed_things(applied, moved).map_err(|error| self.failed(error))?;
        self.draft.remember(&found)?;
        (self.draft.record.state, self.draft.record.commit) = (DraftState::Open, None);
        self.draft.record.generation += 1;
        self.draft.save()
    }
}

/// Returns whether a file has got another name at most.
fn is_only_renamed(before: &FileState, now: &FileState) -> bool {
    before.is_unwritten(now) && before.meta.has_same_metadata(&now.meta)
}

/// Makes a directory that is empty, also after a commit that was killed.
fn make_empty(directory: &Path) -> io::Result<()> {
    match remove_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => DirBuilder::new().mode(0o700).create(directory),
    }
}

/// Returns the paths of these that were changed beside the draft, sorted, each with how.
fn conflicts_of(all: &[Vec<DraftDifference>], paths: &[PathBuf]) -> Vec<(PathBuf, String)> {
    let conflict = |one: &DraftDifference| Some((one.path.clone(), one.conflict?.to_owned()));
    let asked = all.iter().flatten().filter(|one| is_chosen(paths, &one.path));
    let mut found: Vec<_> = asked.filter_map(conflict).collect();
    found.sort();
    found
}

/// Returns the differences of each layer that are chosen. A directory that is made for a chosen one is chosen as well.
fn choose(all: &[Vec<DraftDifference>], is_chosen: impl Fn(&DraftDifference) -> bool) -> Vec<Vec<&DraftDifference>> {
    all.iter().map(|layer| choose_in(layer, &is_chosen)).collect()
}

fn choose_in<'a>(
    layer: &'a [DraftDifference],
    is_chosen: &impl Fn(&DraftDifference) -> bool,
) -> Vec<&'a DraftDifference> {
    let taken: Vec<&Path> = layer.iter().filter(|one| is_chosen(one)).map(|one| &*one.path).collect();
    let is_way = |one: &DraftDifference| {
        one.draft.state.is_directory()
            && !one.base.is_directory()
            && one.conflict.is_none()
            && is_at_or_below(&taken, &one.path)
    };
    layer.iter().filter(|one| is_chosen(one) || is_way(one)).collect()
}

fn is_chosen(paths: &[PathBuf], path: &Path) -> bool {
    paths.is_empty() || paths.iter().any(|above| is_within(path, above))
}

/// Returns whether one of these sorted paths is this directory, or below it.
fn is_at_or_below(sorted: &[&Path], directory: &Path) -> bool {
    let from = sorted.partition_point(|path| *path < directory);
    sorted.get(from).is_some_and(|path| path.starts_with(directory))
}
