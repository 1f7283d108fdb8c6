//! The refusals of a gate.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use confine_policy::{CommandDenials, CountedSecretUse, DenialKind, LISTED, SecretUses, SuggestedGrant};

/// Commands whose refusals are kept until they are taken. Beyond that, the refusals of the oldest command are dropped.
const COMMANDS: usize = 64;

/// Equal attempts that were refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedRefusal {
    /// `host:port`, or a name that was looked up.
    pub target: String,
    /// The basename of the executable that tried, or an empty text if the process was gone already.
    pub program: String,
    /// Number of attempts.
    pub count: u64,
    /// The entry of the list that would allow the attempt.
    pub grant: Option<SuggestedGrant>,
    /// The address that the program tried to reach, which may stand for a name.
    pub address: Option<SocketAddr>,
}

/// Refused attempts: the first [`LISTED`] different ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateRefusals {
    /// The listed attempts.
    pub listed: Vec<CountedRefusal>,
    /// The number of all attempts.
    pub total: u64,
    /// What secrets were used for, or refused.
    pub secrets: SecretUses,
}

/// A connection that a program tried to open, as the listener of its shim saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionAttempt {
    /// The address.
    pub address: SocketAddr,
    /// The basename of the executable.
    pub program: String,
}

impl GateRefusals {
    /// Counts an attempt.
    pub(super) fn add(&mut self, refused: CountedRefusal) {
        self.total += refused.count;
        let equal = |one: &&mut CountedRefusal| one.target == refused.target && one.program == refused.program;
        if let Some(known) = self.listed.iter_mut().find(equal) {
            known.count += refused.count;
        } else if self.listed.len() < LISTED {
            self.listed.push(refused);
        }
    }

    /// Adds the refusals of another time.
    fn merge(&mut self, other: Self) {
        let listed: u64 = other.listed.iter().map(|one| one.count).sum();
        self.total += other.total.saturating_sub(listed);
        self.secrets.merge(other.secrets);
        other.listed.into_iter().for_each(|refused| self.add(refused));
    }

    /// Turns the refusals into denials. A refusal without a program gets the program that tried to reach the same
    /// address.
    pub fn into_denials(self, attempts: &[ConnectionAttempt]) -> CommandDenials {
        let mut denials = CommandDenials { secrets: self.secrets, ..CommandDenials::default() };
        let listed: u64 = self.listed.iter().map(|one| one.count).sum();
        for CountedRefusal { target, program, count, grant, address } in self.listed {
            let attempt = || attempts.iter().find(|attempt| Some(without_v4_mapping(attempt.address)) == address);
            let program = if program.is_empty() { attempt().map_or("", |found| &found.program) } else { &program };
            denials.add(DenialKind::Network, &target, program, grant);
            denials.total += count - 1;
            let equal = |one: &&mut confine_policy::DeniedOperation| one.target == target && one.program == program;
            if let Some(denial) = denials.listed.iter_mut().find(equal) {
                denial.count += count - 1;
            }
        }
        denials.total += self.total.saturating_sub(listed);
        denials
    }
}

/// Returns the address without the IPv4-in-IPv6 form that sockets of both families report.
pub(super) fn without_v4_mapping(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The refusals of a world, by the command that tried.
#[derive(Debug, Default)]
pub(super) struct RefusalLog(Vec<(Option<String>, GateRefusals)>);

impl RefusalLog {
    /// Counts an attempt of the command with this mark. `None`: the command is unknown.
    pub fn add(&mut self, mark: Option<String>, refused: CountedRefusal) {
        self.of(mark).add(refused);
    }

    /// Counts a use of a secret by the command with this mark.
    pub fn add_use(&mut self, mark: Option<String>, of: CountedSecretUse) {
        self.of(mark).secrets.add(of);
    }

    fn of(&mut self, mark: Option<String>) -> &mut GateRefusals {
        let known = self.0.iter().position(|(of, _)| *of == mark);
        let at = known.unwrap_or_else(|| {
            if self.0.len() == COMMANDS {
                self.0.remove(0);
            }
            self.0.push((mark, GateRefusals::default()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    /// Takes the refusals of a command and of unknown commands, or all.
    pub fn take(&mut self, mark: Option<&str>) -> GateRefusals {
        let mut taken = GateRefusals::default();
        let all = std::mem::take(&mut self.0);
        for (of, refusals) in all {
            if mark.is_none() || of.is_none() || of.as_deref() == mark {
                taken.merge(refusals);
            } else {
                self.0.push((of, refusals));
            }
        }
        taken
    }
}

/// Returns refusals as large as one answer can hold.
#[cfg(all(test, target_os = "linux"))]
pub(super) fn largest() -> GateRefusals {
    let mut refusals = GateRefusals::default();
    for n in 0..LISTED {
        let target = format!("{n:0>250}:65535");
        let address = Some("[2001:db8::1]:65535".parse().expect("an address"));
        let grant = Some(SuggestedGrant::Host(target.clone()));
        refusals.add(CountedRefusal { target, program: "p".repeat(255), count: u64::MAX / 100, grant, address });
    }
    refusals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(target: &str, program: &str) -> CountedRefusal {
        let address = Some("198.18.0.1:443".parse().expect("an address"));
        CountedRefusal { target: target.into(), program: program.into(), count: 1, grant: None, address }
    }

    #[test]
    fn a_command_takes_its_own_and_those_of_unknown_commands() {
        let mut log = RefusalLog::default();
        log.add(Some("one".into()), refused("a:443", "curl"));
        log.add(Some("one".into()), refused("a:443", "curl"));
        log.add(Some("two".into()), refused("b:443", "wget"));
        log.add(None, refused("c:443", ""));
        let one = log.take(Some("one"));
        assert_eq!((one.total, one.listed.len(), one.listed[0].count), (3, 2, 2));
        assert_eq!(log.take(Some("one")), GateRefusals::default());
        assert_eq!(log.take(None).listed[0].target, "b:443");
    }

    #[test]
    fn refusals_of_commands_that_never_ask_are_dropped() {
        let mut log = RefusalLog::default();
        for n in 0..COMMANDS * 3 {
            log.add(Some(n.to_string()), refused("a:443", "curl"));
        }
        assert_eq!(log.take(None).total, COMMANDS as u64);
    }

    #[test]
    fn a_program_that_was_gone_is_found_by_its_attempt() {
        let mut refusals = GateRefusals::default();
        refusals.add(refused("a:443", ""));
        refusals.add(refused("a:443", ""));
        refusals.total += 7;
        let attempt =
            ConnectionAttempt { address: "198.18.0.1:443".parse().expect("an address"), program: "nc".into() };
        let denials = refusals.into_denials(&[attempt]);
        assert_eq!((denials.listed[0].program.as_str(), denials.listed[0].count, denials.total), ("nc", 2, 9));
    }
}
