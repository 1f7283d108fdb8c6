//! What an undo does at each path that the run touched. Everything that an undo removes or replaces was decided by one
//! of these two tables. The functions are pure.
//!
//! The three states are those of docs/undo.md: `state_before` the run (B), `state_after_run`, as the run left it (A),
//! and `state_now` (C). [`StateNow`] is the result of their comparison. [`super::path_views`] compares them, once for
//! each path.
//!
//! The first row that matches decides, and `any` matches everything. Whatever cannot be read is kept, and so is
//! whatever equals neither of the recorded states: the user's work is worth more than a complete undo. The rejected
//! alternative is to put everything back and to keep copies of later edits, as checkpoints of edit tools do: a user who
//! does not know of the copies has lost the edits. The tests read the tables from this head, and compare them with the
//! functions for every combination of facts.
//!
//! # A thing that the run made, at its path after the run: [`decide_removal`]
//!
//! | request | now | content | decision |
//! |---|---|---|---|
//! | any | `PlaceLost` | any | `AlreadyGone` |
//! | `NotRequested` | any | any | `KeepNotRequested` |
//! | `SharedGitObject` | any | any | `KeepSharedGitObject` |
//! | `Requested` | `Absent`, `AsBefore`, `CopyOfBefore` | any | `AlreadyGone` |
//! | `Requested` | `Unknown`, `Other` | any | `KeepModified` |
//! | `Requested` | `AsAfterRun`, `HalfUndone` | `Foreign` | `KeepForeignContent` |
//! | `Requested` | `AsAfterRun`, `HalfUndone` | `Kept` | `KeepNonEmpty` |
//! | `Requested` | `AsAfterRun`, `HalfUndone` | `NothingLeft` | `Remove` |
//!
//! Rules about several paths come afterwards, and no rule leads to `Remove`: `keep_stranded_files` decides
//! `KeepOnlyCopy`, and `keep_used_repositories` decides `KeepUsedRepository`. The directories above become
//! `KeepNonEmpty`. A file that goes back by a rename is no longer removed, but `AlreadyGone`.
//!
//! # A thing that was there before the run, at its path before the run: [`decide_return`]
//!
//! | request | effect of the run | now | decision |
//! |---|---|---|---|
//! | `NotRequested`, `SharedGitObject` | any | any | `NothingToDo` |
//! | `Requested` | `NothingBefore` | any | `NothingToDo` |
//! | `Requested` | any | `PlaceLost` | `KeepPlaceLost` |
//! | `Requested` | `Untouched` | any | `NothingToDo` |
//! | `Requested` | any | `Unknown` | `KeepUnreadable` |
//! | `Requested` | any | `AsBefore` | `NothingToDo` |
//! | `Requested` | any | `HalfUndone` | `PutBack` |
//! | `Requested` | `KindReplacedAndRemoved` | any | `PutBackWhereRemoved` |
//! | `Requested` | `KindReplacedAndKept` | any | `KeepModified` |
//! | `Requested` | `Changed` | `AsAfterRun` | `PutBack` |
//! | `Requested` | `Changed` | `CopyOfBefore` | `NothingToDo` |
//! | `Requested` | `Changed` | `Absent` | `KeepRemoved` |
//! | `Requested` | `Changed` | `Other` | `KeepModified` |

/// Whether the undo concerns a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestScope {
    /// The undo has no `paths`, or one of them leads to this path, or the path must come back with a requested path.
    Requested,
    /// The undo has `paths`, and none leads here.
    NotRequested,
    /// The path is an object that the run added to a repository of before. Other objects may refer to it by now, and an
    /// unreachable object does no harm.
    SharedGitObject,
}

/// `state_now` of a path, compared with `state_before` and `state_after_run`. The first variant that applies is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StateNow {
    /// The directory that has the path was moved or removed by another process.
    PlaceLost,
    /// The system refuses to read the path, or the path was not read because the decision does not depend on it.
    Unknown,
    /// The thing is as before the run.
    AsBefore,
    /// A killed undo of the same run was changing the thing.
    HalfUndone,
    /// The thing is as the run left it, and no other program has made it so.
    AsAfterRun,
    /// The contents are as before the run, but the file is another one, and either file has several names.
    CopyOfBefore,
    /// Nothing is there.
    Absent,
    /// The thing is in a third state: another program or the user has changed it.
    Other,
}

/// The facts about a path on which both tables depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathView {
    pub request: RequestScope,
    pub state_now: StateNow,
}

/// The content that a directory would have after everything in it is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemainingContent {
    /// Nothing, or the thing is no directory.
    NothingLeft,
    /// Things that the run made or moved there, and that stay.
    Kept,
    /// Things that the run did not make.
    Foreign,
}

