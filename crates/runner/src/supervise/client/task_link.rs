//! The addon's side of a task: receives its events and may end it.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::supervise::evidence_watch::EvidenceWatch;
use protocol::task::Task;
use protocol::{FrameReader, FromTask, ReceiveOutcome, ToTask};

/// An event of a shim about its task.
#[derive(Debug)]
pub enum TaskEvent {
    /// The state of the task that this shim serves.
    Task(Box<Task>),
    /// The task has ended.
    Ended(Box<Task>),
    /// The log has this many bytes of output. Has the unfinished lines that are not in the log, if they were requested.
    Grew(u64, Vec<String>),
    /// The shim is gone, or no longer talks to this process.
    Lost,
}

/// A connection to the shim of a task.
pub struct TaskLink {
    socket: Arc<AsyncFd<OwnedFd>>,
    reader: FrameReader,
    /// How the command of the task is watched. `None`: its evidence is not wanted, or another process has started it.
    watched: Option<EvidenceWatch>,
}

/// The sending half of a [`TaskLink`]. Messages to a dead shim are dropped, and the link reports its death.
#[derive(Clone)]
pub struct TaskSender(Arc<AsyncFd<OwnedFd>>);

/// Connects to a task of another process through its socket.
pub fn connect(path: &Path) -> io::Result<TaskLink> {
    let folder = File::open(path.parent().unwrap_or(Path::new("/")))?;
    let stream = UnixStream::connect(sys::short_path(&folder, path))?;
    stream.set_nonblocking(true)?;
    Ok(TaskLink::new(sys::watch(stream.into(), Interest::READABLE | Interest::WRITABLE)?, FrameReader::default()))
}

impl TaskLink {
    pub(super) fn new(socket: AsyncFd<OwnedFd>, reader: FrameReader) -> Self {
        Self { socket: Arc::new(socket), reader, watched: None }
    }

    pub(super) fn watched(self, watched: Option<EvidenceWatch>) -> Self {
        Self { watched, ..self }
    }

    /// Takes what the evidence of the task is read from.
    pub fn take_watched(&mut self) -> Option<EvidenceWatch> {
        self.watched.take()
    }

    /// Returns a sender that works while the link receives.
    pub fn sender(&self) -> TaskSender {
        TaskSender(Arc::clone(&self.socket))
    }

    /// Returns the next event. Cancel-safe: no event is lost.
    pub async fn next_event(&mut self) -> TaskEvent {
        loop {
            match self.reader.receive(self.socket.get_ref()) {
                Ok(ReceiveOutcome::Message(FromTask::Task(task))) => return TaskEvent::Task(task),
                Ok(ReceiveOutcome::Message(FromTask::Ended(task))) => return TaskEvent::Ended(task),
                Ok(ReceiveOutcome::Message(FromTask::Grew { bytes, pending })) => {
                    return TaskEvent::Grew(bytes, pending);
                }
                Ok(ReceiveOutcome::Pending) => match self.socket.readable().await {
                    Ok(mut guard) => guard.clear_ready(),
                    Err(_) => return TaskEvent::Lost,
                },
                Ok(ReceiveOutcome::Closed) | Err(_) => return TaskEvent::Lost,
            }
        }
    }
}

impl TaskSender {
    /// Requests one event when the log has more output than this, or an unfinished line changes.
    pub fn watch(&self, bytes: u64, pending: bool) {
        self.send(ToTask::Watch { from: bytes, pending });
    }

    /// Requests that unfinished lines are written to the log.
    pub fn settle(&self) {
        self.send(ToTask::Settle);
    }

    /// Ends the task: SIGTERM, grace, SIGKILL.
    pub fn end(&self) {
        self.send(ToTask::End);
    }

    fn send(&self, message: ToTask) {
        let _ = protocol::send(self.0.get_ref(), message);
    }
}
