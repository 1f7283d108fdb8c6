//! Reads the lines of an output, and keeps the frames of the runs in it.

mod run_closing;

use super::plain_line_splitter::PlainLineSplitter;
use super::test_counts::{CommandTermination, TestCounts};
use super::test_run::{FailedTestNames, TestRunCounts, TestRunFrame};
use crate::CommandStream;
use crate::class::OutputProfile;
use crate::rules::test_line_patterns::{COUNTING, FoundPatternPart, TestCountingRule, TestLineFinder, TestLinePattern};
use crate::rules::{OutputRule, RULES, TestLineMeaning};

/// Most frames within each other, and most runs that are kept apart.
const DEPTH: usize = 16;
const APART: usize = 64;

/// Counts tests while an output arrives.
#[derive(Clone, Debug)]
pub struct TestCountReader {
    /// The lines that have begun, one per stream.
    splitters: [PlainLineSplitter; 2],
    pub(super) lines: TestLineReader,
}

impl TestCountReader {
    /// `printed`: what the command is known to print.
    pub fn new(printed: Option<&OutputProfile>) -> Self {
        Self { splitters: Default::default(), lines: TestLineReader::new(printed) }
    }

    /// Takes the next bytes of a stream. The lines of both streams count in the order in which they ended.
    pub fn push(&mut self, stream: CommandStream, bytes: &[u8]) {
        if !self.lines.origin.is_silent {
            self.splitters[stream.index()].push(bytes, |line, times| self.lines.read_line(line, times));
        }
    }

    /// Returns the counts of each runner, in the order in which they began.
    pub fn end(mut self, ended: CommandTermination) -> Vec<TestCounts> {
        self.lines.is_last = true;
        for splitter in &mut self.splitters {
            splitter.end(|line| self.lines.read_line(line, 1));
        }
        self.lines.end(ended)
    }
}

/// The state of one runner in the output.
#[derive(Clone, Debug, Default)]
struct TestRunnerState {
    /// A line that is no summary, or the command, told that it runs.
    is_proven: bool,
    /// Another runner prints its lines.
    is_off: bool,
    /// Names of failed tests are read.
    in_section: bool,
    /// Names before a frame.
    names: FailedTestNames,
    /// The line up to which the numbers are read, and the line that ended its last run.
    read_to: u64,
    ended_at: u64,
    /// Its last run of those that are kept apart, if no other has begun since.
    last: Option<usize>,
}

/// The first lines of a pattern of several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BegunPatternMatch {
    pattern: usize,
    rule: usize,
    steps: usize,
    text: Vec<u8>,
}

/// Facts about the command that printed an output.
#[derive(Clone, Debug)]
struct CountedOutputOrigin {
    /// The command shows contents of files, or only searches: they may be the output of an earlier run.
    is_silent: bool,
    /// The command is known.
    is_commanded: bool,
    /// A filter may have left lines out.
    is_filtered: bool,
}

