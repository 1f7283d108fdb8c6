//! Rules for the output of single tools, as data: `rules/*.toml` of this crate, compiled by the build, and files of
//! users in the same format.
//!
//! A rule names lines that tell nothing (`drop`) and lines that must stay (`pin`, which beats `drop`). The rule applies
//! once a line proves that the output comes from its tool. The name of a program is only a hint, since `make check` may
//! run pytest.

mod file;
pub(crate) mod test_line_patterns;
#[cfg(test)]
mod tests;
mod user_rules;

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use regex_automata::dfa::sparse;

pub(crate) use file::TestLineMeaning;
pub use file::{CheckKind, LARGEST, LineDfa, RuleError, RuleFault, compile_pattern, matches};
pub use user_rules::parse_user_rules;

use test_line_patterns::{TestCountingRule, TestNumberPatterns};

use super::reduced_view::{DroppingRule, LineVerdict, ViewRuleName};

/// A rule.
#[derive(Debug)]
pub struct OutputRule {
    /// The name of the rule's file, or the name that a user gave the rule.
    pub name: ViewRuleName,
    /// Programs that may print such output, with their first words.
    hint: ProgramHints,
    proof: LinePatterns,
    drop: LinePatterns,
    pin: LinePatterns,
    /// Whether the rule also drops lines of failed outputs.
    always: bool,
    /// The kind of check that the programs of the hint are.
    pub check: Option<CheckKind>,
    /// How the tests in the output are counted.
    pub(crate) counting: Option<TestCountingRule>,
}

impl OutputRule {
    /// Returns whether the rule's hints name one of the programs.
    pub fn is_hinted(&self, programs: &[String]) -> bool {
        self.hint.name_any_of(programs)
    }

    /// Returns whether one of the rule's hints is meant.
    pub(crate) fn has_hint(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        match &self.hint {
            ProgramHints::Shipped(hints) => hints.iter().any(|hint| is_meant(hint)),
            ProgramHints::Own(hints) => hints.iter().any(|hint| is_meant(hint)),
        }
    }

    /// Returns whether the rule says anything about views.
    pub fn is_for_views(&self) -> bool {
        !self.drop.is_empty() || !self.pin.is_empty()
    }
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Number of lines of an output in which a rule without a hint looks for its proof.
const PROOF_LINES: usize = 200;
/// Longest line that is compared with patterns, in bytes.
const LONGEST: usize = 1_000;

/// The names of programs.
#[derive(Debug)]
enum ProgramHints {
    Shipped(&'static [&'static str]),
    Own(Vec<String>),
}

impl ProgramHints {
    /// Returns whether the hints name one of the programs.
    fn name_any_of(&self, programs: &[String]) -> bool {
        let is = |hint: &str| programs.iter().any(|program| is_hinted_by(program, hint));
        match self {
            Self::Shipped(hints) => hints.iter().any(|hint| is(hint)),
            Self::Own(hints) => hints.iter().any(|hint| is(hint)),
        }
    }
}

/// Patterns as one automaton.
#[derive(Debug)]
enum LinePatterns {
    /// Made by the build. Empty if there are no patterns.
    Shipped { bytes: &'static [u8], automaton: OnceLock<Option<sparse::DFA<&'static [u8]>>> },
    /// Made at run time.
    Own(file::PatternListDfa),
}

impl LinePatterns {
    const fn shipped(bytes: &'static [u8]) -> Self {
        Self::Shipped { bytes, automaton: OnceLock::new() }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Shipped { bytes, .. } => bytes.is_empty(),
            Self::Own(automaton) => automaton.is_none(),
        }
    }

    fn matches(&self, line: &str) -> bool {
        if self.is_empty() || line.len() > LONGEST {
            return false;
        }
        match self {
            // The build made the bytes, so they are always an automaton.
            Self::Shipped { bytes, automaton } => automaton
                .get_or_init(|| sparse::DFA::from_bytes(bytes).ok().map(|(automaton, _)| automaton))
                .as_ref()
                .is_some_and(|automaton| file::matches(automaton, line)),
            Self::Own(automaton) => automaton.as_ref().is_some_and(|automaton| file::matches(automaton, line)),
        }
    }
}

