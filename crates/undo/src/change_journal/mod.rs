//! The journal of a run's changes: each thing as it was before its first change (`state_before`), and at the end the
//! state that the run left (`state_after_run`).
//!
//! Each entry is written before the call that changes the thing is let go on. The alternative, to compare the tree
//! before and after the run, reads files that the run never touches, cannot tell the run's changes from those of
//! others, and finds no contents that are gone. [`crate::snapshot`] does so where no call is seen.
//!
//! | part | where | what |
//! |---|---|---|
//! | before a change | `mod.rs`, `taken_files.rs`, `pending_renames.rs` | keeps what an undo needs of a thing |
//! | after the run | `states_after_run.rs` | reads the state that the run left |
//! | owners | `thing_owner.rs`, `foreign_changes.rs` | tells the run's changes from those of other programs |
//! | paths | `earlier_paths.rs` | the path before the run of a current path |
//! | comparisons | `compared_changes.rs` | entries that a snapshot finds after the run |

mod compared_changes;
mod earlier_paths;
mod foreign_changes;
mod pending_renames;
mod states_after_run;
mod taken_files;
mod thing_owner;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::directory_names::DirectoryNames;
use crate::manifest::{ManifestHeader, ManifestPurpose, ManifestRecord, ManifestWriter, RecordedRename, RunManifest};
use crate::path_lookup::{self, RoutedPath, read_state_roughly};
use crate::path_map::{PathMap, is_within};
use crate::path_state::{FileIdentity, FileState, KnownContents, PathState};
use crate::run_images::{KeepError, KeepMethod, RunImages, UndoLimits};
use crate::store::{UndoStore, UndoStoreError};
use foreign_changes::ForeignChanges;

