//! The addon's side of a warm shell: gives it a command without a round trip to its shim.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::Pid;

use confine_world::GuardFreshness;
use protocol::plan::{ChildPlan, ROOM, StdinSource};
use protocol::{CommandOrder, CommandPipes, WarmCommand};
use protocol::{ToShim, WarmCommandPlace, WarmCommandStart, WarmShellEnds, WarmShellReport};
use sys::DeviceInode;

/// Time a shell may take to read its prologue.
const PATIENCE: Duration = Duration::from_secs(1);

/// A warm shell that is ready, and the addon's ends of its pipes.
#[derive(Debug)]
pub struct ReadyShell {
    place: WarmCommandPlace,
    /// The pipe on which the shell waits. Closing it resumes the shell.
    resume: OwnedFd,
    /// The write end of the shell's standard input, if it has one, then the read ends of its output.
    ends: Vec<OwnedFd>,
    /// The number of the guards of the shell's world, and the facts that show whether the number is current.
    freshness: Option<(u64, GuardFreshness)>,
}

/// Why a warm shell was not given a command. No part of the command was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaleShellReason {
    /// The directory or the program has changed, or this process has no free descriptor for the lock of a draft.
    Changed,
    /// The shell has exited, and perhaps its shim as well.
    Gone,
    /// The system does not allow writing to the memory of a descendant.
    Refused,
}

impl ReadyShell {
    /// Takes the report of a shim. Returns the mark of the shell, and the shell if it is ready.
    pub fn of(prepared: WarmShellReport) -> (String, Option<Self>) {
        let WarmShellReport { mark, place, guards, ends: WarmShellEnds { resume, streams, freshness }, .. } = prepared;
        let freshness = GuardFreshness::from_list(freshness).map(|freshness| (guards, freshness));
        (mark, place.zip(resume).map(|(place, resume)| Self { place, resume, ends: streams, freshness }))
    }

    /// Returns the pid of the shell.
    pub fn shell(&self) -> i32 {
        self.place.shell
    }

    /// Makes the names of a draft fresh in the shell's world. Returns whether all existing paths there are protected.
    /// Otherwise its shim has to be asked.
    pub fn refresh_world(&self) -> bool {
        self.freshness.as_ref().is_some_and(|(number, freshness)| freshness.refresh(*number))
    }

    /// Gives the shell a command, and resumes it.
    pub fn give_command(
        self,
        shim: &OwnedFd,
        order: &CommandOrder,
        warm: &WarmCommand,
    ) -> Result<CommandPipes, StaleShellReason> {
        let Self { place, resume, ends, .. } = self;
        let plan = &order.plan;
        let is = |path: &Path, known| DeviceInode::of(path).is_ok_and(|id| id == known);
        // A confined shell has mounts of its own.
        let root = if plan.world.is_some() { format!("/proc/{}/root", place.shell) } else { String::new() };
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(&[root.as_bytes(), bytes].concat()));
        // The dot requires the right to search the directory, as entering the directory does.
        if !is(&path(&plan.cwd).join("."), place.directory) || !is(&path(&plan.program), place.program) {
            return Err(StaleShellReason::Changed);
        }
        let lock = order.draft.as_ref().map(|lock| lock.try_clone()).transpose();
        // Without a free descriptor the shim starts the command, and takes the lock itself.
        let lock = lock.map_err(|_| StaleShellReason::Changed)?;
        let pipes = pipes_of(plan, ends).ok_or(StaleShellReason::Gone)?;
        let mut command = warm.command.clone();
        command.resize(ROOM, 0);
        let at = usize::try_from(place.command).map_err(|_| StaleShellReason::Gone)?;
        sys::write_memory(Pid::from_raw(place.shell), at, &command).map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => StaleShellReason::Refused,
            _ => StaleShellReason::Gone,
        })?;
        if lock.is_some() {
            // A lost shim shows as the end of its socket.
            let _ = protocol::send(shim, ToShim::HoldDraft { lock });
        }
        let at_ns = sys::monotonic_ns();
        if write_all(&resume, &warm.prologue).is_err() {
            // The command is started elsewhere. If this shell resumes anyway, it finds nothing to run.
            let _ = sys::write_memory(Pid::from_raw(place.shell), at, &[0; ROOM]);
            return Err(StaleShellReason::Gone);
        }
        drop(resume);
        // The message is sent last, so that the shell does not wait for it. A lost shim shows as the end of its socket.
        let opening = order.opening.as_deref().map(|opening| (**opening).clone());
        let record = plan.record.as_ref().filter(|record| !record.require).cloned().map(Box::new);
        let start = WarmCommandStart { limit: plan.limit, grace: plan.grace, at: at_ns, opening, record };
        let _ = protocol::send(shim, ToShim::WarmStart(start));
        Ok(pipes)
    }
}

fn pipes_of(plan: &ChildPlan, ends: Vec<OwnedFd>) -> Option<CommandPipes> {
    let mut ends = ends.into_iter();
    let stdin = if plan.stdin == StdinSource::Pipe { Some(ends.next()?) } else { None };
    let stdout = ends.next()?;
    let stderr = if plan.merge { None } else { Some(ends.next()?) };
    Some(CommandPipes { stdin, stdout, stderr, other_end: None })
}

/// Writes to a pipe that may be full. A pipe without a reader is an error and not a signal, since Node ignores SIGPIPE.
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
