//! The end of a record: the state that the run left.

use std::borrow::Cow;
use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::fcntl::AT_FDCWD;

use super::ChangeJournal;
use super::thing_owner::ThingOwner;
use crate::manifest::{CoverageExtent, ManifestEnd, ManifestPurpose, ManifestRecord};
use crate::path_lookup::{self, LinkFreePaths, read_state, read_state_roughly};
use crate::path_map::{PathMap, is_within};
use crate::path_state::{FileIdentity, FileState, FileTime, KnownContents, PathState};
use crate::run_images::{StoredSize, cost_of};
use crate::side_by_side::side_by_side;
use crate::store::{PointSummary, UndoStoreError};

/// A directory that the run made, at its end.
enum MadeDirectory {
    Gone,
    /// Another file system begins there.
    Mount,
    Read {
        inode: Option<u64>,
        entries: Vec<(PathBuf, PathState)>,
    },
}

impl ChangeJournal {
    /// Records which moved directories were removed afterwards.
    fn confirm_gone(&mut self) -> io::Result<()> {
        let moved: Vec<_> =
            self.names.moved_directories().map(|(before, now)| (before.to_owned(), now.to_owned())).collect();
        for (before, path) in moved {
            let id = self.before.get(&before).and_then(PathState::id);
            let state = read_state(&path)?;
            // A new file may have the inode of the directory.
            if state.id() != id || !state.is_directory() {
                self.note_gone(&path)?;
            }
        }
        Ok(())
    }

    /// Records that a moved directory was removed.
    pub(super) fn note_gone(&mut self, path: &Path) -> io::Result<()> {
        self.names.remove(path);
        self.directory = None;
        self.writer.append(&ManifestRecord::Gone { path: path.to_owned() })
    }

    /// Records the state that the run left, and ends the record. `not_covered` are sentences about effects beyond
    /// files.
    ///
    /// # Errors
    /// If something cannot be read or written. The record has no end then.
    pub fn finish(mut self, not_covered: Vec<String>) -> Result<ManifestEnd, UndoStoreError> {
        let path = self.store.path().to_owned();
        let end = self.write_end(not_covered).map_err(|source| UndoStoreError::System { path, source })?;
        // A receipt is read once, and is in no list.
        if self.header.purpose != ManifestPurpose::Receipt {
            let StoredSize { bytes, cost } = self.images.size();
            let size = StoredSize { bytes, cost: cost.saturating_add(cost_of(self.writer.length().unwrap_or(0))) };
            // The record is whole without a line in the index, and gets one at the next stocktaking.
            let _listed_later =
                self.store.add_summary(&PointSummary::of(&self.header, Some(&end), size, self.before.len()));
        }
        Ok(end)
    }

    fn write_end(&mut self, mut not_covered: Vec<String>) -> io::Result<ManifestEnd> {
        self.confirm_renames()?;
        self.confirm_gone()?;
        let now = FileTime::now();
        self.write_states_after_run(now)?;
        let mut plain = LinkFreePaths::default();
        let lost = self.before.iter().filter(|(path, state)| self.is_lost(path, state, &mut plain)).count();
        not_covered.extend(self.header.beyond());
        let is_all = self.missed + lost == 0 && !self.header.is_snapshot();
        let extent = if is_all { CoverageExtent::All } else { CoverageExtent::Part };
        let at = u64::try_from(now.seconds * 1000 + now.nanoseconds / 1_000_000).unwrap_or(0);
        let end = ManifestEnd { at, bytes: self.images.size().bytes, extent, not_covered };
        self.writer.append(&ManifestRecord::End(end.clone()))?;
        Ok(end)
    }

    /// Returns whether the contents of a file are not kept, and the file has changed. A refused change does not count.
    fn is_lost(&self, path: &Path, state: &PathState, plain: &mut LinkFreePaths) -> bool {
        let PathState::File(before) = state else { return false };
        if !matches!(before.contents, KnownContents::Nothing { .. }) {
            return false;
        }
        let after = self.names.current_slot(path).and_then(|now| plain.read_state(&now).ok());
        let is_same = matches!(after, Some(PathState::File(after)) if before.is_untouched(&after));
        !is_same
    }

