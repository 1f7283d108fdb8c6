//! A unit: a line of an output, or the same line several times in a row.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use memchr::memchr_iter;

use super::line_template::{RecentTemplates, exact, exact_start, rough_template, template_hash};
use crate::CommandStream;
use crate::estimate::line_hundredths;
use crate::failure::{
    self, FailureBlockLine as Line, FailureContext, FailureSeverity, FirstFailureBlock, LineJudgement, RecentTestNames,
    TestHeaders, is_place, judge_line,
};
use crate::fold::{AllowedFolds, FEWEST, LineSeries};
use crate::reduced_view::LineVerdict;

/// Most failures with one template that are not repeats: their numbers may be names.
const SIMILAR: u64 = 8;
/// Number of lines at the start of a stream that count more.
const HEAD: usize = 8;

/// A line and its properties.
#[derive(Clone, Debug)]
pub struct OutputUnit<'a> {
    /// The line.
    pub text: Cow<'a, str>,
    /// The stream of the line.
    pub stream: CommandStream,
    /// The line's number in the stream, from 1.
    pub number: usize,
    /// The number of equal lines in a row, or of lines of the series.
    pub count: usize,
    /// The series that begins with the line.
    pub series: Option<Box<LineSeries>>,
    /// The number of the line above that names the failed test of this line, of such a line its own, or 0.
    pub header: usize,
    /// How much the line tells about a failure.
    pub severity: FailureSeverity,
    /// Other properties of the line.
    pub traits: UnitTraits,
    /// The verdict of the caller and of the rules.
    pub verdict: LineVerdict,
    /// How much the line tells, apart from failures and from its place at the end.
    pub score: i32,
    /// The removed middle.
    pub cut: Option<Box<RemovedMiddle>>,
}

/// The middle of a line that was removed.
#[derive(Clone, Copy, Debug, Hash)]
pub struct RemovedMiddle {
    /// Its place in the text that is left.
    pub at: usize,
    /// Its length in characters.
    pub characters: usize,
    /// The tokens of the whole line, in hundredths.
    pub tokens: u64,
}

/// Properties of a unit.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub struct UnitTraits {
    /// Whether the line is a message of a program, also among rows of a search.
    pub is_said: bool,
    /// Whether the line belongs to the block of the first failure.
    pub in_block: bool,
    /// Whether the line names a failed test that no earlier line names.
    pub names: bool,
    /// Whether an earlier line had the same template.
    pub seen: bool,
    /// Whether many earlier lines had the same template, so that one more tells little.
    pub common: bool,
    /// Whether an earlier result shows the line.
    pub referred: bool,
}

/// Judges the lines of one stream in order.
#[derive(Debug, Default)]
pub struct LineJudge {
    lines: usize,
    block: FirstFailureBlock,
    context: FailureContext,
    /// Number of the units right before the last one that belong to the block of the first failure with it.
    pub lead: usize,
    headers: TestHeaders,
    names: RecentTestNames,
    seen: RecentTemplates,
    /// The folds that the text permits.
    pub allowed: AllowedFolds,
    /// Whether a line reports a failure.
    pub failed: bool,
    /// Whether a message of a program reports a failure, also among rows of a search.
    pub said: bool,
}

/// A line before it is judged.
pub struct NewLine<'a> {
    /// The line.
    pub text: Cow<'a, str>,
    /// The stream of the line.
    pub stream: CommandStream,
    /// The verdict of the caller and of the rules.
    pub verdict: LineVerdict,
}

