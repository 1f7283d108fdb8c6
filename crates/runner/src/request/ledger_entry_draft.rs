//! The entry of a command in the ledger.

use std::path::{Path, PathBuf};

use super::raw_options::RawOptions;
use confine_policy::{PolicyEnvironment, RealHost};
use safety::{RuleFinding, SafetyVerdict};

/// The part of an entry that is known before the command is planned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerEntryDraft {
    /// The directory of the ledger. `None`: its user has none.
    pub directory: Option<PathBuf>,
    /// Where a person has approved the command, or refused it.
    pub decided_by: Option<String>,
    /// The strictest finding of the safety engine.
    pub verdict: SafetyVerdict,
    /// The rules of all findings, sorted.
    pub rules: Vec<String>,
    /// The target that runs the command. `None`: this machine.
    pub target: Option<String>,
    /// The draft in which the command runs.
    pub draft: Option<String>,
}

impl LedgerEntryDraft {
    /// Returns the entry of a command. `None`: it gets none.
    pub(super) fn of(raw: &mut RawOptions) -> Option<Box<Self>> {
        raw.ledger.then(|| {
            Box::new(Self {
                directory: ledger_directory(&raw.host_env),
                decided_by: raw.decided_by.take(),
                draft: raw.draft.as_ref().map(|name| name.id.clone()),
                ..Self::default()
            })
        })
    }

    /// Adds the findings of the safety engine.
    pub fn judge(&mut self, findings: &[RuleFinding]) {
        self.verdict = findings.iter().map(|finding| finding.level).max().unwrap_or_default();
        self.rules = findings.iter().map(|finding| finding.rule_id.clone()).collect();
        self.rules.sort();
        self.rules.dedup();
    }
}

/// Returns the directory of the ledger of the user with this environment, as text.
pub fn ledger_directory(environment: &str) -> Option<PathBuf> {
    user_state(environment).map(|state| ledger::ledger_directory(&state))
}

/// Returns the directory of the drafts of the user with this environment, as text.
pub fn drafts_directory(environment: &str) -> Option<PathBuf> {
    user_state(environment).map(|state| state.join("drafts"))
}

/// Returns the directory of all that is kept for the user with this environment, as text.
pub(super) fn user_state(environment: &str) -> Option<PathBuf> {
    let host = RealHost { environment };
    let variable = |name: &str| match (host.variable(name), name) {
        (Some(value), _) => Some(PathBuf::from(value)),
        (None, "HOME") => host.home().map(Path::to_owned),
        (None, _) => None,
    };
    protocol::state_directory(variable)
}
