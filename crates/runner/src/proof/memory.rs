//! The runs of each check in this process.

use std::path::Path;

use evidence::{Again, Check, CheckRun, Kind, Since, Verdict};
use serde::Serialize;

/// Most checks that are remembered.
const CHECKS: usize = 64;

/// The checks, the one that ran last at the end.
#[derive(Debug, Default)]
pub(super) struct Memory(Vec<Known>);

/// One check.
#[derive(Debug)]
struct Known {
    id: String,
    command: String,
    cwd: std::path::PathBuf,
    kind: Kind,
    last: Run,
    /// The last run that passed, if a later one did not.
    passed: Option<Run>,
}

/// One run of a check.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub run: CheckRun,
    /// The names of failed tests, if all are known.
    pub failures: Option<Vec<String>>,
}

/// A check as `listChecks` gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// The same for the same words in the same directory.
    pub id: String,
    /// The source, at most 200 characters.
    pub command: String,
    /// The absolute directory in which it ran.
    pub cwd: std::path::PathBuf,
    /// What it checks.
    pub kind: Kind,
    /// Its last run.
    pub run: CheckRun,
    /// The last run that passed.
    pub last_passed: Option<CheckRun>,
    /// What changed since `last_passed`.
    pub since: Option<Since>,
    /// Whether a file changed since `run`. `None` if that is not known.
    pub stale: Option<bool>,
}

impl Known {
    fn last_passed(&self) -> Option<&Run> {
        if self.last.run.verdict == Verdict::Passed { Some(&self.last) } else { self.passed.as_ref() }
    }
}

impl Memory {
    /// Adds a run of a check, after it has told the check of the runs before.
    pub fn add(&mut self, check: &mut Check, run: Run) {
        let before = self.0.iter().position(|known| known.id == check.id).map(|at| self.0.remove(at));
        if let Some(known) = &before {
            check.last = Some(known.last.run.clone());
            check.last_passed = known.last_passed().map(|run| run.run.clone());
            check.again = known.last.failures.as_ref().zip(run.failures.as_ref()).map(|(old, new)| Again::of(old, new));
        }
        let passed = before.and_then(|known| known.last_passed().cloned());
        let Check { id, command, cwd, kind, .. } = check.clone();
        if self.0.len() >= CHECKS {
            self.0.remove(0);
        }
        self.0.push(Known { id, command, cwd, kind, last: run, passed });
    }

    /// Lists the checks, the newest first: all of them, or those in a directory and below.
    pub fn list(&self, directory: Option<&Path>) -> Vec<Standing> {
        let is_wanted = |known: &&Known| directory.is_none_or(|directory| known.cwd.starts_with(directory));
        self.0.iter().rev().filter(is_wanted).map(standing).collect()
    }
}

fn standing(known: &Known) -> Standing {
    let last_passed = known.last_passed().map(|run| run.run.clone());
    Standing {
        id: known.id.clone(),
        command: known.command.clone(),
        cwd: known.cwd.clone(),
        kind: known.kind,
        run: known.last.run.clone(),
        last_passed,
        since: None,
        stale: None,
    }
}
