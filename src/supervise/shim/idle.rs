//! While no command runs: a shell that waits for the next one.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::Shim;
use crate::supervise::frames::{self, Frame};
use crate::supervise::prepare::mark_of;
use crate::supervise::protocol::{self, Given, Place};
use crate::supervise::running::Running;
use crate::supervise::waiting::Waiting;
use crate::sys::{self, Reaped};

impl Shim {
    /// Takes what has ended: what commands left, or the shell that waits. One that somebody has stopped is of no use.
    pub(super) fn reap_idle(&mut self) {
        loop {
            let (pid, ended) = match sys::reap(true) {
                Reaped::Ended(pid, end, usage) => (pid, Some((end, usage, Instant::now()))),
                Reaped::Stopped(pid) => (pid, None),
                Reaped::Nothing | Reaped::NoChildren => return,
            };
            let Some(waiting) = self.waiting.as_mut().filter(|waiting| waiting.shell == pid) else { continue };
            let (mark, arrived) = (waiting.mark(), waiting.ready().is_none());
            waiting.ended = ended;
            match ended {
                // It may have been given its command, the word of which is on its way: that is to find it here.
                Some(_) if arrived => {}
                None if arrived => {
                    if waiting.is_blank() {
                        sys::signal(pid, Signal::SIGKILL);
                    }
                }
                Some(_) => self.waiting = None,
                None => self.dismiss(),
            }
            // Its pid may have another owner soon, in whose memory nothing is to be written.
            self.tell(mark, None);
        }
    }

    /// Has a shell wait for a command. One that cannot be started costs nothing but that.
    pub(super) fn prepare(&mut self, frame: &Frame) {
        self.dismiss();
        let Some(kind) = protocol::decode_prepare(&frame.body) else { return };
        let mark = mark_of(&kind.plan.env);
        match Waiting::start(kind) {
            Ok(waiting) => self.waiting = Some(waiting),
            Err(_) => self.tell(mark, None),
        }
    }

    /// The shell has said that it waits.
    pub(super) fn arrived(&mut self) {
        let Some(waiting) = &mut self.waiting else { return };
        let (mark, place) = (waiting.mark(), waiting.arrive());
        if place.is_none() {
            self.dismiss();
        }
        self.tell(mark, place);
    }

    /// Tells the addon of the shell with this mark: where its command goes, or that it does not wait.
    fn tell(&self, mark: Option<String>, place: Option<(Place, Vec<OwnedFd>)>) {
        let (place, fds) = place.map_or((None, Vec::new()), |(place, fds)| (Some(place), fds));
        let body = protocol::encode_prepared(&mark.unwrap_or_default(), place);
        self.send_with(protocol::PREPARED, &body, &frames::raw(&fds));
    }

    /// The addon has given the shell that waits its command.
    pub(super) fn given(&mut self, frame: &Frame) -> io::Result<()> {
        let (Some(given), Some(mut waiting)) = (Given::decode(&frame.body), self.waiting.take()) else {
            return Ok(());
        };
        (waiting.plan.limit, waiting.plan.grace) = (given.limit, given.grace);
        let ago = Duration::from_nanos(sys::monotonic_ns().saturating_sub(given.at));
        let now = Instant::now();
        let running = self.begun(waiting, now.checked_sub(ago).unwrap_or(now));
        self.attend(running)
    }

    /// The addon or the supervisor is gone. The shell that waits may have been given a command, the word of which was
    /// lost with them: it ends, and so does all that it has started.
    pub(super) fn abandon(&mut self) -> io::Result<()> {
        self.socket = None;
        let Some(waiting) = self.waiting.take() else { return Ok(()) };
        let mut running = self.begun(waiting, Instant::now());
        running.end_at_once();
        self.attend(running)
    }

    /// The command of a shell that waited.
    fn begun(&mut self, waiting: Waiting, started: Instant) -> Running {
        let Waiting { shell, plan, pipes, ended, .. } = waiting;
        let mut running = self.running(shell, &plan, pipes, started);
        if let Some((end, usage, at)) = ended {
            // It was faster than the word of it.
            running.usage = usage;
            running.shell_end = Some((end, at.saturating_duration_since(started)));
        }
        running
    }

    /// The shell that waits is not needed.
    pub(super) fn dismiss(&mut self) {
        if let Some(shell) = self.waiting.take().and_then(Waiting::dismiss) {
            // Reaped at once: what it has used is not the next command's.
            let _ = nix::sys::wait::waitpid(shell, None);
        }
    }
}
