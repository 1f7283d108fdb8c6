//! The runs of each check in this process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evidence::{ChangesSinceRun, CheckEvidence, CheckRun, EvidenceVerdict, FailedTestComparison, FailedTests, Kind};
use receipt::watch::TreeMark;
use serde::Serialize;

use super::tree_before::{TreeBeforeCommand, is_stale, since_of_changes, unknown_changes};

/// Most checks that are remembered.
const CHECKS: usize = 64;
/// Most runs whose ends stay marked in their trees: each change of a file is noted once per mark.
const MARKS: usize = 16;

/// Why nothing is known of the files since a run.
const NOT_MARKED: &str = "The tree is not watched since the end of that run.";
/// Why nothing is known of the files of another tree.
const ELSEWHERE: &str = "The check ran outside of the tree that was watched.";

/// The checks, the one that ran last at the end.
#[derive(Debug, Default)]
pub(super) struct CheckHistory(Vec<RememberedCheck>);

/// One check.
#[derive(Debug)]
struct RememberedCheck {
    id: String,
    command: String,
    cwd: PathBuf,
    kind: Kind,
    last: RememberedCheckRun,
    /// The last run that passed, if a later one did not.
    passed: Option<RememberedCheckRun>,
}

/// One run of a check.
#[derive(Debug, Clone)]
pub(super) struct RememberedCheckRun {
    pub run: CheckRun,
    /// The failed tests, if all are known.
    pub failures: Option<FailedTests>,
    /// Its end in its tree. `None` if the tree was not watched.
    pub mark: Option<Arc<TreeMark>>,
}

/// A check as `listChecks` gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckStanding {
    /// The same for the same words in the same directory.
    pub id: String,
    /// The source, at most 200 characters.
    pub command: String,
    /// The absolute directory in which it ran.
    pub cwd: PathBuf,
    /// What it checks.
    pub kind: Kind,
    /// Its last run.
    pub run: CheckRun,
    /// The last run that passed.
    pub last_passed: Option<CheckRun>,
    /// What changed since `last_passed`.
    pub since: Option<ChangesSinceRun>,
    /// Whether a file changed since `run`. `None` if that is not known.
    pub stale: Option<bool>,
}

/// A check, and the marks from which its files are read.
pub(super) struct UnreadCheckStanding {
    standing: CheckStanding,
    last: Option<Arc<TreeMark>>,
    passed: Option<Arc<TreeMark>>,
}

impl RememberedCheck {
    fn last_passed(&self) -> Option<&RememberedCheckRun> {
        if self.last.run.verdict == EvidenceVerdict::Passed { Some(&self.last) } else { self.passed.as_ref() }
    }
}

impl CheckHistory {
    /// Returns the runs that passed and are marked in a tree.
    pub fn marks(&self, root: &Path) -> Vec<(String, Arc<TreeMark>)> {
        let passed = self.0.iter().filter_map(RememberedCheck::last_passed);
        let marks = passed.filter_map(|run| Some((run.run.run_id.clone(), Arc::clone(run.mark.as_ref()?))));
        let marks: HashMap<_, _> = marks.filter(|(_, mark)| mark.root == root).collect();
        marks.into_iter().collect()
    }

