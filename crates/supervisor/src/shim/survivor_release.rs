//! Survivors belong to the host until the shim has sent their release. Then they are a task, or on their own.
//!
//! When the 50 ms of settling are over, survivors that hold a pipe are adopted if `Release` came with a task: the shim
//! sends `Released`, then `Task`. If that fails it sends `Refused` and is held again. All other survivors are on their
//! own: the shim sends `Released` and lingers.
//!
//! After `Refused` the addon answers with a `Release` without a task. A host that is gone cannot answer, even if
//! another process has already removed its directory, which is the reason for the refusal.
//!
//! All messages that have arrived are read before `Released` is sent, and a failure to send it is the end of the host.

use std::io;
use std::os::fd::AsFd;
use std::time::Instant;

use super::ShimProcess;
use crate::shim::pipeline_tap::TapForwarder;
use crate::shim::shim_world::ShimWorld;
use crate::shim::supervised_command::{BATCH, SupervisedCommand};
use crate::shim::survivor_scan::{AGAIN, SETTLE, list_survivors};
use crate::shim::task::adopt_released;
use crate::tree;
use crate::tree_limits::LimitWatch;
use protocol::{FromShim, ReceiveOutcome, ReleasedSurvivors, TaskTransfer, TerminationCause, ToShim};
use sys::ReapOutcome;

/// How far the release of survivors has come.
enum ReleaseStage {
    /// The addon drains the pipes. It may also have been told that the survivors could not be adopted.
    Held,
    /// The addon has drained the pipes, and [`FromShim::Released`] is due unless the host or an abort comes first.
    Settling {
        /// The task that the survivors become if they hold the pipes.
        transfer: Option<Box<TaskTransfer>>,
        /// When the survivors are reported, if they have not exited until then.
        until: Instant,
    },
}

impl ReleaseStage {
    /// Returns the stage after the addon has drained the pipes.
    fn settling(transfer: Option<Box<TaskTransfer>>, now: Instant) -> Self {
        Self::Settling { transfer, until: now + SETTLE }
    }

    /// Returns when the survivors are reported, if they do not exit before.
    fn wake_at(&self) -> Option<Instant> {
        match self {
            Self::Held => None,
            Self::Settling { until, .. } => Some(*until),
        }
    }

    /// Restarts the time of survivors that are being terminated.
    fn start_again(&mut self, now: Instant) {
        if let Self::Settling { until, .. } = self {
            *until = now + SETTLE;
        }
    }

    /// Returns whether the time of the survivors is up.
    fn is_up(&self, now: Instant) -> bool {
        self.wake_at().is_some_and(|until| now >= until)
    }
}

/// The result of an attempt to release survivors.
enum ReleaseOutcome {
    /// No process is left. The shim serves the next command.
    Nothing,
    /// The survivors are on their own.
    OnTheirOwn(SupervisedCommand),
    /// The survivors are a task.
    Task(SupervisedCommand),
    /// The survivors still belong to the host, and are being terminated if the host is gone.
    Held(SupervisedCommand),
}

impl ShimProcess {
    /// Keeps the survivors of a command until [`FromShim::Released`] is sent. Until then they belong to the host, whose
    /// end terminates them, and so does an abort.
    pub(super) fn hold_survivors(&mut self, mut running: SupervisedCommand) -> io::Result<()> {
        running.limit = None;
        let mut stage = ReleaseStage::Held;
        loop {
            let ready = self.wait(running.wake_at().into_iter().chain(stage.wake_at()).min())?;
            let alive = running.reap();
            if ready.socket {
                self.receive_while_held(&mut running, &mut stage);
            }
            self.hold_limits(&mut running, &stage);
            if running.ending.is_some() {
                if alive && !running.is_given_up(Instant::now()) {
                    stage.start_again(Instant::now());
                    continue;
                }
                if self.socket.is_none() {
                    self.end_record(running.mark.as_deref(), true);
                    return Ok(());
                }
            }
            let ReleaseStage::Settling { transfer, .. } = &mut stage else { continue };
            if running.ending.is_some() {
                *transfer = None;
            }
            if transfer.is_none() {
                self.flows.unread.append(&mut running.pipes);
            }
            if !self.is_settled(running.mark.as_deref(), running.wake_at()) && !stage.is_up(Instant::now()) {
                continue;
            }
            let ReleaseStage::Settling { transfer, .. } = std::mem::replace(&mut stage, ReleaseStage::Held) else {
                continue;
            };
            let transfer = transfer.map(|transfer| *transfer);
            running = match self.release(running, transfer, &mut stage)? {
                ReleaseOutcome::Nothing => return Ok(()),
                ReleaseOutcome::OnTheirOwn(running) => return self.linger(running),
                ReleaseOutcome::Task(mut adopted) => {
                    self.serve_adopted_task(&mut adopted)?;
                    return self.finish_task(adopted);
                }
                ReleaseOutcome::Held(running) => running,
            };
        }
    }

