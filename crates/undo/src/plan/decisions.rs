//! Decides about each path, before any step. [`super::decision_tables`] has the rules for one path; the rules that
//! several paths share are here, and only ever keep more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::decision_tables::{
    PathView, RemainingContent, RemovalDecision, ReturnDecision, StateNow, decide_removal, decide_return,
};
use super::path_views::is_meta_only;
use super::undo_planner::{ReturnAction, StrandedFile, UndoPlanner};
use crate::coverage_gaps::named;
use crate::path_state::{FileIdentity, FileState, KnownContents, PathState};

impl UndoPlanner<'_> {
    pub(super) fn decide_all(&mut self) {
        let views: BTreeMap<PathBuf, PathView> =
            self.made_paths.iter().map(|path| (path.clone(), self.view_made(path))).collect();
        // A directory that cannot go back keeps others from being removed, and vice versa.
        loop {
            self.removal_decisions = self.decide_removals(&views);
            if !self.mark_stuck_directories() {
                break;
            }
        }
        self.keep_used_repositories();
        let states_before = &self.run.states_before;
        for (path, state_before) in states_before.iter() {
            let action = self.decide_return_action(path, state_before);
            self.return_actions.insert(path.to_owned(), action);
        }
        self.hold_back_indexes();
        self.keep_stranded_files();
        self.find_remade_directories();
        self.find_contested();
    }

    /// Decides about all things that the run made. The entries of a directory are decided before the directory.
    fn decide_removals(&self, views: &BTreeMap<PathBuf, PathView>) -> BTreeMap<PathBuf, RemovalDecision> {
        let mut decisions = BTreeMap::new();
        // A path sorts after its directory.
        for (path, view) in views.iter().rev() {
            let decision = decide_removal(*view, self.remaining_content(path, *view, &decisions));
            decisions.insert(path.clone(), decision);
        }
        decisions
    }

    /// Returns what would be left in a thing that is as the run left it, by the decisions about its entries. Other
    /// things are kept or gone whatever is in them, and are not read.
    fn remaining_content(
        &self,
        path: &Path,
        view: PathView,
        decisions: &BTreeMap<PathBuf, RemovalDecision>,
    ) -> RemainingContent {
        let mut content = RemainingContent::NothingLeft;
        let is_the_runs = matches!(view.state_now, StateNow::AsAfterRun | StateNow::HalfUndone);
        if !is_the_runs || !self.state_after_run_at(path).is_directory() {
            return content;
        }
        let Some(place) = self.current_path(path) else { return content };
        for name in self.current_tree.entry_names(&place) {
            if let Some(moved) = self.moved.by_current_path(&place.join(&name)) {
                if !moved.goes_back() {
                    content = RemainingContent::Kept;
                }
                continue;
            }
            match decisions.get(&path.join(&name)) {
                Some(RemovalDecision::Remove) => {}
                // The run left nothing here that is still there, so the entry is another program's.
                Some(RemovalDecision::AlreadyGone) | None => return RemainingContent::Foreign,
                Some(_) => content = RemainingContent::Kept,
            }
        }
        content
    }

    /// Leaves the files that the run moved, and that cannot go back, where they are, unless another thing comes back
    /// there: nothing else has their contents.
    fn keep_stranded_files(&mut self) {
        let stranded = self.renamed_files.iter().filter_map(|(before, after)| match self.return_actions.get(before) {
            Some(ReturnAction::Conflict(why)) if self.as_left_at(after, after).is_some() => {
                let returns = self.before_by_after.get(after).and_then(|before| self.return_actions.get(before));
                let is_needed = returns.is_some_and(ReturnAction::fills_place);
                let copied = is_needed.then(|| self.current_path(after)).flatten();
                let file = StrandedFile { after: after.clone(), copied };
                Some((before.clone(), ReturnAction::ConflictOfStrandedFile(why.clone(), file)))
            }
            _ => None,
        });
        for (before, action) in stranded.collect::<Vec<_>>() {
            if let ReturnAction::ConflictOfStrandedFile(_, StrandedFile { after, copied: None }) = &action {
                for place in after.ancestors() {
                    let Some(decision) = self.removal_decisions.get_mut(place) else { break };
                    if *decision == RemovalDecision::Remove {
                        let is_file = place == after;
                        *decision = if is_file { RemovalDecision::KeepOnlyCopy } else { RemovalDecision::KeepNonEmpty };
                    }
                }
            }
            self.return_actions.insert(before, action);
        }
    }

    /// Finds the things that stay as they are, before any of them is moved.
    fn find_contested(&mut self) {
        let made = self.removal_decisions.iter().filter(|(_, decision)| decision.is_conflict());
        let before = self.return_actions.iter().filter(|(_, action)| action.is_conflict());
        let place = |path: &PathBuf| match self.moved.by_path_before(path) {
            Some(moved) => self.current_path(&moved.after),
            None => self.current_place(path),
        };
        let places =
            made.filter_map(|(path, _)| self.current_path(path)).chain(before.filter_map(|(path, _)| place(path)));
        let taken = self.moved.iter().filter(|moved| moved.stuck.is_some()).map(|moved| moved.before.clone());
        self.plan.contested = places.chain(taken).filter_map(|path| self.read_state(&path)?.id()).collect();
    }

    /// Finds the directories that the run has made again in the place of removed directories. They stay, and other
    /// records know the removed directories.
    fn find_remade_directories(&mut self) {
        let found = self.run.states_before.iter().filter_map(|(path, state_before)| {
            let state_after_run = self.state_after_run_of(path);
            let are_directories = state_before.is_directory() && state_after_run.is_directory();
            if !are_directories || self.moved.by_path_before(path).is_some() {
                return None;
            }
            let (id_before, id_after_run) = (state_before.id()?, state_after_run.id()?);
            let path_after_run = self.path_after_run(path)?;
            let now = self.read_current_place(path, &self.current_place(path)?)?;
            let is_it =
                self.is_requested([path, &path_after_run]) && now.is_directory() && now.id() == Some(id_after_run);
            (is_it && !self.current_tree.is_recorded_directory(id_before, &now)).then_some((id_before, id_after_run))
        });
        self.plan.remade_directories = found.collect();
    }

    /// Returns the action for an earlier thing.
    fn decide_return_action(&self, path: &Path, state_before: &PathState) -> ReturnAction {
        let thing = self.view_earlier(path, state_before);
        let now = match decide_return(thing.view, thing.effect) {
            ReturnDecision::NothingToDo => return ReturnAction::Nothing,
            ReturnDecision::PutBack => thing.state_now,
            ReturnDecision::PutBackWhereRemoved => PathState::Absent,
            ReturnDecision::KeepPlaceLost if self.moved.by_path_before(path).is_some() => {
                return ReturnAction::Conflict("the run moved it, and it is no longer there".into());
            }
            ReturnDecision::KeepPlaceLost => {
                return ReturnAction::Conflict("the run moved its directory, which is no longer there".into());
            }
            ReturnDecision::KeepUnreadable => return ReturnAction::Conflict("its place cannot be used now".into()),
            ReturnDecision::KeepModified => return ReturnAction::Conflict("it changed after the run".into()),
            ReturnDecision::KeepRemoved => return ReturnAction::Conflict("it was removed after the run".into()),
        };
        self.choose_return(path, state_before, thing.state_after_run, now)
    }

    /// Returns the way to put an earlier thing back, in the place of the current thing.
    fn choose_return(
        &self,
        path: &Path,
        state_before: &PathState,
        state_after_run: &PathState,
        now: PathState,
    ) -> ReturnAction {
        let has_directory = path.parent().is_some_and(|parent| self.will_be_directory(parent));
        match (state_before, &now) {
            (PathState::Absent, _) => ReturnAction::Nothing,
            (PathState::Directory(_), PathState::Directory(_)) => ReturnAction::SetMeta,
            _ if !has_directory => ReturnAction::Conflict("its directory is gone".into()),
            (PathState::Directory(_), _) => ReturnAction::MakeDirectory,
            (PathState::File(before), PathState::File(_)) if is_meta_only(before, state_after_run) => {
                ReturnAction::SetMeta
            }
            (PathState::File(FileState { contents: KnownContents::Image(_), .. }), _) => ReturnAction::Restore(now),
            (PathState::File(before), _) => self.choose_return_of_unkept(path, before, now),
            _ => ReturnAction::Restore(now),
        }
    }

    /// Returns the action for a file that was not kept. The run may only have moved it: then the file itself goes back.
    fn choose_return_of_unkept(&self, path: &Path, before: &FileState, replaced: PathState) -> ReturnAction {
        match (self.renamed_files.get(path), &before.contents) {
            (Some(after), _) => {
                let decision = self.removal_decisions.get(after);
                let is_put_back = decision.is_none_or(|decision| *decision == RemovalDecision::Remove);
                // A killed undo may have put the file aside.
                let places = [is_put_back.then(|| after.clone()), self.waiting_place(after, before.meta.id)];
                let found = places.into_iter().flatten().find_map(|from| Some((self.as_left_at(&from, after)?, from)));
                match found {
                    Some((id, from)) => ReturnAction::MoveBack { from, id, replaced },
                    None => {
                        ReturnAction::Conflict(format!("the run moved it to {}, and it changed since", named(after)))
                    }
                }
            }
            (None, KnownContents::Nothing { why }) => ReturnAction::NotKept(why.clone()),
            _ => ReturnAction::NotKept("its contents were not kept".into()),
        }
    }

    /// Returns the id of the file at a place, a path after the run, if it is as the run left it at this path.
    fn as_left_at(&self, place: &Path, after: &Path) -> Option<FileIdentity> {
        let place = self.current_path(place)?;
        let now = self.read_state(&place)?;
        if self.is_as_left(after, self.state_after_run_at(after), &place, &now) { now.id() } else { None }
    }
}