    /// Adds a run of a check, after it has told the check of the runs before. `before`: the tree right before this run,
    /// if it was watched. Returns the marks that are no longer needed: their end may have to wait for their trees.
    pub fn add(
        &mut self,
        check: &mut CheckEvidence,
        run: RememberedCheckRun,
        before: Option<&TreeBeforeCommand>,
    ) -> Vec<Arc<TreeMark>> {
        let known = self.0.iter().position(|known| known.id == check.id).map(|at| self.0.remove(at));
        let passed = known.as_ref().and_then(|known| known.last_passed().cloned());
        if let Some(known) = &known {
            check.last = Some(known.last.run.clone());
            let both = known.last.failures.as_ref().zip(run.failures.as_ref());
            check.again = both.and_then(|(old, new)| FailedTestComparison::of(old, new));
        }
        if let (Some(known), Some(passed)) = (&known, &passed) {
            check.last_passed = Some(passed.run.clone());
            let seen = || before.and_then(|before| before.since(&passed.run.run_id));
            check.since = Some(match &passed.mark {
                Some(mark) if !mark.covers(&known.cwd) => unknown_changes(ELSEWHERE),
                _ => seen().unwrap_or_else(|| unknown_changes(NOT_MARKED)),
            });
        }
        let oldest = if self.0.len() >= CHECKS { Some(self.0.remove(0)) } else { None };
        let CheckEvidence { id, command, cwd, kind, .. } = check.clone();
        self.0.push(RememberedCheck { id, command, cwd, kind, last: run, passed });
        let gone = known.into_iter().chain(oldest).flat_map(|known| [Some(known.last), known.passed]);
        let mut gone: Vec<_> = gone.flatten().filter_map(|run| run.mark).collect();
        gone.append(&mut self.take_oldest_marks());
        gone
    }

    /// Takes the marks of the oldest runs.
    fn take_oldest_marks(&mut self) -> Vec<Arc<TreeMark>> {
        let runs = || self.0.iter().flat_map(|known| [Some(&known.last), known.passed.as_ref()]).flatten();
        let mut ends: Vec<_> = runs().filter(|run| run.mark.is_some()).map(|run| run.run.at).collect();
        ends.sort_unstable_by(|one, other| other.cmp(one));
        ends.dedup();
        let Some(oldest) = ends.get(MARKS - 1).copied() else { return Vec::new() };
        let runs = self.0.iter_mut().flat_map(|known| [Some(&mut known.last), known.passed.as_mut()]).flatten();
        runs.filter(|run| run.run.at < oldest).filter_map(|run| run.mark.take()).collect()
    }

    /// Lists the checks, the newest first: all of them, or those in a directory and below.
    pub fn list(&self, directory: Option<&Path>) -> Vec<UnreadCheckStanding> {
        let is_wanted = |known: &&RememberedCheck| directory.is_none_or(|directory| known.cwd.starts_with(directory));
        self.0.iter().rev().filter(is_wanted).map(UnreadCheckStanding::of).collect()
    }
}

impl UnreadCheckStanding {
    fn of(known: &RememberedCheck) -> Self {
        let passed = known.last_passed();
        let standing = CheckStanding {
            id: known.id.clone(),
            command: known.command.clone(),
            cwd: known.cwd.clone(),
            kind: known.kind,
            run: known.last.run.clone(),
            last_passed: passed.map(|run| run.run.clone()),
            since: None,
            stale: None,
        };
        Self { standing, last: known.last.mark.clone(), passed: passed.and_then(|run| run.mark.clone()) }
    }

