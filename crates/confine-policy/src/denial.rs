//! Denials: operations that a confined command tried and that were refused.

use serde::{Deserialize, Serialize};

use super::secrets::SecretUses;

/// The most denials that a result lists. Further denials are only counted.
pub const LISTED: usize = 50;

/// The kind of a denied operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DenialKind {
    /// A change of a file.
    Write,
    /// A read of a hidden file.
    Read,
    /// A connection or a name.
    Network,
    /// A signal to a process or an inspection of it.
    Process,
    /// A system call.
    Syscall,
}

impl DenialKind {
    /// Returns the public name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Network => "network",
            Self::Process => "process",
            Self::Syscall => "syscall",
        }
    }
}

/// The smallest change of the options that would allow a denied operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SuggestedGrant {
    /// `write: [PATH]`
    Write(String),
    /// `network: { allow: [ENTRY] }`
    Host(String),
    /// `expose: [PORT]`
    Expose(u16),
}

/// Equal attempts that were denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeniedOperation {
    /// The kind of the operation.
    pub kind: DenialKind,
    /// An absolute path, `host:port`, a name, or the name of a system call.
    pub target: String,
    /// The basename of the executable that tried.
    pub program: String,
    /// Number of attempts.
    pub count: u64,
    /// The change of the options that would allow the operation. `None`: no change would.
    pub grant: Option<SuggestedGrant>,
}

/// The denials of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandDenials {
    /// The first [`LISTED`] different denials.
    pub listed: Vec<DeniedOperation>,
    /// Number of all attempts, including unlisted ones.
    pub total: u64,
    /// Files that were moved aside when the command ended, because git would have run what they name.
    #[serde(default)]
    pub aside: Vec<String>,
    /// Not all that the command left in repositories could be looked at.
    #[serde(default)]
    pub unsettled: bool,
    /// What secrets were used for, or refused.
    #[serde(default)]
    pub secrets: SecretUses,
}

impl CommandDenials {
    /// Returns whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.total == 0 && !self.unsettled && self.secrets.0.is_empty()
    }

    /// Counts an attempt.
    pub fn add(&mut self, kind: DenialKind, target: &str, program: &str, grant: Option<SuggestedGrant>) {
        let (target, program) = (target.to_owned(), program.to_owned());
        self.count(DeniedOperation { kind, target, program, count: 1, grant });
    }

    /// Adds the denials of another source, such as the gate.
    pub fn merge(&mut self, other: Self) {
        self.aside.extend(other.aside);
        self.aside.truncate(LISTED);
        self.unsettled |= other.unsettled;
        self.secrets.merge(other.secrets);
        let listed: u64 = other.listed.iter().map(|denial| denial.count).sum();
        self.total += other.total.saturating_sub(listed);
        other.listed.into_iter().for_each(|denial| self.count(denial));
    }

    fn count(&mut self, denial: DeniedOperation) {
        self.total += denial.count;
        let same = |one: &DeniedOperation| {
            (one.kind, &one.target, &one.program) == (denial.kind, &denial.target, &denial.program)
        };
        if let Some(known) = self.listed.iter_mut().find(|one| same(one)) {
            known.count += denial.count;
        } else if self.listed.len() < LISTED {
            self.listed.push(denial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_attempts_are_counted_together_and_a_result_stays_small() {
        let mut denials = CommandDenials::default();
        for round in 0..3 {
            for n in 0..LISTED + 10 {
                denials.add(DenialKind::Write, &format!("/{n}"), "tee", None);
            }
            assert_eq!(denials.listed.len(), LISTED);
            assert!(denials.listed.iter().all(|denial| denial.count == round + 1));
        }
        assert_eq!(denials.total, 3 * (LISTED as u64 + 10));
    }

    #[test]
    fn merged_denials_keep_their_counts() {
        let mut one = CommandDenials::default();
        one.add(DenialKind::Network, "a:443", "curl", None);
        let mut two = one.clone();
        two.add(DenialKind::Network, "a:443", "curl", None);
        two.total += 5;
        one.merge(two);
        assert_eq!((one.listed.len(), one.listed[0].count, one.total), (1, 3, 8));
    }
}
