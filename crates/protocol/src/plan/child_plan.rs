//! The plan of a child: one place turns it into a process.

use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{ChangeJournalPlan, CommandLimits, InheritedDescriptor};
use sys::TerminalSize;

/// The variable that tells programs, and searches for programs, to which command they belong.
pub const MARK: &str = "AGENT_BASH_ID";

/// Most bytes of an entry in whose place that of the witness can stand.
const LONGEST: usize = 100;

/// The variable by which the dynamic loader loads the witness.
const PRELOAD: &[u8] = b"LD_PRELOAD=";

/// The world of a confined child, as this host numbers its worlds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorldId(pub u64);

/// The standard input of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StdinSource {
    /// Nothing: `/dev/null`.
    Null,
    /// A pipe that travels with the plan.
    Pipe,
}

/// A child to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildPlan {
    /// The program's path.
    #[serde(with = "super::bytes")]
    pub program: Vec<u8>,
    /// Arguments of the program, the name first.
    #[serde(with = "super::bytes::list")]
    pub argv: Vec<Vec<u8>>,
    /// Index in `argv` of the path of the script that travels with the plan, if there is a script.
    pub script_at: Option<u32>,
    /// The whole environment, `NAME=VALUE`, each ended by a NUL.
    #[serde(with = "super::bytes")]
    pub env: Vec<u8>,
    /// The directory in which the program starts, absolute.
    #[serde(with = "super::bytes")]
    pub cwd: Vec<u8>,
    /// File mode creation mask.
    pub umask: u32,
    /// Standard input.
    pub stdin: StdinSource,
    /// Both output streams go to one pipe.
    pub merge: bool,
    /// All streams are a terminal of this size, which travels with the plan and controls the program.
    pub terminal: Option<TerminalSize>,
    /// The time limit, from the start of the process.
    pub limit: Option<Duration>,
    /// Time from SIGTERM to SIGKILL when the tree is ended.
    pub grace: Duration,
    /// Resource limits.
    pub limits: CommandLimits,
    /// The world of the program, if it is confined.
    pub world: Option<WorldId>,
    /// The files that travel with the plan, which the program inherits.
    pub files: Vec<InheritedDescriptor>,
    /// The record of the program's changes, if one is wanted. Warm shells have none.
    pub record: Option<ChangeJournalPlan>,
}

impl ChildPlan {
    /// Returns the plan without the parts that belong only to the command with this mark: the command itself, its mark,
    /// its time.
    #[must_use]
    pub fn without_command(&self, mark: &str) -> Self {
        let own = MARK.len() + mark.len() + 2;
        Self {
            program: self.program.clone(),
            argv: self.argv.iter().take_while(|argument| *argument != b"-c").cloned().collect(),
            script_at: None,
            env: self.env[..self.env.len().saturating_sub(own)].to_vec(),
            cwd: self.cwd.clone(),
            limit: None,
            grace: Duration::ZERO,
            files: self.files.clone(),
            record: None,
            ..*self
        }
    }

    /// Returns the streams that have an output pipe of their own.
    pub fn outputs(&self) -> std::ops::Range<usize> {
        match (self.terminal, self.merge) {
            (Some(_), _) => 1..1,
            (None, true) => 1..2,
            (None, false) => 1..3,
        }
    }

    /// Returns whether a witness watches the program.
    pub fn is_watched(&self) -> bool {
        self.files.contains(&InheritedDescriptor::Witness)
    }

    /// Returns whether the shell has the ends of a tap.
    pub fn has_tap(&self) -> bool {
        self.files.contains(&InheritedDescriptor::TapRead)
    }

    /// Returns the entry of the environment in whose place that of the witness stands: the mark. `None` if there is no
    /// witness, or it cannot stand there.
    pub fn replaced_entry(&self) -> Option<&[u8]> {
        replaced_mark(&self.env).filter(|_| self.is_watched()).map(|mark| &self.env[mark])
    }

