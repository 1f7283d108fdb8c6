//! The messages between a shim and its listener.
//!
//! | from | message |
//! |---|---|
//! | shim | [`ToListener`] |
//! | the child of a shim, between clone and exec | the last of them before its first call, with the descriptor |
//! | listener | [`FromListener`]: the answer to [`ToListener::Take`] and [`ToListener::End`], and an announcement |
//!
//! The socket keeps the borders of messages. The shim prepares the message of its child, so that a single message
//! announces a command. The listener posts how much it has recorded ([`WorldStatusSlot::Records`]), so that a shim need
//! not ask if its command was denied nothing. The next command ends the earlier command in any case.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::{Deserialize, Serialize};

use confine_gate::{ConnectionAttempt, GateControl, WorldStatusBoard, WorldStatusSlot};
use confine_policy::CommandDenials;
use confine_world::NameGuards;

/// The most directories with guarded names in one message.
const GUARDS: usize = 256;
/// The largest message, bytes. The kernel holds twice as much.
pub(super) const MESSAGE: usize = 96 * 1024;
/// Time limit for a sign of life of a listener that is asked for a report. It answers at once, or posts at each
/// directory that it looks into ([`WorldStatusSlot::LookedInto`]), unless a file system hangs.
const PATIENCE: Duration = Duration::from_secs(2);

/// A message of a shim.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum ToListener {
    /// The names that a command must not create. The first part of them begins a command, or begins it again: earlier
    /// denials are discarded, because a warm shell gets its command then.
    Guards {
        /// The command.
        command: u64,
        /// Whether this is the first part.
        first: bool,
        /// The names.
        guards: NameGuards,
    },
    /// The journal of a command comes with this message, before the command begins.
    Journal {
        /// The command.
        command: u64,
    },
    /// Asks for the record of the command so far. The listener then announces the next entry.
    Take {
        /// The command.
        command: u64,
    },
    /// The command has ended. Its remaining processes get answers as before.
    End {
        /// The command.
        command: u64,
    },
}

/// A message of a listener.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum FromListener {
    /// The record of a command since the last report.
    Report(u64, ListenerReport),
    /// The record of a command has an entry again.
    News,
}

/// The listener's record of one command.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ListenerReport {
    /// The denied operations.
    pub denials: CommandDenials,
    /// Connections that were tried, for the gate to name the program.
    pub attempts: Vec<ConnectionAttempt>,
}

/// Facts that a listener has in common with its shim.
pub struct ListenerEndpoint {
    /// The listener's end of the socket.
    pub(super) socket: OwnedFd,
    /// The board for the listener's posts.
    pub(super) board: WorldStatusBoard,
    /// The gate of a world without namespaces.
    pub(super) gate: Option<GateControl>,
}

impl ListenerEndpoint {
    /// Gives the listener a way to the gate of its world.
    #[must_use]
    pub fn with_gate(self, gate: Option<GateControl>) -> Self {
        Self { gate, ..self }
    }

    /// Returns all descriptors.
    pub fn descriptors(&self) -> Vec<RawFd> {
        let gate = self.gate.iter().map(AsFd::as_fd);
        [self.socket.as_fd(), self.board.as_fd()].into_iter().chain(gate).map(|fd| fd.as_raw_fd()).collect()
    }
}

/// The shim's end of the socket to its listener.
pub struct ListenerLink {
    socket: OwnedFd,
    board: WorldStatusBoard,
    /// The post of the listener when its record was last taken.
    taken: Cell<u64>,
}

impl ListenerLink {
    /// Makes both ends. The shim's descriptor is above the descriptors that commands inherit.
    pub fn pair() -> io::Result<(Self, ListenerEndpoint)> {
        let (ours, theirs) = sys::message_pair()?;
        let board = WorldStatusBoard::new()?;
        let ends = ListenerEndpoint { socket: theirs, board: board.try_clone()?, gate: None };
        Ok((Self { socket: sys::above_inherited(&ours)?, board, taken: Cell::new(0) }, ends))
    }

    /// Returns the descriptor over which a child sends the descriptor of its filter, with [`sys::install_filter`].
    pub fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Prepares the beginning of a command, before its child is made. Returns the message that the child sends with the
    /// descriptor of its filter.
    pub fn begin_message(&self, command: u64, guards: &NameGuards) -> io::Result<Vec<u8>> {
        let mut parts = guard_messages(command, guards);
        let last = parts.pop().ok_or(io::ErrorKind::InvalidData)?;
        parts.iter().try_for_each(|part| self.send(part))?;
        postcard::to_allocvec(&last).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// Gives the command that begins next a journal at the other end of this socket.
    pub fn send_journal(&self, command: u64, journal: &OwnedFd) -> io::Result<()> {
        let bytes = postcard::to_allocvec(&ToListener::Journal { command }).map_err(|_| io::ErrorKind::InvalidData)?;
        sys::send(self.socket.as_fd(), &bytes, &[journal.as_raw_fd()]).map(drop)
    }

    /// Replaces the names that a command must not create, and discards earlier denials. The change applies to every
    /// call that is made later.
    pub fn replace_guards(&self, command: u64, guards: &NameGuards) -> io::Result<()> {
        guard_messages(command, guards).iter().try_for_each(|part| self.send(part))
    }

    /// Ends a command, and returns the listener's record of it. `None`: the listener has posted nothing since the last
    /// time. The record is then empty, and no question is asked.
    ///
    /// The shim collects the denials of its listener and of the gate, and sends them before `Ended`. For a task it adds
    /// them to the state file, soon after its listener has announced a denial (`DenialNews`). The command of a session
    /// ends before its shell does, so the addon asks for the denials then (`ToShim::Denials`).
    pub fn end_command(&self, command: u64) -> io::Result<Option<ListenerReport>> {
        let posted = self.board.read(WorldStatusSlot::Records)?;
        if self.taken.replace(posted) == posted {
            return Ok(None);
        }
        self.end_and_report(command).map(Some)
    }

    /// Like [`ListenerLink::end_command`], but always asks.
    pub(super) fn end_and_report(&self, command: u64) -> io::Result<ListenerReport> {
        self.send(&ToListener::End { command })?;
        self.receive_report(command)
    }

    /// Returns the listener's record of a command that goes on, and lets the listener announce its next entry.
    pub fn take(&self, command: u64) -> io::Result<ListenerReport> {
        self.taken.set(self.board.read(WorldStatusSlot::Records)?);
        self.send(&ToListener::Take { command })?;
        self.receive_report(command)
    }

    /// Returns a descriptor that becomes readable with an announcement, for a process that takes the record then.
    pub fn announcements(&self) -> io::Result<OwnedFd> {
        self.socket.try_clone()
    }

    /// Returns whether the listener is alive.
    pub fn is_open(&self) -> bool {
        let mut fds = [PollFd::new(self.socket.as_fd(), PollFlags::empty())];
        poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready == 0)
    }

