//! A shell that was started before its command: once it has started up it says so, and reads on when it is told to.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use super::prepare::{Prepared, mark_of, prepare};
use super::protocol::Place;
use crate::plan::{self, Boot, Kind, Plan, ROOM, Stdin};
use crate::sys::{self, End, FileId, LaunchError, LaunchStep, Usage};

/// A shell that waits, or is on its way to.
pub struct Waiting {
    pub shell: Pid,
    pub plan: Plan,
    /// The reading ends of its output pipes.
    pub pipes: Vec<OwnedFd>,
    /// Until it has arrived.
    start: Option<Start>,
    /// It has ended, after it had arrived: it may have run its command already.
    pub ended: Option<(End, Usage, Instant)>,
}

/// What a shell needs until it waits.
struct Start {
    /// Here it says that it does.
    ready: OwnedFd,
    /// What it opens by path meanwhile.
    _files: Vec<OwnedFd>,
    /// To the shell: closed, it lets it go on.
    go: OwnedFd,
    /// To its standard input, if it has one.
    stdin: Option<OwnedFd>,
}

impl Waiting {
    /// Starts a shell that is to wait.
    pub fn start(kind: Kind) -> Result<Self, LaunchError> {
        let failed = |error: io::Error| LaunchError {
            step: LaunchStep::Stdio,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
        };
        let Kind { mut plan, boot } = kind;
        let (told, go) = sys::pipe().map_err(failed)?;
        sys::set_nonblocking(&go).map_err(failed)?;
        let (ready, says) = sys::pipe().map_err(failed)?;
        let [told_at, says_at] = [&told, &says].map(sys::script_path);
        let Boot { early, late } = boot;
        let boot = (!early.is_empty()).then(|| sys::anonymous_file(&early)).transpose().map_err(failed)?;
        let boot_at = boot.as_ref().map(sys::script_path);
        let scripts: Vec<_> = boot_at.iter().map(AsRef::as_ref).collect();
        let script = sys::anonymous_file(&plan::waiting_script(&scripts, &late, &told_at, &says_at)).map_err(failed)?;
        plan.read_first(&sys::script_path(&script));
        plan.argv.extend([b"-c".to_vec(), vec![b' '; ROOM]]);
        let mut fds = Vec::with_capacity(5);
        let mut stdin = None;
        if plan.stdin == Stdin::Pipe {
            let (read, write) = sys::pipe().map_err(failed)?;
            sys::set_nonblocking(&write).map_err(failed)?;
            fds.push(read);
            stdin = Some(write);
        }
        for _ in plan.outputs() {
            let (read, write) = sys::pipe().map_err(failed)?;
            sys::set_nonblocking(&read).map_err(failed)?;
            fds.extend([write, read]);
        }
        let Prepared { launch, pipes, theirs, .. } = prepare(&plan, fds)?;
        let shell = sys::launch(&launch)?;
        drop(theirs);
        let files = [Some(told), Some(says), boot, Some(script)].into_iter().flatten().collect();
        Ok(Self { shell, plan, pipes, start: Some(Start { ready, _files: files, go, stdin }), ended: None })
    }

    /// The mark that it was started with.
    pub fn mark(&self) -> Option<String> {
        mark_of(&self.plan.env)
    }

    /// Where it says that it waits, until it has.
    pub fn ready(&self) -> Option<BorrowedFd<'_>> {
        self.start.as_ref().map(|start| start.ready.as_fd())
    }

    /// It waits now: where its command goes, and what is handed to the addon, which alone can let it go on from here.
    /// `None` when it has already, or where that is not to be known.
    pub fn arrive(&mut self) -> Option<(Place, Vec<OwnedFd>)> {
        let Start { go, stdin, .. } = self.start.take()?;
        let (start, end) = sys::argument_addresses(self.shell)?;
        let command = start + self.plan.argv.iter().rev().skip(1).map(|argument| argument.len() + 1).sum::<usize>();
        let (folder, program) = FileId::of_process(self.shell).ok()?;
        let ends = self.pipes.iter().map(OwnedFd::try_clone).collect::<io::Result<Vec<_>>>().ok()?;
        let place = Place { shell: self.shell.as_raw(), command: command as u64, folder, program };
        (command + ROOM < end).then(|| (place, [Some(go), stdin].into_iter().flatten().chain(ends).collect()))
    }

    /// Whether its command still is the blanks that it was started with: it has been given none.
    pub fn is_blank(&self) -> bool {
        sys::command_line(self.shell).is_some_and(|line| line.ends_with(&" ".repeat(ROOM)))
    }

    /// Ends it. It has to be reaped, unless it had been.
    pub fn dismiss(self) -> Option<Pid> {
        if self.ended.is_some() {
            return None;
        }
        sys::signal(self.shell, Signal::SIGKILL);
        Some(self.shell)
    }
}
