//! One client of the host: its requests, and its batches.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::client_knowledge::ClientKnowledge;
use super::client_lines::{ClientLineBuffer, ClientLineTooLong};
use super::followed_run::FollowedRun;
use super::host_message::{
    CLIENT_LINE, FailureCode, HelloLine, HostGreeting, HostMessage, HostRequest, PROTOCOL, RequestFailure,
    RequestReply, read_object, read_request,
};
use super::outgoing_queue::OutgoingQueue;
use super::person_actions;
use super::snapshot_publisher::{BATCH, HostSnapshot, subscribe};
use runner::live::{AnsweringPage, asks};

/// Time that a client has for its first line.
const HELLO: Duration = Duration::from_secs(5);
/// Time that a client has to take the reason before the host closes.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Most runs that a client follows.
const FOLLOWED: usize = 32;
/// Bytes of text in one message, about.
pub const TEXT: usize = 48 * 1024;
/// Bytes of text in one batch, about.
const BATCH_TEXT: usize = 256 * 1024;
/// Bytes of one read.
const READ: usize = 16 * 1024;

/// A client that is connected.
pub struct HostClient {
    stream: UnixStream,
    lines: ClientLineBuffer,
    out: OutgoingQueue,
    /// Notified when a run that is followed has written.
    wake: Arc<Notify>,
    watched: Option<WatchedRuns>,
    follows: Vec<FollowedRun>,
    control: Option<AnsweringPage>,
    /// There may be something for the next batch.
    dirty: bool,
    /// The next batch is not sent earlier.
    next_batch: Instant,
}

/// The runs, as a client watches them.
struct WatchedRuns {
    snapshots: watch::Receiver<Arc<HostSnapshot>>,
    known: ClientKnowledge,
}

/// The end of a connection.
enum ConnectionEnd {
    /// The client is gone.
    Gone,
    /// The client hears why.
    Because(RequestFailure),
}

