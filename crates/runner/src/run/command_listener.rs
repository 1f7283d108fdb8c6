//! The events of a running command for its caller, and the caller's replies.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::live::WatcherOrder;
use capture::OutputStream;
use sys::Signal;

/// Receives the events of a running command. Most events are answered with a [`CallerReply`].
pub trait CommandListener: Send + Sync + 'static {
    /// The next batch of output, answered with [`CallerReply::OutputTaken`].
    fn output(&self, stream: OutputStream, text: String);
    /// Sends the current view of the command, answered with [`CallerReply::ViewTaken`].
    fn live_view(&self, view: LiveView);
    /// The command runs, with this pid in this directory. Only sent if the request asks for it, and for terminals.
    fn started(&self, _pid: i32, _cwd: &Path) {}
    /// The shell has exited. Only sent to a caller that reads the streams itself; output may follow.
    fn exited(&self) {}
    /// The last [`CallerReply::Input`] is written completely. `false`: the command reads no more.
    fn input_taken(&self, _open: bool) {}
    /// Text of a terminal, unchanged. [`CallerReply::DataChanged`] asks for more.
    fn data(&self, _text: String) {}
    /// The command is blocked on input, answered with [`CallerReply::PromptTaken`].
    fn prompt(&self, prompt: BlockedPrompt);
    /// A path is needed for a whole stream, answered with [`CallerReply::Allocated`].
    fn allocate(&self, stream: OutputStream);
}

/// The current view of a running command.
#[derive(Debug, Clone)]
pub struct LiveView {
    /// Pid of the command.
    pub pid: i32,
    /// The end of each stream, including the unfinished line.
    pub stdout: String,
    /// The end of standard error.
    pub stderr: String,
    /// Time since the start.
    pub elapsed: Duration,
}

/// A command that is blocked on input.
#[derive(Debug, Clone)]
pub struct BlockedPrompt {
    /// The blocked process.
    pub pid: i32,
    /// Command line of the process.
    pub command: String,
    /// The unfinished line, or '' if there is none.
    pub text: String,
}

/// An answer or a request of the caller, or the order of a person, while the command runs.
#[derive(Debug)]
pub enum CallerReply {
    /// Terminate the command.
    Abort,
    /// Give the listener the last output that is held, and all that follows, for people who watch.
    Listen,
    /// The listener has taken the output, or failed with this error.
    OutputTaken(Option<String>),
    /// The listeners of a terminal have taken its text, or have changed.
    DataChanged,
    /// The next bytes of standard input. `None` ends the input.
    Input(Option<Vec<u8>>),
    /// Signal the program of a terminal.
    Signal(Signal),
    /// The listener has taken the live view, or failed with this error.
    ViewTaken(Option<String>),
    /// The listener has taken the prompt, or failed with this error.
    PromptTaken(Option<String>),
    /// The place for a whole stream.
    Allocated(OutputStream, SpillAllocation),
    /// Do what a person who watches wants.
    Order(WatcherOrder),
}

/// The answer of the caller's artifact store.
#[derive(Debug)]
pub enum SpillAllocation {
    /// The stream goes to this file.
    File {
        /// The id of the artifact.
        id: String,
        /// Path of the file.
        path: String,
    },
    /// The store has no place.
    Failed(String),
}

/// The replies of a caller, in their order. What comes before the command runs is kept until then.
pub struct CallerReplies {
    channel: UnboundedReceiver<CallerReply>,
    kept: VecDeque<CallerReply>,
}

impl CallerReplies {
    /// Waits for the next reply. `None`: the caller's thread has ended.
    pub async fn recv(&mut self) -> Option<CallerReply> {
        match self.kept.pop_front() {
            Some(reply) => Some(reply),
            None => self.channel.recv().await,
        }
    }

    /// Waits until the caller aborts. Keeps all other replies.
    pub async fn aborted(&mut self) {
        loop {
            match self.channel.recv().await {
                Some(CallerReply::Abort) => return,
                Some(reply) => self.kept.push_back(reply),
                None => std::future::pending().await,
            }
        }
    }
}

impl From<UnboundedReceiver<CallerReply>> for CallerReplies {
    fn from(channel: UnboundedReceiver<CallerReply>) -> Self {
        Self { channel, kept: VecDeque::new() }
    }
}
