//! How strict a verdict is, and how sure a finding.

/// What is to become of a command; the later, the stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

impl Verdict {
    /// As JavaScript names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// How sure a finding is; the earlier, the surer. Only an exact one denies: the others ask at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// The command does it if it runs at all.
    #[default]
    Exact,
    /// It does it if a guess is right: a word that may have this value, a program that may run its arguments.
    Partial,
    /// What would be run cannot be seen.
    Opaque,
}

impl Confidence {
    /// As JavaScript names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Partial => "partial",
            Self::Opaque => "opaque",
        }
    }
}
