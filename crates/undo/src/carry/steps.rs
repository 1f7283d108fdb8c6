//! Takes the steps of a plan. Each is recorded before it happens, and checked once more just before.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::carrier::UndoExecutor;
use super::install::put;
use super::trouble::StepFailure;
use super::types::{ReportedConflict, UndoError};
use super::way::OpenRoute;
use super::{kept, meta};
use crate::look::{RoutedPath, look};
use crate::manifest::ManifestRecord;
use crate::node::{FileIdentity, FileMeta, PathState};
use crate::plan::{CurrentTree, UndoStep};
use crate::record::ComingChange;

impl UndoExecutor<'_> {
    /// Takes a step. A failure is a conflict.
    ///
    /// # Errors
    /// If a test stops the undo.
    pub fn carry(&mut self, step: &UndoStep) -> Result<(), UndoError> {
        let path = step.path();
        match (self.take(step), step) {
            (Err(StepFailure::Stopped), _) => return Err(UndoError::Stopped),
            (Err(trouble), _) => {
                let kept_at = match step {
                    UndoStep::Move { from, .. } => Some(from.clone()),
                    UndoStep::Restore { before, .. } => self.kept(path, before),
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
            (Ok(()), UndoStep::Move { home: false, .. }) => {}
            (Ok(()), _) => self.undone.restored.push(path.to_owned()),
        }
        Ok(())
    }

    /// Takes a step below open directories: a process that the run left may put a link into a path at any time.
    fn take(&mut self, step: &UndoStep) -> Result<(), StepFailure> {
        // Files of one directory follow each other.
        let is_restored = matches!(step, UndoStep::Restore { .. });
        let known = self.last.take().filter(|_| is_restored).and_then(|last| last.sibling(step.path()));
        let way = known.map_or_else(|| OpenRoute::to(step.path()), Ok)?;
        let taken = self.take_at(step, way.at());
        self.last = is_restored.then_some(way);
        taken
    }

    fn take_at(&mut self, step: &UndoStep, at: RoutedPath<'_>) -> Result<(), StepFailure> {
        match step {
            UndoStep::Remove { now, .. } => self.remove(at, now),
            UndoStep::RemoveDirectory { now, .. } => self.remove_directory(at, now),
            UndoStep::Move { from, id, over, .. } => self.rename(OpenRoute::to(from)?.at(), at, *id, over),
            UndoStep::MakeDirectory { before, .. } => self.make_directory(at, before),
            UndoStep::Restore { before, now, .. } => self.restore(at, before, now),
            UndoStep::SetMeta { before, .. } => self.set_meta(at, before),
        }
    }

    fn kept(&self, path: &Path, before: &PathState) -> Option<PathBuf> {
        kept::keep(self.store(), self.point, self.tree, path, before)
    }

    fn remove(&mut self, at: RoutedPath<'_>, left: &PathState) -> Result<(), StepFailure> {
        let now = look(at.reach)?;
        let same = self.tree.is_same(left, at.reach, &now) || self.is_altered(&now) && now.id() == left.id();
        if now.is_directory() || !same && !self.tree.is_half_done(at.path, &now) {
            return Err(StepFailure::Changed);
        }
        let lock = self.lock_git(at)?;
        self.stop("touch")?;
        self.touch(at, ComingChange::Remove)?;
        self.stop("unlink")?;
        fs::remove_file(at.reach)?;
        self.unlock_git(lock)
    }

    fn remove_directory(&mut self, at: RoutedPath<'_>, left: &PathState) -> Result<(), StepFailure> {
        let now = look(at.reach)?;
        if !now.is_alike(left) {
            return Err(StepFailure::Changed);
        }
        self.stop("touch")?;
        self.touch(at, ComingChange::Remove)?;
        self.stop("rmdir")?;
        Ok(fs::remove_dir(at.reach)?)
    }

    fn rename(
        &mut self,
        from: RoutedPath<'_>,
        to: RoutedPath<'_>,
        id: FileIdentity,
        over: &PathState,
    ) -> Result<(), StepFailure> {
        if look(from.reach)?.id() != Some(id) || !self.is_unchanged(to.reach, over) {
            return Err(StepFailure::Changed);
        }
        self.stop("touch")?;
        self.touch(from, ComingChange::Rename(to))?;
        self.stop("rename")?;
        put(from.reach, to.reach, over)
    }

    fn make_directory(&mut self, at: RoutedPath<'_>, before: &PathState) -> Result<(), StepFailure> {
        let Some(wanted) = before.meta().filter(|_| look(at.reach).is_ok_and(|now| now.is_absent())) else {
            return Err(StepFailure::Changed);
        };
        let next = self.beside(at);
        self.stop("make")?;
        match DirBuilder::new().mode(0o700).create(&next) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
        let made = look(&next)?;
        let id = made.id().ok_or(StepFailure::Changed)?;
        // Things are put into it before it gets a mode that forbids that.
        let open = FileMeta { mode: wanted.mode | 0o700, ..wanted.clone() };
        self.stop("meta")?;
        meta::set(&next, &made, &open)?;
        self.append(&ManifestRecord::Writing { path: at.path.to_owned(), id })?;
        self.stop("note")?;
        self.tree.note_again(wanted.id, id)?;
        self.stop("touch")?;
        self.touch(at, ComingChange::MakeDirectory)?;
        self.stop("rename")?;
        Ok(fs::rename(&next, at.reach)?)
    }

    fn set_meta(&mut self, at: RoutedPath<'_>, before: &PathState) -> Result<(), StepFailure> {
        let now = look(at.reach)?;
        let (Some(meta), Some(wanted)) = (now.meta(), before.meta()) else { return Err(StepFailure::Changed) };
        if now.kind() != before.kind() {
            return Err(StepFailure::Changed);
        }
        if meta.is_same(wanted) {
            return Ok(());
        }
        self.stop("touch")?;
        self.touch(at, ComingChange::Meta)?;
        if now.has_names() {
            self.altered.insert(meta.id);
        }
        if now.has_names() || meta::takes_steps(meta, wanted) {
            self.append(&ManifestRecord::Writing { path: at.path.to_owned(), id: meta.id })?;
        }
        self.stop("meta")?;
        Ok(meta::set(at.reach, &now, wanted)?)
    }
}
