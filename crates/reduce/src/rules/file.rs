//! Reads a file of rules and compiles its patterns.
//!
//! The build compiles the shipped rules with this file, and the crate compiles the rules of users. The file imports
//! nothing of the crate.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use regex_automata::dfa::{Automaton, StartKind, dense, sparse};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use serde::Deserialize;
use toml::Spanned;

#[path = "counting.rs"]
mod counting;

pub use counting::{CheckKind, TestCountingTable, TestLineMeaning};

/// Largest file, in bytes.
pub const LARGEST: usize = 64 << 10;
/// Most rules in one file, most patterns in one list, and the longest pattern in bytes.
const RULES: usize = 16;
const PATTERNS: usize = 100;
const PATTERN: usize = 1_000;
/// Largest automaton of one list, in bytes, and the memory for making it.
pub const AUTOMATON: usize = 1 << 20;
pub const MAKING: usize = 4 << 20;
/// Memory for making the automaton of a pattern that a model wrote. The host waits for it.
const MAKING_SEARCH: usize = 1 << 20;

/// A file of rules that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: RuleFault,
}

/// The reason why a file of rules cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleFault {
    /// The file is too large.
    Large,
    /// The file is no TOML, or a key is missing, unknown or of a wrong type.
    Syntax(String),
    /// The file has too many rules.
    Rules,
    /// A rule has no name.
    NoName,
    /// The name has other characters than small letters, digits and `-`, is too long, or is reserved.
    Name(String),
    /// Two rules have the same name.
    SameName(String),
    /// A rule has no hint.
    NoHint,
    /// A rule has no proof.
    NoProof,
    /// A list has too many patterns.
    Patterns,
    /// A pattern is too long.
    Long,
    /// A pattern is no regular expression.
    Pattern(String),
    /// The patterns of a list need an automaton that is too large.
    Complex,
    /// The rule drops a line that it must keep.
    Drops(String),
    /// The rule of a user counts tests.
    Counts,
    /// A pattern for whole lines does not begin with `^`.
    NoStart,
}

impl fmt::Display for RuleFault {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Large => write!(to, "the file has more than {LARGEST} bytes"),
            Self::Syntax(message) => to.write_str(message),
            Self::Rules => write!(to, "the file has more than {RULES} rules"),
            Self::NoName => to.write_str("a rule needs a name"),
            Self::Name(name) => {
                write!(to, "{name:?} is no name: up to 40 small letters, digits and -, and not budget, long or seen")
            }
            Self::SameName(name) => write!(to, "there are two rules {name:?}"),
            Self::NoHint => to.write_str("a rule needs a hint: the programs whose output it is for"),
            Self::NoProof => to.write_str("a rule needs a proof: a line that only its tool prints"),
            Self::Patterns => write!(to, "a list has more than {PATTERNS} patterns"),
            Self::Long => write!(to, "a pattern has more than {PATTERN} bytes"),
            Self::Pattern(message) => to.write_str(message),
            Self::Complex => to.write_str("it takes too much memory: simplify the patterns"),
            Self::Drops(line) => write!(to, "the rule drops a line that it must keep: {line:?}"),
            Self::Counts => to.write_str("only the rules of the package name checks and count tests"),
            Self::NoStart => to.write_str("a pattern for lines of tests begins with ^"),
        }
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "line {}: {}", self.line, self.reason)
    }
}

impl Error for RuleError {}

/// A rule as written in its file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    /// The name. A shipped rule is named after its file.
    name: Option<Spanned<String>>,
    /// Programs that may print such output, with their first words.
    hint: Spanned<Vec<String>>,
    /// Lines that prove that the output is such output. A rule that only counts tests may have none.
    proof: Option<Spanned<Vec<Spanned<String>>>>,
    /// Lines that tell nothing.
    #[serde(default)]
    drop: Vec<Spanned<String>>,
    /// Lines that must stay, even if `drop` matches.
    #[serde(default)]
    pin: Vec<Spanned<String>>,
    /// Whether lines are also dropped from failed outputs: `green` or `always`.
    #[serde(default)]
    on: DropCondition,
    /// Lines that the rule must not drop. For a shipped rule, its fixture contains them, too.
    #[serde(default)]
    keep: Vec<Spanned<String>>,
    /// The kind of check that the programs of the hint are.
    check: Option<Spanned<CheckKind>>,
    /// How the tests in the output are counted.
    tests: Option<Spanned<TestCountingTable>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DropCondition {
    #[default]
    Green,
    Always,
}

