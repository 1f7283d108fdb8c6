//! A commit: the changes of a draft move into the base, as a run that can be undone.
//!
//! Each change is recorded by the journal of undo before it is made, and things are renamed into their places where
//! they can be. A killed commit goes on by comparing again: its finished steps are no differences any more.
//!
//! The base is a tree that other processes change meanwhile. So each step opens the directory of its path without
//! following links, compares the thing there with the one that was planned, and leaves a thing alone that is another.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::copy::LayerCopier;
use super::difference::DraftDifference;
use super::layer::{make_merged, read_thing, strip};
use super::layer_room::remove_all;
use undo::path_lookup::{RoutedPath, read_state};
use undo::path_state::PathState;
use undo::side_by_side::side_by_side;
use undo::{ChangeJournal, ComingChange, JournalError, OpenRoute};

/// The effect of a commit on one layer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitOutcome {
    /// The paths that were changed. A directory that was moved as a whole is one of them.
    pub applied: Vec<PathBuf>,
    /// Those of them that were directories of the draft, and were moved as a whole.
    pub moved: Vec<PathBuf>,
    /// The paths that stay in the draft, each with the reason.
    pub left: Vec<(PathBuf, String)>,
}

/// Why a step was not taken.
#[derive(Debug, thiserror::Error)]
enum CommitStepFailure {
    /// The thing is not as it was when the commit began.
    #[error("it has just been changed")]
    Changed,
    /// A test ends the commit here, as a kill would.
    #[error("stopped")]
    Stopped,
    #[error(transparent)]
    Route(#[from] undo::RouteError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    System(#[from] io::Error),
}

/// A commit at work.
pub struct CommitExecutor<'a> {
    journal: &'a mut ChangeJournal,
    /// Asked before each change, with its name. `true` ends the commit, as a kill would.
    stops: &'a mut dyn FnMut(&str) -> bool,
    /// The directory on the mount of the base to which things are copied before they are renamed. `None`: the draft is
    /// on that mount.
    copies: Option<&'a Path>,
    copier: LayerCopier,
    outcome: CommitOutcome,
}

/// The commit was ended between two steps.
#[derive(Debug, PartialEq, Eq)]
pub struct CommitStopped;

impl<'a> CommitExecutor<'a> {
    /// Begins a commit that records its changes here. `copies`: an empty directory on the mount of the base, if the
    /// draft is on another one.
    pub fn new(
        journal: &'a mut ChangeJournal,
        stops: &'a mut dyn FnMut(&str) -> bool,
        copies: Option<&'a Path>,
    ) -> Self {
        Self { journal, stops, copies, copier: LayerCopier::for_base(), outcome: CommitOutcome::default() }
    }

    /// Moves these differences of a layer into the base. They are sorted by path, and so are `all` of the layer. The
    /// directories that a chosen difference needs are chosen as well.
    ///
    /// # Errors
    /// If `stops` says so.
    pub fn take(
        mut self,
        chosen: &[&DraftDifference],
        all: &[DraftDifference],
    ) -> Result<CommitOutcome, CommitStopped> {
        let is_removal = |one: &&&DraftDifference| {
            !one.base.is_absent()
                && (one.draft.state.is_absent() || one.base.is_directory() != one.draft.state.is_directory())
        };
        self.show_base(chosen);
        // A directory is removed after its entries.
        for one in chosen.iter().rev().filter(is_removal) {
            self.attempt(&one.path, |commit| commit.remove(one))?;
        }
        let paths: BTreeSet<&Path> = chosen.iter().map(|one| &*one.path).collect();
        let mut moved: Option<&Path> = None;
        for one in chosen.iter().filter(|one| !one.draft.state.is_absent()) {
            if moved.is_some_and(|directory| one.path.starts_with(directory)) {
                continue;
            }
            let is_left = |path: &Path| self.outcome.left.iter().any(|(left, _)| left == path);
            if is_left(&one.path) {
                continue;
            }
            if moves_whole(one, &paths, all) {
                moved = Some(&one.path);
                self.attempt(&one.path, |commit| commit.move_directory(one))?;
            } else {
                self.attempt(&one.path, |commit| commit.put(one))?;
            }
        }
        self.outcome.applied.sort();
        self.outcome.applied.dedup();
        Ok(self.outcome)
    }

