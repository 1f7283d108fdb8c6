//! From decisions to steps: remove the new files of the run, move directories back, restore from the top, and set the
//! modes of directories last.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::moved::{DirectoryPlace, MovedDirectory};
use super::planner::{RemovalDecision, ReturnAction, StrandedFile, UndoPlanner, outermost_made};
use super::types::{PlannedConflict, UndoStep, waiting_name};
use crate::gaps::named;
use crate::node::{FileIdentity, PathState};

impl UndoPlanner<'_> {
    pub(super) fn emit(&mut self) {
        let places = self.fates.keys().filter_map(|path| Some((path.clone(), self.here(path)?))).collect();
        self.fetch_aside();
        self.hoist();
        let stay = self.clear(&places);
        self.rewrite();
        self.restore();
        self.report_made(stay);
        self.report_moved();
    }

    /// Restores files with several names in place. Other names of them may come back afterwards.
    fn rewrite(&mut self) {
        for (path, action) in &self.actions {
            let ReturnAction::Restore(now) = action else { continue };
            let before = &self.point.before[path];
            if before.has_names()
                && before.id() == now.id()
                && let Some(spot) = self.spot(path)
            {
                self.plan.steps.push(UndoStep::Restore { path: spot, before: before.clone(), now: now.clone() });
            }
        }
    }

    /// Moves files that come back out of directories that are removed, and out of places where other things come back.
    fn fetch_aside(&mut self) {
        let left = |(before, action): (&PathBuf, &ReturnAction)| match action {
            ReturnAction::Fetch { from, id, .. } if self.renamed.get(before) == Some(from) => {
                Some((before.clone(), from.clone(), *id))
            }
            _ => None,
        };
        let fetched: Vec<(PathBuf, PathBuf, FileIdentity)> = self.actions.iter().filter_map(left).collect();
        for (before, after, id) in fetched {
            if self.fates.contains_key(&after) {
                self.fates.insert(after.clone(), RemovalDecision::Gone);
            }
            let entry = self.entries.get(&after);
            let directory = entry.and_then(|entry| self.moved.of_before(entry));
            let is_in_the_way = self.is_in_the_way(&after) || directory.is_some_and(MovedDirectory::goes);
            if !is_in_the_way && outermost_made(self, &after).is_none() {
                continue;
            }
            let place = self.point.before[&before].id().and_then(|id| self.waiting_place(&after, id));
            let Some(waits) = place else { continue };
            let (Some(from), Some(to)) = (self.here(&after), self.here(&waits)) else { continue };
            self.plan.steps.push(UndoStep::Move { from, to, id, home: false, over: PathState::Absent });
            if let Some(ReturnAction::Fetch { from, .. }) = self.actions.get_mut(&before) {
                *from = waits;
            }
            let place = entry.and_then(|entry| self.actions.get_mut(entry));
            if let Some(ReturnAction::Restore(over) | ReturnAction::Fetch { over, .. }) = place {
                *over = PathState::Absent;
            }
        }
    }

    /// Moves directories out of new directories that are removed, and out of places where other files come back.
    fn hoist(&mut self) {
        let going: Vec<PathBuf> =
            self.moved.iter().filter(|moved| moved.goes()).map(|moved| moved.before.clone()).collect();
        for before in going {
            let Some(directory) = self.moved.of_before(&before) else { continue };
            let outermost = outermost_made(self, &directory.after);
            if outermost.is_none() && !self.is_in_the_way(&directory.after) {
                continue;
            }
            let beside = outermost.unwrap_or(&directory.after).parent().and_then(|parent| self.here(parent));
            let (DirectoryPlace::Away(from), Some(parent)) = (&directory.at, beside) else { continue };
            let to = parent.join(waiting_name(directory.id));
            if *from != to {
                let (from, id) = (from.clone(), directory.id);
                self.push_move(&from, &to, id, false);
            }
        }
    }

    /// Returns whether an earlier thing other than a moved directory comes back in this place.
    fn is_in_the_way(&self, after: &Path) -> bool {
        let Some(before) = self.entries.get(after) else { return false };
        let comes = matches!(
            self.actions.get(before),
            Some(ReturnAction::Make | ReturnAction::Restore(_) | ReturnAction::Fetch { .. })
        );
        comes && self.moved.of_before(before).is_none()
    }

    fn push_move(&mut self, from: &Path, to: &Path, id: FileIdentity, home: bool) {
        self.plan.steps.push(UndoStep::Move {
            from: from.to_owned(),
            to: to.to_owned(),
            id,
            home,
            over: PathState::Absent,
        });
        self.moved.shift(from, to);
    }

    /// Removes the new files of the run, from the bottom. `places` has their paths before the first step. Returns the
    /// files that stay, and why.
    fn clear(&mut self, places: &HashMap<PathBuf, PathBuf>) -> Vec<(PathBuf, &'static str)> {
        let mut stay = Vec::new();
        let fates: Vec<(PathBuf, RemovalDecision)> =
            self.fates.iter().rev().map(|(path, fate)| (path.clone(), *fate)).collect();
        for (path, fate) in fates {
            let Some(here) = self.here(&path) else { continue };
            let (now, shown) = (self.after(&path).clone(), places.get(&path).unwrap_or(&here).clone());
            match fate {
                RemovalDecision::Goes if now.is_directory() => {
                    self.plan.steps.push(UndoStep::RemoveDirectory { path: here, shown, now });
                }
                RemovalDecision::Goes if self.is_replaced(&path) => {}
                RemovalDecision::Goes => self.plan.steps.push(UndoStep::Remove { path: here, shown, now }),
                // The earlier file at this place reports the conflict, if there is one.
                RemovalDecision::Changed | RemovalDecision::Used if self.reports_itself(&path) => {}
                RemovalDecision::Changed => stay.push((path, "the run made it, and it changed since")),
                RemovalDecision::Used => stay.push((path, "the run made it, and it is in use since")),
                RemovalDecision::Gone | RemovalDecision::Holds | RemovalDecision::Stays => {}
            }
        }
        stay
    }

    /// Reports the new files that stay, at their places after all moves.
    fn report_made(&mut self, stay: Vec<(PathBuf, &'static str)>) {
        for (path, why) in stay {
            if let Some(here) = self.here(&path) {
                self.conflict(here, why, PathState::Absent);
            }
        }
    }

    /// Returns whether another thing takes the place of a new file at once.
    fn is_replaced(&self, after: &Path) -> bool {
        let action = self.entries.get(after).and_then(|before| self.actions.get(before));
        matches!(action, Some(ReturnAction::Restore(over) | ReturnAction::Fetch { over, .. }) if !over.is_absent())
    }

    fn reports_itself(&self, after: &Path) -> bool {
        let action = self.entries.get(after).and_then(|before| self.actions.get(before));
        matches!(action, Some(ReturnAction::Conflict(_) | ReturnAction::Hold(..)))
    }

    /// Puts the earlier things back, from the top.
    fn restore(&mut self) {
        let actions = std::mem::take(&mut self.actions);
        let mut directories = Vec::new();
        for (path, action) in &actions {
            self.bring_home(path);
            let before = self.point.before[path].clone();
            let moved = self.moved.of_before(path).map(|moved| moved.after.clone());
            let place = moved.map_or_else(|| self.spot(path), |after| self.here(&after));
            let Some(spot) = place else {
                if let ReturnAction::Conflict(why) | ReturnAction::Hold(why, _) = action {
                    self.conflict(path.clone(), why.clone(), before);
                }
                continue;
            };
            match action {
                ReturnAction::Nothing => {}
                ReturnAction::Make => {
                    directories.push(UndoStep::SetMeta { path: spot.clone(), before: before.clone() });
                    self.plan.steps.push(UndoStep::MakeDirectory { path: spot, before });
                }
                ReturnAction::Restore(now) if before.has_names() && before.id() == now.id() => {}
                ReturnAction::Restore(now) => {
                    self.plan.steps.push(UndoStep::Restore { path: spot, before, now: now.clone() });
                }
                ReturnAction::SetMeta if before.is_directory() => {
                    directories.push(UndoStep::SetMeta { path: spot, before })
                }
                ReturnAction::SetMeta => self.plan.steps.push(UndoStep::SetMeta { path: spot, before }),
                ReturnAction::Fetch { from, id, over } => {
                    let Some(from) = self.here(from) else { continue };
                    let (to, over) = (spot.clone(), over.clone());
                    self.plan.steps.push(UndoStep::Move { from, to, id: *id, home: true, over });
                    self.plan.steps.push(UndoStep::SetMeta { path: spot, before });
                }
                ReturnAction::Conflict(why) => self.conflict(spot, why.clone(), before),
                ReturnAction::Hold(why, StrandedFile { after, copied }) => {
                    let stays = self.here(after).filter(|_| copied.is_none());
                    let (path, why, found) = (spot, why.clone(), copied.clone());
                    self.plan.conflicts.push(PlannedConflict { path, why, before, stays, found });
                }
                ReturnAction::Lost(why) => self.plan.lost.push((spot, why.clone())),
            }
        }
        self.plan.steps.extend(directories.into_iter().rev());
    }

    /// Moves a directory back, once the directories above it are there.
    fn bring_home(&mut self, before: &Path) {
        let Some(directory) = self.moved.of_before(before).filter(|moved| moved.goes()) else { return };
        let (DirectoryPlace::Away(from), id) = (directory.at.clone(), directory.id) else { return };
        let in_the_way = self.moved.at(before).map(|other| other.id);
        if let (Some(other), Some(parent)) = (in_the_way, before.parent()) {
            let aside = parent.join(waiting_name(other));
            self.push_move(before, &aside, other, false);
        }
        // The directory in the way may have contained it.
        let from = match self.moved.of_before(before).map(|moved| &moved.at) {
            Some(DirectoryPlace::Away(from)) => from.clone(),
            _ => from,
        };
        self.push_move(&from, before, id, true);
    }

    /// Reports the directories that cannot go back, and the wanted things whose directory alone was moved.
    fn report_moved(&mut self) {
        let unwanted: Vec<_> = self.moved.iter().filter(|moved| moved.stuck.as_deref() == Some("")).collect();
        let lost: Vec<PlannedConflict> = unwanted
            .into_iter()
            .flat_map(|moved| {
                let below = self.paths.iter().filter(|path| path.starts_with(&moved.before));
                below.filter_map(|path| {
                    let (at, place) = (self.here(&moved.after)?, self.moved.place(path)?);
                    let is_there = self.now.look(&place).is_some_and(|node| !node.is_absent());
                    let why = format!("the run moved its directory to {}, which is not to come back", named(&at));
                    let (path, before) = (path.clone(), PathState::Absent);
                    is_there.then_some(PlannedConflict { path, why, before, stays: Some(place), found: None })
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
                Some(PlannedConflict { path, why, before, stays: Some(at.clone()), found: None })
            })
            .collect();
        self.plan.conflicts.extend(stuck);
    }
}
