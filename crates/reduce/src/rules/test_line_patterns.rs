//! The lines of test runners: one automaton finds them, and their patterns read numbers and names from them.

use std::sync::OnceLock;

use regex_automata::dfa::{Automaton, sparse};
use regex_automata::nfa::thompson::{self, backtrack::BoundedBacktracker};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, PatternID, PatternSet};

use super::file::TestLineMeaning;

#[cfg(test)]
mod tests;

include!(concat!(env!("OUT_DIR"), "/counting.rs"));

/// How a rule counts tests.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "one field per key of the table")]
pub struct TestCountingRule {
    /// The patterns of passed, failed and skipped tests and of the total, for a line of a summary.
    pub numbers: [TestNumberPatterns; 4],
    /// Runners whose lines this one also prints.
    pub over: &'static [&'static str],
    /// Whether a run has one summary.
    pub once: bool,
    /// Whether a run is complete once its tests add up to the total.
    pub adds_up: bool,
    /// Whether a last line without a newline may lack a number.
    pub open: bool,
    /// Whether further summaries may follow.
    pub several: bool,
    /// Whether single passed tests have a pattern.
    pub lists_passed: bool,
    /// Whether single skipped tests have a pattern.
    pub lists_skipped: bool,
    /// Whether names are only read in sections.
    pub has_section: bool,
    /// Whether a summary has a line that ends it.
    pub has_end: bool,
    /// Whether groups may have tests without a line.
    pub has_unlisted: bool,
}

/// A pattern for lines.
#[derive(Debug)]
pub struct TestLinePattern {
    /// The number of the rule.
    pub rule: usize,
    /// What the lines say.
    pub says: TestLineMeaning,
    /// The number of lines.
    pub steps: usize,
    pattern: &'static str,
    reader: OnceLock<Option<BoundedBacktracker>>,
}

impl TestLinePattern {
    const fn new(rule: usize, says: TestLineMeaning, steps: usize, pattern: &'static str) -> Self {
        Self { rule, says, steps, pattern, reader: OnceLock::new() }
    }

    /// Returns the name in lines that the pattern matches: its groups, joined by blanks.
    pub fn name(&self, lines: &[u8]) -> Option<String> {
        let reader = self.reader.get_or_init(|| reader(&[self.pattern])).as_ref()?;
        let mut found = reader.create_captures();
        reader.try_captures(&mut reader.create_cache(), Input::new(lines).anchored(Anchored::Yes), &mut found).ok()?;
        let groups =
            (1..found.group_len()).filter_map(|at| Some(String::from_utf8_lossy(&lines[found.get_group(at)?])));
        let name = groups.map(|text| text.trim().to_owned()).collect::<Vec<_>>().join(" ");
        (!name.is_empty()).then_some(name)
    }
}

/// Patterns with one group, a number.
#[derive(Debug)]
pub struct TestNumberPatterns {
    patterns: &'static [&'static str],
    reader: OnceLock<Option<BoundedBacktracker>>,
}

impl TestNumberPatterns {
    pub(super) const fn new(patterns: &'static [&'static str]) -> Self {
        Self { patterns, reader: OnceLock::new() }
    }

    /// Returns whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns the sum of the numbers that the patterns find. `None` if they find none.
    pub fn sum(&self, lines: &[u8]) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        let reader = self.reader.get_or_init(|| reader(self.patterns)).as_ref()?;
        let (mut found, mut cache) = (reader.create_captures(), reader.create_cache());
        let (mut from, mut sum) = (0, None);
        while from <= lines.len() {
            let input = Input::new(lines).range(from..);
            reader.try_captures(&mut cache, input, &mut found).ok()?;
            let Some(end) = found.get_match().map(|found| found.end()) else { break };
            let digits = found.get_group(1).map(|digits| &lines[digits]);
            let number: u64 = digits.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok()).unwrap_or(0);
            sum = Some(sum.unwrap_or(0u64).saturating_add(number));
            from = end.max(from + 1);
        }
        sum
    }
}

/// Compiles patterns to read groups. `^` and `$` are the ends of a line.
fn reader(patterns: &[&str]) -> Option<BoundedBacktracker> {
    let config = thompson::Config::new().utf8(false);
    let mut compiler = thompson::Compiler::new();
    compiler.configure(config).syntax(syntax::Config::new().unicode(false).utf8(false).multi_line(true));
    BoundedBacktracker::builder().build_from_nfa(compiler.build_many(patterns).ok()?).ok()
}

