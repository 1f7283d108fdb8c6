//! What a caller hears of a running command, and what it answers.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::capture::Stream;

/// Who hears of a command while it runs. Each call is answered with a [`Reply`].
pub trait Listener: Send + Sync + 'static {
    /// The next piece of text; [`Reply::Heard`] asks for more.
    fn output(&self, stream: Stream, text: String);
    /// How the command looks now; [`Reply::Seen`] asks for more.
    fn snapshot(&self, snapshot: Snapshot);
    /// It runs, with this pid and in this folder: told of those whose request asks for it, and of terminals.
    fn started(&self, _pid: i32, _cwd: &Path) {}
    /// One whose streams the caller has is over, and what it left in its pipes is still to come.
    fn ended(&self) {}
    /// All of the last [`Reply::Feed`] is written; `false`: nobody reads it any more.
    fn fed(&self, _open: bool) {}
    /// What it has written, as it is; [`Reply::Data`] asks for more.
    fn data(&self, _text: String) {}
    /// The command waits for somebody; answered by [`Reply::Prompted`].
    fn prompt(&self, prompt: Prompt);
    /// Where a stream is to be written whole; answered by [`Reply::Allocated`].
    fn allocate(&self, stream: Stream);
}

/// A running command as it looks now.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its pid.
    pub pid: i32,
    /// The end of each stream, the unfinished line included.
    pub stdout: String,
    #[expect(missing_docs, reason = "see stdout")]
    pub stderr: String,
    /// Since its start.
    pub elapsed: Duration,
}

/// A command that waits for somebody.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The process that waits.
    pub pid: i32,
    /// Its command line.
    pub command: String,
    /// The line that it has not ended; '' if there is none.
    pub text: String,
}

/// What the caller says while the command runs.
#[derive(Debug)]
pub enum Reply {
    /// End it.
    Abort,
    /// The listener has taken the text, or failed, with its error.
    Heard(Option<String>),
    /// Something has changed for the listeners of a terminal: they have taken the text, or there are others.
    Data,
    /// The next bytes of its standard input, or their end.
    Feed(Option<Vec<u8>>),
    /// Signal the program of a terminal.
    Signal(Signal),
    /// The snapshot was taken, or its listener failed, with its error.
    Seen(Option<String>),
    /// The listener has heard that the command waits, or failed, with its error.
    Prompted(Option<String>),
    /// Where a stream goes, by id and path, or why nowhere.
    Allocated(Stream, Result<(String, String), String>),
}

/// Until the caller gives up.
pub async fn aborted(replies: &mut UnboundedReceiver<Reply>) {
    loop {
        match replies.recv().await {
            Some(Reply::Abort) => return,
            Some(_) => {}
            None => std::future::pending().await,
        }
    }
}
