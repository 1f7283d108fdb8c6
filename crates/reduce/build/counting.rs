//! The code of the rules that count tests.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::file::{TestCountingTable, TestLineMeaning};
use crate::prefix::{BuiltPrefixAutomaton, prefixes};
use crate::which::{BuiltPatternAutomaton, which};

/// The rules that count tests.
#[derive(Default)]
pub struct CountingCodeGenerator {
    /// The code of each pattern for lines.
    lines: Vec<String>,
    /// The code of the automata: of lines that are always looked for, and of those of a known runner.
    automata: [Vec<String>; 2],
    /// The rules with a line that begins with each byte.
    first: [Vec<u64>; 2],
    /// The parts of patterns that tell something without the lines before them.
    alone: Vec<String>,
}

impl CountingCodeGenerator {
    /// Adds a rule. Returns its code.
    pub fn add(&mut self, tests: &TestCountingTable, out: &Path) -> String {
        let rule = self.automata[0].len();
        let [always, known] = [false, true].map(|known| {
            let parts = self.parts(rule, tests, known);
            let texts: Vec<String> = parts.iter().map(|part| part.text.clone()).collect();
            let places: Vec<(usize, usize)> = parts.iter().map(|part| (part.pattern, part.step)).collect();
            let which = which_of(rule, &texts);
            let path = out.join(format!("{rule}.{known}.dfa"));
            fs::write(&path, which.bytes).expect("a file");
            self.automata[usize::from(known)]
                .push(format!("PatternAutomaton::new(include_bytes!({:?}), &{places:?})", path.display().to_string()));
            (parts, which.first)
        });
        // A last part whose line has nothing else to say tells nothing without the lines before it.
        let says_more = |text: &String| {
            let first = which_of(rule, std::slice::from_ref(text)).first;
            first.into_iter().zip(known.1).any(|(one, other)| one && other)
        };
        let alone = always.0.into_iter().filter(|part| part.step == 0 || part.is_last && says_more(&part.text));
        let alone: Vec<String> = alone.map(|part| part.text).collect();
        for (at, first) in [which_of(rule, &alone).first, known.1].into_iter().enumerate() {
            self.first[at].resize(first.len(), 0);
            for (rules, may) in self.first[at].iter_mut().zip(first) {
                *rules |= u64::from(may) << rule;
            }
        }
        self.alone.extend(alone);
        counting(tests)
    }

    /// Adds the patterns of a rule that are looked for always, or once it is known. Returns their parts.
    fn parts(&mut self, rule: usize, tests: &TestCountingTable, known: bool) -> Vec<PatternPart> {
        let mut parts = Vec::new();
        for (says, patterns) in tests.lines().filter(|(says, _)| says.is_of_known(tests.adds_up) == known) {
            for text in patterns {
                let pattern = self.lines.len();
                let steps = text.split("\\n").count();
                let part = |(step, text): (usize, &str)| PatternPart {
                    pattern,
                    step,
                    is_last: step + 1 == steps,
                    text: text.to_owned(),
                };
                parts.extend(text.split("\\n").enumerate().map(part));
                self.lines.push(format!("TestLinePattern::new({rule}, TestLineMeaning::{says:?}, {steps}, {text:?})"));
            }
        }
        parts
    }

    /// Writes the patterns and their automata.
    pub fn write(&self, out: &Path) {
        let Self { lines, automata, first, alone } = self;
        let rules = automata[0].len();
        assert!(rules <= 64, "a rule has one bit");
        let mut code = String::new();
        writeln!(code, "/// The number of rules that count tests.\npub const COUNTING: usize = {rules};")
            .expect("text");
        writeln!(code, "static LINES: [TestLinePattern; {}] = [{}];", lines.len(), lines.join(",\n")).expect("text");
        for (at, name) in ["ALWAYS", "KNOWN"].into_iter().enumerate() {
            writeln!(code, "static {name}: [PatternAutomaton; {rules}] = [{}];", automata[at].join(",\n"))
                .expect("text");
            writeln!(code, "static {name}_FIRST: [u64; 257] = {:?};", first[at]).expect("text");
        }
        let BuiltPrefixAutomaton { classes, next } = prefixes(alone).expect("an automaton");
        writeln!(
            code,
            "static PREFIXES: PrefixAutomaton<{}> = PrefixAutomaton {{ classes: {classes:?}, next: &{next:?} }};",
            next[0].len()
        )
        .expect("text");
        fs::write(out.join("counting.rs"), code).expect("the patterns");
    }
}

/// A part of a pattern, for one line.
struct PatternPart {
    pattern: usize,
    step: usize,
    is_last: bool,
    text: String,
}

fn which_of(rule: usize, parts: &[String]) -> BuiltPatternAutomaton {
    which(parts).unwrap_or_else(|error| panic!("rule {rule}: {error}"))
}

/// Returns the code of a rule that counts tests.
fn counting(tests: &TestCountingTable) -> String {
    let TestCountingTable { number, over, once, adds_up, open, several, .. } = tests;
    let numbers = [&number.passed, &number.failed, &number.skipped, &number.total];
    let numbers = numbers.map(|patterns| format!("TestNumberPatterns::new(&{patterns:?})")).join(", ");
    let has = |wanted: TestLineMeaning| tests.lines().any(|(says, patterns)| says == wanted && !patterns.is_empty());
    let [passed, skipped, section, end, unlisted] = [
        TestLineMeaning::Passed,
        TestLineMeaning::Skipped,
        TestLineMeaning::Section,
        TestLineMeaning::End,
        TestLineMeaning::Unlisted,
    ]
    .map(has);
    format!(
        "TestCountingRule {{ numbers: [{numbers}], over: &{over:?}, once: {once}, adds_up: {adds_up}, \
         open: {open}, several: {several}, lists_passed: {passed}, lists_skipped: {skipped}, has_section: {section}, \
         has_end: {end}, has_unlisted: {unlisted} }}"
    )
}