/// The difference between `state_before` and `state_after_run` of an earlier thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunEffect {
    /// Nothing was there before the run.
    NothingBefore,
    /// The run left the thing as it was.
    Untouched,
    /// The run changed, removed or moved the thing, or put another thing of the same kind there.
    Changed,
    /// The run put a directory in the place of another thing, or the reverse, and the replacement goes with this undo.
    KindReplacedAndRemoved,
    /// The same, but the replacement stays.
    KindReplacedAndKept,
}

/// What an undo does with a thing that the run made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemovalDecision {
    /// The thing is no longer at its place, so nothing is removed.
    AlreadyGone,
    /// The undo removes the thing. The only decision that does.
    Remove,
    /// The thing changed after the run, or cannot be read. A conflict.
    KeepModified,
    /// Another program put something into the directory. A conflict.
    KeepForeignContent,
    /// Something in the directory stays, and has its own reason. No conflict.
    KeepNonEmpty,
    /// The undo was not asked for this path. No conflict.
    KeepNotRequested,
    /// A git object of an earlier repository. No conflict.
    KeepSharedGitObject,
    /// A moved file that cannot go back, and whose contents nothing else has. The earlier path reports the conflict.
    KeepOnlyCopy,
    /// A part of a repository that the run made, and that was used since. The repository reports the conflict.
    KeepUsedRepository,
}

impl RemovalDecision {
    /// Returns whether nothing of the run is left at the path after the undo.
    pub fn clears_place(self) -> bool {
        matches!(self, Self::AlreadyGone | Self::Remove)
    }

    /// Returns whether the path itself reports a conflict.
    pub fn is_conflict(self) -> bool {
        matches!(self, Self::KeepModified | Self::KeepForeignContent)
    }
}

/// What an undo does about an earlier thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReturnDecision {
    /// The thing is as before, or the undo was not asked for it.
    NothingToDo,
    /// The thing comes back in the place of the current thing.
    PutBack,
    /// The thing comes back in a place that a removal of the same undo leaves empty.
    PutBackWhereRemoved,
    /// The place of the thing is gone. A conflict, as are all that follow.
    KeepPlaceLost,
    /// The current thing cannot be read.
    KeepUnreadable,
    /// The thing changed after the run.
    KeepModified,
    /// The thing was removed after the run.
    KeepRemoved,
}

/// Decides about a thing that the run made. `content` matters for directories.
pub(super) fn decide_removal(view: PathView, content: RemainingContent) -> RemovalDecision {
    use RemainingContent::{Foreign, Kept, NothingLeft};
    use RequestScope::{NotRequested, Requested, SharedGitObject};
    use StateNow::{Absent, AsAfterRun, AsBefore, CopyOfBefore, HalfUndone, Other, PlaceLost, Unknown};
    match (view.request, view.state_now, content) {
        (_, PlaceLost, _) => RemovalDecision::AlreadyGone,
        (NotRequested, _, _) => RemovalDecision::KeepNotRequested,
        (SharedGitObject, _, _) => RemovalDecision::KeepSharedGitObject,
        (Requested, Absent | AsBefore | CopyOfBefore, _) => RemovalDecision::AlreadyGone,
        (Requested, Unknown | Other, _) => RemovalDecision::KeepModified,
        (Requested, AsAfterRun | HalfUndone, Foreign) => RemovalDecision::KeepForeignContent,
        (Requested, AsAfterRun | HalfUndone, Kept) => RemovalDecision::KeepNonEmpty,
        (Requested, AsAfterRun | HalfUndone, NothingLeft) => RemovalDecision::Remove,
    }
}

