//! The code of the rules that count tests.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::file::{Says, Tests};
use crate::which::which;

/// The rules that count tests.
#[derive(Default)]
pub struct Counting {
    /// The code of each pattern for lines.
    lines: Vec<String>,
    /// The code of the automata: of lines that are always looked for, and of those of a known runner.
    automata: [Vec<String>; 2],
    /// The rules with a line that begins with each byte.
    first: [Vec<u64>; 2],
}

impl Counting {
    /// Adds a rule. Returns its code.
    pub fn add(&mut self, tests: &Tests, out: &Path) -> String {
        let rule = self.automata[0].len();
        for known in [false, true] {
            let (mut parts, mut places) = (Vec::new(), Vec::new());
            for (says, patterns) in tests.lines().filter(|(says, _)| says.is_of_known(tests.adds_up) == known) {
                for pattern in patterns {
                    let steps: Vec<&str> = pattern.split("\\n").collect();
                    places.extend((0..steps.len()).map(|step| (self.lines.len(), step)));
                    parts.extend(steps.iter().map(|step| (*step).to_owned()));
                    let steps = steps.len();
                    self.lines.push(format!("Line::new({rule}, Says::{says:?}, {steps}, {pattern:?})"));
                }
            }
            let which = which(&parts).unwrap_or_else(|error| panic!("rule {rule}: {error}"));
            let path = out.join(format!("{rule}.{known}.dfa"));
            fs::write(&path, which.bytes).expect("a file");
            let at = usize::from(known);
            self.automata[at]
                .push(format!("Which::new(include_bytes!({:?}), &{places:?})", path.display().to_string()));
            self.first[at].resize(which.first.len(), 0);
            for (rules, may) in self.first[at].iter_mut().zip(which.first) {
                *rules |= u64::from(may) << rule;
            }
        }
        counting(tests)
    }

    /// Writes the patterns and their automata.
    pub fn write(&self, out: &Path) {
        let Self { lines, automata, first } = self;
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
        fs::write(out.join("counting.rs"), code).expect("the patterns");
    }
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