    /// Returns whether the hash of an earlier file is recorded.
    fn has_hash(&self, id: FileIdentity) -> bool {
        let first = self.by_id.get(&id).and_then(|paths| self.before.get(paths.first()?));
        matches!(first, Some(PathState::File(FileState { contents: KnownContents::Hash(_), .. })))
    }

    /// Records the current state of every touched place and of everything in new directories, by the current path.
    fn write_states_after_run(&mut self, now: FileTime) -> io::Result<()> {
        let mut walked = PathMap::new();
        let left = self.read_touched_places()?;
        for path in self.removed_by_others(&left) {
            self.writer.queue(&ManifestRecord::Others { path })?;
        }
        for (path, state) in left {
            // The walk through a new directory above has read it.
            if path.parent().is_some_and(|directory| walked.contains_key(directory)) {
                continue;
            }
            if state.is_directory() && self.names.is_made(&path) {
                self.write_below(&path, &mut walked, now)?;
            }
            self.write_state_after_run(path, state, now, None)?;
        }
        Ok(())
    }

    /// Returns the touched places from which other programs have removed a thing.
    fn removed_by_others(&self, left: &[(PathBuf, PathState)]) -> Vec<PathBuf> {
        let is_there = |path: &Path| left.binary_search_by(|(at, _)| at.as_os_str().cmp(path.as_os_str())).is_ok();
        let is_kept = |path: &Path| {
            is_within(path, self.store.path()) || self.images.places().any(|place| is_within(path, place))
        };
        let gone = self.before.iter().filter(|(entry, state)| self.is_removed_by_others(entry, state));
        let places = gone.filter_map(|(entry, _)| self.names.current_slot(entry));
        places.filter(|path| !is_there(path) && !is_kept(path)).map(Cow::into_owned).collect()
    }

    /// Returns what is at the touched places, a directory before everything in it.
    fn read_touched_places(&self) -> io::Result<Vec<(PathBuf, PathState)>> {
        let entries = self.before.keys().filter_map(|path| self.names.current_slot(path));
        let moved = self.names.moved_directories().map(|(_, now)| now);
        let mut places: Vec<Cow<'_, Path>> =
            entries.chain(moved.chain(self.names.made_directories()).map(Cow::from)).collect();
        // Most are in order.
        places.sort_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
        places.dedup();
        let mut plain = LinkFreePaths::default();
        let looked = places.into_iter().map(|path| plain.read_state(&path).map(|state| (path, state)));
        let there = looked.filter(|looked| !matches!(looked, Ok((_, PathState::Absent))));
        there.map(|looked| looked.map(|(path, state)| (path.into_owned(), state))).collect()
    }

    /// Records everything below a new directory, and adds the directories that were read to `walked`. Those in which
    /// something is mounted are not read.
    fn write_below(&mut self, directory: &Path, walked: &mut PathMap<()>, now: FileTime) -> io::Result<()> {
        /// Directories whose entries are held until they are recorded.
        const PART: usize = 256;
        let mut directories = vec![directory.to_owned()];
        while !directories.is_empty() {
            let part = directories.split_off(directories.len().saturating_sub(PART));
            let read = side_by_side(&part, |directory| self.read_made_directory(directory));
            for (directory, read) in part.into_iter().zip(read) {
                match read? {
                    MadeDirectory::Gone => continue,
                    MadeDirectory::Mount => {
                        self.record_gap(&directory, "another file system is mounted there")?;
                        continue;
                    }
                    MadeDirectory::Read { inode, entries } => {
                        for (path, state) in entries {
                            if state.is_directory() && !self.names.is_moved(&path) {
                                directories.push(path.clone());
                            }
                            self.write_state_after_run(path, state, now, inode)?;
                        }
                    }
                }
                walked.insert(directory, ());
            }
        }
        Ok(())
    }

