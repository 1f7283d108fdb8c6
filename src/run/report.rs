//! The end of a command as its shell says it, while that still writes its state down.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use nix::unistd::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

use super::drive::{Drive, flow};
use super::listener::Listener;
use super::stream::Step;
use crate::capture::Stream;
use crate::supervise::{Cause, Child, Ended};
use crate::sys::{self, End};

/// So close to its limit a command may have been ended already.
const MARGIN: Duration = Duration::from_millis(20);

/// Where a shell says how its command has ended.
pub(super) struct Report {
    pipe: AsyncFd<OwnedFd>,
    bytes: Vec<u8>,
}

/// What a command has left to its shell.
#[derive(Default)]
pub struct Rest {
    /// The shell, if it has not ended yet.
    pub child: Option<Child>,
    /// The folder that it said it was in at the end.
    pub folder: Option<PathBuf>,
}

impl Report {
    pub(super) fn new(pipe: OwnedFd) -> io::Result<Self> {
        Ok(Self { pipe: sys::watch(pipe, Interest::READABLE)?, bytes: Vec::new() })
    }

    /// Until there is something to read.
    pub(super) async fn readable(&self) {
        drop(self.pipe.readable().await);
    }

    /// Exit code and folder, each ended by a NUL, once both are there.
    fn read(&mut self) -> Option<(i32, PathBuf)> {
        let mut buffer = [0_u8; 8 * 1024];
        let read = self.pipe.try_io(Interest::READABLE, |pipe| Ok(nix::unistd::read(pipe, &mut buffer)?));
        self.bytes.extend_from_slice(&buffer[..read.unwrap_or(0)]);
        let mut fields = self.bytes.split_inclusive(|byte| *byte == 0).map(|field| field.strip_suffix(&[0]));
        let code = std::str::from_utf8(fields.next()??).ok()?.parse().ok()?;
        let folder = fields.next()??.to_vec();
        Some((code, OsString::from_vec(folder).into()))
    }
}

impl<L: Listener> Drive<'_, L> {
    /// The shell has said something. Where it was the last that ran, and all output is there, the command has ended.
    pub(super) fn reported(&mut self) {
        let Some((code, folder)) = self.report.as_mut().and_then(Report::read) else { return };
        self.report = None;
        self.folder = Some(folder);
        let Some(shell) = self.pid.map(Pid::from_raw) else { return };
        let busy = self.aborted || self.moving.is_some() || self.holds_any();
        // A shell that is being ended runs its EXIT trap, too, and says what the command before that has left.
        let limit_at = self.request.shim_limit().map(|limit| self.began + limit);
        let ends = self.request.limits.over_tree() || limit_at.is_some_and(|at| Instant::now() + MARGIN >= at);
        if busy || ends || !self.child.runs_only(shell) {
            return;
        }
        // What children have used is known with the shell's own end.
        let Some(sample) = sys::sample(shell).filter(|sample| !sample.waited) else { return };
        for stream in [Stream::Stdout, Stream::Stderr] {
            while flow(&mut self.stdout, &mut self.stderr, stream)
                .is_some_and(|flow| flow.is_open() && flow.read_at_last() == Step::Output)
            {
                self.heard(stream);
            }
        }
        let duration = Instant::now().duration_since(self.began);
        self.early = true;
        self.ended(Ok(Ended {
            end: End::Code(code),
            usage: sample.usage,
            duration,
            cause: Cause::Itself,
            alive: false,
            last: false,
        }));
    }
}