    /// Returns the environment with which the program is executed.
    #[must_use]
    pub fn executed_env(&self) -> Vec<u8> {
        if self.is_watched() { with_witness(&self.env) } else { self.env.clone() }
    }

    /// Adds the mark of a command as the last variable.
    pub fn add_mark(&mut self, mark: &str) {
        for part in [MARK, "=", mark, "\0"] {
            self.env.extend_from_slice(part.as_bytes());
        }
    }
}

/// Returns an environment in which the dynamic loader finds the witness: in front of the caller's own libraries, else
/// in the place of the mark, else at the end. The witness takes its path out again, so that bash finds `env`.
fn with_witness(env: &[u8]) -> Vec<u8> {
    let own = preload_entry();
    if let Some(at) = find_variable(env, PRELOAD) {
        return [&env[..at], &own, b":", &env[at + PRELOAD.len()..]].concat();
    }
    let Some(mark) = replaced_mark(env) else { return [env, &own, b"\0"].concat() };
    // More slashes make it as long as the mark.
    let (path, number) = own.split_at(own.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
    let slashes = vec![b'/'; mark.len() - own.len()];
    [&env[..mark.start], path, &slashes, number, &env[mark.end..]].concat()
}

/// Returns the place of the mark in an environment, if the entry of the witness can stand there.
fn replaced_mark(env: &[u8]) -> Option<Range<usize>> {
    let start = find_variable(env, format!("{MARK}=").as_bytes()).filter(|_| find_variable(env, PRELOAD).is_none())?;
    let length = memchr::memchr(0, &env[start..])?;
    (preload_entry().len()..=LONGEST).contains(&length).then(|| start..start + length)
}

/// Returns where the variable that begins like this is in an environment.
fn find_variable(env: &[u8], variable: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(env, variable).find(|at| *at == 0 || env[at - 1] == 0)
}

/// Returns the entry by which the loader finds the witness.
fn preload_entry() -> Vec<u8> {
    [PRELOAD, InheritedDescriptor::Witness.path().as_os_str().as_bytes()].concat()
}

/// Returns a mark that is unique on this machine for as long as it matters: process, time of loading, count.
pub fn next_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{:x}", sys::process_mark(), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_witness_stands_before_the_callers_library_or_in_place_of_the_mark_or_last() {
        for (env, expected) in [
            ("A=1\0B=2\0", "A=1\0B=2\0LD_PRELOAD=/proc/self/fd/69\0"),
            ("", "LD_PRELOAD=/proc/self/fd/69\0"),
            ("XLD_PRELOAD=a\0", "XLD_PRELOAD=a\0LD_PRELOAD=/proc/self/fd/69\0"),
            ("A=LD_PRELOAD=a\0", "A=LD_PRELOAD=a\0LD_PRELOAD=/proc/self/fd/69\0"),
            ("A=1\0LD_PRELOAD=a.so\0B=2\0", "A=1\0LD_PRELOAD=/proc/self/fd/69:a.so\0B=2\0"),
            ("LD_PRELOAD=\0B=2\0", "LD_PRELOAD=/proc/self/fd/69:\0B=2\0"),
            ("A=1\0AGENT_BASH_ID=7199-66135c-6\0", "A=1\0LD_PRELOAD=/proc/self/fd/69\0"),
            ("A=1\0AGENT_BASH_ID=7199-66135c-6f\0", "A=1\0LD_PRELOAD=/proc/self/fd//69\0"),
            ("AGENT_BASH_ID=short\0", "AGENT_BASH_ID=short\0LD_PRELOAD=/proc/self/fd/69\0"),
            ("AGENT_BASH_ID=7199-66135c-6f\0B=2\0", "LD_PRELOAD=/proc/self/fd//69\0B=2\0"),
            (
                "LD_PRELOAD=a\0AGENT_BASH_ID=7199-66135c-6f\0",
                "LD_PRELOAD=/proc/self/fd/69:a\0AGENT_BASH_ID=7199-66135c-6f\0",
            ),
        ] {
            assert_eq!(String::from_utf8_lossy(&with_witness(env.as_bytes())), expected);
        }
    }
}
