//! Counts the tests in the output of test runners.
//!
//! What a runner prints is data: the table `[tests]` of `rules/*.toml`. A runner is recognised by lines that only it
//! prints, by its whole summary, or by the command. Files, searches and logs count nothing.
//!
//! - **A run is a frame.** A line begins it, and its summary ends it. What other runners seem to say between the two is
//!   the output of a test, and is dropped with the frame.
//! - **Nothing is guessed.** What a runner does not print is `None`, and a run without its summary is not complete.
//! - **Bounded.** Each line is read once and alone, up to `LONGEST` bytes. Names, frames and runs have a bound.

mod frame;
mod reader;
mod splitter;
#[cfg(test)]
mod tests;

use crate::class::printed;

pub use reader::Reader;

/// Most names of failed tests.
pub const MOST_NAMES: usize = 50;

/// The tests of one runner in an output.
#[derive(Clone, Debug, PartialEq, Eq)]
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
pub enum Ended {
    /// It is not known.
    #[default]
    Unknown,
    /// By itself.
    ByItself,
    /// It was killed.
    Killed,
}

impl Ended {
    /// Returns how a command with this exit code ended. `None`: by a signal. A shell gives 128 and the signal's number.
    pub fn with(code: Option<i64>) -> Self {
        match code {
            Some(code) if !(129..=192).contains(&code) => Self::ByItself,
            _ => Self::Killed,
        }
    }
}

/// Counts the tests in a whole output.
pub fn read_tests(text: &str, command: Option<&str>, ended: Ended) -> Vec<TestCounts> {
    let printed = command.map(printed);
    let mut reader = Reader::new(printed.as_ref());
    reader.push(text.as_bytes());
    reader.end(ended)
}
