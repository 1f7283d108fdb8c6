//! Verdicts, and how sure a finding is.

use serde::{Deserialize, Serialize};

/// A verdict about a command, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SafetyVerdict {
    /// The command runs.
    #[default]
    Allow,
    /// The command runs, with a note.
    Warn,
    /// A person is asked.
    Ask,
    /// The command does not run.
    Deny,
}

impl SafetyVerdict {
    /// Returns the name of the verdict in the public API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// How sure a finding is, from the surest on. Only an exact finding denies. The others ask at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnalysisConfidence {
    /// The command does it if it runs at all.
    #[default]
    Exact,
    /// The command does it if a guess is right: a word that may have this value, a program that may run its arguments.
    Partial,
    /// The code that would run cannot be seen.
    Opaque,
}