/// A change that is about to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComingChange<'a> {
    /// The contents of a file change: an open for writing, a truncation. Things of other kinds are left alone.
    Rewrite,
    /// The contents of a file change as in [`ComingChange::Rewrite`], or a file may appear where nothing is.
    Write,
    /// A name goes: by an unlink, an rmdir, or another thing that replaces it.
    Remove,
    /// Mode, owner or attributes change.
    Meta,
    /// The times of a file change, by which its contents could have been recognised.
    Times,
    /// A file, link, pipe … may appear where nothing is. An existing thing is not touched.
    Create,
    /// A directory may appear where nothing is.
    MakeDirectory,
    /// This path may become another name of the file.
    Link(RoutedPath<'a>),
    /// A rename to this path.
    Rename(RoutedPath<'a>),
    /// A rename that swaps with this path.
    Swap(RoutedPath<'a>),
}

/// The part that an undo needs of a file that is about to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NeededPart {
    /// Nothing but identity and metadata: its name changes.
    Name,
    /// Mode, owner and attributes.
    Meta,
    /// Hash of the contents.
    Hash,
    /// For a receipt: the knowledge that the name goes.
    Absence,
    /// Contents.
    Image(KeepMethod),
}

impl NeededPart {
    /// Returns whether the change concerns all names of a file whose contents are kept this way: the names share
    /// contents and mode. A copy, which is made before the time of a kept file changes, is no longer a name of the
    /// file.
    fn concerns_all_names(self, contents: &KnownContents) -> bool {
        match self {
            Self::Meta | Self::Image(KeepMethod::Copy) => true,
            Self::Hash => matches!(contents, KnownContents::Image(_)),
            Self::Name | Self::Absence | Self::Image(KeepMethod::Link) => false,
        }
    }
}

/// Why a change is not covered.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The contents are not kept. That is recorded, and the run can go on.
    #[error(transparent)]
    NotKept(#[from] KeepError),
    /// The path cannot be read, or the manifest cannot be written.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// The recorder of one run.
#[derive(Debug)]
pub struct ChangeJournal {
    store: UndoStore,
    header: ManifestHeader,
    writer: ManifestWriter,
    images: RunImages,
    places: usize,
    names: DirectoryNames,
    /// The earlier things, by the earlier path.
    before: PathMap<PathState>,
    /// The earlier paths of each earlier file.
    by_id: HashMap<FileIdentity, Vec<PathBuf>>,
    /// The directory of the last change, and its earlier path, unless the run made it.
    directory: Option<(PathBuf, Option<PathBuf>)>,
    /// Renames that may or may not have happened yet.
    pending: Vec<RecordedRename>,
    missed: usize,
    others: ForeignChanges,
}

impl ChangeJournal {
    /// Begins the record of a run.
    ///
    /// # Errors
    /// If the point cannot be created.
    pub fn begin(store: &UndoStore, header: ManifestHeader, limits: UndoLimits) -> Result<Self, UndoStoreError> {
        let (writer, images) = store.create(header.clone(), limits)?;
        Ok(Self::new(store.clone(), header, writer, images))
    }

    fn new(store: UndoStore, header: ManifestHeader, writer: ManifestWriter, images: RunImages) -> Self {
        let places = images.places().count();
        Self {
            store,
            header,
            writer,
            images,
            places,
            names: DirectoryNames::default(),
            before: PathMap::new(),
            by_id: HashMap::new(),
            directory: None,
            pending: Vec::new(),
            missed: 0,
            others: ForeignChanges::default(),
        }
    }

    /// Continues a record whose recorder was killed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn resume(store: &UndoStore, point: &RunManifest) -> Result<Self, UndoStoreError> {
        let (writer, images) = store.resume(point)?;
        let mut journal = Self::new(store.clone(), point.header.clone(), writer, images);
        journal.names = point.names.clone();
        journal.missed = point.uncovered.len();
        journal.pending = point.moving.clone();
        for (path, state) in point.states_before.iter() {
            if let PathState::File(file) = state {
                journal.images.adopt(file);
            }
            journal.remember_before(path.to_owned(), state.clone());
        }
        Ok(journal)
    }

    #[expect(missing_docs, reason = "the store")]
    pub fn store(&self) -> &UndoStore {
        &self.store
    }

    #[expect(missing_docs, reason = "the run")]
    pub fn header(&self) -> &ManifestHeader {
        &self.header
    }

    /// Returns the number of names by which this record keeps a file.
    pub fn names_of(&self, id: FileIdentity) -> u64 {
        self.images.name_count(id)
    }

    /// Returns the directories that were moved and made so far.
    pub fn names(&self) -> &DirectoryNames {
        &self.names
    }

    /// Adds a record of another kind.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append_record(&mut self, record: &ManifestRecord) -> io::Result<()> {
        self.writer.append(record)
    }

    /// Records an effect that an undo will not cover.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn record_gap(&mut self, path: &Path, why: &str) -> io::Result<()> {
        self.missed += 1;
        self.writer.append(&ManifestRecord::Missing { path: path.to_owned(), why: why.to_owned() })
    }

    /// Records a thing before it changes. The change need not happen.
    ///
    /// # Errors
    /// If an undo will not cover the change. Later changes can still be recorded.
    pub fn record_before_change<'a>(
        &mut self,
        at: impl Into<RoutedPath<'a>>,
        change: ComingChange<'_>,
    ) -> Result<(), JournalError> {
        let at = at.into();
        self.confirm_renames()?;
        match change {
            ComingChange::Write | ComingChange::Create | ComingChange::MakeDirectory => self.note_coming(at.path),
            ComingChange::Link(to) => self.note_coming(to.path),
            ComingChange::Swap(_)
            | ComingChange::Rename(_)
            | ComingChange::Rewrite
            | ComingChange::Remove
            | ComingChange::Meta
            | ComingChange::Times => {}
        }
        match change {
            ComingChange::Rewrite => self.keep_before_change(at, NeededPart::Image(KeepMethod::Copy)),
            ComingChange::Write => match at.read_state()? {
                PathState::Absent => self.record_appearance(at.path).map_err(Into::into),
                state => self.keep_state(at, state, NeededPart::Image(KeepMethod::Copy)),
            },
            ComingChange::Remove => self.record_removal(at),
            ComingChange::Meta => self.keep_before_change(at, NeededPart::Meta),
            ComingChange::Times => self.keep_before_change(at, NeededPart::Hash),
            ComingChange::Create => self.record_creation(at).map(drop),
            ComingChange::MakeDirectory => {
                if self.record_creation(at)? {
                    self.writer.append(&ManifestRecord::Made { path: at.path.to_owned() })?;
                    self.names.make(at.path);
                    self.directory = None;
                }
                Ok(())
            }
            ComingChange::Link(to) => {
                self.keep_before_change(at, NeededPart::Meta)?;
                self.record_creation(to).map(drop)
            }
            ComingChange::Rename(to) => self.record_rename(at, to, false),
            ComingChange::Swap(with) => self.record_rename(at, with, true),
        }
    }

    fn record_removal(&mut self, at: RoutedPath<'_>) -> Result<(), JournalError> {
        if self.by_id.is_empty() && self.earlier_entry(at.path).is_none() {
            return Ok(());
        }
        let state = at.read_state()?;
        self.note_going(at.path, state.id());
        self.keep_state(at, state, self.need_of_removal())
    }

    /// Returns the part of a file that an undo or a receipt needs before a name of the file is removed.
    fn need_of_removal(&self) -> NeededPart {
        if self.header.purpose == ManifestPurpose::Receipt {
            NeededPart::Absence
        } else {
            NeededPart::Image(KeepMethod::Link)
        }
    }

    /// Records that a thing may appear. Returns whether nothing is there.
    fn record_creation(&mut self, at: RoutedPath<'_>) -> Result<bool, JournalError> {
        if !at.read_state()?.is_absent() {
            return Ok(false);
        }
        self.record_appearance(at.path)?;
        Ok(true)
    }

    /// Records that nothing is at a path.
    fn record_appearance(&mut self, path: &Path) -> io::Result<()> {
        if self.names.is_moved(path) {
            self.note_gone(path)?;
        }
        let entry = self.unrecorded_entry(path);
        entry.map_or(Ok(()), |entry| self.write_before(entry, PathState::Absent))
    }

    fn record_rename(&mut self, from: RoutedPath<'_>, to: RoutedPath<'_>, swap: bool) -> Result<(), JournalError> {
        let (state, over) = (from.read_state()?, to.read_state()?);
        let Some(id) = state.id().filter(|id| over.id() != Some(*id)) else { return Ok(()) };
        self.note_coming(to.path);
        if swap {
            self.note_coming(from.path);
        } else {
            self.note_going(from.path, Some(id));
        }
        let (directory, swap) = (state.is_directory(), swap.then(|| over.is_directory()));
        // Two files of one size differ only in their contents.
        let is_alike =
            state.size().is_some() && state.size() == over.size() && self.header.purpose == ManifestPurpose::Receipt;
        let need = match swap {
            _ if is_alike => NeededPart::Hash,
            Some(_) => NeededPart::Name,
            None => self.need_of_removal(),
        };
        let first = self.keep_state(from, state, NeededPart::Name);
        let second = match over {
            PathState::Absent => self.record_appearance(to.path).map_err(Into::into),
            over => self.keep_state(to, over, need),
        };
        let moving = RecordedRename { from: from.path.to_owned(), to: to.path.to_owned(), id, directory, swap };
        self.writer.append(&ManifestRecord::Moving(moving.clone()))?;
        self.pending.retain(|earlier| !moving.replaces(earlier));
        self.pending.push(moving);
        self.drop_failed_renames();
        first.and(second)
    }

    /// Records the thing at a path, if it existed before the run.
    fn keep_before_change(&mut self, at: RoutedPath<'_>, need: NeededPart) -> Result<(), JournalError> {
        // No other name can belong to an earlier file.
        if self.by_id.is_empty() && self.unrecorded_entry(at.path).is_none() {
            return Ok(());
        }
        let state = at.read_state()?;
        self.keep_state(at, state, need)
    }

    fn keep_state(&mut self, at: RoutedPath<'_>, state: PathState, need: NeededPart) -> Result<(), JournalError> {
        let entry = self.unrecorded_entry(at.path);
        let PathState::File(file) = &state else {
            let has_contents = matches!(need, NeededPart::Hash | NeededPart::Image(KeepMethod::Copy));
            let entry = entry.filter(|_| !state.is_absent() && !has_contents);
            return entry.map_or(Ok(()), |entry| self.write_before(entry, state)).map_err(Into::into);
        };
        let known = self.first_recorded_state(at, file);
        // A kept file is recognised by the time it had before the run, which another name of it cannot have.
        let is_dated = known.as_ref().is_some_and(|known| known.mtime != file.mtime);
        let need = match need {
            NeededPart::Image(KeepMethod::Link) if entry.is_none() && self.is_surplus_name(at, known.as_ref()) => {
                NeededPart::Name
            }
            NeededPart::Image(KeepMethod::Link) if is_dated => NeededPart::Image(KeepMethod::Copy),
            need => need,
        };
        let is_of_before = entry.is_some() || known.is_some();
        let kept = if is_of_before {
            self.keep_contents(at, known.as_ref().unwrap_or(file), need)
        } else {
            Ok(KnownContents::Untouched)
        };
        let contents = match &kept {
            Ok(contents) => contents.clone(),
            Err(why) => KnownContents::Nothing { why: why.to_string() },
        };
        if let Some(known) = &known {
            self.update_kept_contents(known.meta.id, &contents)?;
        }
        let file = FileState { contents, ..known.unwrap_or_else(|| file.clone()) };
        // The names of a new file are all new, and recorded.
        if is_of_before
            && need.concerns_all_names(&file.contents)
            && let Some(held) = self.images.hold_all_names(at, &file)
        {
            self.write_before(held, PathState::File(file.clone()))?;
        }
        if let Some(entry) = entry {
            self.write_before(entry, PathState::File(file))?;
        }
        kept.map(drop).map_err(Into::into)
    }

    /// Returns whether a name is removed that the run has given to an earlier file, which still has an earlier name.
    /// Such a file loses nothing, so nothing is kept.
    fn is_surplus_name(&self, at: RoutedPath<'_>, known: Option<&FileState>) -> bool {
        let Some(known) = known else { return false };
        let is_of_before = |path: &Path| {
            let now = self.names.current_slot(path);
            now.is_some_and(|now| {
                now != at.path && read_state_roughly(&now).is_ok_and(|state| state.id() == Some(known.meta.id))
            })
        };
        let places = self.by_id.get(&known.meta.id).into_iter().flatten();
        let is_new = self
            .names
            .earlier_path_of_entry(at.path)
            .is_none_or(|entry| self.before.get(&entry) == Some(&PathState::Absent));
        is_new && places.filter(|path| !is_within(path, self.store.path())).any(|path| is_of_before(path))
    }

    /// Returns the file as it was first recorded, if that was under another name, or before this change.
    fn first_recorded_state(&self, at: RoutedPath<'_>, file: &FileState) -> Option<FileState> {
        let first = self.by_id.get(&file.meta.id)?.first()?;
        let is_unwritten = |known: &FileState| match known.contents {
            // A program may have set the time.
            KnownContents::Hash(hash)
                if self.header.purpose != ManifestPurpose::Receipt && !known.is_unwritten(file) =>
            {
                known.size == file.size && path_lookup::hash_file(at.reach).is_ok_and(|found| found == hash)
            }
            // Receipts keep no contents to compare. A recycled inode has one link, so two links on both sides mean the
            // same file.
            _ if self.header.purpose == ManifestPurpose::Receipt && known.links > 1 && file.links > 1 => true,
            _ => known.is_unwritten(file),
        };
        match self.before.get(first)? {
            // A file whose contents are lost may by now be another file with the same inode.
            PathState::File(known) if matches!(known.contents, KnownContents::Image(_)) || is_unwritten(known) => {
                Some(known.clone())
            }
            _ => None,
        }
    }

    fn keep_contents(
        &mut self,
        at: RoutedPath<'_>,
        file: &FileState,
        need: NeededPart,
    ) -> Result<KnownContents, KeepError> {
        let need = match need {
            NeededPart::Image(KeepMethod::Link) if self.header.purpose == ManifestPurpose::Receipt => NeededPart::Meta,
            NeededPart::Image(KeepMethod::Copy) if self.header.purpose == ManifestPurpose::Receipt => NeededPart::Hash,
            need => need,
        };
        match (need, &file.contents) {
            (NeededPart::Hash, KnownContents::Untouched) => {
                Ok(path_lookup::hash_file(at.reach).map_or(KnownContents::Untouched, KnownContents::Hash))
            }
            (NeededPart::Absence, KnownContents::Untouched) if file.links < 2 => Ok(KnownContents::Removed),
            (NeededPart::Image(way), KnownContents::Untouched | KnownContents::Hash(_)) => {
                self.images.keep(at, file, way)
            }
            (NeededPart::Hash | NeededPart::Image(_), KnownContents::Nothing { why }) => {
                Err(KeepError::Before(why.clone()))
            }
            (NeededPart::Image(way), KnownContents::Image(_)) if !self.images.is_kept_for(file.meta.id, way) => {
                self.images.keep(at, file, way)
            }
            // All names of a file share its time.
            (NeededPart::Hash, KnownContents::Image(_)) if !self.images.is_kept_for(file.meta.id, KeepMethod::Copy) => {
                self.images.keep(at, file, KeepMethod::Copy)
            }
            (_, contents) => Ok(contents.clone()),
        }
    }

    /// Gives contents that were kept later to all names of their file.
    fn update_kept_contents(&mut self, id: FileIdentity, contents: &KnownContents) -> io::Result<()> {
        if *contents == KnownContents::Untouched {
            return Ok(());
        }
        self.write_new_places()?;
        for path in self.by_id.get(&id).cloned().unwrap_or_default() {
            let Some(PathState::File(file)) = self.before.get_mut(&path) else { continue };
            if file.contents.is_weaker(contents) {
                file.contents = contents.clone();
                self.writer.append(&ManifestRecord::Kept { path, contents: contents.clone() })?;
            }
        }
        Ok(())
    }

    fn write_before(&mut self, path: PathBuf, state: PathState) -> io::Result<()> {
        self.write_new_places()?;
        let record = ManifestRecord::Before { path, state };
        self.writer.append(&record)?;
        if let ManifestRecord::Before { path, state } = record {
            self.remember_before(path, state);
        }
        Ok(())
    }

    fn write_new_places(&mut self) -> io::Result<()> {
        for (at, path) in self.images.places().enumerate().skip(self.places) {
            let number = u16::try_from(at + 1).map_err(io::Error::other)?;
            self.writer.append(&ManifestRecord::Place { number, path: path.to_owned() })?;
            self.places = at + 1;
        }
        Ok(())
    }

    fn remember_before(&mut self, path: PathBuf, state: PathState) {
        if let PathState::File(file) = &state {
            self.by_id.entry(file.meta.id).or_insert_with(|| Vec::with_capacity(1)).push(path.clone());
        }
        self.before.insert(path, state);
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
