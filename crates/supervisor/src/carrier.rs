//! Holds the transport to another machine, for example `ssh`, for a host.
//!
//! Standard input is a socket, whose first byte brings the pipe with the frames of the host. They go to the transport.
//! Its output goes to standard output, its messages to standard error. When the host ends in any way, the carrier says
//! goodbye on the other machine, gives it a moment to end, and ends the transport. A host that wants the other machine
//! to go on sends a second byte over the socket, which waits behind no frame.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{ChildStdout, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::Pid;

use protocol::SIGNALED;
use sys::Signal;
use wire::{FrameKind, WireFrame, WireFrameReader};

/// The first argument of a carrier. The others are the transport with its arguments.
pub const CARRY: &str = "carry";
/// The first words of the message that there is no transport.
pub const CANNOT_START: &str = "cannot be started: ";
/// Time the other machine has to end after a goodbye.
const FAREWELL: Duration = Duration::from_secs(3);
/// Time the transport has between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(1);
/// Frames that wait for a slow transport before the host has to wait, too.
const WAITING: usize = 4;
const READ: usize = 64 * 1024;
/// Time a transport has to end by itself once it takes nothing more, or was dropped.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// The exit code if there is no transport.
const NOT_STARTED: u8 = 127;

/// Runs a transport until it ends or its host does. Returns the exit code of the transport, as a shell does.
///
/// # Errors
/// If the system refuses a step.
pub fn carry(mut transport: impl Iterator<Item = OsString>) -> io::Result<ExitCode> {
    let control = sys::take_stdin()?;
    let host = receive_host_pipe(&control)?;
    // Signals of a terminal are meant for the host.
    let _leader = nix::unistd::setsid();
    let program = transport.next().unwrap_or_default();
    let mut command = Command::new(&program);
    command.args(transport).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let why = error.raw_os_error().map_or(error.to_string(), |code| Errno::from_raw(code).desc().to_owned());
            eprintln!("{CANNOT_START}{}: {why}", program.display());
            return Ok(ExitCode::from(NOT_STARTED));
        }
    };
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else { return Ok(ExitCode::FAILURE) };
    let input = OwnedFd::from(input);
    sys::set_nonblocking(&input)?;
    let (over, passing) = sys::pipe()?;
    thread::spawn(move || {
        pass_output(output);
        drop(passing);
    });
    let (dead, running) = sys::pipe()?;
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap_or(0));
    let (tell, code) = mpsc::channel();
    thread::spawn(move || {
        // Nobody waits for the code any more if this fails.
        let _told = tell.send(exit_code(child.wait()));
        drop(running);
    });
    let (frames, waiting) = Default::default();
    let input = Some(input.into());
    let mut carrier = TransportCarrier {
        host,
        control: Some(control),
        over,
        dead,
        input,
        frames,
        waiting,
        written: 0,
        speaks: false,
    };
    let passed = carrier.pass_input();
    let code = end_transport(group, &code);
    passed?;
    // A process that has left the group may hold the output for longer.
    let _ended = poll(&mut [PollFd::new(carrier.over.as_fd(), PollFlags::POLLIN)], timeout_of(Some(GRACE)));
    Ok(ExitCode::from(code))
}

/// Returns the pipe with the frames of the host, which has sent it before it started this process.
fn receive_host_pipe(control: &OwnedFd) -> io::Result<OwnedFd> {
    let mut pipe = Vec::new();
    sys::receive(control.as_fd(), &mut [0], &mut pipe)?;
    pipe.pop().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn timeout_of(patience: Option<Duration>) -> PollTimeout {
    patience.map_or(PollTimeout::NONE, |left| PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX))
}

/// Passes the output of the transport to the host. When the host is gone, it is still read: a transport that cannot
/// write may end before it has passed the goodbye on.
fn pass_output(mut output: ChildStdout) {
    let mut host = Some(io::stdout());
    let mut buffer = vec![0; READ];
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        host = host.filter(|host| host.lock().write_all(&buffer[..count]).and_then(|()| host.lock().flush()).is_ok());
    }
}

struct TransportCarrier {
    /// The pipe with the frames of the host.
    host: OwnedFd,
    /// The socket by which the host drops the transport. `None` once its end is seen.
    control: Option<OwnedFd>,
    /// Is at its end once the output of the transport is.
    over: OwnedFd,
    /// Is at its end once the transport is dead, though others may hold its output.
    dead: OwnedFd,
    /// Standard input of the transport. `None` once it is closed.
    input: Option<File>,
    frames: WireFrameReader,
    waiting: VecDeque<Vec<u8>>,
    /// Bytes of the first of them that were written.
    written: usize,
    /// Whether the last bytes were a frame for the program there, which understands a goodbye.
    speaks: bool,
}