impl From<io::Error> for ConnectionEnd {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl From<ClientLineTooLong> for ConnectionEnd {
    fn from(_: ClientLineTooLong) -> Self {
        Self::Because(RequestFailure::new(
            FailureCode::Invalid,
            format!("a line may have {CLIENT_LINE} bytes, and this one has more"),
        ))
    }
}

impl HostClient {
    /// Makes a client of a connection that was accepted.
    pub fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            lines: ClientLineBuffer::default(),
            out: OutgoingQueue::new(),
            wake: Arc::default(),
            watched: None,
            follows: Vec::new(),
            control: None,
            dirty: false,
            next_batch: Instant::now(),
        }
    }

    /// Serves the client until it goes, or breaks the protocol.
    pub async fn serve(mut self, greeting: &HostGreeting) {
        let served = match self.greet(greeting).await {
            Ok(()) => self.serve_requests().await,
            Err(closed) => Err(closed),
        };
        if let Err(ConnectionEnd::Because(failure)) = served {
            self.close_with_reason(failure).await;
        }
    }

    /// Closes the connection with a reason. What the client still sends is read, because the system would otherwise
    /// take the reason back.
    pub async fn close_with_reason(mut self, failure: RequestFailure) {
        self.out.push(&HostMessage::Error(failure).to_line());
        let farewell = async {
            while self.out.send(&self.stream).is_ok() && !self.out.is_empty() {
                self.stream.writable().await?;
            }
            self.stream.shutdown().await?;
            while self.stream.read(&mut [0; READ]).await? > 0 {}
            io::Result::Ok(())
        };
        let _ = timeout(LAST_WORDS, farewell).await;
    }

    /// Exchanges the first lines.
    async fn greet(&mut self, greeting: &HostGreeting) -> Result<(), ConnectionEnd> {
        let until = Instant::now() + HELLO;
        let hello: HelloLine = loop {
            if let Some(line) = self.lines.next(CLIENT_LINE)? {
                break read_object(line).map_err(|error| {
                    ConnectionEnd::Because(RequestFailure::new(
                        FailureCode::Protocol,
                        format!("the first line is no hello: {error}"),
                    ))
                })?;
            }
            let Ok(readable) = timeout_at(until, self.stream.readable()).await else { return Err(ConnectionEnd::Gone) };
            readable?;
            self.read()?;
        };
        if hello.hello != PROTOCOL {
            let message =
                format!("this host speaks version {PROTOCOL} of the protocol, and not version {}", hello.hello);
            return Err(ConnectionEnd::Because(RequestFailure::new(FailureCode::Protocol, message)));
        }
        self.control = hello.control.then(|| asks().count_answering_page());
        self.out.push(&HostMessage::Hello(greeting.clone()).to_line());
        Ok(())
    }

    async fn serve_requests(&mut self) -> Result<(), ConnectionEnd> {
        loop {
            self.answer()?;
            self.out.send(&self.stream)?;
            let due = self.follows.iter().filter_map(FollowedRun::due_at).min();
            let stalled = self.out.stalled_at();
            let (batches, reads) = (self.dirty && self.out.has_room(), !self.out.is_full());
            tokio::select! {
                readable = self.stream.readable(), if reads => {
                    readable?;
                    self.read()?;
                }
                writable = self.stream.writable(), if stalled.is_some() => writable?,
                () = sleep_until(self.next_batch), if batches => self.send_batch(),
                () = self.wake.notified(), if !self.dirty => self.dirty = true,
                changed = next_snapshot(&mut self.watched), if !self.dirty => {
                    if !changed {
                        return Err(ConnectionEnd::Gone);
                    }
                    self.dirty = true;
                }
                () = sleep_until_due(due), if !self.dirty => self.dirty = true,
                () = sleep_until_due(stalled) => return Err(ConnectionEnd::Gone),
            }
        }
    }

    /// Reads the bytes that have come.
    fn read(&mut self) -> Result<(), ConnectionEnd> {
        let mut bytes = [0; READ];
        match self.stream.try_read(&mut bytes) {
            Ok(0) => Err(ConnectionEnd::Gone),
            Ok(count) => {
                self.lines.push(&bytes[..count]);
                Ok(())
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Answers the requests that have come, as long as there is room for answers.
    fn answer(&mut self) -> Result<(), ConnectionEnd> {
        while !self.out.is_full()
            && let Some(line) = self.lines.next(CLIENT_LINE)?
        {
            let reply = match read_request(line) {
                Ok((id, request)) => RequestReply::of(id, self.perform(request)),
                Err((Some(id), failure)) => RequestReply::of(id, Err(failure)),
                Err((None, failure)) => return Err(ConnectionEnd::Because(failure)),
            };
            self.out.push(&HostMessage::Reply(reply).to_line());
        }
        Ok(())
    }

    fn perform(&mut self, request: HostRequest) -> Result<(), RequestFailure> {
        if request.needs_control() && self.control.is_none() {
            return Err(RequestFailure::new(FailureCode::Refused, "this client is read-only; say hello with control"));
        }
        match request {
            HostRequest::Watch => {
                self.watched = Some(WatchedRuns { snapshots: subscribe(), known: ClientKnowledge::default() });
                self.dirty = true;
                Ok(())
            }
            HostRequest::Follow { run } => self.follow(&run),
            HostRequest::Unfollow { run } => {
                self.follows.retain(|follow| follow.key != run);
                Ok(())
            }
            HostRequest::Input { run, text } => person_actions::give_input(&run, &text),
            HostRequest::Stop { run } => person_actions::stop_run(&run),
            HostRequest::Answer { ask, approved, reason } => person_actions::answer_question(&ask, approved, reason),
        }
    }

    /// Follows a run, and once more from the beginning of the held output if it was followed already.
    fn follow(&mut self, run: &str) -> Result<(), RequestFailure> {
        self.follows.retain(|follow| follow.key != run);
        if self.follows.len() >= FOLLOWED {
            let message = format!("a client follows {FOLLOWED} runs at most; unfollow one first");
            return Err(RequestFailure::new(FailureCode::Busy, message));
        }
        self.follows.push(FollowedRun::begin(run, &self.wake).ok_or_else(|| person_actions::no_run(run))?);
        self.dirty = true;
        Ok(())
    }

    /// Sends the changes, and the next part of each output.
    fn send_batch(&mut self) {
        let now = Instant::now();
        self.next_batch = now + BATCH;
        if let Some(WatchedRuns { snapshots, known }) = &mut self.watched {
            let snapshot = Arc::clone(&snapshots.borrow_and_update());
            if snapshot.is_made {
                known.catch_up(&snapshot).iter().for_each(|message| self.out.push(&message.to_line()));
            }
        }
        let mut left = BATCH_TEXT;
        let share = (BATCH_TEXT / self.follows.len().max(1)).clamp(1, TEXT);
        for follow in &mut self.follows {
            if left == 0 {
                break;
            }
            if let Some(message) = follow.next(share, now) {
                let line = message.to_line();
                left = left.saturating_sub(line.len());
                self.out.push(&line);
            }
        }
        // The next batch begins with another one.
        if left == 0 && !self.follows.is_empty() {
            self.follows.rotate_left(1);
        }
        self.follows.retain(|follow| !follow.is_over());
        self.dirty = left == 0 || self.follows.iter().any(FollowedRun::has_more);
    }
}

/// Waits for the next snapshot of all runs, forever if the client does not watch. Returns false if no more will come.
async fn next_snapshot(watched: &mut Option<WatchedRuns>) -> bool {
    match watched {
        Some(watched) => watched.snapshots.changed().await.is_ok(),
        None => std::future::pending().await,
    }
}

async fn sleep_until_due(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
