//! The parts of a confinement, and why a part cannot be held.

use std::io;

use serde::{Deserialize, Serialize};

/// A part of a confinement, as the caller may require it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ConfinementPart {
    /// Limits on files that can be read and written.
    Files,
    /// Limits on hosts that can be reached.
    Network,
    /// Limits on processes that can be seen, signalled and traced.
    Processes,
    /// Limits on system calls.
    Syscalls,
}

impl ConfinementPart {
    /// All parts, in the order of results.
    pub const ALL: [Self; 4] = [Self::Files, Self::Network, Self::Processes, Self::Syscalls];

    /// Returns the public name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Network => "network",
            Self::Processes => "processes",
            Self::Syscalls => "syscalls",
        }
    }

    /// Returns the part with this public name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }
}

/// A part that cannot be held on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingPart {
    /// The part.
    pub part: ConfinementPart,
    /// Why the part cannot be held, as a sentence without its full stop.
    pub why: String,
    /// A remedy for the user of this machine, as a sentence without its full stop.
    pub remedy: String,
}

impl MissingPart {
    /// Returns one message for all missing parts, with the reason and the remedy of each.
    pub fn describe_all(missing: &[Self]) -> String {
        let is_alike = |one: &Self, other: &Self| (&one.why, &one.remedy) == (&other.why, &other.remedy);
        let each = missing.chunk_by(is_alike).map(|alike| {
            let parts: Vec<_> = alike.iter().map(|missing| missing.part.name()).collect();
            format!("{}: {} ({})", parts.join(", "), alike[0].why, alike[0].remedy)
        });
        let list = each.collect::<Vec<_>>().join("; ");
        format!("the command cannot be confined as required, and nothing was started: {list}")
    }
}

/// Why a world could not be made.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// Required parts cannot be held here.
    #[error("required parts cannot be held: {}", .0.iter().map(|missing| missing.part.name()).collect::<Vec<_>>().join(", "))]
    Missing(Vec<MissingPart>),
    /// A step failed that should not fail on this machine.
    #[error("{step} failed: {source}")]
    Step {
        /// The step, in words.
        step: String,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_part_reason_and_remedy_of_each() {
        let missing = |part, why: &str, remedy: &str| MissingPart { part, why: why.into(), remedy: remedy.into() };
        let [files, network] =
            [ConfinementPart::Files, ConfinementPart::Network].map(|part| missing(part, "no namespaces", "allow them"));
        let all = [files, network, missing(ConfinementPart::Syscalls, "no filter", "update")];
        let message = "the command cannot be confined as required, and nothing was started: files, network: no \
                       namespaces (allow them); syscalls: no filter (update)";
        assert_eq!(MissingPart::describe_all(&all), message);
    }

    #[test]
    fn parts_are_known_by_their_names() {
        for part in ConfinementPart::ALL {
            assert_eq!(ConfinementPart::of_name(part.name()), Some(part));
        }
        assert_eq!(ConfinementPart::of_name("Files"), None);
    }
}
