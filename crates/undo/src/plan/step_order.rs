//! From decisions to steps: remove the new files of the run, move directories back, restore from the top, and set the
//! modes of directories last.
//!
//! The order follows from what a step needs. A place must be empty before a thing comes back there, a directory must be
//! empty before it is removed, and a directory that comes back may have a mode that forbids writing into it. What comes
//! back and is inside of a directory that goes, or in another's place, first waits beside it under a name of its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::decision_tables::RemovalDecision;
use super::moved_directories::{DirectoryPlace, MovedDirectory};
use super::undo_plan::{PlannedConflict, UndoStep, waiting_name};
use super::undo_planner::{ReturnAction, StrandedFile, UndoPlanner, outermost_made_directory};
use crate::coverage_gaps::named;
use crate::path_state::{FileIdentity, PathState};

impl UndoPlanner<'_> {
    pub(super) fn emit_steps(&mut self) {
        let places =
            self.removal_decisions.keys().filter_map(|path| Some((path.clone(), self.current_path(path)?))).collect();
        self.emit_files_aside();
        self.emit_directories_aside();
        let stay = self.emit_removals(&places);
        self.emit_rewrites();
        self.emit_returns();
        self.report_kept_made_things(stay);
        self.report_moved_directories();
    }

    /// Restores files with several names in place. Other names of them may come back afterwards.
    fn emit_rewrites(&mut self) {
        for (path, action) in &self.return_actions {
            let ReturnAction::Restore(now) = action else { continue };
            let before = &self.run.states_before[path];
            if before.has_several_names()
                && before.id() == now.id()
                && let Some(place) = self.current_place(path)
            {
                self.plan.steps.push(UndoStep::Restore {
                    path: place,
                    state_before: before.clone(),
                    state_now: now.clone(),
                });
            }
        }
    }

    /// Moves files that come back out of directories that are removed, and out of places where other things come back.
    fn emit_files_aside(&mut self) {
        let moved_back = |(before, action): (&PathBuf, &ReturnAction)| match action {
            ReturnAction::MoveBack { from, id, .. } if self.renamed_files.get(before) == Some(from) => {
                Some((before.clone(), from.clone(), *id))
            }
            _ => None,
        };
        let moved_back: Vec<(PathBuf, PathBuf, FileIdentity)> =
            self.return_actions.iter().filter_map(moved_back).collect();
        for (before, after, id) in moved_back {
            // The file goes back by a move. A removal of its place would remove the file itself.
            if self.removal_decisions.contains_key(&after) {
                self.removal_decisions.insert(after.clone(), RemovalDecision::AlreadyGone);
            }
            let entry = self.before_by_after.get(&after);
            let directory = entry.and_then(|entry| self.moved.by_path_before(entry));
            let is_in_the_way = self.is_in_the_way(&after) || directory.is_some_and(MovedDirectory::goes_back);
            if !is_in_the_way && outermost_made_directory(self, &after).is_none() {
                continue;
            }
            let place = self.run.states_before[&before].id().and_then(|id| self.waiting_place(&after, id));
            let Some(waits) = place else { continue };
            let (Some(from), Some(to)) = (self.current_path(&after), self.current_path(&waits)) else { continue };
            self.plan.steps.push(UndoStep::Move { from, to, id, is_final: false, replaced: PathState::Absent });
            if let Some(ReturnAction::MoveBack { from, .. }) = self.return_actions.get_mut(&before) {
                *from = waits;
            }
            let place = entry.and_then(|entry| self.return_actions.get_mut(entry));
            if let Some(ReturnAction::Restore(replaced) | ReturnAction::MoveBack { replaced, .. }) = place {
                *replaced = PathState::Absent;
            }
        }
    }

    /// Moves directories out of new directories that are removed, and out of places where other files come back.
    fn emit_directories_aside(&mut self) {
        let going: Vec<PathBuf> =
            self.moved.iter().filter(|moved| moved.goes_back()).map(|moved| moved.before.clone()).collect();
        for before in going {
            let Some(directory) = self.moved.by_path_before(&before) else { continue };
            let outermost = outermost_made_directory(self, &directory.after);
            if outermost.is_none() && !self.is_in_the_way(&directory.after) {
                continue;
            }
            let beside = outermost.unwrap_or(&directory.after).parent().and_then(|parent| self.current_path(parent));
            let (DirectoryPlace::Away(from), Some(parent)) = (&directory.at, beside) else { continue };
            let to = parent.join(waiting_name(directory.id));
            if *from != to {
                let (from, id) = (from.clone(), directory.id);
                self.emit_move(&from, &to, id, false);
            }
        }
    }

    /// Returns whether an earlier thing other than a moved directory comes back in this place.
    fn is_in_the_way(&self, after: &Path) -> bool {
        let Some(before) = self.before_by_after.get(after) else { return false };
        let returns = self.return_actions.get(before).is_some_and(ReturnAction::fills_place);
        returns && self.moved.by_path_before(before).is_none()
    }

    fn emit_move(&mut self, from: &Path, to: &Path, id: FileIdentity, is_final: bool) {
        self.plan.steps.push(UndoStep::Move {
            from: from.to_owned(),
            to: to.to_owned(),
            id,
            is_final,
            replaced: PathState::Absent,
        });
        self.moved.rebase_below(from, to);
    }

    /// Removes the new files of the run, from the bottom. `places` has their paths before the first step. Returns the
    /// files that stay, and why.
    fn emit_removals(&mut self, places: &HashMap<PathBuf, PathBuf>) -> Vec<(PathBuf, &'static str)> {
        let mut stay = Vec::new();
        let decisions: Vec<(PathBuf, RemovalDecision)> =
            self.removal_decisions.iter().rev().map(|(path, decision)| (path.clone(), *decision)).collect();
        for (path, decision) in decisions {
            let Some(place) = self.current_path(&path) else { continue };
            let state_after_run = self.state_after_run_at(&path).clone();
            let shown = places.get(&path).unwrap_or(&place).clone();
            match decision {
                RemovalDecision::Remove if state_after_run.is_directory() => {
                    self.plan.steps.push(UndoStep::RemoveDirectory { path: place, shown, state_after_run });
                }
                RemovalDecision::Remove if self.is_replaced_at_once(&path) => {}
                RemovalDecision::Remove => {
                    self.plan.steps.push(UndoStep::Remove { path: place, shown, state_after_run })
                }
                // The earlier file at this place reports the conflict, if there is one.
                RemovalDecision::KeepModified | RemovalDecision::KeepForeignContent
                    if self.has_conflict_at_earlier_path(&path) => {}
                RemovalDecision::KeepModified => stay.push((path, "the run made it, and it changed since")),
                RemovalDecision::KeepForeignContent => stay.push((path, "the run made it, and it is in use since")),
                RemovalDecision::AlreadyGone
                | RemovalDecision::KeepNonEmpty
                | RemovalDecision::KeepNotRequested
                | RemovalDecision::KeepSharedGitObject
                | RemovalDecision::KeepOnlyCopy
                | RemovalDecision::KeepUsedRepository => {}
            }
        }
        stay
    }

    /// Reports the new files that stay, at their places after all moves.
    fn report_kept_made_things(&mut self, stay: Vec<(PathBuf, &'static str)>) {
        for (path, why) in stay {
            if let Some(place) = self.current_path(&path) {
                self.report_conflict(place, why, PathState::Absent);
            }
        }
    }

    /// Returns whether another thing takes the place of a new file at once.
    fn is_replaced_at_once(&self, after: &Path) -> bool {
        match self.before_by_after.get(after).and_then(|before| self.return_actions.get(before)) {
            Some(ReturnAction::Restore(replaced) | ReturnAction::MoveBack { replaced, .. }) => !replaced.is_absent(),
            _ => false,
        }
    }

    fn has_conflict_at_earlier_path(&self, after: &Path) -> bool {
        let action = self.before_by_after.get(after).and_then(|before| self.return_actions.get(before));
        action.is_some_and(ReturnAction::is_conflict)
    }

    /// Puts the earlier things back, from the top.
    fn emit_returns(&mut self) {
        let actions = std::mem::take(&mut self.return_actions);
        let mut directories = Vec::new();
        for (path, action) in &actions {
            self.emit_directory_return(path);
            let before = self.run.states_before[path].clone();
            let moved = self.moved.by_path_before(path).map(|moved| moved.after.clone());
            let place = moved.map_or_else(|| self.current_place(path), |after| self.current_path(&after));
            let Some(place) = place else {
                if let ReturnAction::Conflict(why) | ReturnAction::ConflictOfStrandedFile(why, _) = action {
                    self.report_conflict(path.clone(), why.clone(), before);
                }
                continue;
            };
            match action {
                ReturnAction::Nothing => {}
                ReturnAction::MakeDirectory => {
                    directories.push(UndoStep::SetMeta { path: place.clone(), state_before: before.clone() });
                    self.plan.steps.push(UndoStep::MakeDirectory { path: place, state_before: before });
                }
                ReturnAction::Restore(now) if before.has_several_names() && before.id() == now.id() => {}
                ReturnAction::Restore(now) => {
                    self.plan.steps.push(UndoStep::Restore {
                        path: place,
                        state_before: before,
                        state_now: now.clone(),
                    });
                }
                ReturnAction::SetMeta if before.is_directory() => {
                    directories.push(UndoStep::SetMeta { path: place, state_before: before })
                }
                ReturnAction::SetMeta => self.plan.steps.push(UndoStep::SetMeta { path: place, state_before: before }),
                ReturnAction::MoveBack { from, id, replaced } => {
                    let Some(from) = self.current_path(from) else { continue };
                    let (to, replaced) = (place.clone(), replaced.clone());
                    self.plan.steps.push(UndoStep::Move { from, to, id: *id, is_final: true, replaced });
                    self.plan.steps.push(UndoStep::SetMeta { path: place, state_before: before });
                }
                ReturnAction::Conflict(why) => self.report_conflict(place, why.clone(), before),
                ReturnAction::ConflictOfStrandedFile(why, StrandedFile { after, copied }) => {
                    let stays = self.current_path(after).filter(|_| copied.is_none());
                    let (path, why, found) = (place, why.clone(), copied.clone());
                    self.plan.conflicts.push(PlannedConflict {
                        path,
                        why,
                        state_before: before,
                        stays_at: stays,
                        copy_from: found,
                    });
                }
                ReturnAction::NotKept(why) => self.plan.lost.push((place, why.clone())),
            }
        }
        self.plan.steps.extend(directories.into_iter().rev());
    }

    /// Moves a directory back, once the directories above it are there.
    fn emit_directory_return(&mut self, before: &Path) {
        let Some(directory) = self.moved.by_path_before(before).filter(|moved| moved.goes_back()) else { return };
        let (DirectoryPlace::Away(from), id) = (directory.at.clone(), directory.id) else { return };
        let in_the_way = self.moved.by_current_path(before).map(|other| other.id);
        if let (Some(other), Some(parent)) = (in_the_way, before.parent()) {
            let aside = parent.join(waiting_name(other));
            self.emit_move(before, &aside, other, false);
        }
        // The directory in the way may have contained it.
        let from = match self.moved.by_path_before(before).map(|moved| &moved.at) {
            Some(DirectoryPlace::Away(from)) => from.clone(),
            _ => from,
        };
        self.emit_move(&from, before, id, true);
    }

    /// Reports the directories that cannot go back, and the wanted things whose directory alone was moved.
    fn report_moved_directories(&mut self) {
        let unwanted: Vec<_> = self.moved.iter().filter(|moved| moved.stuck.as_deref() == Some("")).collect();
        let lost: Vec<PlannedConflict> = unwanted
            .into_iter()
            .flat_map(|moved| {
                let below = self.requested_paths.iter().filter(|path| path.starts_with(&moved.before));
                below.filter_map(|path| {
                    let (at, place) = (self.current_path(&moved.after)?, self.moved.current_place(path)?);
                    let is_there = self.current_tree.read_state(&place).is_some_and(|state| !state.is_absent());
                    let why = format!("the run moved its directory to {}, which is not to come back", named(&at));
                    let (path, before) = (path.clone(), PathState::Absent);
                    is_there.then_some(PlannedConflict {
                        path,
                        why,
                        state_before: before,
                        stays_at: Some(place),
                        copy_from: None,
                    })
                })
            })
            .collect();
        self.plan.conflicts.extend(lost);
        let stuck: Vec<PlannedConflict> = self
            .moved
            .iter()
            .filter_map(|moved| {
                let why = moved.stuck.clone().filter(|why| !why.is_empty())?;
                let DirectoryPlace::Away(at) = &moved.at else { return None };
                let (path, before) = (moved.before.clone(), PathState::Absent);
                Some(PlannedConflict { path, why, state_before: before, stays_at: Some(at.clone()), copy_from: None })
            })
            .collect();
        self.plan.conflicts.extend(stuck);
    }
}