    /// Lets the base show through in all directories from which things move into it. What the draft shows stays.
    fn show_base(&mut self, chosen: &[&DraftDifference]) {
        let mut done = BTreeSet::new();
        for one in chosen {
            for (place, path) in one.place.ancestors().zip(one.path.ancestors()).skip(1) {
                if path.as_os_str().is_empty() || !done.insert(path.to_owned()) {
                    break;
                }
                let is_opaque = read_thing(place).is_ok_and(|thing| thing.is_some_and(|thing| thing.is_opaque));
                if is_opaque && let Err(failure) = make_merged(place, path) {
                    self.outcome.left.push((path.to_owned(), failure.to_string()));
                }
            }
        }
    }

    /// Takes a step. A failure leaves its path in the draft.
    fn attempt(
        &mut self,
        path: &Path,
        step: impl FnOnce(&mut Self) -> Result<(), CommitStepFailure>,
    ) -> Result<(), CommitStopped> {
        match step(self) {
            Ok(()) => self.outcome.applied.push(path.to_owned()),
            Err(CommitStepFailure::Stopped) => return Err(CommitStopped),
            Err(failure) => self.outcome.left.push((path.to_owned(), failure.to_string())),
        }
        Ok(())
    }

    fn offer_stop(&mut self, name: &str) -> Result<(), CommitStepFailure> {
        if (self.stops)(name) { Err(CommitStepFailure::Stopped) } else { Ok(()) }
    }

    /// Removes the thing of the base, and then the mark that hides it.
    fn remove(&mut self, one: &DraftDifference) -> Result<(), CommitStepFailure> {
        let route = OpenRoute::open(&one.path)?;
        let at = route.as_routed_path();
        check_unchanged(at, &one.base)?;
        self.journal.record_before_change(at, ComingChange::Remove)?;
        self.offer_stop("remove")?;
        if one.base.is_directory() {
            fs::remove_dir(at.reach)?
        } else {
            fs::remove_file(at.reach)?
        }
        self.offer_stop("removed")?;
        if one.draft.state.is_absent() && read_thing(&one.place)?.is_some_and(|thing| thing.state.is_absent()) {
            fs::remove_file(&one.place)?;
        }
        Ok(())
    }

    /// Moves a directory as a whole to where no directory is.
    fn move_directory(&mut self, one: &DraftDifference) -> Result<(), CommitStepFailure> {
        self.rename_in(one, ComingChange::MakeDirectory)?;
        self.outcome.moved.push(one.path.clone());
        Ok(())
    }

    /// Puts one thing into the base. A directory gets its metadata, and is made if it is missing.
    fn put(&mut self, one: &DraftDifference) -> Result<(), CommitStepFailure> {
        if !one.draft.state.is_directory() {
            let is_new = one.base.is_absent() || one.base.is_directory();
            return self.rename_in(one, if is_new { ComingChange::Create } else { ComingChange::Remove });
        }
        let route = OpenRoute::open(&one.path)?;
        let at = route.as_routed_path();
        let meta = one.draft.state.meta().ok_or(CommitStepFailure::Changed)?;
        if one.base.is_directory() {
            check_unchanged(at, &one.base)?;
            self.journal.record_before_change(at, ComingChange::Meta)?;
        } else {
            self.journal.record_before_change(at, ComingChange::MakeDirectory)?;
            self.offer_stop("make")?;
            DirBuilder::new().mode(0o700).create(at.reach)?;
        }
        self.offer_stop("meta")?;
        Ok(undo::apply_metadata(at.reach, &read_state(at.reach)?, meta)?)
    }

