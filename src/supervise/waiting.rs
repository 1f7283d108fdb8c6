//! A shell that was started before its command: it has started up, and reads on when it is told what to run.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use super::prepare::{Prepared, prepare};
use crate::plan::{self, Kind, Plan, ROOM, Stdin};
use crate::sys::{self, LaunchError, LaunchStep};

/// For a shell to read what it is told, or to get as far as where it waits.
const PATIENCE: Duration = Duration::from_secs(1);
/// For the system to have executed a program that was just started.
const EXECUTED: Duration = Duration::from_millis(200);
/// How often a shell that has not come to its place yet is looked at.
const INTERVAL: Duration = Duration::from_micros(50);

/// A shell that waits.
pub struct Waiting {
    shell: Pid,
    plan: Plan,
    ends: Vec<OwnedFd>,
    /// Closed, it lets the shell go on.
    go: OwnedFd,
    /// What the shell opens by path: first the other end of `go`.
    files: Vec<OwnedFd>,
}

/// A shell that has been given its command.
pub struct Begun {
    pub shell: Pid,
    pub plan: Plan,
    /// The reading ends of its output pipes.
    pub pipes: Vec<OwnedFd>,
    /// Kept until it has ended: it may still be about to open them.
    pub files: Vec<OwnedFd>,
}

/// Why a command cannot be given to a waiting shell.
pub enum Stale {
    /// There is none, or it has ended, or folder or program are others now.
    Gone,
    /// The system does not let a process write to its child.
    Refused(i32),
}

impl Waiting {
    /// Starts a shell that waits.
    pub fn start(kind: &Kind) -> Result<Self, LaunchError> {
        let failed = |error: io::Error| LaunchError {
            step: LaunchStep::Stdio,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
        };
        let (told, go) = sys::pipe().map_err(failed)?;
        sys::set_nonblocking(&go).map_err(failed)?;
        let place = sys::script_path(&told);
        let mut files = vec![told];
        let first = if kind.boot.is_empty() {
            place
        } else {
            let boot = sys::anonymous_file(&kind.boot).map_err(failed)?;
            let both = plan::boot_script(&[&sys::script_path(&boot), &place]);
            files.push(boot);
            let both = sys::anonymous_file(&both).map_err(failed)?;
            let path = sys::script_path(&both);
            files.push(both);
            path
        };
        let mut plan = kind.plan.clone();
        plan.read_first(&first);
        plan.argv.extend([b"-c".to_vec(), vec![b' '; ROOM]]);
        let mut fds = Vec::with_capacity(5);
        let mut ends = Vec::with_capacity(1);
        if plan.stdin == Stdin::Pipe {
            let (read, write) = sys::pipe().map_err(failed)?;
            sys::set_nonblocking(&write).map_err(failed)?;
            fds.push(read);
            ends.push(write);
        }
        for _ in if plan.merge { 1..2 } else { 1..3 } {
            let (read, write) = sys::pipe().map_err(failed)?;
            sys::set_nonblocking(&read).map_err(failed)?;
            fds.extend([write, read]);
        }
        let Prepared { launch, pipes, theirs, .. } = prepare(&plan, fds)?;
        let shell = sys::launch(&launch)?;
        drop(theirs);
        ends.extend(pipes);
        Ok(Self { shell, plan, ends, go, files })
    }

    /// Its pid.
    pub fn shell(&self) -> Pid {
        self.shell
    }

    /// What it runs.
    pub fn program(&self) -> &[u8] {
        &self.plan.program
    }

    /// The addon's ends of its pipes: to its standard input, if it has one, and the reading ends of its output.
    pub fn ends(&self) -> &[OwnedFd] {
        &self.ends
    }

    /// Whether it is where it waits: a program that does not read what BASH_ENV names never comes there.
    pub fn has_arrived(&self) -> bool {
        let until = Instant::now() + PATIENCE;
        loop {
            if sys::holders(&[self.shell], &[self.files[0].as_fd()]).contains(&self.shell) {
                return true;
            }
            if Instant::now() >= until || sys::identity(self.shell).is_none_or(|process| process.zombie) {
                return false;
            }
            std::thread::sleep(INTERVAL);
        }
    }

    /// Writes its command down for it. It goes on with [`Waiting::go`].
    pub fn give(&self, command: &[u8]) -> Result<(), Stale> {
        let path = |bytes| Path::new(OsStr::from_bytes(bytes));
        if !sys::is_current(self.shell, path(&self.plan.cwd), path(&self.plan.program)) {
            return Err(Stale::Gone);
        }
        let at = self.plan.argv.iter().rev().skip(1).map(|argument| argument.len() + 1).sum();
        let mut text = command.to_vec();
        text.resize(ROOM, 0);
        let until = Instant::now() + EXECUTED;
        loop {
            let error = match sys::overwrite_arguments(self.shell, at, &text) {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            match error.raw_os_error() {
                None if Instant::now() < until => std::thread::sleep(INTERVAL),
                None => return Err(Stale::Refused(libc::EPERM)),
                Some(errno @ (libc::EPERM | libc::EACCES | libc::ENOSYS)) => return Err(Stale::Refused(errno)),
                Some(_) => return Err(Stale::Gone),
            }
        }
    }

    /// Has it go on, with this to be read first.
    pub fn go(self, prologue: &[u8]) -> Begun {
        let Self { shell, plan, mut ends, go, files } = self;
        // A shell that does not read is one that has just been killed, which shows itself.
        let _ = write_all(&go, prologue);
        if plan.stdin == Stdin::Pipe {
            ends.remove(0);
        }
        Begun { shell, plan, pipes: ends, files }
    }

    /// Ends it. It has to be reaped.
    pub fn dismiss(self) -> Pid {
        sys::signal(self.shell, Signal::SIGKILL);
        self.shell
    }
}

fn write_all(pipe: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    while !bytes.is_empty() {
        match nix::unistd::write(pipe, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::EAGAIN) => {
                let left = PollTimeout::try_from(until.saturating_duration_since(Instant::now()));
                if poll(&mut [PollFd::new(pipe.as_fd(), PollFlags::POLLOUT)], left.unwrap_or(PollTimeout::MAX))? == 0 {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