/// A file with several rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRules {
    rule: Vec<WrittenRule>,
}

/// An automaton that finds any of its patterns from the start of a line on.
pub type LineDfa = sparse::DFA<Vec<u8>>;

/// The automaton of a list. `None` for a list without patterns.
pub type PatternListDfa = Option<LineDfa>;

/// A rule that has been read.
pub struct CompiledRule {
    /// The kind of check that the programs of the hint are.
    pub check: Option<CheckKind>,
    /// How the tests in the output are counted.
    pub tests: Option<TestCountingTable>,
    /// The name and its line, if the rule has one.
    pub name: Option<(String, usize)>,
    /// Programs that may print such output.
    pub hint: Vec<String>,
    /// Lines that prove that the output is such output.
    pub proof: PatternListDfa,
    /// Lines that tell nothing.
    pub drop: PatternListDfa,
    /// Lines that must stay.
    pub pin: PatternListDfa,
    /// Whether the rule also drops lines of failed outputs.
    pub always: bool,
}

/// Reads a file: one rule, or several that begin with `[[rule]]`. `minimize` makes small automata, which takes longer.
pub fn compile(text: &str, minimize: bool) -> Result<Vec<CompiledRule>, RuleError> {
    if text.len() > LARGEST {
        return Err(RuleError { line: 1, reason: RuleFault::Large });
    }
    let syntax = |error: toml::de::Error| {
        let line = error.span().map_or(1, |span| line_of(text, &span));
        RuleError { line, reason: RuleFault::Syntax(error.message().to_owned()) }
    };
    let written = if text.lines().any(|line| line.trim_end() == "[[rule]]") {
        toml::from_str::<WrittenRules>(text).map_err(syntax)?.rule
    } else {
        vec![toml::from_str(text).map_err(syntax)?]
    };
    if written.len() > RULES {
        return Err(RuleError { line: 1, reason: RuleFault::Rules });
    }
    let compiler = RuleCompiler { text, minimize };
    written.into_iter().map(|rule| compiler.rule(rule)).collect()
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    1 + text.as_bytes().iter().take(span.start).filter(|&&byte| byte == b'\n').count()
}

struct RuleCompiler<'a> {
    text: &'a str,
    minimize: bool,
}

impl RuleCompiler<'_> {
    fn error(&self, span: &Range<usize>, reason: RuleFault) -> RuleError {
        RuleError { line: line_of(self.text, span), reason }
    }

    fn rule(&self, rule: WrittenRule) -> Result<CompiledRule, RuleError> {
        if rule.hint.get_ref().is_empty() {
            return Err(self.error(&rule.hint.span(), RuleFault::NoHint));
        }
        let proof = match &rule.proof {
            Some(proof) if !proof.get_ref().is_empty() => self.automaton(proof.get_ref())?,
            Some(proof) => return Err(self.error(&proof.span(), RuleFault::NoProof)),
            None if rule.tests.is_some() => None,
            None => return Err(self.error(&rule.hint.span(), RuleFault::NoProof)),
        };
        if let Some(tests) = &rule.tests
            && tests.get_ref().lines().any(|(_, patterns)| patterns.iter().any(|pattern| !pattern.starts_with('^')))
        {
            return Err(self.error(&tests.span(), RuleFault::NoStart));
        }
        let (drop, pin) = (self.automaton(&rule.drop)?, self.automaton(&rule.pin)?);
        for line in &rule.keep {
            let is = |list: &PatternListDfa| list.as_ref().is_some_and(|list| matches(list, line.get_ref()));
            if is(&drop) && !is(&pin) {
                return Err(self.error(&line.span(), RuleFault::Drops(line.get_ref().clone())));
            }
        }
        let name = rule.name.map(|name| {
            let line = line_of(self.text, &name.span());
            (name.into_inner(), line)
        });
        let always = matches!(rule.on, DropCondition::Always);
        let (check, tests) = (rule.check.map(Spanned::into_inner), rule.tests.map(Spanned::into_inner));
        Ok(CompiledRule { check, tests, name, hint: rule.hint.into_inner(), proof, drop, pin, always })
    }

    fn automaton(&self, patterns: &[Spanned<String>]) -> Result<PatternListDfa, RuleError> {
        let Some(first) = patterns.first() else { return Ok(None) };
        if patterns.len() > PATTERNS {
            return Err(self.error(&first.span(), RuleFault::Patterns));
        }
        if let Some(long) = patterns.iter().find(|pattern| pattern.get_ref().len() > PATTERN) {
            return Err(self.error(&long.span(), RuleFault::Long));
        }
        let whole: Vec<String> = patterns.iter().map(|pattern| from_the_start(pattern.get_ref())).collect();
        let complex = || self.error(&first.span(), RuleFault::Complex);
        let nfa = nfa(&whole).map_err(|error| {
            // The error does not tell which pattern is wrong.
            let wrong = patterns.iter().find_map(|pattern| Some((pattern, nfa(&[pattern.get_ref()]).err()?)));
            match wrong.filter(|_| error.size_limit().is_none()) {
                Some((pattern, error)) => self.error(&pattern.span(), RuleFault::Pattern(root(&*error))),
                None => complex(),
            }
        })?;
        dfa(&nfa, self.minimize, MAKING).map(Some).ok_or_else(complex)
    }
}

