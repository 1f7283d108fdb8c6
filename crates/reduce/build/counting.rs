//! The code of the rules that count tests.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::file::{Says, Tests};
use crate::prefix::{Prefixes, prefixes};
use crate::which::{Which, which};

/// The rules that count tests.
#[derive(Default)]
pub struct Counting {
    /// The code of each pattern for lines.
    lines: Vec<String>,
    /// The code of the automata: of lines that are always looked for, and of those of a known runner.
    automata: [Vec<String>; 2],
    /// The rules with a line that begins with each byte.
    first: [Vec<u64>; 2],
    /// The parts of patterns that tell something without the lines before them.
    alone: Vec<String>,
}

impl Counting {
    /// Adds a rule. Returns its code.
    pub fn add(&mut self, tests: &Tests, out: &Path) -> String {
        let rule = self.automata[0].len();
        let [always, known] = [false, true].map(|known| {
            let parts = self.parts(rule, tests, known);
            let texts: Vec<String> = parts.iter().map(|part| part.text.clone()).collect();
            let places: Vec<(usize, usize)> = parts.iter().map(|part| (part.pattern, part.step)).collect();
            let which = which_of(rule, &texts);
            let path = out.join(format!("{rule}.{known}.dfa"));
            fs::write(&path, which.bytes).expect("a file");
            self.automata[usize::from(known)]
                .push(format!("Which::new(include_bytes!({:?}), &{places:?})", path.display().to_string()));
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
    fn parts(&mut self, rule: usize, tests: &Tests, known: bool) -> Vec<Part> {
        let mut parts = Vec::new();
        for (says, patterns) in tests.lines().filter(|(says, _)| says.is_of_known(tests.adds_up) == known) {
            for text in patterns {
                let pattern = self.lines.len();
                let steps = text.split("\\n").count();
                let part = |(step, text): (usize, &str)| Part {
                    pattern,
                    step,
                    is_last: step + 1 == steps,
                    text: text.to_owned(),
                };
                parts.extend(text.split("\\n").enumerate().map(part));
                self.lines.push(format!("Line::new({rule}, Says::{says:?}, {steps}, {text:?})"));
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
        writeln!(code, "static LINES: [Line; {}] = [{}];", lines.len(), lines.join(",\n")).expect("text");
        for (at, name) in ["ALWAYS", "KNOWN"].into_iter().enumerate() {
            writeln!(code, "static {name}: [Which; {rules}] = [{}];", automata[at].join(",\n")).expect("text");
            writeln!(code, "static {name}_FIRST: [u64; 257] = {:?};", first[at]).expect("text");
        }
        let Prefixes { classes, next } = prefixes(alone).expect("an automaton");
        writeln!(
            code,
            "static PREFIXES: Prefixes<{}> = Prefixes {{ classes: {classes:?}, next: &{next:?} }};",
            next[0].len()
        )
        .expect("text");
        fs::write(out.join("counting.rs"), code).expect("the patterns");
    }
}

/// A part of a pattern, for one line.
struct Part {
    pattern: usize,
    step: usize,
    is_last: bool,
    text: String,
}

fn which_of(rule: usize, parts: &[String]) -> Which {
    which(parts).unwrap_or_else(|error| panic!("rule {rule}: {error}"))
}

/// Returns the code of a rule that counts tests.
fn counting(tests: &Tests) -> String {
    let Tests { number, over, once, adds_up, open, several, .. } = tests;
    let numbers = [&number.passed, &number.failed, &number.skipped, &number.total];
    let numbers = numbers.map(|patterns| format!("Number::new(&{patterns:?})")).join(", ");
    let has = |wanted: Says| tests.lines().any(|(says, patterns)| says == wanted && !patterns.is_empty());
    let [passed, skipped, section, end, unlisted] =
        [Says::Passed, Says::Skipped, Says::Section, Says::End, Says::Unlisted].map(has);
    format!(
        "Counting {{ numbers: [{numbers}], over: &{over:?}, once: {once}, adds_up: {adds_up}, \
         open: {open}, several: {several}, lists_passed: {passed}, lists_skipped: {skipped}, has_section: {section}, \
         has_end: {end}, has_unlisted: {unlisted} }}"
    )
}