    /// Renames a thing of the draft into its place in the base.
    fn rename_in(&mut self, one: &DraftDifference, change: ComingChange<'_>) -> Result<(), CommitStepFailure> {
        let route = OpenRoute::open(&one.path)?;
        let at = route.as_routed_path();
        let over =
            if one.base.is_directory() != one.draft.state.is_directory() { &PathState::Absent } else { &one.base };
        check_unchanged(at, over)?;
        let is_directory = one.draft.state.is_directory();
        let step = self.outcome.applied.len() + self.outcome.left.len();
        let from = self.copies.map_or_else(|| one.place.clone(), |copies| copies.join(step.to_string()));
        if self.copies.is_some() {
            self.copier.copy(&one.place, &from)?;
        } else {
            strip_all(&from, is_directory)?;
        }
        self.journal.record_before_change(at, change)?;
        self.offer_stop("rename")?;
        if over.is_absent() {
            match sys::rename_new(&from, at.reach) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(CommitStepFailure::Changed),
                renamed => renamed?,
            }
        } else {
            fs::rename(&from, at.reach)?;
        }
        self.copier.follow(&from, &one.path);
        self.offer_stop("renamed")?;
        match self.copies {
            Some(_) if is_directory => Ok(remove_all(&one.place)?),
            Some(_) => Ok(fs::remove_file(&one.place)?),
            None => Ok(()),
        }
    }
}

/// Returns the paths that a commit of these differences names.
pub fn applied_paths(chosen: &[&DraftDifference], all: &[DraftDifference]) -> Vec<PathBuf> {
    let paths: BTreeSet<&Path> = chosen.iter().map(|one| &*one.path).collect();
    let mut moved: Option<&Path> = None;
    let mut applied = Vec::new();
    for one in chosen {
        if moved.is_some_and(|directory| one.path.starts_with(directory)) {
            continue;
        }
        moved = moves_whole(one, &paths, all).then_some(&*one.path).or(moved);
        applied.push(one.path.clone());
    }
    applied
}

/// Returns whether a thing is a directory that is moved with all that is in it.
fn moves_whole(one: &DraftDifference, chosen: &BTreeSet<&Path>, all: &[DraftDifference]) -> bool {
    if !one.draft.state.is_directory() || one.base.is_directory() {
        return false;
    }
    let from = all.partition_point(|other| other.path < one.path);
    let mut below = all[from..].iter().take_while(|other| other.path.starts_with(&one.path));
    below.all(|other| chosen.contains(&*other.path))
}

/// Fails if the thing at a path is not as it was planned.
fn check_unchanged(at: RoutedPath<'_>, planned: &PathState) -> Result<(), CommitStepFailure> {
    let now = read_state(at.reach)?;
    let is_same = match (&now, planned) {
        (PathState::File(now), PathState::File(then)) => now.is_unwritten(then) && now.ctime == then.ctime,
        // Its entries have paths of their own.
        (PathState::Directory(now), PathState::Directory(then)) => now.id == then.id && now.has_same_metadata(then),
        (now, then) => now == then,
    };
    if is_same { Ok(()) } else { Err(CommitStepFailure::Changed) }
}

/// Takes the attributes of the overlay off a thing that leaves the draft, and off everything in it.
fn strip_all(place: &Path, is_directory: bool) -> io::Result<()> {
    let mut directories = if is_directory { vec![place.to_owned()] } else { Vec::new() };
    while !directories.is_empty() {
        let below = side_by_side(&directories, |directory| strip_entries(directory));
        directories = below.into_iter().collect::<io::Result<Vec<_>>>()?.concat();
    }
    strip(place)
}

/// Takes the attributes of the overlay off the entries of a directory. Returns the directories among them.
fn strip_entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let opened = sys::open_real_directory(directory)?;
    let mut directories = Vec::new();
    for entry in fs::read_dir(sys::path_in(&opened, OsStr::new(".")))? {
        let entry = entry?;
        strip(&sys::path_in(&opened, &entry.file_name()))?;
        if entry.file_type()?.is_dir() {
            directories.push(directory.join(entry.file_name()));
        }
    }
    Ok(directories)
}
