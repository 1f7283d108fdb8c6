//! How strict a verdict is, and how sure a finding.

use serde::{Deserialize, Serialize};

/// What is to become of a command; the later, the stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It runs.
    #[default]
    Allow,
    /// It runs, with a note.
    Warn,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// How sure a finding is; the earlier, the surer. Only an exact one denies: the others ask at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The command does it if it runs at all.
    #[default]
    Exact,
    /// It does it if a guess is right: a word that may have this value, a program that may run its arguments.
    Partial,
    /// What would be run cannot be seen.
    Opaque,
}