impl OutputUnit<'_> {
    /// Returns whether the next line repeats this one.
    pub fn repeats(&self, line: &str) -> bool {
        // A call to compare texts takes longer than most texts of one length need to differ at their end.
        let is_same =
            || self.text.as_bytes().last() == line.as_bytes().last() && (line.is_empty() || self.text == line);
        self.cut.is_none() && self.series.is_none() && self.text.len() == line.len() && is_same()
    }

    /// Returns whether the next line goes on with the series, and counts it.
    pub fn continues_series(&mut self, line: &str, verdict: LineVerdict) -> bool {
        let Some(series) = &mut self.series else { return false };
        let is_next = self.verdict == verdict
            && series.takes(&self.text, self.count, line)
            && (series.is_bare || failure::severity(line) < FailureSeverity::Mention);
        self.count += usize::from(is_next);
        is_next
    }

    /// Adds all properties. `lines`: the number of lines so far, from which the place of the line counts.
    pub fn hash_state(&self, lines: usize, to: &mut impl Hasher) {
        let Self { text, stream: _, number, count, series, header, severity, traits, verdict, score, cut } = self;
        let is_header = self.is_header();
        (text, lines - number, count, series, header, is_header, severity, traits, verdict, score, cut).hash(to);
    }

    /// Returns whether the line may be one of a series.
    fn may_count(&self) -> bool {
        let UnitTraits { in_block, names, .. } = self.traits;
        let is_plain = self.severity < FailureSeverity::Mention && !self.verdict.kept && !in_block && !names;
        is_plain && self.count == 1 && self.series.is_none() && self.cut.is_none()
    }

    /// Returns the series that this line and the next two begin.
    pub fn begun_series(&self, [second, third]: [&OutputUnit; FEWEST - 1]) -> Option<Box<LineSeries>> {
        // Lines with other numbers have one template.
        if !(third.traits.seen && second.traits.seen && self.stream == third.stream) {
            return None;
        }
        let is_one = |unit: &OutputUnit| unit.may_count() && unit.verdict == self.verdict;
        if !(is_one(third) && is_one(second) && self.may_count()) {
            return None;
        }
        LineSeries::of([&self.text, &second.text, &third.text]).map(Box::new)
    }

    /// Makes this line that of a series.
    pub fn begin_series(&mut self, series: Box<LineSeries>) {
        self.series = Some(series);
        self.count = FEWEST;
    }

    /// Returns the tokens of the line, in hundredths. `is_open`: the line has no newline.
    pub fn tokens(&self, is_open: bool) -> u64 {
        self.cut.as_ref().map_or_else(|| line_hundredths(&self.text, self.number == 1, is_open), |cut| cut.tokens)
    }

    /// Returns whether the line names the failed test of the lines below.
    pub fn is_header(&self) -> bool {
        self.header == self.number
    }
}

impl LineJudge {
    /// Returns the number of lines so far.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Adds all that the judgement of the next lines depends on.
    pub fn hash_state(&self, to: &mut impl Hasher) {
        let Self { lines, block, context, lead, headers, names, seen, allowed, failed, said } = self;
        (lines.min(&HEAD), block, context, lead, headers, names, allowed, failed, said).hash(to);
        seen.hash_counts(SIMILAR, to);
    }

    /// Judges the next line. `above`: the lines before, the last first.
    pub fn next<'a, 'l>(&mut self, line: NewLine<'a>, above: impl Iterator<Item = &'l str>) -> OutputUnit<'a> {
        let NewLine { text, stream, verdict } = line;
        self.lines += 1;
        let said = judge_line(&text);
        if said.bracket {
            self.allowed.restrict_by(&text);
        }
        let severity = self.context.next(&text, said.severity);
        let is_said = severity == FailureSeverity::Failure && failure::is_program_message(&text);
        self.failed |= severity == FailureSeverity::Failure;
        self.said |= is_said;
        let (number, header) = (self.lines, self.headers.next(&text, self.lines));
        let is_header = header == number;
        let taken = self.block.add_line(Line { line: &text, severity, is_header }, above);
        self.lead = taken.saturating_sub(1);
        let names = self.names.is_new_name(&text, is_header || severity >= FailureSeverity::Mention);
        // A failure may only be left out as a repeat if the whole line repeats.
        let template = match severity {
            FailureSeverity::Mention | FailureSeverity::Failure => template_hash(&text),
            _ if said.digit => rough_template(&text),
            _ => exact_start(&text),
        };
        // `0 failed` and `3 failed` have one template, but only the latter is a failure.
        let similar = self.seen.count_template(template ^ severity as u64);
        let seen = match severity {
            FailureSeverity::Failure => similar >= SIMILAR || self.seen.count_template(exact(&text)) > 0,
            _ => similar > 0,
        };
        // The numbers of failed tests are names.
        let seen = seen && !names;
        let score = score(&text, self.lines, seen, LineJudgement { severity, ..said });
        let common = severity == FailureSeverity::None && similar >= SIMILAR;
        let traits = UnitTraits { is_said, in_block: taken > 0, names, seen, common, referred: false };
        OutputUnit { text, stream, number, count: 1, series: None, header, severity, traits, verdict, score, cut: None }
    }

    /// Takes this many lines that repeat the line before.
    pub fn repeat(&mut self, times: usize) {
        self.lines += times;
    }

    /// Takes a line that goes on with a series.
    pub fn continue_series(&mut self, line: &str) {
        self.allowed.restrict_by(line);
        self.lines += 1;
    }
}

