//! What a rule is.

use crate::safety::command::Command;
use crate::safety::level::{Confidence, Verdict};

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// In kebab-case, stable.
    pub id: &'static str,
    /// What a hit comes to. Only an exact one denies.
    pub level: Verdict,
    /// One or two sentences for people: what it stops and why.
    pub doc: &'static str,
    /// The programs that it looks at, by name; empty for all.
    pub heads: &'static [&'static str],
    /// Looks at one command.
    pub check: fn(&Command) -> Option<Hit>,
    /// Commands that it must find something in, judged in `/home/dev/project` by user dev without further variables.
    pub matches: &'static [&'static str],
    /// Commands that look alike, in which it must not find anything.
    pub passes: &'static [&'static str],
}

/// What a rule found in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// How sure it is.
    pub confidence: Confidence,
    /// What is wrong and what to do instead, one sentence.
    pub message: String,
    /// A command to use instead, which passes the engine; empty where there is none.
    pub suggestion: String,
}

impl Hit {
    /// What the command surely does.
    pub fn exact(message: impl Into<String>, suggestion: impl Into<String>) -> Self {
        Self { confidence: Confidence::Exact, message: message.into(), suggestion: suggestion.into() }
    }

    /// The same, if it is not sure.
    pub fn partial(self) -> Self {
        Self { confidence: Confidence::Partial, ..self }
    }
}
