//! The counts of one run of a runner, while its lines are read.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::test_counts::{MOST_NAMES, TestCounts};
use crate::rules::test_line_patterns::TestCountingRule;

/// Most names of a run that are compared, so that none counts twice.
const COMPARED: usize = 4_096;

/// Names of failed tests.
#[derive(Clone, Debug, Default)]
pub(super) struct FailedTestNames {
    pub first: Vec<String>,
    pub total: u64,
    seen: HashSet<u64>,
    state: RandomState,
}

impl FailedTestNames {
    /// Adds a name. Returns whether it is new.
    pub fn add(&mut self, name: String) -> bool {
        let hash = self.state.hash_one(&name);
        if self.seen.contains(&hash) {
            return false;
        }
        if self.seen.len() < COMPARED {
            self.seen.insert(hash);
        }
        self.total += 1;
        if self.first.len() < MOST_NAMES {
            self.first.push(name);
        }
        true
    }

    /// Puts earlier names in front.
    pub fn prepend(&mut self, earlier: Self) {
        let later = std::mem::replace(self, earlier);
        let unlisted = later.total - later.first.len() as u64;
        for name in later.first {
            self.add(name);
        }
        self.total += unlisted;
    }
}

/// Whether single tests have lines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TestListing {
    /// Each test has a line.
    pub each: bool,
    /// Tests without a line may have passed.
    pub unlisted: bool,
    /// That holds unless a summary follows.
    pub maybe_unlisted: bool,
}

/// A run that has begun.
#[derive(Clone, Debug)]
pub(super) struct TestRunFrame {
    /// The number of the rule.
    pub rule: usize,
    /// Whether the output is certainly the runner's.
    pub sure: bool,
    pub listing: TestListing,
    /// Whether a line of a summary was there.
    pub summary: bool,
    /// Whether a line told of a failure that has no name.
    pub broken: bool,
    /// Whether the last line of the output may have been cut.
    pub cut: bool,
    /// Single tests: passed, failed, skipped.
    pub each: [u64; 3],
    /// Failures that are no tests.
    pub errors: FailedTestNames,
    /// The total that was named before the tests ran.
    pub announced: Option<u64>,
    /// The numbers of a summary: passed, failed, skipped, total.
    pub numbers: [Option<u64>; 4],
    pub names: FailedTestNames,
    /// Runs that ended inside this one.
    pub inner: Vec<TestRunCounts>,
}

/// The counts of a run.
#[derive(Clone, Debug)]
pub(super) struct TestRunCounts {
    pub rule: usize,
    pub passed: Option<u64>,
    pub failed: u64,
    pub skipped: Option<u64>,
    pub total: Option<u64>,
    pub names: FailedTestNames,
    pub errors: FailedTestNames,
    pub complete: bool,
}

impl TestRunFrame {
    pub fn new(rule: usize) -> Self {
        Self {
            rule,
            sure: false,
            listing: TestListing::default(),
            summary: false,
            broken: false,
            cut: false,
            each: [0; 3],
            errors: FailedTestNames::default(),
            announced: None,
            numbers: [None; 4],
            names: FailedTestNames::default(),
            inner: Vec::new(),
        }
    }

    /// Reads the numbers in a line of a summary.
    pub fn read(&mut self, counting: &TestCountingRule, lines: &[u8]) {
        for (sum, number) in self.numbers.iter_mut().zip(&counting.numbers) {
            if let Some(found) = number.sum(lines) {
                *sum = Some(sum.unwrap_or(0).saturating_add(found));
            }
        }
        self.listing.maybe_unlisted &= self.numbers[3].is_none();
    }

    /// Reads the total that a line announces.
    pub fn read_announced_total(&mut self, counting: &TestCountingRule, lines: &[u8]) {
        self.announced = counting.numbers[3].sum(lines).or(self.announced);
    }

    fn total(&self) -> Option<u64> {
        self.numbers[3].or(self.announced)
    }

    /// Returns whether anything was counted.
    pub fn has_counts(&self) -> bool {
        self.summary || self.errors.total > 0 || self.each.iter().any(|&count| count > 0)
    }

    /// Returns whether the runner named a total.
    pub fn has_total(&self) -> bool {
        self.total().is_some()
    }

    /// Returns whether a line of the summary denies the failures that the runner told of. Then a test printed it.
    pub fn is_denied(&self, counting: &TestCountingRule, lines: &[u8]) -> bool {
        self.broken
            && !counting.numbers[1].is_empty()
            && counting.numbers[1].sum(lines).is_none_or(|failed| failed == 0)
    }

