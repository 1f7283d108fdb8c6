//! Counts of tests in complete text.

use napi_derive::napi;

use reduce::counts::{Ended, TestCounts, read_tests as read};

/// The tests of one runner in an output.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct NativeTestCounts {
    /// The runner: the name of its rule.
    pub runner: String,
    /// Passed tests, or `null`.
    pub passed: Option<f64>,
    /// Failed tests and errors.
    pub failed: f64,
    /// Skipped tests, or `null`.
    pub skipped: Option<f64>,
    /// All tests, or `null`.
    pub total: Option<f64>,
    /// Names of failed tests.
    pub failures: Vec<String>,
    /// The number of names that were printed.
    pub failures_total: f64,
    /// Whether the summary was there.
    pub complete: bool,
}

#[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles; exact up to 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}

impl From<TestCounts> for NativeTestCounts {
    fn from(counts: TestCounts) -> Self {
        let TestCounts { runner, passed, failed, skipped, total, failures, failures_total, complete } = counts;
        let [passed, skipped, total] = [passed, skipped, total].map(|count| count.map(number));
        let (failed, failures_total) = (number(failed), number(failures_total));
        Self { runner, passed, failed, skipped, total, failures, failures_total, complete }
    }
}

/// Counts the tests in an output, for each runner in it. `is_ended`: the command has ended, with `code` or
/// by a signal.
#[napi]
#[must_use]
pub fn read_tests(text: String, command: Option<String>, is_ended: bool, code: Option<i64>) -> Vec<NativeTestCounts> {
    let ended = if is_ended { Ended::with(code) } else { Ended::Unknown };
    read(&text, command.as_deref(), ended).into_iter().map(NativeTestCounts::from).collect()
}