/// Returns how much a line tells.
fn score(line: &str, number: usize, seen: bool, said: LineJudgement) -> i32 {
    let mut score = 0;
    if number <= HEAD {
        score += 5;
    }
    score += match said.severity {
        FailureSeverity::None => 0,
        FailureSeverity::Warning => 2,
        FailureSeverity::Mention | FailureSeverity::Failure => 6,
    };
    let text = line.trim_start();
    score += match frame(text) {
        Some(StackFrameOrigin::Own) => 3,
        Some(StackFrameOrigin::Library) => -3,
        None if said.place && is_place(text) => 4,
        None => 0,
    };
    if said.summary && is_summary(line) {
        score += 6;
    }
    if seen {
        score -= 4;
    }
    if text.is_empty() {
        score -= 2;
    }
    score
}

enum StackFrameOrigin {
    Own,
    Library,
}

/// Recognizes a stack frame: `at f (a.js:1:2)`, `File "a.py", line 1, in f`.
fn frame(text: &str) -> Option<StackFrameOrigin> {
    let is_frame =
        text.starts_with("at ") && text.contains(':') || text.starts_with("File \"") && text.contains(", line ");
    const LIBRARIES: [&str; 9] = [
        "node_modules",
        "node:",
        "site-packages",
        "dist-packages",
        "/usr/lib",
        "/rustc/",
        ".cargo/registry",
        "<frozen",
        "java.base",
    ];
    is_frame.then(|| {
        if LIBRARIES.iter().any(|library| text.contains(library)) {
            StackFrameOrigin::Library
        } else {
            StackFrameOrigin::Own
        }
    })
}

/// Returns whether a line is a summary.
fn is_summary(text: &str) -> bool {
    const STARTS: [&str; 22] = [
        "test result:",
        "Tests",
        "Test Files",
        "Test Suites:",
        "Ran ",
        "Finished",
        "Successfully",
        "Done",
        "BUILD",
        "Found ",
        "added ",
        "ok  ",
        "FAIL",
        "Total",
        "total",
        "Summary",
        "TOTAL",
        "Snapshots:",
        "Time:",
        "Duration",
        "Built ",
        "Compiled ",
    ];
    let text = text.trim_matches([' ', '=', '-', '─']);
    let first = text.as_bytes().first();
    let begins = |start: &&str| start.as_bytes().first() == first && text.starts_with(*start);
    text.len() < 200 && (STARTS.iter().any(begins) || text.bytes().any(|byte| byte.is_ascii_digit()) && counts(text))
}

/// Returns whether a text has words of a summary with a number: `3 passed`, `2 files changed`.
fn counts(text: &str) -> bool {
    const WORDS: [&str; 8] =
        ["passed", "passing", "failed", "tests", "warnings", "vulnerabilities", "insertions(", "packages in "];
    let counts_before = |end: usize| {
        let (before, behind) = (&text[..end], &text.as_bytes()[end + 1..]);
        match behind.first() {
            Some(b'c') => behind.starts_with(b"changed") && (before.ends_with("file") || before.ends_with("files")),
            Some(b'i') if behind.starts_with(b"in") && before.ends_with("completed") => true,
            Some(b'p' | b'f' | b't' | b'w' | b'v' | b'i') => {
                WORDS.iter().any(|word| behind.starts_with(word.as_bytes()))
            }
            _ => false,
        }
    };
    memchr_iter(b' ', text.as_bytes()).any(counts_before) || text.contains("Coverage")
}