    /// Reads the files of the check. Blocks.
    pub fn read(self) -> CheckStanding {
        let Self { standing, last, passed } = self;
        let stale = last.filter(|mark| mark.covers(&standing.cwd)).and_then(|mark| is_stale(&mark.changed()));
        let since = standing.last_passed.as_ref().map(|_| match passed {
            Some(mark) if !mark.covers(&standing.cwd) => unknown_changes(ELSEWHERE),
            Some(mark) => since_of_changes(&mark.changed()),
            None => unknown_changes(NOT_MARKED),
        });
        CheckStanding { since, stale, ..standing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(id: &str) -> CheckEvidence {
        CheckEvidence {
            id: id.to_owned(),
            command: "npm test".to_owned(),
            cwd: PathBuf::from("/work").join(id),
            kind: Kind::Test,
            verdict: EvidenceVerdict::Passed,
            last: None,
            last_passed: None,
            since: None,
            again: None,
            exit_code: Some(0),
            failures: None,
        }
    }

    fn run(at: u64, verdict: EvidenceVerdict, failures: Option<&[&str]>) -> RememberedCheckRun {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let failures = failures.map(|failed| FailedTests { names: names(failed), passed: 9 });
        let run = CheckRun { run_id: format!("r{at}"), at, verdict, exit_code: Some(0) };
        RememberedCheckRun { run, failures, mark: None }
    }

    fn id(run: Option<&CheckRun>) -> &str {
        run.map_or("none", |run| run.run_id.as_str())
    }

    #[test]
    fn a_check_is_told_of_its_runs_before() {
        use EvidenceVerdict::{Failed, Passed, Unproven};
        let mut memory = CheckHistory::default();
        for (at, verdict, last, passed) in [
            (1, Failed, "none", "none"),
            (2, Passed, "r1", "none"),
            (3, Failed, "r2", "r2"),
            (4, Unproven, "r3", "r2"),
            (5, Passed, "r4", "r2"),
            (6, Passed, "r5", "r5"),
        ] {
            let mut check = check("a");
            memory.add(&mut check, run(at, verdict, None), None);
            assert_eq!((id(check.last.as_ref()), id(check.last_passed.as_ref())), (last, passed), "r{at}");
            assert_eq!(check.since.is_some(), passed != "none", "r{at}");
        }
        let standing = memory.list(None).remove(0).read();
        assert_eq!((id(Some(&standing.run)), id(standing.last_passed.as_ref())), ("r6", "r6"));
        assert_eq!(standing.stale, None);
        assert_eq!(standing.since, Some(unknown_changes(NOT_MARKED)));
    }

    #[test]
    fn failed_tests_are_compared_if_both_runs_named_them_all() {
        let mut memory = CheckHistory::default();
        for (at, failures, again) in [
            (1, Some(&["a", "b"] as &[_]), None),
            (2, Some(&["b", "c"]), Some((vec!["a"], vec!["b"], vec!["c"]))),
            (3, None, None),
            (4, Some(&[]), None),
            (5, Some(&["c"]), Some((vec![], vec![], vec!["c"]))),
            // One test less ran, as after a stop at the first failure.
            (6, Some(&[]), None),
        ] {
            let mut check = check("a");
            memory.add(&mut check, run(at, EvidenceVerdict::Failed, failures), None);
            let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
            let again = again.map(|(fixed, same, appeared)| FailedTestComparison {
                fixed: owned(fixed),
                same: owned(same),
                appeared: owned(appeared),
            });
            assert_eq!(check.again, again, "r{at}");
        }
    }

    #[test]
    fn the_oldest_checks_go_first() {
        let mut memory = CheckHistory::default();
        for at in 0..70 {
            memory.add(&mut check(&format!("c{at}")), run(at, EvidenceVerdict::Passed, None), None);
        }
        memory.add(&mut check("c10"), run(70, EvidenceVerdict::Passed, None), None);
        let ids = |memory: &CheckHistory, directory: Option<&str>| -> Vec<String> {
            memory.list(directory.map(Path::new)).into_iter().map(|unread| unread.standing.id).collect()
        };
        let all = ids(&memory, None);
        assert_eq!((all.len(), all[0].as_str(), all[1].as_str(), all[63].as_str()), (64, "c10", "c69", "c6"));
        assert_eq!(ids(&memory, Some("/work/c20")), ["c20"]);
        assert_eq!(ids(&memory, Some("/work/c2")), [] as [&str; 0]);
        assert_eq!(ids(&memory, Some("/work")).len(), 64);
    }

    #[test]
    fn only_the_latest_ends_stay_marked() {
        let root = tempfile::tempdir().expect("a directory");
        let mut memory = CheckHistory::default();
        for at in 0..20 {
            let mark = Some(super::super::tree_before::mark_tree_end(root.path()));
            let run = |run: RememberedCheckRun| RememberedCheckRun { mark: mark.clone(), ..run };
            memory.add(&mut check(&format!("c{at}")), run(run_at(at)), None);
            memory.add(&mut check(&format!("d{at}")), run(run_at(at)), None);
        }
        let marked: Vec<_> = memory.0.iter().filter(|known| known.last.mark.is_some()).map(|known| &known.id).collect();
        assert_eq!((marked.len(), marked[0].as_str()), (32, "c4"));
    }

    fn run_at(at: u64) -> RememberedCheckRun {
        run(at, EvidenceVerdict::Passed, None)
    }
}