/// Decides about a thing that was there before the run.
pub(super) fn decide_return(view: PathView, effect: RunEffect) -> ReturnDecision {
    use RequestScope::{NotRequested, Requested, SharedGitObject};
    use RunEffect::{Changed, KindReplacedAndKept, KindReplacedAndRemoved, NothingBefore, Untouched};
    use StateNow::{Absent, AsAfterRun, AsBefore, CopyOfBefore, HalfUndone, Other, PlaceLost, Unknown};
    match (view.request, effect, view.state_now) {
        (NotRequested | SharedGitObject, _, _) | (Requested, NothingBefore, _) => ReturnDecision::NothingToDo,
        (Requested, _, PlaceLost) => ReturnDecision::KeepPlaceLost,
        (Requested, Untouched, _) => ReturnDecision::NothingToDo,
        (Requested, _, Unknown) => ReturnDecision::KeepUnreadable,
        (Requested, _, AsBefore) => ReturnDecision::NothingToDo,
        (Requested, _, HalfUndone) => ReturnDecision::PutBack,
        (Requested, KindReplacedAndRemoved, _) => ReturnDecision::PutBackWhereRemoved,
        (Requested, KindReplacedAndKept, _) => ReturnDecision::KeepModified,
        (Requested, Changed, AsAfterRun) => ReturnDecision::PutBack,
        (Requested, Changed, CopyOfBefore) => ReturnDecision::NothingToDo,
        (Requested, Changed, Absent) => ReturnDecision::KeepRemoved,
        (Requested, Changed, Other) => ReturnDecision::KeepModified,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Debug;

    use super::*;

    const REQUESTS: [RequestScope; 3] =
        [RequestScope::Requested, RequestScope::NotRequested, RequestScope::SharedGitObject];
    const STATES: [StateNow; 8] = [
        StateNow::PlaceLost,
        StateNow::Unknown,
        StateNow::AsBefore,
        StateNow::HalfUndone,
        StateNow::AsAfterRun,
        StateNow::CopyOfBefore,
        StateNow::Absent,
        StateNow::Other,
    ];
    const CONTENTS: [RemainingContent; 3] =
        [RemainingContent::NothingLeft, RemainingContent::Kept, RemainingContent::Foreign];
    const EFFECTS: [RunEffect; 5] = [
        RunEffect::NothingBefore,
        RunEffect::Untouched,
        RunEffect::Changed,
        RunEffect::KindReplacedAndRemoved,
        RunEffect::KindReplacedAndKept,
    ];

    /// Returns the rows of the table of a function in the head of this file: three facts, and the decision.
    fn rows_of(function: &str) -> Vec<[Vec<String>; 4]> {
        let head = include_str!("decision_tables.rs").lines().map_while(|line| line.strip_prefix("//!"));
        let section = head.map(str::trim).skip_while(|line| !(line.starts_with('#') && line.contains(function)));
        let table = section.skip(1).take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with('|'));
        let cells = |line: &str| -> Vec<Vec<String>> {
            let values = |cell: &str| cell.split(',').map(|value| value.trim().trim_matches('`').to_owned()).collect();
            line.trim_matches('|').split('|').map(values).collect()
        };
        table.skip(2).map(|line| cells(line).try_into().expect("three facts and a decision")).collect()
    }

    /// Compares a table with its function for every combination of facts. Each row must decide at least one.
    fn assert_table<F: Debug>(function: &str, decisions: impl Iterator<Item = ([String; 3], F)>) {
        let rows = rows_of(function);
        let mut used = BTreeSet::new();
        for (facts, decision) in decisions {
            let matches = |cell: &Vec<String>, fact: &String| cell.contains(fact) || *cell == ["any"];
            let is_match = |row: &[Vec<String>; 4]| row.iter().zip(&facts).all(|(cell, fact)| matches(cell, fact));
            let row = rows.iter().position(is_match).unwrap_or_else(|| panic!("no row of {function} for {facts:?}"));
            assert_eq!(rows[row][3], [format!("{decision:?}")], "row {} of {function} for {facts:?}", row + 1);
            used.insert(row);
        }
        assert!(!rows.is_empty() && used.len() == rows.len(), "rows of {function} that decide nothing: {used:?}");
    }

    fn views() -> impl Iterator<Item = PathView> {
        REQUESTS.into_iter().flat_map(|request| STATES.map(|state_now| PathView { request, state_now }))
    }

    #[test]
    fn each_row_of_the_removal_table_is_what_the_function_decides() {
        let facts = views().flat_map(|view| CONTENTS.map(|content| (view, content)));
        let decisions = facts.map(|(view, content)| {
            let names = [format!("{:?}", view.request), format!("{:?}", view.state_now), format!("{content:?}")];
            (names, decide_removal(view, content))
        });
        assert_table("decide_removal", decisions);
    }

    #[test]
    fn each_row_of_the_return_table_is_what_the_function_decides() {
        let facts = views().flat_map(|view| EFFECTS.map(|effect| (view, effect)));
        let decisions = facts.map(|(view, effect)| {
            let names = [format!("{:?}", view.request), format!("{effect:?}"), format!("{:?}", view.state_now)];
            (names, decide_return(view, effect))
        });
        assert_table("decide_return", decisions);
    }

    /// The promise of docs/undo.md, whatever the tables say.
    #[test]
    fn only_a_requested_thing_that_is_as_the_run_left_it_is_removed() {
        for (view, content) in views().flat_map(|view| CONTENTS.map(|content| (view, content))) {
            let is_the_runs = matches!(view.state_now, StateNow::AsAfterRun | StateNow::HalfUndone);
            let may_go =
                view.request == RequestScope::Requested && is_the_runs && content == RemainingContent::NothingLeft;
            assert_eq!(decide_removal(view, content) == RemovalDecision::Remove, may_go, "{view:?} {content:?}");
        }
    }
}