/// Compiles one pattern, which is found anywhere in a line. The search takes one step per byte for any pattern.
///
/// # Errors
/// If the pattern is too long, no regular expression, or needs too much memory.
pub fn compile_pattern(text: &str) -> Result<LineDfa, RuleFault> {
    if text.len() > PATTERN {
        return Err(RuleFault::Long);
    }
    let reason = |error: Box<thompson::BuildError>| match error.size_limit() {
        Some(_) => RuleFault::Complex,
        None => RuleFault::Pattern(root(&*error)),
    };
    // The pattern is first compiled alone, because it could close the group that is added.
    nfa(&[text])
        .and_then(|_| nfa(&[from_the_start(text)]))
        .map_err(reason)
        .and_then(|nfa| dfa(&nfa, false, MAKING_SEARCH).ok_or(RuleFault::Complex))
}

/// Returns the automaton that reads lines from their start. `None` if it needs too much memory.
fn dfa(nfa: &thompson::NFA, minimize: bool, making: usize) -> Option<LineDfa> {
    let config = dense::Config::new()
        .start_kind(StartKind::Anchored)
        .minimize(minimize)
        .dfa_size_limit(Some(AUTOMATON))
        .determinize_size_limit(Some(making));
    dense::Builder::new().configure(config).build_from_nfa(nfa).ok()?.to_sparse().ok()
}

/// Compiles patterns to match bytes, so that `.` is one byte, and `\d` and `\w` are ASCII.
pub fn nfa<P: AsRef<str>>(patterns: &[P]) -> Result<thompson::NFA, Box<thompson::BuildError>> {
    let config = thompson::Config::new()
        .utf8(false)
        .nfa_size_limit(Some(AUTOMATON))
        .which_captures(thompson::WhichCaptures::None);
    thompson::Compiler::new()
        .configure(config)
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .build_many(patterns)
        .map_err(Box::new)
}

/// Returns the last sentence of an error, which tells most.
pub fn root(error: &dyn Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    let text = last.to_string();
    text.rsplit("error: ").next().unwrap_or(&text).trim().to_owned()
}

/// Anchors a pattern at the start of a line. A line that begins differently is then rejected early.
fn from_the_start(pattern: &str) -> String {
    if pattern.starts_with('^') && !has_branches(pattern) { pattern.to_owned() } else { format!("^.*(?:{pattern})") }
}

/// Returns whether a pattern has a `|` outside of groups and classes. A `|` in a class that begins with `]` may count,
/// too.
fn has_branches(pattern: &str) -> bool {
    let (mut depth, mut in_class, mut escaped) = (0usize, false, false);
    for byte in pattern.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b']' => in_class = false,
            _ if in_class => {}
            b'[' => in_class = true,
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'|' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// Returns whether an automaton finds at least one of its patterns in a line.
pub fn matches<T: AsRef<[u8]>>(automaton: &sparse::DFA<T>, line: &str) -> bool {
    let input = Input::new(line).anchored(Anchored::Yes).earliest(true);
    automaton.try_search_fwd(&input).is_ok_and(|found| found.is_some())
}
