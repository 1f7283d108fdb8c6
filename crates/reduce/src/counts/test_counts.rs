//! The counts as callers get them.

use serde::{Deserialize, Serialize};

/// Most names of failed tests.
pub const MOST_NAMES: usize = 50;

/// The tests of one runner in an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestCounts {
    /// The name of the rule.
    pub runner: String,
    /// Passed tests, with flaky ones and unexpected passes. `None`: the runner did not print it.
    pub passed: Option<u64>,
    /// Failed tests and errors.
    pub failed: u64,
    /// Skipped tests, with those to do, ignored, excluded, pending, and expected failures.
    pub skipped: Option<u64>,
    /// All tests, without those that the runner's own total leaves out.
    pub total: Option<u64>,
    /// Names of failed tests as the runner prints them, at most `MOST_NAMES`.
    pub failures: Vec<String>,
    /// The number of names that were printed.
    pub failures_total: u64,
    /// Whether the summary was there.
    pub complete: bool,
}

/// How a command ended whose output is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandTermination {
    /// It is not known.
    #[default]
    Unknown,
    /// By itself.
    ByItself,
    /// It was killed.
    Killed,
}

impl CommandTermination {
    /// Returns how a command with this exit code ended. `None`: by a signal. A shell gives 128 and the signal's number.
    pub fn with(code: Option<i64>) -> Self {
        match code {
            Some(code) if !(129..=192).contains(&code) => Self::ByItself,
            _ => Self::Killed,
        }
    }
}