    fn receive_report(&self, command: u64) -> io::Result<ListenerReport> {
        let looked_into = || self.board.read(WorldStatusSlot::LookedInto);
        let mut before = looked_into()?;
        let mut until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match wait(self.socket.as_fd(), PollFlags::POLLIN, left) {
                Err(error) if error.kind() == io::ErrorKind::TimedOut && looked_into()? != before => {
                    (before, until) = (looked_into()?, Instant::now() + PATIENCE);
                    continue;
                }
                waited => waited?,
            }
            let received = receive(self.socket.as_fd(), &mut vec![0; MESSAGE])?;
            if let Some(FromListener::Report(of, report)) = received.message()?
                && of == command
            {
                return Ok(report);
            }
        }
    }

    fn send(&self, message: &ToListener) -> io::Result<()> {
        send(self.socket.as_fd(), message)
    }
}

impl AsFd for ListenerLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Splits the names that a command must not create into messages that are not too large. Returns at least one message.
fn guard_messages(command: u64, guards: &NameGuards) -> Vec<ToListener> {
    let mut parts: Vec<_> = guards.directories.chunks(GUARDS).map(<[_]>::to_vec).collect();
    if parts.is_empty() {
        parts.push(Vec::new());
    }
    let part = |(at, directories)| ToListener::Guards { command, first: at == 0, guards: NameGuards { directories } };
    parts.into_iter().enumerate().map(part).collect()
}

/// Sends a message, and waits for room.
pub(super) fn send(socket: BorrowedFd<'_>, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_allocvec(message).map_err(|_| io::ErrorKind::InvalidData)?;
    loop {
        match sys::send(socket, &bytes, &[]) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait(socket, PollFlags::POLLOUT, PATIENCE)?,
            Err(error) => return Err(error),
        }
    }
}

fn wait(socket: BorrowedFd<'_>, events: PollFlags, patience: Duration) -> io::Result<()> {
    let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
    match poll(&mut [PollFd::new(socket, events)], timeout) {
        Ok(0) => Err(io::ErrorKind::TimedOut.into()),
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The result of one receive operation.
#[derive(Debug)]
pub(super) enum LinkReceiveOutcome<T> {
    /// A message, with the descriptor of a filter if it came from a child.
    Message(T, Option<OwnedFd>),
    /// No message yet.
    Nothing,
    /// The other end is closed.
    Closed,
}

impl<T> LinkReceiveOutcome<T> {
    fn message(self) -> io::Result<Option<T>> {
        match self {
            Self::Message(message, _) => Ok(Some(message)),
            Self::Closed => Err(io::ErrorKind::UnexpectedEof.into()),
            Self::Nothing => Ok(None),
        }
    }
}

/// Receives the next message without waiting, into a buffer of [`MESSAGE`] bytes.
pub(super) fn receive<T: for<'a> Deserialize<'a>>(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> io::Result<LinkReceiveOutcome<T>> {
    let mut descriptors = Vec::new();
    let length = match sys::receive(socket, buffer, &mut descriptors) {
        Ok(0) => return Ok(LinkReceiveOutcome::Closed),
        Ok(length) => length,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(LinkReceiveOutcome::Nothing),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(LinkReceiveOutcome::Closed),
        Err(error) => return Err(error),
    };
    let message = postcard::from_bytes(&buffer[..length]).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(LinkReceiveOutcome::Message(message, descriptors.pop()))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_report_is_waited_for_as_long_as_the_listener_looks_into_directories() {
        let (link, end) = ListenerLink::pair().expect("a link");
        let slow = thread::spawn(move || {
            for looked_into in 1..=3 {
                thread::sleep(PATIENCE / 2);
                end.board.post(WorldStatusSlot::LookedInto, looked_into).expect("room");
            }
            let report = FromListener::Report(7, ListenerReport::default());
            send(end.socket.as_fd(), &report).expect("sent");
            end
        });
        assert_eq!(link.end_and_report(7).expect("a report"), ListenerReport::default());
        let _silent = slow.join().expect("ended");
        let error = link.end_and_report(8).expect_err("nothing comes");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
