//! Clients of a task server: the host that started the task, and other processes that opened its directory.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use protocol::{FrameReader, FromTask, FromTaskClient, MAX_PENDING, ReceiveOutcome, ToShim, ToTask};

/// Shortest time between two answers to a client.
const INTERVAL: Duration = Duration::from_millis(10);
/// Time a client may take to read a message before it counts as gone.
const PATIENCE: Duration = Duration::from_millis(100);

/// A client of a task server.
pub struct TaskClient {
    socket: OwnedFd,
    reader: FrameReader,
    host: bool,
    watch: Option<GrowthWatch>,
    answered: Option<Instant>,
    /// Whether an answer may be due once the interval has passed.
    held: bool,
    /// The unfinished lines of the last answer.
    shown: Vec<String>,
    gone: bool,
}

/// A pending request for the growth of the log.
struct GrowthWatch {
    /// The number of output bytes that the log has to exceed.
    from: u64,
    /// Whether unfinished lines that differ from the last answer's count, too.
    pending: bool,
}

/// A request of a client.
pub enum ClientRequest {
    /// Terminate the task.
    End,
    /// Write unfinished lines to the log.
    Settle,
    /// A message that needs no further action.
    Other,
    /// No whole message has arrived yet.
    Nothing,
    /// The client is gone.
    Gone,
}

impl TaskClient {
    /// Creates a client that has just connected.
    pub fn new(socket: OwnedFd, host: bool) -> Self {
        Self::with(socket, FrameReader::default(), host)
    }

    /// Creates a client whose reader may already hold bytes.
    pub fn with(socket: OwnedFd, reader: FrameReader, host: bool) -> Self {
        Self { socket, reader, host, watch: None, answered: None, held: false, shown: Vec::new(), gone: false }
    }

    /// Returns whether the client is the process that started the command.
    pub fn is_host(&self) -> bool {
        self.host
    }

    /// Returns the socket to poll.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Returns whether [`Self::next_request`] has an answer without new bytes: a whole frame, or the loss of the
    /// client.
    pub fn has_frame(&self) -> bool {
        self.gone || self.reader.has_frame()
    }

    /// Returns the next request.
    pub fn next_request(&mut self) -> ClientRequest {
        if self.gone {
            return ClientRequest::Gone;
        }
        match self.reader.receive(&self.socket) {
            Ok(ReceiveOutcome::Message(FromTaskClient::Task(message))) => self.on_message(message),
            Ok(ReceiveOutcome::Message(FromTaskClient::Shim(message))) => Self::on_late_shim_message(&message),
            Ok(ReceiveOutcome::Pending) => ClientRequest::Nothing,
            Ok(ReceiveOutcome::Closed) | Err(_) => ClientRequest::Gone,
        }
    }

    fn on_message(&mut self, message: ToTask) -> ClientRequest {
        match message {
            ToTask::End => ClientRequest::End,
            ToTask::Settle => ClientRequest::Settle,
            ToTask::Watch { from, pending } => {
                let watch = self.watch.get_or_insert(GrowthWatch { from, pending });
                watch.from = watch.from.min(from);
                watch.pending |= pending;
                ClientRequest::Other
            }
        }
    }

    /// Handles a message that the host sent to the shim before it knew that the command is a task.
    fn on_late_shim_message(message: &ToShim) -> ClientRequest {
        match message {
            ToShim::End { .. } => ClientRequest::End,
            ToShim::Run(_)
            | ToShim::Signal { .. }
            | ToShim::Release(_)
            | ToShim::HandOver { .. }
            | ToShim::Tap { .. }
            | ToShim::Prepare { .. }
            | ToShim::Protect(_)
            | ToShim::Denials
            | ToShim::HoldDraft { .. }
            | ToShim::WarmStart(_)
            | ToShim::Dismiss
            | ToShim::Scan
            | ToShim::Acknowledged => ClientRequest::Other,
        }
    }

    /// Returns whether the client waits for unfinished lines and may be answered at this moment.
    pub fn wants_pending(&self, now: Instant) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.pending) && self.may_be_answered(now)
    }

    fn may_be_answered(&self, now: Instant) -> bool {
        self.answered.is_none_or(|at| now >= at + INTERVAL)
    }

    /// Returns when [`Self::answer`] has to be called again although nothing happens. The time may be in the past.
    pub fn due(&self) -> Option<Instant> {
        self.answered.filter(|_| self.held).map(|answered| answered + INTERVAL)
    }

    /// Answers the client if the log has grown as far as it asked for, or an unfinished line has changed.
    pub fn answer(&mut self, now: Instant, written: u64, pending: &[String]) {
        let Some(watch) = &self.watch else { return };
        let grown = written > watch.from;
        self.held = (grown || watch.pending) && !self.may_be_answered(now);
        let nothing = |lines: &[String]| lines.iter().all(String::is_empty);
        let drawn = watch.pending && self.shown != pending && !(nothing(&self.shown) && nothing(pending));
        if !(grown || drawn) || self.held {
            return;
        }
        self.shown = if watch.pending { pending.to_vec() } else { Vec::new() };
        let end = |line: &String| line[line.floor_char_boundary(line.len().saturating_sub(MAX_PENDING))..].to_owned();
        let pending = self.shown.iter().map(end).collect();
        self.watch = None;
        self.answered = Some(now);
        self.send(FromTask::Grew { bytes: written, pending });
    }

    /// Sends a message. A client that does not read it in time counts as gone.
    pub fn send(&mut self, message: FromTask) {
        if protocol::send_within(&self.socket, message, PATIENCE).is_err() {
            self.gone = true;
        }
    }
}