impl CountedOutputOrigin {
    fn of(printed: Option<&OutputProfile>) -> Self {
        Self {
            is_silent: printed.is_some_and(|printed| printed.shows || printed.contents),
            is_commanded: printed.is_some(),
            is_filtered: printed.is_some_and(|printed| printed.filtered),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct TestLineReader {
    origin: CountedOutputOrigin,
    is_fenced: bool,
    is_last: bool,
    number: u64,
    pub(super) finder: TestLineFinder,
    rules: Vec<(&'static OutputRule, &'static TestCountingRule)>,
    runners: Vec<TestRunnerState>,
    /// The parts of patterns that the line has.
    parts: Vec<FoundPatternPart>,
    /// What the line before began or went on with, and what this line does.
    begun: [Vec<BegunPatternMatch>; 2],
    frames: Vec<TestRunFrame>,
    /// Runs that have ended, and the sums of earlier ones.
    runs: Vec<TestRunCounts>,
    sums: Vec<TestRunCounts>,
}

impl TestLineReader {
    fn new(printed: Option<&OutputProfile>) -> Self {
        let rules: Vec<_> = RULES.iter().filter_map(|rule| Some((rule, rule.counting.as_ref()?))).collect();
        debug_assert_eq!(rules.len(), COUNTING);
        let is_hinted = |rule: &OutputRule| printed.is_some_and(|printed| rule.is_hinted(&printed.programs));
        let mut finder = TestLineFinder::default();
        let mut runners: Vec<TestRunnerState> = Vec::new();
        for (number, (rule, _)) in rules.iter().enumerate() {
            runners.push(TestRunnerState { is_proven: is_hinted(rule), ..TestRunnerState::default() });
            if is_hinted(rule) {
                finder.mark_known(number);
            }
        }
        Self {
            origin: CountedOutputOrigin::of(printed),
            is_fenced: false,
            is_last: false,
            number: 0,
            finder,
            runners,
            rules,
            parts: Vec::new(),
            begun: Default::default(),
            frames: Vec::new(),
            runs: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Takes a line this many times. Returns whether it says nothing, and so would not if it came again.
    pub(super) fn read_line(&mut self, line: &[u8], times: u64) -> bool {
        self.number += times;
        self.begun.swap(0, 1);
        self.begun[1].clear();
        // Without a command the text may be a page that quotes an output.
        let is_fence = !self.origin.is_commanded && line.starts_with(b"```");
        self.is_fenced ^= is_fence;
        if self.is_fenced {
            return !is_fence;
        }
        let begun = self.begun[0].iter().fold(0, |begun, before| begun | 1 << before.rule);
        self.finder.find(line, begun, &mut self.parts);
        if self.parts.is_empty() {
            return !is_fence;
        }
        let mut parts = std::mem::take(&mut self.parts);
        let says = self.read_parts(line, &mut parts);
        parts.clear();
        self.parts = parts;
        // An empty line may begin a pattern, and begins it again if it comes again.
        !is_fence && !says && self.begun[0] == self.begun[1]
    }

    /// Takes a line that has parts of patterns. Returns whether it says something by itself.
    fn read_parts(&mut self, line: &[u8], parts: &mut Vec<FoundPatternPart>) -> bool {
        // A line that proves a runner may say more.
        let proves = |part: &&FoundPatternPart| part.line.steps == part.step + 1 && !part.line.says.is_of_known(false);
        let proven: Vec<usize> = parts.iter().filter(proves).map(|part| part.line.rule).collect();
        for rule in proven {
            if !self.finder.is_known(rule)
                && !parts.iter().any(|part| part.line.rule == rule && part.line.says.is_of_known(false))
            {
                self.finder.find_known(rule, line, parts);
            }
        }
        let mut found: Vec<(&'static TestLinePattern, Vec<u8>)> = Vec::new();
        for &mut FoundPatternPart { pattern, line: says, step } in parts {
            if let Some(text) = self.complete_pattern(pattern, says, step, line) {
                found.push((says, text));
            }
        }
        found.sort_by_key(|(line, _)| line.says);
        let has_none =
            |rule: usize| found.iter().any(|(line, _)| line.rule == rule && line.says == TestLineMeaning::NoName);
        for (line, text) in &found {
            if !(self.runners[line.rule].is_off || line.says == TestLineMeaning::Name && has_none(line.rule)) {
                self.apply_line(line, text);
            }
        }
        !found.is_empty()
    }

    /// Returns the lines that a pattern matches as a whole, now that a line matches one of its parts.
    fn complete_pattern(
        &mut self,
        pattern: usize,
        line: &TestLinePattern,
        step: usize,
        text: &[u8],
    ) -> Option<Vec<u8>> {
        let mut whole = match step {
            0 => Vec::new(),
            _ => {
                let is = |before: &BegunPatternMatch| before.pattern == pattern && before.steps == step;
                let mut text = self.begun[0].iter().find(|before| is(before))?.text.clone();
                text.push(b'\n');
                text
            }
        };
        whole.extend_from_slice(text);
        if step + 1 == line.steps {
            return Some(whole);
        }
        self.begun[1].push(BegunPatternMatch { pattern, rule: line.rule, steps: step + 1, text: whole });
        None
    }

    fn is_known(&self, rule: usize) -> bool {
        self.finder.is_known(rule)
    }

    fn apply_line(&mut self, line: &'static TestLinePattern, text: &[u8]) {
        let rule = line.rule;
        let counting = self.rules[rule].1;
        match line.says {
            TestLineMeaning::Start => {
                self.mark_known(rule);
                self.begin(rule, true);
                self.frame_of(rule).read_announced_total(counting, text);
            }
            TestLineMeaning::Begin => {
                self.mark_known(rule);
                if !self.has_frame(rule) {
                    self.begin(rule, true);
                }
                let frame = self.frame_of(rule);
                frame.listing.unlisted |= std::mem::take(&mut frame.listing.maybe_unlisted);
                frame.sure = true;
                frame.read_announced_total(counting, text);
            }
            TestLineMeaning::Sign => {
                self.mark_known(rule);
                self.runners[rule].is_proven = true;
            }
            TestLineMeaning::Listed => self.frame_of(rule).listing.each = true,
            TestLineMeaning::Unlisted => self.frame_of(rule).listing.maybe_unlisted = true,
            TestLineMeaning::Passed | TestLineMeaning::Failed | TestLineMeaning::Skipped => self.count_test(line, text),
            TestLineMeaning::Error => self.error(line, text),
            TestLineMeaning::Section | TestLineMeaning::SectionEnd => {
                self.runners[rule].in_section = line.says == TestLineMeaning::Section
            }
            TestLineMeaning::NoName => {}
            TestLineMeaning::Name => {
                if self.runners[rule].in_section || !counting.has_section {
                    self.name(line, text);
                }
            }
            TestLineMeaning::Broken => self.broken(line, text),
            TestLineMeaning::Terse if !self.is_known(rule) => {}
            TestLineMeaning::Summary | TestLineMeaning::Terse | TestLineMeaning::End
                if self.runners[rule].ended_at == self.number => {}
            TestLineMeaning::Summary | TestLineMeaning::Terse => self.summary(line, text),
            TestLineMeaning::End => self.summary_end(line, text),
        }
        self.close_full(rule);
    }

    /// Counts a group that failed as one failure, unless its lines told of one.
    fn broken(&mut self, line: &TestLinePattern, text: &[u8]) {
        let frame = self.frame_of(line.rule);
        frame.broken = true;
        if let Some(name) = line.name(text).filter(|_| frame.each[1] == 0) {
            frame.names.add(name);
        }
        frame.each[1] = frame.each[1].max(1);
    }

    /// Takes a line of a summary.
    fn summary(&mut self, line: &TestLinePattern, text: &[u8]) {
        let (rule, counting) = (line.rule, self.rules[line.rule].1);
        self.mark_known(rule);
        let may_be_cut = self.is_last && counting.open;
        let frame = self.frame_of(rule);
        if frame.is_denied(counting, text) {
            return;
        }
        frame.sure |= line.says == TestLineMeaning::Summary && !counting.has_end;
        frame.summary = true;
        frame.cut |= may_be_cut;
        self.read(line, text);
        let is_whole = !counting.adds_up || !self.frame_of(rule).has_total();
        if !counting.has_end && is_whole {
            self.close(rule);
        }
    }

    /// Takes the line that ends a summary of several lines.
    fn summary_end(&mut self, line: &TestLinePattern, text: &[u8]) {
        let (rule, counting) = (line.rule, self.rules[line.rule].1);
        let may_end = |frame: &TestRunFrame| frame.rule == rule && frame.may_end(counting);
        if self.frames.iter().any(may_end) {
            let may_be_cut = self.is_last && counting.open;
            self.frame_of(rule).cut |= may_be_cut;
            self.read(line, text);
            self.close(rule);
        }
    }

    /// Notes that a line is certainly the runner's own.
    fn mark_known(&mut self, rule: usize) {
        self.finder.mark_known(rule);
        for over in self.rules[rule].1.over {
            let Some(other) = self.rules.iter().position(|(rule, _)| rule.name == *over) else { continue };
            self.frames.retain(|frame| frame.rule != other);
            self.runners[other].is_off = true;
            if self.runs.last().is_some_and(|run| run.rule == other) {
                self.runs.pop();
            }
        }
    }

    /// Begins a frame.
    fn begin(&mut self, rule: usize, sure: bool) {
        self.runners[rule].last = None;
        if self.frames.len() < DEPTH {
            self.frames.push(TestRunFrame { sure, ..TestRunFrame::new(rule) });
        }
    }

    /// Returns the frame of a runner. If it has none, one begins.
    fn frame_of(&mut self, rule: usize) -> &mut TestRunFrame {
        let at = match self.frames.iter().rposition(|frame| frame.rule == rule) {
            Some(at) => at,
            None => {
                if self.frames.len() == DEPTH {
                    self.frames.pop();
                }
                self.frames.push(TestRunFrame::new(rule));
                self.frames.len() - 1
            }
        };
        &mut self.frames[at]
    }

    fn has_frame(&self, rule: usize) -> bool {
        self.frames.iter().any(|frame| frame.rule == rule)
    }

    /// Reads the numbers in the lines that were not yet read.
    fn read(&mut self, line: &TestLinePattern, text: &[u8]) {
        let (rule, counting) = (line.rule, self.rules[line.rule].1);
        let before = self.number - line.steps as u64;
        let known = self.runners[rule].read_to.saturating_sub(before);
        self.runners[rule].read_to = self.number;
        let lines = text.split(|&byte| byte == b'\n').skip(usize::try_from(known).unwrap_or(usize::MAX));
        let lines: Vec<&[u8]> = lines.collect();
        self.frame_of(rule).read(counting, &lines.join(&b'\n'));
    }

    /// Counts a single test.
    fn count_test(&mut self, line: &TestLinePattern, text: &[u8]) {
        let rule = line.rule;
        if !(self.is_known(rule) || self.rules[rule].1.adds_up) {
            return;
        }
        // Behind a summary such lines are its details.
        if self.runners[rule].ended_at > 0 && !self.has_frame(rule) {
            return;
        }
        let frame = self.frame_of(rule);
        let name = if line.says == TestLineMeaning::Failed { line.name(text) } else { None };
        if name.is_none_or(|name| frame.names.add(name)) {
            let at = match line.says {
                TestLineMeaning::Passed => 0,
                TestLineMeaning::Failed => 1,
                _ => 2,
            };
            frame.each[at] += 1;
        }
    }

    /// Counts a failure that is no test.
    fn error(&mut self, line: &TestLinePattern, text: &[u8]) {
        let rule = line.rule;
        let name = line.name(text);
        if self.has_frame(rule) {
            self.frame_of(rule).errors.add(name.unwrap_or_default());
        } else if let Some(run) = self.last_run(rule) {
            run.add_error(name);
        } else if self.is_known(rule) {
            self.frame_of(rule).errors.add(name.unwrap_or_default());
        }
    }

    fn name(&mut self, line: &TestLinePattern, text: &[u8]) {
        let (rule, Some(name)) = (line.rule, line.name(text)) else { return };
        let names = if self.has_frame(rule) {
            &mut self.frame_of(rule).names
        } else if self.last_run(rule).is_some() {
            &mut self.last_run(rule).expect("a run").names
        } else {
            &mut self.runners[rule].names
        };
        names.add(name);
    }
}
