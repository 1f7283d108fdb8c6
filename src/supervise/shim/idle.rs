//! While no command runs: a shell that waits for the next one.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use super::Shim;
use crate::supervise::frames::{self, Frame};
use crate::supervise::prepare::mark_of;
use crate::supervise::protocol::{self, Given, Place};
use crate::supervise::waiting::Waiting;
use crate::sys::{self, Reaped};

impl Shim {
    /// Takes what has ended: what commands left, or the shell that waits.
    pub(super) fn reap_idle(&mut self) {
        while let Reaped::Ended(pid, ..) = sys::reap(false) {
            if let Some(waiting) = self.waiting.take_if(|waiting| waiting.shell == pid) {
                self.tell(waiting.mark(), None);
            }
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
        let (Some(given), Some(waiting)) = (Given::decode(&frame.body), self.waiting.take()) else {
            // It has just died, which the addon has noticed, too: this shim is not used any more.
            self.socket = None;
            return Ok(());
        };
        let Waiting { shell, mut plan, pipes, .. } = waiting;
        (plan.limit, plan.grace) = (given.limit, given.grace);
        let ago = Duration::from_nanos(sys::monotonic_ns().saturating_sub(given.at));
        let now = Instant::now();
        let running = self.running(shell, &plan, pipes, now.checked_sub(ago).unwrap_or(now));
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
