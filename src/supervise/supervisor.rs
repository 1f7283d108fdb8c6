//! One a host process: forks shims, hands them over, and cleans up after those that have ended.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpid};

use super::frames::{self, Fields, Frame, Read, Reader, Writer};
use super::{protocol, shim, tree};
use crate::sys::{self, ChildEvents, Fork, Reaped};

/// How often orphans that do not go at once are looked for again, ms.
const ORPHAN_INTERVAL: u16 = 5;
/// After the host's end, until the tasks are gone that end with it.
const WITH_TASKS: Duration = Duration::from_secs(2);
/// How often that is looked at meanwhile, ms.
const FOLDER_INTERVAL: u16 = 100;
/// How often at most: one that changed its user cannot be ended.
const ORPHAN_TRIES: u32 = 400;

/// The supervisor's whole life. Its standard input is the socket to the addon.
pub fn main() -> io::Result<()> {
    sys::close_inherited();
    let control = sys::take_stdin()?;
    sys::reset_signals()?;
    // Away from the host's terminal and group, whose signals are meant for the host.
    let _ = nix::unistd::setsid();
    nix::unistd::chdir("/")?;
    // Looked up once here, not in each shim on a command's way.
    let _ = sys::oom_score();
    sys::become_subreaper()?;
    // Should it be stopped when the host ends: then nobody else is left to continue it, and through it its shims.
    sys::go_on_without_parent()?;
    let (lifeline, held) = sys::pipe()?;
    let events = ChildEvents::listen()?;
    Supervisor {
        control: Some(control),
        lifeline,
        held: Some(held),
        events,
        reader: Reader::default(),
        shims: HashSet::new(),
        folders: Vec::new(),
        remove_at: None,
    }
    .serve()
}

struct Supervisor {
    control: Option<OwnedFd>,
    /// Read end, shared by all shims: its end of file says that the supervisor is gone.
    lifeline: OwnedFd,
    /// Write end, held by the supervisor alone.
    held: Option<OwnedFd>,
    events: ChildEvents,
    reader: Reader,
    shims: HashSet<Pid>,
    /// They go with the host,
    folders: Vec<PathBuf>,
    /// then.
    remove_at: Option<Instant>,
}

impl Supervisor {
    fn serve(&mut self) -> io::Result<()> {
        let mut orphans = false;
        let mut tries = 0;
        loop {
            let received = self.reader.has_frame();
            let timeout = if received {
                PollTimeout::ZERO
            } else if orphans {
                PollTimeout::from(ORPHAN_INTERVAL)
            } else if self.remove_at.is_some() {
                PollTimeout::from(FOLDER_INTERVAL)
            } else {
                PollTimeout::NONE
            };
            let mut fds = vec![PollFd::new(self.events.as_fd(), PollFlags::POLLIN)];
            fds.extend(self.control.as_ref().map(|control| PollFd::new(control.as_fd(), PollFlags::POLLIN)));
            match poll(&mut fds, timeout) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            let asked = fds.get(1).is_some_and(|fd| fd.any().unwrap_or(false));
            drop(fds);
            self.events.clear();
            let (left, shim_ended) = self.reap();
            tries = if shim_ended { 0 } else { tries + 1 };
            if shim_ended || orphans {
                orphans = self.end_orphans() && tries < ORPHAN_TRIES;
            }
            if asked || received {
                self.obey()?;
            }
            if self.remove_at.is_some_and(|at| !left || Instant::now() >= at) {
                self.remove_at = None;
                for folder in &self.folders {
                    let _ = std::fs::remove_dir_all(folder);
                }
            }
            if self.control.is_none() && !left {
                return Ok(());
            }
        }
    }

    /// Takes what ended, continues what was stopped. Returns whether a child is left and whether a shim has ended.
    fn reap(&mut self) -> (bool, bool) {
        let mut ended = false;
        loop {
            match sys::reap(true) {
                Reaped::Ended(pid, ..) => ended |= self.shims.remove(&pid),
                // A command has stopped its parent: it would wait for ever, and its host with it.
                Reaped::Stopped(pid) if self.shims.contains(&pid) => sys::signal(pid, Signal::SIGCONT),
                Reaped::Stopped(_) => {}
                Reaped::Nothing => return (true, ended),
                Reaped::NoChildren => return (false, ended),
            }
        }
    }

    /// A child that is no shim belonged to one that has ended: killed, or without being able to end it. Returns whether one is
    /// left.
    fn end_orphans(&self) -> bool {
        let orphans = tree::below(getpid(), |child| !self.shims.contains(&child));
        tree::kill(&orphans);
        !orphans.is_empty()
    }

    fn obey(&mut self) -> io::Result<()> {
        let Some(control) = &self.control else { return Ok(()) };
        match self.reader.read(control) {
            Ok(Read::Frame(frame)) => self.order(&frame),
            Ok(Read::Pending) => Ok(()),
            // The host is gone. Its shims see that for themselves; this process stays until the last of them has ended.
            Ok(Read::Closed) | Err(_) => {
                self.lose_host();
                Ok(())
            }
        }
    }

    fn lose_host(&mut self) {
        self.control = None;
        self.remove_at = Some(Instant::now() + WITH_TASKS);
    }

    fn order(&mut self, frame: &Frame) -> io::Result<()> {
        match frame.kind {
            protocol::WANT_SHIM => self.hand_over_shim(),
            protocol::END_SHIM => {
                let pid = Fields(&frame.body).number().and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw);
                if let Some(pid) = pid.filter(|pid| self.shims.contains(pid)) {
                    sys::signal(pid, Signal::SIGKILL);
                }
                Ok(())
            }
            protocol::REMOVE_AT_END => {
                self.folders.push(folder_of(frame));
                Ok(())
            }
            protocol::REMOVE_NO_MORE => {
                let gone = folder_of(frame);
                self.folders.retain(|folder| *folder != gone);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn hand_over_shim(&mut self) -> io::Result<()> {
        let made = self.make_shim();
        let Some(control) = &self.control else { return Ok(()) };
        let (pid, errno, socket) = match &made {
            Ok((pid, socket)) => (pid.as_raw(), 0, Some(socket.as_raw_fd())),
            Err(error) => (0, error.raw_os_error().unwrap_or(libc::EIO), None),
        };
        let body =
            Writer::default().number(u64::from(pid.unsigned_abs())).number(u64::from(errno.unsigned_abs())).finish();
        let fds: Vec<_> = socket.into_iter().collect();
        if frames::send(control, protocol::SHIM, &body, &fds).is_err() {
            self.lose_host();
        }
        Ok(())
    }

    fn make_shim(&mut self) -> io::Result<(Pid, OwnedFd)> {
        let (ours, addons) = sys::socket_pair()?;
        match sys::fork()? {
            Fork::Parent(pid) => {
                self.shims.insert(pid);
                Ok((pid, addons))
            }
            Fork::Child => {
                // Whatever the child keeps open of the supervisor would hide the supervisor's end from others.
                self.control = None;
                self.held = None;
                drop(addons);
                let code = match self.lifeline.try_clone().and_then(|lifeline| shim::serve(ours, lifeline)) {
                    Ok(()) => 0,
                    Err(_) => 1,
                };
                sys::exit_now(code)
            }
        }
    }
}

fn folder_of(frame: &Frame) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&frame.body))
}
