//! The events that a witness writes.

use std::sync::Arc;

/// What became of the ends of a tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineTapState {
    /// The shell has none, or its command needs none.
    None,
    /// The command has made no pipe yet.
    Wanted,
    /// The first pipe of the command leads through the host.
    Taken,
    /// The first pipe was none that may.
    Refused,
}

/// The events of one command, in the order in which they were begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WitnessTrace {
    /// The events.
    pub events: Vec<WitnessEvent>,
    /// Whether there was no room for some.
    pub lost: bool,
}

/// One event in a process of the shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessEvent {
    /// The number of the event.
    pub number: usize,
    /// The process: the number of the event that forked it, plus 1. 0 is the command's own shell.
    pub process: usize,
    /// What happened.
    pub happened: WitnessEventKind,
    /// The command that the shell was about to run, as bash prints it. Reading a substitution within
    /// another one puts the text of the inner one in its place.
    pub text: Arc<str>,
    /// The simple command outside of traps. In the process of a substitution it is that of the command around it.
    pub kept: Arc<str>,
    /// The directory of a program, and of a shell that did not find one. Empty: it is not known.
    pub directory: Arc<str>,
    /// `$?` before.
    pub status: i32,
    /// Whether the process, or one around it, is that of a substitution.
    pub substitution: bool,
    /// `set -e`
    pub errexit: bool,
    /// `set -o pipefail`
    pub pipefail: bool,
    /// `shopt -s lastpipe`
    pub lastpipe: bool,
    /// Whether a trap ran.
    pub in_trap: bool,
    /// Whether the command ran. False for files that bash reads before it.
    pub in_command: bool,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WitnessEventKind {
    /// A process was forked.
    Forked {
        /// Its pid. Not positive if there was no process.
        pid: i32,
    },
    /// A child ended, and the shell noticed.
    Waited {
        /// Its pid.
        pid: i32,
        /// Its status, as `waitpid` gives it.
        status: i32,
    },
    /// The process became a program.
    Executed {
        /// The program's words, up to 1 KiB.
        words: Vec<String>,
        /// Whether that is all of them.
        whole: bool,
    },
    /// The shell exited by itself.
    Exited {
        /// Its code.
        code: i32,
    },
}
