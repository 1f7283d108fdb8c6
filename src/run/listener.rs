//! What a caller hears of a running command, and what it answers.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::capture::Stream;

/// Who hears of a command while it runs. Each call is answered with a [`Reply`].
pub trait Listener: Send + Sync + 'static {
    /// The next piece of text; [`Reply::Heard`] asks for more.
    fn output(&self, stream: Stream, text: String);
    /// How the command looks now; [`Reply::Seen`] asks for more.
    fn snapshot(&self, snapshot: Snapshot);
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

/// What the caller says while the command runs.
#[derive(Debug)]
pub enum Reply {
    /// End it.
    Abort,
    /// The listener has taken the text, or failed, with its error.
    Heard(Option<String>),
    /// The snapshot was taken, or its listener failed, with its error.
    Seen(Option<String>),
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
