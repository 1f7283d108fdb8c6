//! What a command has left when its shell has ended: it is the command's until its pipes are drained, then on its own.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::Shim;
use crate::supervise::frames::Read;
use crate::supervise::limits::Watch;
use crate::supervise::protocol::{self, Cause, Survivor, Transfer};
use crate::supervise::running::Running;
use crate::supervise::tree;
use crate::sys::{self, Reaped};

/// What a command leaves behind may be on its way out, like the `tee` of an `exec > >(tee log)`.
const SETTLE: Duration = Duration::from_millis(50);
/// A survivor's command line is shown up to here, in characters.
const COMMAND_SHOWN: usize = 200;

impl Shim {
    /// The shell has ended and something is left: it is the command's until the addon has drained its pipes.
    pub(super) fn after_end(&mut self, mut running: Running) -> io::Result<()> {
        running.limit = None;
        let mut released = None;
        loop {
            let ready = self.wait(running.wake_at())?;
            let alive = running.reap();
            if ready.socket {
                match self.read() {
                    Read::Frame(frame) if frame.kind == protocol::RELEASE => {
                        released = Some(Transfer::decode(&frame.body));
                    }
                    Read::Frame(frame) if frame.kind == protocol::END => running.end(Cause::Abort),
                    Read::Frame(_) | Read::Pending => {}
                    // The host went before it had drained the pipes: what is left goes with it.
                    Read::Closed => {
                        running.end(Cause::Host);
                        self.unread.append(&mut running.pipes);
                    }
                }
            }
            self.keep_time(&mut running);
            let over = running.ending.is_none() || !alive || running.is_given_up(Instant::now());
            if over && let Some(transfer) = released {
                return self.release(running, transfer);
            }
            if self.socket.is_none() && over {
                return Ok(());
            }
        }
    }

    /// What is left now is on its own. What still holds the pipes becomes a task, if there is an order for one; else its
    /// output is read and dropped, so that no write ever hurts it.
    pub(super) fn release(&mut self, mut running: Running, transfer: Option<Transfer>) -> io::Result<()> {
        let transfer = transfer.filter(|_| running.ending.is_none());
        let pipes = std::mem::take(&mut running.pipes);
        let mark = running.mark.clone();
        let mark = mark.as_deref();
        let kept = if transfer.is_some() {
            pipes
        } else {
            self.unread = pipes;
            Vec::new()
        };
        let settled_at = Instant::now() + SETTLE;
        while !self.is_settled(mark) && Instant::now() < settled_at {
            if self.wait(running.watch.iter().map(Watch::wake_at).chain([settled_at]).min())?.socket {
                self.read();
            }
            if let Some(broken) = Watch::hold(&mut running.watch, running.usage, mark) {
                self.send(protocol::BROKEN, &broken.encode());
            }
        }
        let members = tree::members(mark, &[]);
        let pids: Vec<Pid> = members.iter().map(|member| member.pid).collect();
        let all: Vec<_> = kept.iter().chain(&self.unread).map(AsFd::as_fd).collect();
        let holders = sys::holders(&pids, &all);
        let survivors: Vec<Survivor> = pids
            .iter()
            .filter_map(|pid| {
                let command = sys::command_line(*pid)?.chars().take(COMMAND_SHOWN).collect();
                Some(Survivor { pid: pid.as_raw(), command, holds: holders.contains(pid) })
            })
            .collect();
        self.send(protocol::RELEASED, &protocol::encode_survivors(&survivors));
        // The addon waits for a task as soon as it has heard of a holder, though that may be gone by now.
        if let Some(transfer) = transfer
            && survivors.iter().any(|survivor| survivor.holds)
        {
            return self.adopt_released(running, transfer, kept, &holders);
        }
        if self.is_settled(mark) {
            return Ok(());
        }
        self.unread.extend(kept);
        self.linger(running)
    }

    /// Nobody is to hear of this shim again; it ends with the last process that is left, host or no host.
    pub(super) fn linger(&mut self, running: Running) -> io::Result<()> {
        let Running { mark, mut watch, usage, .. } = running;
        let mark = mark.as_deref();
        self.socket = None;
        self.lifeline = None;
        while !self.is_settled(mark) {
            self.wait(watch.as_ref().map(Watch::wake_at))?;
            Watch::hold(&mut watch, usage, mark);
        }
        sys::exit_now(0)
    }

    /// Whether no process of the command is left.
    pub(super) fn is_alone(&self, mark: Option<&str>) -> bool {
        loop {
            match sys::reap(false) {
                Reaped::Ended(..) | Reaped::Stopped(_) => {}
                Reaped::Nothing => return false,
                Reaped::NoChildren => return sys::ORPHANS_COME_BACK || tree::members(mark, &[]).is_empty(),
            }
        }
    }

    /// Whether nothing of the command is left, and nobody holds its pipes.
    pub(super) fn is_settled(&mut self, mark: Option<&str>) -> bool {
        self.drop_output();
        self.is_alone(mark) && self.unread.is_empty()
    }
}
