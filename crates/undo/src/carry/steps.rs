//! Takes the steps of a plan. Each is recorded before it happens, and checked once more just before.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::carrier::Carrier;
use super::install::put;
use super::trouble::Trouble;
use super::types::{Stayed, UndoError};
use super::way::Route;
use super::{kept, meta};
use crate::look::{At, look};
use crate::manifest::Record;
use crate::node::{FileId, Meta, Node};
use crate::plan::{Now, Step};
use crate::record::Change;

impl Carrier<'_> {
    /// Takes a step. A failure is a conflict.
    ///
    /// # Errors
    /// If a test stops the undo.
    pub fn carry(&mut self, step: &Step) -> Result<(), UndoError> {
        let path = step.path();
        match (self.take(step), step) {
            (Err(Trouble::Stopped), _) => return Err(UndoError::Stopped),
            (Err(trouble), _) => {
                let kept_at = match step {
                    Step::Move { from, .. } => Some(from.clone()),
                    Step::Restore { before, .. } => self.kept(path, before),
                    _ => None,
                };
                self.undone.conflicts.push(Stayed { path: path.to_owned(), why: trouble.to_string(), kept_at });
            }
            (Ok(()), Step::Remove { shown, .. } | Step::RemoveDirectory { shown, .. }) => {
                self.undone.removed.push(shown.clone());
            }
            (Ok(()), Step::Move { home: false, .. }) => {}
            (Ok(()), _) => self.undone.restored.push(path.to_owned()),
        }
        Ok(())
    }

    /// Takes a step below open directories: a process that the run left may put a link into a path at any time.
    fn take(&mut self, step: &Step) -> Result<(), Trouble> {
        // Files of one directory follow each other.
        let is_restored = matches!(step, Step::Restore { .. });
        let known = self.last.take().filter(|_| is_restored).and_then(|last| last.sibling(step.path()));
        let way = known.map_or_else(|| Route::to(step.path()), Ok)?;
        let taken = self.take_at(step, way.at());
        self.last = is_restored.then_some(way);
        taken
    }

    fn take_at(&mut self, step: &Step, at: At<'_>) -> Result<(), Trouble> {
        match step {
            Step::Remove { now, .. } => self.remove(at, now),
            Step::RemoveDirectory { now, .. } => self.remove_directory(at, now),
            Step::Move { from, id, over, .. } => self.rename(Route::to(from)?.at(), at, *id, over),
            Step::MakeDirectory { before, .. } => self.make_directory(at, before),
            Step::Restore { before, now, .. } => self.restore(at, before, now),
            Step::SetMeta { before, .. } => self.set_meta(at, before),
        }
    }

    fn kept(&self, path: &Path, before: &Node) -> Option<PathBuf> {
        kept::keep(self.store(), self.point, self.tree, path, before)
    }

    fn remove(&mut self, at: At<'_>, left: &Node) -> Result<(), Trouble> {
        let now = look(at.reach)?;
        let same = self.tree.is_same(left, at.reach, &now) || self.is_altered(&now) && now.id() == left.id();
        if now.is_directory() || !same && !self.tree.is_half_done(at.path, &now) {
            return Err(Trouble::Changed);
        }
        let lock = self.lock_git(at)?;
        self.stop("touch")?;
        self.touch(at, Change::Remove)?;
        self.stop("unlink")?;
        fs::remove_file(at.reach)?;
        self.unlock_git(lock)
    }

    fn remove_directory(&mut self, at: At<'_>, left: &Node) -> Result<(), Trouble> {
        let now = look(at.reach)?;
        if !now.is_alike(left) {
            return Err(Trouble::Changed);
        }
        self.stop("touch")?;
        self.touch(at, Change::Remove)?;
        self.stop("rmdir")?;
        Ok(fs::remove_dir(at.reach)?)
    }

    fn rename(&mut self, from: At<'_>, to: At<'_>, id: FileId, over: &Node) -> Result<(), Trouble> {
        if look(from.reach)?.id() != Some(id) || !self.is_unchanged(to.reach, over) {
            return Err(Trouble::Changed);
        }
        self.stop("touch")?;
        self.touch(from, Change::Rename(to))?;
        self.stop("rename")?;
        put(from.reach, to.reach, over)
    }

    fn make_directory(&mut self, at: At<'_>, before: &Node) -> Result<(), Trouble> {
        let Some(wanted) = before.meta().filter(|_| look(at.reach).is_ok_and(|now| now.is_absent())) else {
            return Err(Trouble::Changed);
        };
        let next = self.beside(at);
        self.stop("make")?;
        match DirBuilder::new().mode(0o700).create(&next) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
        let made = look(&next)?;
        let id = made.id().ok_or(Trouble::Changed)?;
        // Things are put into it before it gets a mode that forbids that.
        let open = Meta { mode: wanted.mode | 0o700, ..wanted.clone() };
        self.stop("meta")?;
        meta::set(&next, &made, &open)?;
        self.append(&Record::Writing { path: at.path.to_owned(), id })?;
        self.stop("note")?;
        self.tree.note_again(wanted.id, id)?;
        self.stop("touch")?;
        self.touch(at, Change::MakeDirectory)?;
        self.stop("rename")?;
        Ok(fs::rename(&next, at.reach)?)
    }

    fn set_meta(&mut self, at: At<'_>, before: &Node) -> Result<(), Trouble> {
        let now = look(at.reach)?;
        let (Some(meta), Some(wanted)) = (now.meta(), before.meta()) else { return Err(Trouble::Changed) };
        if now.kind() != before.kind() {
            return Err(Trouble::Changed);
        }
        if meta.is_same(wanted) {
            return Ok(());
        }
        self.stop("touch")?;
        self.touch(at, Change::Meta)?;
        if now.has_names() {
            self.altered.insert(meta.id);
        }
        if now.has_names() || meta::takes_steps(meta, wanted) {
            self.append(&Record::Writing { path: at.path.to_owned(), id: meta.id })?;
        }
        self.stop("meta")?;
        Ok(meta::set(at.reach, &now, wanted)?)
    }
}