    /// Returns whether a line can end the run.
    pub fn may_end(&self, counting: &TestCountingRule) -> bool {
        self.summary
            || self.listing.unlisted
            || self.listing.maybe_unlisted
            || counting.has_unlisted && self.has_counts()
    }

    /// Returns whether the tests add up to the total that the runner named.
    pub fn adds_up(&self, counting: &TestCountingRule) -> bool {
        let sum =
            |at: usize| if counting.numbers[at].is_empty() { self.each[at] } else { self.numbers[at].unwrap_or(0) };
        self.total().is_some_and(|total| sum(0).saturating_add(sum(1)).saturating_add(sum(2)) >= total)
    }

    /// Returns the counts. `ended`: the runner said that it ended.
    pub fn end(mut self, counting: &TestCountingRule, ended: bool) -> (TestRunCounts, Vec<TestRunCounts>) {
        self.listing.unlisted |= self.listing.maybe_unlisted;
        let [passed, failed, skipped, total] = self.known_numbers(counting, ended);
        let failed = failed.unwrap_or(self.each[1]).saturating_add(self.errors.total);
        let passed = passed.or_else(|| match (total, skipped) {
            (Some(total), Some(skipped)) if ended => Some(total.saturating_sub(failed).saturating_sub(skipped)),
            _ => None,
        });
        let sum = passed.zip(skipped).map(|(passed, skipped)| passed.saturating_add(failed).saturating_add(skipped));
        let complete = ended && !self.cut && total.zip(sum).is_none_or(|(total, sum)| sum >= total);
        let total = total.or(sum.filter(|_| ended));
        let (rule, errors) = (self.rule, self.errors);
        for name in &errors.first {
            self.names.add(name.clone());
        }
        (TestRunCounts { rule, passed, failed, skipped, total, names: self.names, errors, complete }, self.inner)
    }

    /// Returns the numbers that are known: of the summary, or else of single lines.
    fn known_numbers(&self, counting: &TestCountingRule, ended: bool) -> [Option<u64>; 4] {
        let is_listed = self.listing.each || self.each[0] > 0;
        let each = |at: usize, lists: bool| {
            let is_known = if counting.has_unlisted { is_listed || ended && !self.listing.unlisted } else { ended };
            (lists && (is_known || self.each[at] > 0)).then_some(self.each[at])
        };
        let listed = [each(0, counting.lists_passed), Some(self.each[1]), each(2, counting.lists_skipped), None];
        if counting.has_unlisted && is_listed {
            return listed;
        }
        if self.listing.unlisted {
            return [None, self.numbers[1], None, None];
        }
        let number = |at: usize| {
            let is_read = self.summary && !counting.numbers[at].is_empty();
            self.numbers[at].or(listed[at].filter(|&count| count > 0)).or_else(|| is_read.then_some(0))
        };
        // A summary without any number says that no test ran.
        let is_none = self.summary && self.numbers.iter().all(Option::is_none);
        let total = self.total().or_else(|| is_none.then_some(0));
        // With a total, the passed tests are the rest.
        let passed = self.numbers[0]
            .or_else(|| number(0).filter(|_| !counting.numbers[0].is_empty()))
            .or(if ended && total.is_some() { None } else { listed[0] });
        [passed, number(1), number(2).or(listed[2]), total]
    }
}

impl TestRunCounts {
    /// Adds another run of the same runner.
    pub fn add(&mut self, other: TestRunCounts) {
        let sum = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
        self.passed = sum(self.passed, other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = sum(self.skipped, other.skipped);
        self.total = sum(self.total, other.total);
        self.complete &= other.complete;
        let room = MOST_NAMES.saturating_sub(self.names.first.len());
        self.names.first.extend(other.names.first.into_iter().take(room));
        self.names.total += other.names.total;
    }

    /// Adds a failure that is no test. Returns nothing for one that is known.
    pub fn add_error(&mut self, name: Option<String>) {
        let Some(name) = name else { return };
        if self.errors.add(name.clone()) {
            self.failed = self.failed.saturating_add(1);
            self.names.add(name);
        }
    }

    /// Returns the counts as they are given to callers.
    pub fn counts(self, runner: &str) -> TestCounts {
        let Self { passed, failed, skipped, total, names, complete, .. } = self;
        let (failures, failures_total) = (names.first, names.total);
        TestCounts { runner: runner.to_owned(), passed, failed, skipped, total, failures, failures_total, complete }
    }
}