impl TransportCarrier {
    /// Passes frames on until the transport takes no more, the host drops it, or the host is gone and the goodbye is
    /// said.
    fn pass_input(&mut self) -> io::Result<()> {
        let mut until = None;
        while let Some(input) = &self.input {
            let patience = until.map(|until: Instant| until.saturating_duration_since(Instant::now()));
            if patience.is_some_and(|patience| patience.is_zero()) {
                return Ok(());
            }
            let if_so = |so: bool, flag| if so { flag } else { PollFlags::empty() };
            let mut ends = vec![
                PollFd::new(input.as_fd(), if_so(!self.waiting.is_empty(), PollFlags::POLLOUT)),
                PollFd::new(self.over.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.dead.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.host.as_fd(), if_so(self.waiting.len() < WAITING, PollFlags::POLLIN)),
            ];
            ends.extend(self.control.as_ref().map(|control| PollFd::new(control.as_fd(), PollFlags::POLLIN)));
            // A host that is gone would be seen again and again.
            ends.truncate(if until.is_some() { 3 } else { ends.len() });
            match poll(&mut ends, timeout_of(patience)) {
                Err(nix::Error::EINTR) => continue,
                result => result?,
            };
            let mut seen = ends.into_iter().map(|end| end.revents().unwrap_or(PollFlags::empty()));
            let [transport, over, dead, host, control] =
                std::array::from_fn(|_| seen.next().unwrap_or(PollFlags::empty()));
            if !control.is_empty() && self.is_dropped() {
                self.input = None;
                return Ok(());
            }
            if transport.contains(PollFlags::POLLERR) || !over.is_empty() || !dead.is_empty() {
                return Ok(());
            }
            if transport.contains(PollFlags::POLLOUT) {
                self.write();
            }
            if !host.is_empty() && !self.read()? {
                if !self.speaks || self.is_dropped() {
                    self.input = None;
                    return Ok(());
                }
                let mut goodbye = Vec::new();
                WireFrame::unnumbered(FrameKind::Goodbye, Vec::new()).encode(&mut goodbye);
                self.waiting.push_back(goodbye);
                until = Some(Instant::now() + FAREWELL);
            }
        }
        Ok(())
    }

    /// Returns whether the host has dropped the transport.
    fn is_dropped(&mut self) -> bool {
        let Some(control) = &self.control else { return false };
        match sys::receive(control.as_fd(), &mut [0], &mut Vec::new()) {
            Ok(1..) => true,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => false,
            // The host is gone, as the end of its frames tells.
            Ok(0) | Err(_) => {
                self.control = None;
                false
            }
        }
    }

    /// Takes what the host has sent. `false`: the host is gone.
    fn read(&mut self) -> io::Result<bool> {
        let mut buffer = [0; READ];
        let count = match nix::unistd::read(&self.host, &mut buffer) {
            Err(nix::Error::EINTR | nix::Error::EAGAIN) => return Ok(true),
            Ok(0) | Err(_) => return Ok(false),
            Ok(count) => count,
        };
        self.frames.push(&buffer[..count]);
        while let Some(frame) = self.frames.next_frame().map_err(io::Error::other)? {
            self.speaks = false;
            match frame.kind {
                FrameKind::Raw => self.waiting.push_back(frame.payload),
                _ => {
                    let mut bytes = Vec::new();
                    frame.encode(&mut bytes);
                    self.waiting.push_back(bytes);
                    self.speaks = true;
                }
            }
        }
        Ok(true)
    }

    fn write(&mut self) {
        let (Some(input), Some(bytes)) = (&mut self.input, self.waiting.front()) else { return };
        match input.write(&bytes[self.written..]) {
            Ok(count) => self.written += count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.input = None,
        }
        if self.written >= bytes.len() {
            self.waiting.pop_front();
            self.written = 0;
        }
    }
}

/// Ends the transport with the processes of its group. A connection that it shares with later ones has left the group,
/// and stays.
fn end_transport(group: Pid, code: &Receiver<u8>) -> u8 {
    let mut ended = code.recv_timeout(LAST_WORDS);
    if ended.is_err() {
        sys::signal_group(group, Signal::SIGTERM);
        ended = code.recv_timeout(GRACE);
    }
    sys::signal_group(group, Signal::SIGKILL);
    ended.or_else(|_| code.recv_timeout(GRACE)).unwrap_or(NOT_STARTED)
}

/// Returns the exit code as a shell has it.
fn exit_code(ended: io::Result<ExitStatus>) -> u8 {
    let code = ended.ok().and_then(|status| status.code().or_else(|| status.signal().map(|signal| SIGNALED + signal)));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(NOT_STARTED)
}