/// An automaton that tells which lines are there.
#[derive(Debug)]
struct PatternAutomaton {
    bytes: &'static [u8],
    /// The pattern of each part, and the number of the part.
    places: &'static [(usize, usize)],
    automaton: OnceLock<Option<sparse::DFA<&'static [u8]>>>,
}

impl PatternAutomaton {
    const fn new(bytes: &'static [u8], places: &'static [(usize, usize)]) -> Self {
        Self { bytes, places, automaton: OnceLock::new() }
    }

    /// Adds the parts of patterns that a line has, the last ones first.
    fn find(&self, line: &[u8], set: &mut PatternSet, found: &mut Vec<FoundPatternPart>) {
        // The build made the bytes, so they are always an automaton.
        let automaton = self.automaton.get_or_init(|| sparse::DFA::from_bytes(self.bytes).ok().map(|(dfa, _)| dfa));
        let Some(automaton) = automaton else { return };
        set.clear();
        let _ = automaton.try_which_overlapping_matches(&Input::new(line).anchored(Anchored::Yes), set);
        if set.is_empty() {
            return;
        }
        let parts = self
            .places
            .iter()
            .enumerate()
            .rev()
            .filter(|(place, _)| PatternID::new(*place).is_ok_and(|place| set.contains(place)));
        found.extend(parts.map(|(_, &(pattern, step))| FoundPatternPart { pattern, line: &LINES[pattern], step }));
    }
}

/// An automaton of few states for the first bytes of lines.
#[derive(Debug)]
struct PrefixAutomaton<const CLASSES: usize> {
    /// The class of each byte.
    classes: [u8; 256],
    /// The next state for each class. The last class is the end of the line. State 0 is "no", and 1 is "maybe".
    next: &'static [[u8; CLASSES]],
}

impl<const CLASSES: usize> PrefixAutomaton<CLASSES> {
    /// Returns whether a line may have a part of a pattern that counts without the lines before it.
    fn may_be(&self, line: &[u8]) -> bool {
        let mut state = 2;
        for &byte in line {
            state = self.next[usize::from(state)][usize::from(self.classes[usize::from(byte)])];
            if state < 2 {
                return state == 1;
            }
        }
        self.next[usize::from(state)][CLASSES - 1] == 1
    }
}

/// A part of a pattern that a line has.
#[derive(Clone, Copy, Debug)]
pub struct FoundPatternPart {
    /// The number of the pattern.
    pub pattern: usize,
    /// The pattern.
    pub line: &'static TestLinePattern,
    /// The number of the part.
    pub step: usize,
}

/// Finds the patterns that a line has.
#[derive(Clone, Debug)]
pub struct TestLineFinder {
    set: PatternSet,
    /// The known runners, one bit each.
    known: u64,
    /// The runners whose automata read each line. Tests ask all of them.
    pub asked: u64,
}

impl Default for TestLineFinder {
    fn default() -> Self {
        let most = ALWAYS.iter().chain(&KNOWN).map(|which| which.places.len()).max().unwrap_or(0);
        Self { set: PatternSet::new(most), known: 0, asked: 0 }
    }
}

impl TestLineFinder {
    /// Notes that a runner is known. Returns whether it was.
    pub fn mark_known(&mut self, rule: usize) -> bool {
        let was = self.is_known(rule);
        self.known |= 1 << rule;
        was
    }

    /// Returns whether a runner is known.
    pub fn is_known(&self, rule: usize) -> bool {
        self.known >> rule & 1 == 1
    }

    /// Adds the parts of patterns that a line has. `begun`: the runners whose parts are found even if they only count
    /// behind other lines, one bit each.
    pub fn find(&mut self, line: &[u8], begun: u64, found: &mut Vec<FoundPatternPart>) {
        let first = line.first().map_or(256, |&byte| usize::from(byte));
        let always = if PREFIXES.may_be(line) { ALWAYS_FIRST[first] } else { 0 };
        for (rules, which) in [(always | begun | self.asked, &ALWAYS), (KNOWN_FIRST[first] & self.known, &KNOWN)] {
            let mut rules = rules;
            while rules != 0 {
                which[rules.trailing_zeros() as usize].find(line, &mut self.set, found);
                rules &= rules - 1;
            }
        }
    }

    /// Adds the parts of lines of a runner that only became known by this line.
    pub fn find_known(&mut self, rule: usize, line: &[u8], found: &mut Vec<FoundPatternPart>) {
        KNOWN[rule].find(line, &mut self.set, found);
    }
}