    /// Reads the things in a directory that the run made.
    fn read_made_directory(&self, directory: &Path) -> io::Result<MadeDirectory> {
        if is_mount(directory) {
            return Ok(MadeDirectory::Mount);
        }
        let opened = sys::open_real_directory(directory);
        let opened = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(MadeDirectory::Gone),
            opened => opened?,
        };
        let entries = fs::read_dir(sys::path_in(&opened, OsStr::new(".")))?;
        let inode = read_state_roughly(directory)?.id().map(|id| id.inode);
        let read = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            Ok((directory.join(entry.file_name()), self.read_below_made(&sys::path_in(&opened, &entry.file_name()))?))
        };
        Ok(MadeDirectory::Read { inode, entries: entries.map(read).collect::<io::Result<_>>()? })
    }

    /// Records the thing at a path, if it is the run's. `directory` is the inode of its directory, if the run made
    /// that.
    fn write_state_after_run(
        &mut self,
        path: PathBuf,
        state: PathState,
        now: FileTime,
        directory: Option<u64>,
    ) -> io::Result<()> {
        if state.is_absent() {
            return Ok(());
        }
        let whose = self.owner_of(&path, &state, directory);
        if whose != ThingOwner::Own {
            self.writer.queue(&ManifestRecord::Others { path: path.clone() })?;
        }
        if whose == ThingOwner::Others {
            return Ok(());
        }
        let state = self.with_contents(&path, state, now);
        // These records are worthless without an end.
        self.writer.queue(&ManifestRecord::After { path, state })
    }

    /// Reads a thing in a directory that the run made. A receipt has nothing to compare with a new file.
    fn read_below_made(&self, path: &Path) -> io::Result<PathState> {
        if self.header.purpose == ManifestPurpose::Receipt
            && let state @ PathState::File(_) = read_state_roughly(path)?
            && state.id().is_some_and(|id| !self.by_id.contains_key(&id))
        {
            return Ok(state);
        }
        read_state(path)
    }

    /// Adds a hash or image of a file's contents where size and time cannot tell them from later or earlier contents.
    fn with_contents(&mut self, path: &Path, mut state: PathState, now: FileTime) -> PathState {
        let PathState::File(file) = &mut state else { return state };
        let entry = self.earlier_entry(path);
        let before = entry.and_then(|entry| self.before.get(&entry));
        // A program can set the modification time back, but not the time of the last change.
        let is_kept = |before: &FileState| matches!(before.contents, KnownContents::Image(_));
        let is_untouched =
            |before: &FileState| if is_kept(before) { before.is_untouched(file) } else { before.is_unwritten(file) };
        match before {
            Some(PathState::File(before)) if is_untouched(before) && is_kept(before) => {
                file.contents = before.contents.clone();
            }
            Some(PathState::File(before)) if before.size == file.size && !is_untouched(before) => match before.contents
            {
                KnownContents::Image(id)
                    if path_lookup::has_equal_contents(&self.images.path(id), path).unwrap_or(false) =>
                {
                    file.contents = KnownContents::Image(id);
                }
                _ => file.contents = path_lookup::hash_file(path).map_or(KnownContents::Untouched, KnownContents::Hash),
            },
            // A later change in the same tick of the clock has the same time. A moved file whose times the run has
            // changed is known by its contents. Both matter to an undo only.
            _ if (file.ctime.is_recent(now) || self.has_hash(file.meta.id))
                && self.header.purpose != ManifestPurpose::Receipt =>
            {
                file.contents = path_lookup::hash_file(path).map_or(KnownContents::Untouched, KnownContents::Hash);
            }
            _ => {}
        }
        state
    }
}

/// Returns whether a mount begins at a path.
fn is_mount(path: &Path) -> bool {
    let path = CString::new(path.as_os_str().as_bytes());
    path.is_ok_and(|path| sys::is_mount_point(AT_FDCWD, &path) == Ok(true))
}
