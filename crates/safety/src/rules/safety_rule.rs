//! The shape of a rule.

use crate::name_lists::words;
use crate::programs;
use crate::programs::call::stakes;
use crate::programs::lasting::EffectStake;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::{AnalysisConfidence, SafetyVerdict};

/// One rule.
#[derive(Debug)]
pub struct SafetyRule {
    /// The name of the rule in kebab-case. It never changes.
    pub id: &'static str,
    /// The level of a hit. Only an exact hit denies.
    pub level: SafetyVerdict,
    /// One or two sentences for people: the danger, and the reason.
    pub doc: &'static str,
    /// The programs that the rule checks.
    pub programs: RulePrograms,
    /// Checks one command.
    pub check: fn(&SimpleCommandView) -> Option<RuleHit>,
    /// Commands in which the rule must find something, judged in `/home/dev/project` by user dev without further
    /// variables.
    pub matches: &'static [&'static str],
    /// Similar commands in which the rule must not find anything.
    pub passes: &'static [&'static str],
}

/// The programs that a rule checks.
#[derive(Clone, Copy, Debug)]
pub enum RulePrograms {
    /// All programs.
    All,
    /// Programs with these names.
    Named(&'static [&'static str]),
    /// Programs that `programs` records with an effect of this kind, and programs with these names.
    With(EffectStake, &'static [&'static str]),
}

impl RulePrograms {
    /// Returns the names. Empty for all programs.
    pub fn names(self) -> Vec<&'static str> {
        match self {
            Self::All => Vec::new(),
            Self::Named(names) => names.to_vec(),
            Self::With(stake, names) => programs::all()
                .filter(|program| stakes(program).any(|own| own == stake))
                .flat_map(|program| words(program.names))
                .chain(names.iter().copied())
                .collect(),
        }
    }
}

/// A rule's finding in one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleHit {
    /// How sure the hit is.
    pub confidence: AnalysisConfidence,
    /// One sentence: the fault and the remedy.
    pub message: String,
    /// The sentence for a person who is asked, if the message is a refusal.
    pub asked: Option<&'static str>,
    /// A command to use instead, which passes the engine. Empty if there is none.
    pub suggestion: String,
}

impl RuleHit {
    /// Makes a certain hit.
    pub fn exact(message: impl Into<String>, suggestion: impl Into<String>) -> Self {
        Self {
            confidence: AnalysisConfidence::Exact,
            message: message.into(),
            asked: None,
            suggestion: suggestion.into(),
        }
    }

    /// Adds the sentence for a person who is asked.
    pub fn or_asked(self, asked: &'static str) -> Self {
        Self { asked: Some(asked), ..self }
    }

    /// Makes the hit uncertain.
    pub fn partial(self) -> Self {
        Self { confidence: AnalysisConfidence::Partial, ..self }
    }
}
