//! Commands: the orders and replies of a host, and the events of the program.

use serde::{Deserialize, Serialize};

use super::run_message::RunMessage;
use super::target_command::TargetCommand;
use super::target_failure::TargetFailure;
use super::target_registry::RegistryEvent;
use super::target_request::{TargetRequest, TargetResponse};
use super::transfer_part::TransferPart;
use capture::OutputStream;
use runner::run::outcome::CommandOutcome;
use sys::Signal;

/// A message to the program. The run of its frame names the command, or the question.
#[derive(Debug, Serialize, Deserialize)]
pub enum TargetCall {
    /// Run a command. The host has judged it.
    Run(Box<TargetCommand>),
    /// Do something else, and answer.
    Ask(TargetRequest),
    /// Terminate the command, or give the question up.
    Abort,
    /// Send the last output that is held of the command, and all that follows, for people who watch.
    Listen,
    /// The host has taken output, text of a terminal, or events of a registry, that cost this much of the credit.
    OutputTaken(u64),
    /// The listener failed on the last event, with this error.
    ListenerFailed(String),
    /// The next bytes of standard input. `None` ends the input.
    Input(Option<Vec<u8>>),
    /// Signal the program of a terminal.
    Signal(Signal),
    /// Type into a terminal, answered by [`TargetEvent::Typed`].
    Type(Vec<u8>),
    /// Give a terminal these columns and rows.
    Resize(u16, u16),
    /// Whether somebody draws the terminal, and so answers the questions of its program.
    Drawn(bool),
    /// The listener has taken the live view, or failed with this error.
    ViewTaken(Option<String>),
    /// The listener has taken the prompt, or failed with this error.
    PromptTaken(Option<String>),
    /// The listener has taken the output of this task.
    TaskOutputTaken(String),

    /// The next part of the transfer that a question has opened.
    Part(TransferPart),
}

impl TargetCall {
    /// Returns whether a run begins with this.
    #[must_use]
    pub fn begins_run(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Ask(_))
    }
}

impl RunMessage for TargetCall {
    fn may_be_refused(&self) -> bool {
        let is_bulk = matches!(self, Self::Input(_) | Self::Type(_) | Self::Part(TransferPart::Bytes(_)));
        is_bulk || self.begins_run()
    }
}

/// A message of the program. The run of its frame names the command, or the question.
#[derive(Debug, Serialize, Deserialize)]
pub enum TargetEvent {
    /// Output, answered by [`TargetCall::OutputTaken`].
    Output(OutputStream, String),
    /// Text of a terminal, unchanged, answered by [`TargetCall::OutputTaken`].
    Data(String),
    /// The terminal has taken the first input that it had not.
    Typed,
    /// The shell runs, with this pid in this directory.
    Started(i32, String),
    /// The shell has exited.
    Exited,
    /// The last input was written. `false`: the command reads no more.
    InputTaken(bool),
    /// The current view, answered by [`TargetCall::ViewTaken`].
    View {
        /// Pid of the command.
        pid: i32,
        /// The end of standard output.
        stdout: String,
        /// The end of standard error.
        stderr: String,
        /// Time since the start, ms.
        elapsed_ms: u64,
    },
    /// The command is blocked on input, answered by [`TargetCall::PromptTaken`].
    Prompt {
        /// The blocked process.
        pid: i32,
        /// Its command line.
        command: String,
        /// The unfinished line.
        text: String,
    },
    /// The command has ended, and its session is in this directory. The last event of its run.
    Ended(Box<CommandOutcome>, Option<String>),
    /// Something happened in the registry of this run.
    Registry(Box<RegistryEvent>),
    /// A question was answered. The last event of its run.
    Answered(TargetResponse),
    /// Nothing could be done. The last event of its run.
    Failed(TargetFailure),

    /// The next part of the transfer that a question has opened.
    Part(TransferPart),
}

impl TargetEvent {
    /// Returns whether a run ends with this.
    #[must_use]
    pub fn ends_run(&self) -> bool {
        matches!(self, Self::Ended(..) | Self::Answered(_) | Self::Failed(_))
    }
}

impl RunMessage for TargetEvent {
    fn may_be_refused(&self) -> bool {
        match self {
            Self::Output(..) | Self::Data(_) | Self::Part(TransferPart::Bytes(_)) => true,
            Self::Registry(event) => matches!(**event, RegistryEvent::Output(..)),
            _ => false,
        }
    }
}
