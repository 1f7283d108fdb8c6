//! A shell that waits, as the addon knows it: it can be given a command without a word from its shim.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::Pid;

use super::start::{Pipes, Warm};
use crate::plan::{Plan, ROOM, Stdin};
use crate::supervise::frames::{self, Frame};
use crate::supervise::protocol::{self, Given, Place};
use crate::sys::{self, FileId};

/// For a shell to read what it is told.
const PATIENCE: Duration = Duration::from_secs(1);

/// A shell that waits, and the addon's ends of its pipes.
#[derive(Debug)]
pub struct Ready {
    place: Place,
    /// Closed, it lets the shell go on.
    go: OwnedFd,
    /// To standard input, if it has one, and of its output.
    ends: Vec<OwnedFd>,
}

/// Why a waiting shell was not given a command. Nothing of that was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// Folder or program are others by now.
    Changed,
    /// It has ended, perhaps its shim, too.
    Gone,
    /// The system lets nobody write to a process below it.
    Refused,
}

impl Ready {
    /// What a shim says of the shell with this mark; `None` when that does not wait.
    pub fn of(frame: &mut Frame) -> Option<(String, Option<Self>)> {
        let (mark, place) = protocol::decode_prepared(&frame.body)?;
        let mut fds = std::mem::take(&mut frame.fds).into_iter();
        let ready = place.zip(fds.next()).map(|(place, go)| Self { place, go, ends: fds.collect() });
        Some((mark, ready))
    }

    /// Its pid.
    pub fn shell(&self) -> i32 {
        self.place.shell
    }

    /// Gives it a command, and has it go on.
    pub fn give(self, shim: &OwnedFd, plan: &Plan, warm: &Warm) -> Result<Pipes, Stale> {
        let Self { place, go, ends } = self;
        let is = |path: &Path, known| FileId::of(path).is_ok_and(|id| id == known);
        let path = |bytes| Path::new(OsStr::from_bytes(bytes));
        // The dot needs the right to search the folder, as entering it does.
        if !is(&path(&plan.cwd).join("."), place.folder) || !is(path(&plan.program), place.program) {
            return Err(Stale::Changed);
        }
        let pipes = pipes_of(plan, ends).ok_or(Stale::Gone)?;
        let mut command = warm.command.clone();
        command.resize(ROOM, 0);
        let at = usize::try_from(place.command).map_err(|_| Stale::Gone)?;
        sys::write_memory(Pid::from_raw(place.shell), at, &command).map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => Stale::Refused,
            _ => Stale::Gone,
        })?;
        let given = Given { limit: plan.limit, grace: plan.grace, at: sys::monotonic_ns() };
        if write_all(&go, &warm.prologue).is_err() {
            // It will be started elsewhere: should this shell still go on, it finds nothing to run.
            let _ = sys::write_memory(Pid::from_raw(place.shell), at, &[0; ROOM]);
            return Err(Stale::Gone);
        }
        drop(go);
        // Behind it, so that the shell is not held up. A shim that is gone is seen as the end of its socket.
        let _ = frames::send(shim, protocol::GIVEN, &given.encode(), &[]);
        Ok(pipes)
    }
}

fn pipes_of(plan: &Plan, ends: Vec<OwnedFd>) -> Option<Pipes> {
    let mut ends = ends.into_iter();
    let stdin = if plan.stdin == Stdin::Pipe { Some(ends.next()?) } else { None };
    let stdout = ends.next()?;
    let stderr = if plan.merge { None } else { Some(ends.next()?) };
    Some(Pipes { stdin, stdout, stderr, other_end: None })
}

/// Into a pipe that may be full. Nobody there is an error and no more: Node ignores SIGPIPE.
fn write_all(pipe: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    while !bytes.is_empty() {
        match nix::unistd::write(pipe, bytes).map_err(io::Error::from) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let left = PollTimeout::try_from(until.saturating_duration_since(Instant::now()));
                match poll(&mut [PollFd::new(pipe.as_fd(), PollFlags::POLLOUT)], left.unwrap_or(PollTimeout::MAX)) {
                    Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                    Ok(_) | Err(Errno::EINTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
