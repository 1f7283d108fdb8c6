//! The table `[tests]` of a rule: how the tests in the output of a runner are counted.
//!
//! The build reads this file, too, and it imports nothing of the crate.

use serde::{Deserialize, Serialize};

/// The kind of a check.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum CheckKind {
    /// Runs tests.
    Test,
    /// Judges the style of source code.
    Lint,
    /// Checks types.
    Types,
    /// Builds.
    Build,
}

/// What a line of a runner says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestLineMeaning {
    /// A run begins, also within another one.
    Start,
    /// A run has begun.
    Begin,
    /// The output is the runner's.
    Sign,
    /// Each test has a line of its own, passed ones, too.
    Listed,
    /// A group ended whose passed tests may have had no line.
    Unlisted,
    /// One test passed.
    Passed,
    /// One test failed.
    Failed,
    /// One test was skipped.
    Skipped,
    /// Something other than a test failed, such as a file that could not be loaded.
    Error,
    /// Names of failed tests follow.
    Section,
    /// No more names of failed tests follow.
    SectionEnd,
    /// A line that `Name` would take, and that has no name.
    NoName,
    /// The name of a failed test.
    Name,
    /// A group failed. That is one failure if none of its lines told of one.
    Broken,
    /// A summary, or a line of one, that proves itself.
    Summary,
    /// The same, which counts only if the runner is known.
    Terse,
    /// The line that ends a summary of several lines.
    End,
}

impl TestLineMeaning {
    /// Returns whether such lines are only looked for once the runner is known. `adds_up`: single tests may come first.
    pub fn is_of_known(self, adds_up: bool) -> bool {
        match self {
            Self::Start | Self::Begin | Self::Sign | Self::Summary => false,
            Self::Passed | Self::Failed | Self::Skipped => !adds_up,
            _ => true,
        }
    }
}

/// How tests are counted. A pattern for lines begins with `^`. One with `\n` is for lines that follow each other.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TestCountingTable {
    start: Vec<String>,
    begin: Vec<String>,
    sign: Vec<String>,
    listed: Vec<String>,
    unlisted: Vec<String>,
    section: Vec<String>,
    section_end: Vec<String>,
    no_name: Vec<String>,
    /// The groups of a pattern are the name.
    name: Vec<String>,
    broken: Vec<String>,
    summary: Vec<String>,
    terse: Vec<String>,
    end: Vec<String>,
    /// Lines of single tests. They are counted where no summary has the number.
    each: SingleTestPatterns,
    /// Numbers in lines of a summary. All that are found are added up.
    pub number: NumberPatterns,
    /// Runners whose lines this one also prints.
    pub over: Vec<String>,
    /// Whether a run has one summary, so that a later one takes the place of an earlier one.
    pub once: bool,
    /// Whether a run is complete once its tests add up to the total.
    pub adds_up: bool,
    /// Whether a last line without a newline may lack a number.
    pub open: bool,
    /// Whether further summaries may follow, one for each package, module or binary.
    pub several: bool,
}

/// Lines of single tests.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SingleTestPatterns {
    passed: Vec<String>,
    failed: Vec<String>,
    skipped: Vec<String>,
    error: Vec<String>,
}

/// Patterns with one group, a number.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NumberPatterns {
    pub passed: Vec<String>,
    pub failed: Vec<String>,
    pub skipped: Vec<String>,
    pub total: Vec<String>,
}

impl TestCountingTable {
    /// Returns the patterns for lines.
    pub fn lines(&self) -> impl Iterator<Item = (TestLineMeaning, &[String])> {
        [
            (TestLineMeaning::Start, &*self.start),
            (TestLineMeaning::Begin, &self.begin),
            (TestLineMeaning::Sign, &self.sign),
            (TestLineMeaning::Listed, &self.listed),
            (TestLineMeaning::Unlisted, &self.unlisted),
            (TestLineMeaning::Passed, &self.each.passed),
            (TestLineMeaning::Failed, &self.each.failed),
            (TestLineMeaning::Skipped, &self.each.skipped),
            (TestLineMeaning::Error, &self.each.error),
            (TestLineMeaning::Section, &self.section),
            (TestLineMeaning::SectionEnd, &self.section_end),
            (TestLineMeaning::NoName, &self.no_name),
            (TestLineMeaning::Name, &self.name),
            (TestLineMeaning::Broken, &self.broken),
            (TestLineMeaning::Summary, &self.summary),
            (TestLineMeaning::Terse, &self.terse),
            (TestLineMeaning::End, &self.end),
        ]
        .into_iter()
    }
}
