//! Takes the steps of a plan. Each is recorded before it happens, and checked once more just before.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::open_route::OpenRoute;
use super::outcome::{ReportedConflict, UndoError};
use super::put_back::rename_into_place;
use super::step_failure::StepFailure;
use super::undo_executor::UndoExecutor;
use super::{conflict_copies, metadata};
use crate::change_journal::ComingChange;
use crate::manifest::ManifestRecord;
use crate::path_lookup::{RoutedPath, read_state};
use crate::path_state::{FileIdentity, FileMeta, PathState};
use crate::plan::{CurrentTree, UndoStep};

impl UndoExecutor<'_> {
    /// Takes a step. A failure is a conflict.
    ///
    /// # Errors
    /// If a test stops the undo.
    pub fn take_step(&mut self, step: &UndoStep) -> Result<(), UndoError> {
        let path = step.path();
        match (self.take_routed_step(step), step) {
            (Err(StepFailure::Stopped), _) => return Err(UndoError::Stopped),
            (Err(trouble), _) => {
                let kept_at = match step {
                    UndoStep::Move { from, .. } => Some(from.clone()),
                    UndoStep::Restore { state_before: before, .. } => self.keep_for_conflict(path, before),
                    _ => None,
                };
                self.undone.conflicts.push(ReportedConflict {
                    path: path.to_owned(),
                    why: trouble.to_string(),
                    kept_at,
                });
            }
            (Ok(()), UndoStep::Remove { shown, .. } | UndoStep::RemoveDirectory { shown, .. }) => {
                self.undone.removed.push(shown.clone());
            }
            (Ok(()), UndoStep::Move { is_final: false, .. }) => {}
            (Ok(()), _) => self.undone.restored.push(path.to_owned()),
        }
        Ok(())
    }

    /// Takes a step below open directories: a process that the run left may put a link into a path at any time.
    fn take_routed_step(&mut self, step: &UndoStep) -> Result<(), StepFailure> {
        // Files of one directory follow each other.
        let is_restored = matches!(step, UndoStep::Restore { .. });
        let known = self.last.take().filter(|_| is_restored).and_then(|last| last.sibling(step.path()));
        let way = known.map_or_else(|| OpenRoute::open(step.path()), Ok)?;
        let taken = self.take_step_at(step, way.as_routed_path());
        self.last = is_restored.then_some(way);
        taken
    }

    fn take_step_at(&mut self, step: &UndoStep, at: RoutedPath<'_>) -> Result<(), StepFailure> {
        match step {
            UndoStep::Remove { state_after_run: now, .. } => self.remove(at, now),
            UndoStep::RemoveDirectory { state_after_run: now, .. } => self.remove_directory(at, now),
            UndoStep::Move { from, id, replaced: over, .. } => {
                self.rename(OpenRoute::open(from)?.as_routed_path(), at, *id, over)
            }
            UndoStep::MakeDirectory { state_before: before, .. } => self.make_directory(at, before),
            UndoStep::Restore { state_before: before, state_now: now, .. } => self.restore(at, before, now),
            UndoStep::SetMeta { state_before: before, .. } => self.set_meta(at, before),
        }
    }

    fn keep_for_conflict(&self, path: &Path, before: &PathState) -> Option<PathBuf> {
        conflict_copies::copy_earlier_state(self.store(), self.point, self.tree, path, before)
    }

    fn remove(&mut self, at: RoutedPath<'_>, left: &PathState) -> Result<(), StepFailure> {
        let now = read_state(at.reach)?;
        let same = self.tree.is_recorded_state(left, at.reach, &now) || self.is_altered(&now) && now.id() == left.id();
        if now.is_directory() || !same && !self.tree.is_half_undone(at.path, &now) {
            return Err(StepFailure::Changed);
        }
        let lock = self.lock_git(at)?;
        self.offer_stop("touch")?;
        self.record_change(at, ComingChange::Remove)?;
        self.offer_stop("unlink")?;
        fs::remove_file(at.reach)?;
        self.unlock_git(lock)
    }

    fn remove_directory(&mut self, at: RoutedPath<'_>, left: &PathState) -> Result<(), StepFailure> {
        let now = read_state(at.reach)?;
        if !now.is_alike(left) {
            return Err(StepFailure::Changed);
        }
        self.offer_stop("touch")?;
        self.record_change(at, ComingChange::Remove)?;
        self.offer_stop("rmdir")?;
        Ok(fs::remove_dir(at.reach)?)
    }

    fn rename(
        &mut self,
        from: RoutedPath<'_>,
        to: RoutedPath<'_>,
        id: FileIdentity,
        over: &PathState,
    ) -> Result<(), StepFailure> {
        if read_state(from.reach)?.id() != Some(id) || !self.is_unchanged(to.reach, over) {
            return Err(StepFailure::Changed);
        }
        self.offer_stop("touch")?;
        self.record_change(from, ComingChange::Rename(to))?;
        self.offer_stop("rename")?;
        rename_into_place(from.reach, to.reach, over)
    }

    fn make_directory(&mut self, at: RoutedPath<'_>, before: &PathState) -> Result<(), StepFailure> {
        let Some(wanted) = before.meta().filter(|_| read_state(at.reach).is_ok_and(|now| now.is_absent())) else {
            return Err(StepFailure::Changed);
        };
        let next = self.temporary_path(at);
        self.offer_stop("make")?;
        match DirBuilder::new().mode(0o700).create(&next) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
        let made = read_state(&next)?;
        let id = made.id().ok_or(StepFailure::Changed)?;
        // Things are put into it before it gets a mode that forbids that.
        let open = FileMeta { mode: wanted.mode | 0o700, ..wanted.clone() };
        self.offer_stop("meta")?;
        metadata::apply_metadata(&next, &made, &open)?;
        self.append_record(&ManifestRecord::Writing { path: at.path.to_owned(), id })?;
        self.offer_stop("note")?;
        self.tree.note_remade_directory(wanted.id, id)?;
        self.offer_stop("touch")?;
        self.record_change(at, ComingChange::MakeDirectory)?;
        self.offer_stop("rename")?;
        Ok(fs::rename(&next, at.reach)?)
    }

    fn set_meta(&mut self, at: RoutedPath<'_>, before: &PathState) -> Result<(), StepFailure> {
        let now = read_state(at.reach)?;
        let (Some(meta), Some(wanted)) = (now.meta(), before.meta()) else { return Err(StepFailure::Changed) };
        if now.kind() != before.kind() {
            return Err(StepFailure::Changed);
        }
        if meta.has_same_metadata(wanted) {
            return Ok(());
        }
        self.offer_stop("touch")?;
        self.record_change(at, ComingChange::Meta)?;
        if now.has_several_names() {
            self.altered.insert(meta.id);
        }
        if now.has_several_names() || metadata::takes_several_calls(meta, wanted) {
            self.append_record(&ManifestRecord::Writing { path: at.path.to_owned(), id: meta.id })?;
        }
        self.offer_stop("meta")?;
        Ok(metadata::apply_metadata(at.reach, &now, wanted)?)
    }
}