    /// Handles all messages that have arrived, so that none of them is later than the release.
    fn receive_while_held(&mut self, running: &mut SupervisedCommand, stage: &mut ReleaseStage) {
        loop {
            match self.receive() {
                ReceiveOutcome::Message(ToShim::Release(transfer)) => {
                    *stage = ReleaseStage::settling(transfer.map(Box::new), Instant::now());
                }
                ReceiveOutcome::Message(ToShim::Tap { ends }) => self.flows.tap = ends.map(TapForwarder::new),
                ReceiveOutcome::Message(ToShim::End { .. }) => running.end(TerminationCause::Abort),
                // The addon sent these before it knew that the shell had exited.
                ReceiveOutcome::Message(
                    ToShim::Run(_)
                    | ToShim::Signal { .. }
                    | ToShim::HandOver { .. }
                    | ToShim::Prepare { .. }
                    | ToShim::Protect(_)
                    | ToShim::Denials
                    | ToShim::HoldDraft { .. }
                    | ToShim::WarmStart(_)
                    | ToShim::Dismiss
                    | ToShim::Scan
                    | ToShim::Acknowledged,
                ) => {}
                ReceiveOutcome::Pending => return,
                ReceiveOutcome::Closed => return self.lose_host(running),
            }
        }
    }

    /// Terminates the survivors with their host.
    fn lose_host(&mut self, running: &mut SupervisedCommand) {
        self.socket = None;
        running.end(TerminationCause::Host);
        self.flows.unread.append(&mut running.pipes);
    }

    /// Checks the limits of survivors. Survivors with drained pipes are killed at once if they exceed a limit.
    fn hold_limits(&mut self, running: &mut SupervisedCommand, stage: &ReleaseStage) {
        if matches!(stage, ReleaseStage::Settling { .. }) && running.ending.is_none() {
            if let Some(broken) =
                LimitWatch::enforce_on_survivors(&mut running.watch, running.usage, running.mark.as_deref())
            {
                self.send(FromShim::LimitExceeded(broken));
            }
        } else {
            self.enforce_limits(running);
        }
    }

    /// Leaves the survivors on their own. With a transfer, holders of the pipes become a task. Otherwise their output
    /// is read and dropped, so that none of their writes fails or blocks.
    fn release(
        &mut self,
        mut running: SupervisedCommand,
        transfer: Option<TaskTransfer>,
        stage: &mut ReleaseStage,
    ) -> io::Result<ReleaseOutcome> {
        let mark = running.mark.clone();
        let all: Vec<_> = running.pipes.iter().chain(&self.flows.unread).map(AsFd::as_fd).collect();
        let mut survivors = list_survivors(mark.as_deref(), &all);
        drop(all);
        // A walk can miss a process whose parent exits meanwhile.
        if survivors.is_empty() && running.reap() {
            let until = Instant::now() + AGAIN;
            *stage = ReleaseStage::Settling { transfer: transfer.map(Box::new), until };
            return Ok(ReleaseOutcome::Held(running));
        }
        let mut adopted = None;
        if let Some(transfer) = transfer
            && survivors.iter().any(|survivor| survivor.holds)
        {
            adopted = match adopt_released(&mut running, transfer) {
                Ok(adopted) => adopted,
                Err(error) => {
                    // The addon answers with a release without a task, and until then the survivors are the host's. A
                    // host that is gone, and with it the directory of the task, cannot answer.
                    self.send(FromShim::Refused(error.raw_os_error().unwrap_or(libc::EIO)));
                    return Ok(ReleaseOutcome::Held(running));
                }
            };
            if adopted.is_none() {
                survivors.iter_mut().for_each(|survivor| survivor.holds = false);
            }
        }
        // The socket is read once more: an abort or the end of the host may have come during the scan.
        if adopted.is_none() {
            self.receive_while_held(&mut running, stage);
            if running.ending.is_some() && self.is_to_end(&running) {
                *stage = ReleaseStage::Settling { transfer: None, until: Instant::now() };
                return Ok(ReleaseOutcome::Held(running));
            }
        }
        // Whoever runs from here on is in the list.
        self.report_denials(mark.as_deref(), false);
        let record = self.end_record(mark.as_deref(), false);
        let released = self.try_send(FromShim::Released(ReleasedSurvivors { survivors, record }));
        if let Some((mut server, adopted)) = adopted {
            self.confine_task(&mut server, adopted.mark.as_deref());
            self.serve_task(server);
            return Ok(ReleaseOutcome::Task(adopted));
        }
        if released.is_err() {
            self.lose_host(&mut running);
            return Ok(ReleaseOutcome::Held(running));
        }
        if self.is_settled(running.mark.as_deref(), running.wake_at()) {
            return Ok(ReleaseOutcome::Nothing);
        }
        self.flows.unread.append(&mut running.pipes);
        Ok(ReleaseOutcome::OnTheirOwn(running))
    }

