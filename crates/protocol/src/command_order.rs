//! Orders to start a command, and the addon's ends of its pipes.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, LazyLock};

use crate::LedgerOpening;
use crate::messages::{OutputPipe, RunDescriptors, TaskInput};
use crate::plan::{ChildPlan, StdinSource, WarmShellKind};
use crate::task::TaskSpec;

/// The start of a command's entry in the ledger, made when it is first used.
pub type LazyLedgerOpening = LazyLock<LedgerOpening, Box<dyn FnOnce() -> LedgerOpening + Send>>;

/// The addon's ends of the pipes of one command.
pub struct CommandPipes {
    /// The write end of standard input, if the plan has one.
    pub stdin: Option<OwnedFd>,
    /// The read end of standard output.
    pub stdout: OwnedFd,
    /// The read end of standard error. `None` if merged.
    pub stderr: Option<OwnedFd>,
    /// The program side of the terminal. Held open so that the terminal does not report its end while the shell runs.
    pub other_end: Option<OwnedFd>,
}

/// All that the start of a command needs. Kept for a second attempt.
pub struct CommandOrder {
    /// The plan of the command.
    pub plan: ChildPlan,
    /// A file with the command, if the command is too long for an argument.
    pub script: Option<Arc<OwnedFd>>,
    /// Files that the command inherits, in the order of the plan's files. The witness and the tap, which are the first
    /// there, are not among them: each attempt has its own.
    pub files: Vec<Arc<OwnedFd>>,
    /// Whether the evidence of the command is wanted.
    pub evidence: bool,
    /// Whether the first pipe of the command gets a tap, if its shell can have one.
    pub tap: bool,
    /// The task to start, if the command is a task from its start.
    pub task: Option<TaskSpec>,
    /// Input of a task, if its plan has one. The shim of the task writes it.
    pub input: Option<Arc<OwnedFd>>,
    /// The program side of the terminal in which the command runs.
    pub terminal: Option<Arc<OwnedFd>>,
    /// The start of the command's entry in the ledger, if it gets one. It is made once a warm shell has its command.
    pub opening: Option<Arc<LazyLedgerOpening>>,
    /// The form of the command for a warm shell, if a warm shell can run it.
    pub warm: Option<WarmCommand>,
    /// The lock on the draft of the command, if it has one.
    pub draft: Option<Arc<OwnedFd>>,
}

/// A command for a warm shell.
pub struct WarmCommand {
    /// The kind of shells that can run the command.
    pub kind: Arc<WarmShellKind>,
    /// The text of the command.
    pub command: Vec<u8>,
    /// Text that the shell reads before the command.
    pub prologue: Vec<u8>,
    /// Whether to pre-start a shell if none is ready.
    pub prestarts: bool,
}

impl WarmCommand {
    /// Returns the command for a shell of the same kind, whose changes are recorded.
    #[must_use]
    pub fn recorded(self) -> Self {
        Self { kind: Arc::new(WarmShellKind { recorded: true, ..(*self.kind).clone() }), ..self }
    }
}

impl CommandOrder {
    /// Opens the pipes of the command. Returns the addon's ends, and the descriptors that travel with the plan.
    pub fn open_pipes(&self) -> io::Result<(CommandPipes, RunDescriptors)> {
        let mut theirs = RunDescriptors {
            script: self.script.as_deref().map(OwnedFd::try_clone).transpose()?,
            files: self.files.iter().map(|file| file.try_clone()).collect::<io::Result<_>>()?,
            ..RunDescriptors::default()
        };
        if let Some(terminal) = &self.terminal {
            let other_end = sys::open_other_end(terminal)?;
            theirs.terminal = Some(other_end.try_clone()?);
            let stdout = terminal.try_clone()?;
            return Ok((CommandPipes { stdin: None, stdout, stderr: None, other_end: Some(other_end) }, theirs));
        }
        let mut stdin = None;
        if self.plan.stdin == StdinSource::Pipe {
            let (read, write) = sys::pipe()?;
            sys::set_nonblocking(&write)?;
            theirs.stdin = Some(read);
            stdin = Some(write);
        }
        let mut output = || {
            let (read, write) = sys::pipe()?;
            sys::set_nonblocking(&read)?;
            theirs.outputs.push(OutputPipe { write, read: read.try_clone()? });
            io::Result::Ok(read)
        };
        let stdout = output()?;
        let stderr = if self.plan.merge { None } else { Some(output()?) };
        if let Some(input) = &self.input {
            let rest = input.try_clone()?;
            theirs.input = stdin.take().map(|pipe| TaskInput { pipe, rest });
        }
        Ok((CommandPipes { stdin, stdout, stderr, other_end: None }, theirs))
    }
}
