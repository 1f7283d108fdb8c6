//! While no command runs: a shell that waits for the next one.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Instant;

use super::{Shim, pid_of};
use crate::supervise::frames::{Frame, Writer};
use crate::supervise::protocol::{self, Given};
use crate::supervise::waiting::{Begun, Stale, Waiting};
use crate::sys::{self, Reaped};

impl Shim {
    /// Takes what has ended: what commands left, or the shell that waits.
    pub(super) fn reap_idle(&mut self) {
        while let Reaped::Ended(pid, ..) = sys::reap(false) {
            if self.waiting.as_ref().is_some_and(|waiting| waiting.shell() == pid) {
                self.waiting = None;
            }
        }
    }

    /// Has a shell wait for a command. One that cannot be started costs nothing but that.
    pub(super) fn prepare(&mut self, frame: &Frame) {
        self.dismiss();
        let Some((kind, answer)) = protocol::decode_prepare(&frame.body) else { return };
        self.waiting = Waiting::start(&kind).ok();
        if answer {
            let waits = self.waits();
            self.send(protocol::PREPARED, &Writer::default().number(u64::from(waits)).finish());
        }
    }

    /// Whether a shell waits that does so; asked of each program once.
    fn waits(&mut self) -> bool {
        let Some(waiting) = &self.waiting else { return false };
        if self.proven.as_deref() != Some(waiting.program()) {
            if !waiting.has_arrived() {
                return false;
            }
            self.proven = Some(waiting.program().to_vec());
        }
        true
    }

    /// Has the shell that waits run a command.
    pub(super) fn give(&mut self, frame: &Frame) -> io::Result<()> {
        let started = Instant::now();
        let refused = match (Given::decode(&frame.body), self.waits()) {
            (Some(given), true) => match self.waiting.take() {
                Some(waiting) => match waiting.give(&given.command) {
                    Ok(()) => return self.begin(waiting, &given, started),
                    Err(stale) => {
                        self.waiting = Some(waiting);
                        if let Stale::Refused(errno) = stale { errno } else { 0 }
                    }
                },
                None => 0,
            },
            _ => 0,
        };
        self.dismiss();
        self.send(protocol::STALE, &Writer::default().number(u64::from(refused.unsigned_abs())).finish());
        Ok(())
    }

    fn begin(&mut self, waiting: Waiting, given: &Given, started: Instant) -> io::Result<()> {
        // Told first: what the command does to this process is not to come before it.
        let fds: Vec<_> = waiting.ends().iter().map(AsRawFd::as_raw_fd).collect();
        self.send_with(protocol::STARTED, &pid_of(waiting.shell()), &fds);
        let Begun { shell, mut plan, pipes, files: _files } = waiting.go(&given.prologue);
        (plan.limit, plan.grace) = (given.limit, given.grace);
        let running = self.running(shell, &plan, pipes, started);
        self.attend(running)
    }

    /// The shell that waits is not needed.
    pub(super) fn dismiss(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            // Reaped at once: what it has used is not the next command's.
            let _ = nix::sys::wait::waitpid(waiting.dismiss(), None);
        }
    }
}