/// The rules at work on one stream.
#[derive(Default)]
pub(super) struct StreamRules<'a> {
    rules: Vec<ActiveRule<'a>>,
    /// Whether the command may run any program.
    guesses: bool,
    lines: usize,
}

/// A rule that may apply.
struct ActiveRule<'a> {
    rule: &'a OutputRule,
    /// The rule's number. The rules of the user are numbered after the shipped rules.
    number: u32,
    /// Whether a line proved the rule.
    proven: bool,
}

/// Returns the shipped rules, followed by the rules of a user.
fn numbered(own: &[Arc<OutputRule>]) -> impl Iterator<Item = (u32, &OutputRule)> {
    (0..).zip(RULES.iter().chain(own.iter().map(Arc::as_ref)))
}

/// Returns the name of a rule by its number.
pub(super) fn rule_name(number: u32, own: &[Arc<OutputRule>]) -> ViewRuleName {
    numbered(own).nth(number as usize).map_or_else(ViewRuleName::default, |(_, rule)| rule.name.clone())
}

impl<'a> StreamRules<'a> {
    /// Selects the rules for the output of some programs. `own`: rules of the user. A rule with the name of a shipped
    /// rule replaces it. `off`: names of rules that must not apply.
    pub fn of(programs: &[String], own: &'a [Arc<OutputRule>], off: &[String]) -> Self {
        let guesses = programs.is_empty() || programs.iter().any(|program| may_run_any(program));
        let is_replaced = |number: u32, rule: &OutputRule| {
            (number as usize) < RULES.len() && own.iter().any(|other| other.name == rule.name)
        };
        let rules = numbered(own)
            .filter(|(number, rule)| !is_replaced(*number, rule) && !off.iter().any(|name| *name == rule.name))
            .filter(|(_, rule)| rule.is_for_views() && (guesses || rule.is_hinted(programs)))
            .map(|(number, rule)| ActiveRule { rule, number, proven: false })
            .collect();
        Self { rules, guesses, lines: 0 }
    }

    /// Adds all that the verdicts about the next lines depend on.
    pub fn hash_state(&self, to: &mut impl Hasher) {
        let counts = self.guesses && !self.rules.is_empty();
        (counts.then_some(self.lines.min(PROOF_LINES)), self.rules.len()).hash(to);
        self.rules.iter().for_each(|active| (active.number, active.proven).hash(to));
    }

    /// Returns the verdict of the rules about the next line.
    pub fn judge_line(&mut self, line: &str) -> LineVerdict {
        let mut verdict = LineVerdict::default();
        if self.rules.is_empty() {
            return verdict;
        }
        self.lines += 1;
        for ActiveRule { rule, number, proven } in &mut self.rules {
            *proven |= rule.proof.matches(line);
            if !*proven {
                continue;
            }
            if rule.pin.matches(line) {
                verdict.kept = true;
            } else if rule.drop.matches(line) {
                verdict.dropped = Some(DroppingRule { rule: *number, always: rule.always });
            }
        }
        if verdict.kept {
            verdict.dropped = None;
        }
        if self.guesses && self.lines == PROOF_LINES {
            self.rules.retain(|active| active.proven);
        }
        verdict
    }
}

/// Returns whether a program runs others that its words do not name: a script, a target of make, `npm run`.
pub(crate) fn may_run_any(program: &str) -> bool {
    let name = program.split(' ').next().unwrap_or(program);
    const RUNNERS: [&str; 22] = [
        "make", "gmake", "just", "task", "npm", "pnpm", "yarn", "bun", "node", "python", "python3", "tox", "nox",
        "ninja", "cmake", "docker", "podman", "turbo", "nx", "lerna", "mise", "nix",
    ];
    RUNNERS.contains(&name) || name.contains('.')
}

/// Returns whether a program with its first words begins with a hint.
fn is_hinted_by(program: &str, hint: &str) -> bool {
    program.strip_prefix(hint).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
