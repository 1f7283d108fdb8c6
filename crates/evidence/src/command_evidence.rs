//! The result, in the terms of the public API.

use std::path::{Path, PathBuf};

pub use reduce::check_classification::CheckKind as Kind;
use reduce::counts::TestCounts;
use safety::decide::NamedCommandRules;
use serde::{Deserialize, Serialize};
use sys::WitnessTrace;

use crate::aliases::ShellAliases;

/// A command that has ended.
#[derive(Clone, Debug)]
pub struct EvidenceInput<'a, C> {
    /// Its text.
    pub command: &'a str,
    /// The events of its shell. `None` if the shell could not be watched.
    pub trace: Option<&'a WitnessTrace>,
    /// Its end.
    pub end: CommandEnd,
    /// Counts the tests in its output, once its parts are known.
    pub tests: C,
    /// The absolute directory in which it began.
    pub cwd: &'a Path,
    /// Rules that name more commands that are checks.
    pub rules: &'a NamedCommandRules,
    /// What the shell knew before, as of a session.
    pub known: &'a ShellKnowledge,
}

/// What a shell knows before its command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellKnowledge {
    /// The definitions of its functions.
    pub functions: String,
    /// Its aliases.
    pub aliases: ShellAliases,
}

/// Most characters of a part's source.
const SOURCE: usize = 200;

/// Returns the source of a part, as the result has it.
pub fn shorten_source(text: &str) -> String {
    text.chars().take(SOURCE).collect()
}

/// How the command itself ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandEnd {
    /// The exit code. `None` after a signal, and if it is not known.
    pub code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// Whether it ended by itself: no limit, no abort.
    pub by_itself: bool,
}

impl CommandEnd {
    /// Returns whether the command ended by itself, with an exit code.
    pub fn is_exit(self) -> bool {
        self.by_itself && self.code.is_some()
    }
}

/// What a command proved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandEvidence {
    /// The verdict.
    pub verdict: EvidenceVerdict,
    /// Why the verdict is not `passed`, in a sentence.
    pub why: Option<String>,
    /// How much `parts` knows.
    pub state: EvidenceCompleteness,
    /// The parts in the order of their start: at most 50, failed ones are kept first.
    pub parts: Vec<EvidencePart>,
    /// The number of all parts.
    pub parts_total: usize,
    /// Failures that the exit code does not show: at most 20.
    pub masked: Vec<MaskedFailure>,
    /// The tests in the output, one entry per runner.
    pub tests: Vec<TestCounts>,
    /// The parts that check something: at most 8.
    pub checks: Vec<CheckEvidence>,
    /// The first command whose end is not known, and whose failure the text can hide.
    pub not_known: Option<UnknownOutcome>,
}

/// What a command proved as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EvidenceVerdict {
    /// Each part ended well.
    Passed,
    /// A failure, which the exit code may hide.
    Failed,
    /// Neither is known.
    Unproven,
}

/// How much is known of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EvidenceCompleteness {
    /// Every process that the shell waited for has its place.
    Known,
    /// Some are missing, or a failure has no certain place.
    Partial,
    /// The shell could not be watched.
    Unknown,
}

/// A part of a command that ran as a process of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidencePart {
    /// The source, at most 200 characters.
    pub command: String,
    /// The place in the command, in UTF-16 units. `None` for a part from elsewhere.
    pub span: Option<(usize, usize)>,
    /// The exit code as `$?` gives it, 128 + n after signal n. `None` if it is not known.
    pub exit_code: Option<i32>,
    /// The name of the signal that ended it.
    pub signal: Option<String>,
    /// How often the part ended like this.
    pub times: usize,
}

/// A failure that the exit code does not show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaskedFailure {
    /// The part.
    #[serde(flatten)]
    pub part: EvidencePart,
    /// What hides it.
    pub by: FailureMask,
    /// The source of what ran in its place.
    pub behind: Option<String>,
}

/// A command whose end is not known, and whose failure the text can hide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnknownOutcome {
    /// The source, at most 200 characters.
    pub command: String,
    /// The place in the command, in UTF-16 units.
    pub span: Option<(usize, usize)>,
    /// What can hide its failure.
    pub by: FailureMask,
    /// The source of what runs in its place or after it.
    pub behind: Option<String>,
}

/// What hides a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FailureMask {
    /// A later element of its pipeline.
    Pipe,
    /// The right side of `||`.
    Or,
    /// Something ran after it.
    Sequence,
    /// `&`
    Background,
    /// `$(…)`, backquotes, `<(…)`
    Substitution,
}

/// A part of a command that checks something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckEvidence {
    /// The same for the same words in the same directory.
    pub id: String,
    /// The source, at most 200 characters.
    pub command: String,
    /// The absolute directory in which it ran.
    pub cwd: PathBuf,
    /// What it checks.
    pub kind: Kind,
    /// The verdict of this part, whatever hides it.
    pub verdict: EvidenceVerdict,
    /// The run of this check before this one.
    pub last: Option<CheckRun>,
    /// The last run before this one that passed.
    pub last_passed: Option<CheckRun>,
    /// What changed since `last_passed`.
    pub since: Option<ChangesSinceRun>,
    /// The names of failed tests, compared with `last`.
    pub again: Option<FailedTestComparison>,
    /// The exit code. `None` after a signal, and if it is not known.
    #[serde(skip)]
    pub exit_code: Option<i32>,
    /// The failed tests, if all are known.
    #[serde(skip)]
    pub failures: Option<FailedTests>,
}

/// The failed tests of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedTests {
    /// Their names.
    pub names: Vec<String>,
    /// The number of passed tests.
    pub passed: u64,
}

/// One run of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckRun {
    /// The run's name.
    pub run_id: String,
    /// The time of its end, Unix time in ms.
    pub at: u64,
    /// The verdict.
    pub verdict: EvidenceVerdict,
    /// The exit code as `$?` gives it, 128 + n after signal n. `None` if it is not known.
    pub exit_code: Option<i32>,
}

/// The files that changed since a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangesSinceRun {
    /// How complete the list is.
    pub state: EvidenceCompleteness,
    /// Why the state is not `known`, in a sentence.
    pub why: Option<String>,
    /// The number of all changed files.
    pub total: u64,
    /// Their absolute paths, at most 20.
    pub paths: Vec<String>,
}

/// The failed tests of a run, compared with those of the run before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTestComparison {
    /// They failed then.
    pub fixed: Vec<String>,
    /// They failed then and now.
    pub same: Vec<String>,
    /// They fail now.
    pub appeared: Vec<String>,
}

impl FailedTestComparison {
    /// Compares the failed tests of two runs. `None` if tests of the run before may not have run: the runner stopped
    /// early, or could not load them.
    #[must_use]
    pub fn of(before: &FailedTests, now: &FailedTests) -> Option<Self> {
        let ran = |run: &FailedTests| run.passed.saturating_add(run.names.len() as u64);
        let again = Self::of_names(&before.names, &now.names);
        (ran(now) >= ran(before) && now.passed >= again.fixed.len() as u64).then_some(again)
    }

    fn of_names(before: &[String], now: &[String]) -> Self {
        let of = |names: &[String], others: &[String], both: bool| {
            names.iter().filter(|name| others.contains(name) == both).cloned().collect()
        };
        Self { fixed: of(before, now, false), same: of(now, before, true), appeared: of(now, before, false) }
    }
}