    /// Returns whether a tree still has to be terminated.
    fn is_to_end(&self, running: &SupervisedCommand) -> bool {
        self.socket.is_none() || running.is_alive() && !running.is_given_up(Instant::now())
    }

    /// Closes the connections of this shim, and exits with the last survivor, even if the survivor outlives the host.
    /// Survivors in a world end with the world.
    pub(super) fn linger(&mut self, running: SupervisedCommand) -> io::Result<()> {
        let SupervisedCommand { mark, mut watch, usage, group, .. } = running;
        let mark = mark.as_deref();
        self.socket = None;
        self.supervisor.lifeline = self.world.as_mut().and_then(ShimWorld::take_owner);
        while !self.is_settled(mark, watch.as_ref().and_then(LimitWatch::wake_at)) {
            // A world that has ended takes its processes with it: they become children of its first process.
            if self.wait(watch.as_ref().and_then(LimitWatch::wake_at))?.supervisor_gone {
                break;
            }
            LimitWatch::enforce_on_survivors(&mut watch, usage, mark);
        }
        group.iter().for_each(|group| group.remove());
        sys::exit_now(0)
    }

    /// Reaps children, for no longer than `until` as in [`Running::reap`]. Returns whether no process of the command is
    /// left.
    pub(super) fn is_alone(&self, mark: Option<&str>, until: Option<Instant>) -> bool {
        for count in 1_usize.. {
            match sys::reap(false) {
                ReapOutcome::Ended(..) | ReapOutcome::Stopped(_) => {}
                ReapOutcome::Nothing => break,
                ReapOutcome::NoChildren => return sys::ORPHANS_COME_BACK || tree::members(mark, &[]).is_empty(),
            }
            if count.is_multiple_of(BATCH) && until.is_some_and(|until| until <= Instant::now()) {
                break;
            }
        }
        false
    }

    /// Drops output and reaps children, for no longer than `until`. Returns whether no process of the command is left
    /// and no process holds its pipes.
    pub(super) fn is_settled(&mut self, mark: Option<&str>, until: Option<Instant>) -> bool {
        self.flows.drop_output();
        self.is_alone(mark, until) && self.flows.unread.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn survivors_are_held_for_any_time_while_the_addon_drains_the_pipes() {
        let now = Instant::now();
        let mut stage = ReleaseStage::Held;
        stage.start_again(now);
        assert!(stage.wake_at().is_none() && !stage.is_up(now + 3_600_000 * MS));
    }

    #[test]
    fn survivors_have_50_ms_to_exit_from_the_release_on() {
        let released = Instant::now();
        let stage = ReleaseStage::settling(None, released);
        assert_eq!(stage.wake_at(), Some(released + 50 * MS));
        assert!(!stage.is_up(released + 49 * MS) && stage.is_up(released + 50 * MS));
    }

    #[test]
    fn survivors_that_are_being_terminated_have_their_time_again() {
        let released = Instant::now();
        let mut stage = ReleaseStage::settling(None, released);
        stage.start_again(released + 40 * MS);
        assert!(!stage.is_up(released + 89 * MS) && stage.is_up(released + 90 * MS));
    }
}
