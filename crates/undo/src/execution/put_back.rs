//! Puts an earlier thing back under its name, atomically. A kept file goes back itself: the store keeps no name of it.
//! Another thing is made beside the name, and renamed over it.
//!
//! The file itself goes back wherever it can: a copy takes time and room, has another inode, and would part the file
//! from its other names. A file that has other names is rewritten in place, for the same reason.

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::sys::stat::{Mode, SFlag, mknod};

use super::kept_image::KeptImage;
use super::metadata;
use super::open_route::OpenRoute;
use super::step_failure::StepFailure;
use super::undo_executor::{UndoExecutor, remove_if_there};
use crate::change_journal::ComingChange;
use crate::manifest::ManifestRecord;
use crate::path_lookup::{self, RoutedPath, read_state};
use crate::path_state::{FileState, FileTime, PathState};
use crate::plan::CurrentTree;
use crate::plan::git_repositories::{is_git_index, is_locked_by_git};
use crate::run_images::{copy_file, set_mtime};

impl UndoExecutor<'_> {
    /// Puts a thing that is no directory in the place of the current thing.
    pub(super) fn restore(
        &mut self,
        at: RoutedPath<'_>,
        before: &PathState,
        now: &PathState,
    ) -> Result<(), StepFailure> {
        if !self.is_unchanged(at.reach, now) {
            // Another name of the same file may have been restored.
            let current = read_state(at.reach)?;
            let same = current.id() == before.id() && self.tree.is_recorded_state(before, at.reach, &current);
            return if same { Ok(()) } else { Err(StepFailure::Changed) };
        }
        if let (PathState::File(was), PathState::File(current)) = (before, now)
            && was.links > 1
            && was.meta.id == current.meta.id
        {
            return self.rewrite_in_place(at, was);
        }
        if let PathState::File(file) = before
            && self.return_kept_file(at, file, now)?
        {
            return Ok(());
        }
        let next = self.temporary_path(at);
        self.offer_stop("clear")?;
        remove_if_there(&next)?;
        self.offer_stop("make")?;
        self.make_thing(&next, before)?;
        let made = read_state(&next)?;
        self.offer_stop("meta")?;
        if !made.id().is_some_and(|id| self.contested.contains(&id)) {
            metadata::apply_metadata(&next, &made, before.meta().ok_or(StepFailure::Changed)?)?;
        }
        match before {
            PathState::File(file) if Some(file.meta.id) == made.id() => {}
            PathState::File(file) => set_mtime(&next, returned_time(at.path, file))?,
            _ => set_mtime(&next, FileTime::now())?,
        }
        let lock = self.lock_git(at)?;
        self.offer_stop("touch")?;
        let change = if now.is_absent() { ComingChange::Create } else { ComingChange::Remove };
        self.record_change(at, change)?;
        if !self.is_unchanged(at.reach, now) {
            remove_if_there(&next)?;
            self.unlock_git(lock)?;
            return Err(StepFailure::Changed);
        }
        self.offer_stop("rename")?;
        rename_into_place(&next, at.reach, now)?;
        self.offer_stop("renamed")?;
        // A rename over another name of the same file does nothing.
        remove_if_there(&next)?;
        self.unlock_git(lock)?;
        if let PathState::File(file) = before
            && file.links > 1
        {
            self.linked.insert(file.meta.id, at.path.to_owned());
        }
        Ok(())
    }

    /// Makes the thing under another name.
    fn make_thing(&mut self, next: &Path, before: &PathState) -> Result<(), StepFailure> {
        match before {
            PathState::File(file) => self.make_file(next, file),
            PathState::Link { target, .. } => Ok(symlink(target, next)?),
            PathState::Other { kind, device, .. } => {
                let kind = SFlag::from_bits_truncate(*kind as _);
                mknod(next, kind, Mode::from_bits_truncate(0o600), *device as _).map_err(io::Error::from)?;
                Ok(())
            }
            PathState::Absent | PathState::Directory(_) => Err(StepFailure::Changed),
        }
    }

    fn make_file(&mut self, next: &Path, file: &FileState) -> Result<(), StepFailure> {
        if let Some(other) = self.other_name(file)
            && fs::hard_link(other.as_routed_path().reach, next).is_ok()
        {
            return Ok(());
        }
        let image = self.tree.kept_image(file).ok_or(StepFailure::Gone)?;
        self.offer_stop("copy")?;
        Ok(copy_file(&image.path, next)?)
    }

    /// Returns whether a kept file can be put back itself: only this store has names of it, or it had several names.
    fn is_free(&self, file: &FileState, image: &KeptImage) -> bool {
        image.linked && (file.links > 1 || image.file.links <= 1 + self.journal_names_of(file.meta.id))
    }

    /// Gives a kept file that is put back itself its mode, its owner and its time.
    fn refresh_metadata(&mut self, at: RoutedPath<'_>, file: &FileState, image: &KeptImage) -> Result<(), StepFailure> {
        if self.contested.contains(&file.meta.id) {
            return Ok(());
        }
        let now = returned_time(at.path, file);
        self.offer_stop("date")?;
        self.tree.note_returned_time(&image.file, now)?;
        self.offer_stop("set date")?;
        set_mtime(&image.path, now)?;
        if !image.file.meta.has_same_metadata(&file.meta) {
            self.offer_stop("refresh")?;
            metadata::apply_metadata(&image.path, &PathState::File(image.file.clone()), &file.meta)?;
        }
        Ok(())
    }

    /// Puts a kept file itself back, in the place of the current thing. Returns whether that was possible.
    fn return_kept_file(&mut self, at: RoutedPath<'_>, file: &FileState, now: &PathState) -> Result<bool, StepFailure> {
        if self.other_name(file).is_some() {
            return Ok(false);
        }
        let image = self.tree.kept_image(file).ok_or(StepFailure::Gone)?;
        if !self.is_free(file, &image) {
            return Ok(false);
        }
        self.refresh_metadata(at, file, &image)?;
        let lock = self.lock_git(at)?;
        self.offer_stop("touch")?;
        let (is_vacant, change) =
            (now.is_absent(), if now.is_absent() { ComingChange::Create } else { ComingChange::Remove });
        self.record_change(RoutedPath { is_vacant, ..at }, change)?;
        self.offer_stop("rename")?;
        let put = if is_vacant || self.is_unchanged(at.reach, now) {
            rename_into_place(&image.path, at.reach, now)
        } else {
            Err(StepFailure::Changed)
        };
        if put.is_ok() {
            self.offer_stop("renamed")?;
            self.altered.insert(file.meta.id);
            self.linked.insert(file.meta.id, at.path.to_owned());
        }
        self.unlock_git(lock)?;
        match put {
            Ok(()) => Ok(true),
            Err(StepFailure::Changed) => Err(StepFailure::Changed),
            // Another mount may be there by now.
            Err(_) => Ok(false),
        }
    }

    /// Returns another name of the same file, which is as it was.
    fn other_name(&self, file: &FileState) -> Option<OpenRoute> {
        if file.links < 2 {
            return None;
        }
        let id = file.meta.id;
        let restored = self.linked.get(&id).cloned();
        let names = self.names_of.get(&id).into_iter().flatten();
        restored.into_iter().chain(names.map(|path| self.point.names.current_entry(path))).find_map(|path| {
            let way = OpenRoute::open(&path).ok()?;
            let now = read_state(way.as_routed_path().reach).ok()?;
            let restored = self.linked.get(&id) == Some(&path);
            let is_original =
                || self.tree.is_recorded_state(&PathState::File(file.clone()), way.as_routed_path().reach, &now);
            let is_it = restored || now.id() == Some(id) && is_original();
            (is_it && matches!(now, PathState::File(_))).then_some(way)
        })
    }

    /// Writes the earlier contents into a file that has other names, all of which keep naming it.
    fn rewrite_in_place(&mut self, at: RoutedPath<'_>, was: &FileState) -> Result<(), StepFailure> {
        let image = self.tree.kept_image(was).ok_or(StepFailure::Gone)?;
        if image.linked {
            return Err(StepFailure::Gone);
        }
        self.offer_stop("touch")?;
        self.record_change(at, ComingChange::Rewrite)?;
        self.append_record(&ManifestRecord::Writing { path: at.path.to_owned(), id: was.meta.id })?;
        self.altered.insert(was.meta.id);
        self.offer_stop("open")?;
        let mut from = path_lookup::open_file(&image.path)?;
        let mut to =
            fs::File::options().write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(at.reach)?;
        to.seek(SeekFrom::Start(0))?;
        self.offer_stop("write")?;
        io::copy(&mut from, &mut to)?;
        self.offer_stop("cut")?;
        to.set_len(was.size)?;
        to.flush()?;
        self.offer_stop("meta")?;
        let now = read_state(at.reach)?;
        metadata::apply_metadata(at.reach, &now, &was.meta)?;
        // Other records know the file with its earlier time.
        let PathState::File(now) = now else { return Err(StepFailure::Changed) };
        Ok(self.tree.note_rewritten_time(was, now.mtime)?)
    }

    /// Takes git's own lock on a file in its directory, as git would.
    pub(super) fn lock_git(&mut self, at: RoutedPath<'_>) -> Result<Option<PathBuf>, StepFailure> {
        let (true, Some(parent), Some(name)) = (is_locked_by_git(at.path), at.path.parent(), at.path.file_name())
        else {
            return Ok(None);
        };
        let mut name = name.to_owned();
        name.push(".lock");
        let (lock, next) = (at.reach.with_file_name(&name), self.temporary_lock_path(at));
        remove_if_there(&next)?;
        let file = fs::File::options().write(true).create_new(true).mode(0o600).open(&next)?;
        let id = read_state(&next)?.id().ok_or(StepFailure::Changed)?;
        drop(file);
        self.append_record(&ManifestRecord::Writing { path: parent.join(name), id })?;
        self.offer_stop("lock")?;
        let linked = fs::hard_link(&next, &lock);
        remove_if_there(&next)?;
        match linked {
            Ok(()) => Ok(Some(lock)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(StepFailure::GitAtWork),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn unlock_git(&mut self, lock: Option<PathBuf>) -> Result<(), StepFailure> {
        let Some(lock) = lock else { return Ok(()) };
        self.offer_stop("unlock")?;
        Ok(remove_if_there(&lock)?)
    }
}

/// Moves a thing to its place, where `over` is now. Where nothing is now, nothing is replaced.
pub(super) fn rename_into_place(from: &Path, to: &Path, over: &PathState) -> Result<(), StepFailure> {
    if !over.is_absent() {
        return Ok(fs::rename(from, to)?);
    }
    match sys::rename_new(from, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(StepFailure::Changed),
        put => Ok(put?),
    }
}

/// Returns the time for a file that comes back: now, since an old time would deceive make. An index gets its old time,
/// or git would trust its entries about files that changed in the same moment.
fn returned_time(path: &Path, file: &FileState) -> FileTime {
    if is_git_index(path) { file.mtime } else { FileTime::now() }
}
