//! Connects to a target, and begins runs there.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::connection_attempt::reach_program;
use super::link_keeper::keep_connected;
use super::program_instance::claim_program;
use super::remote_target::{RemoteTarget, TargetState};
use super::target_error::TargetError;
use super::target_run_updates::RunUpdateReceiver;
use super::target_settings::TargetSettings;
use crate::messages::{TargetCall, TargetCommand, TargetRequest};
use runner::error::RunError;
use wire::{MAX_MESSAGE, MAX_WAITING, WireError};

/// Most bytes of an answer that does not grow with what is there.
const LONGEST_ANSWER: usize = 1024 * 1024;

impl RemoteTarget {
    /// Reaches a machine, and starts the program there.
    ///
    /// # Errors
    /// If the machine cannot be reached, or takes no program. Nothing is left there.
    pub async fn connect(settings: TargetSettings) -> Result<Arc<Self>, TargetError> {
        let reached = reach_program(&settings).await?;
        let (instance, transport) = claim_program(&settings, reached).await?;
        let over = watch::Sender::new(false);
        let target = Self::new(settings, instance, over.subscribe());
        tokio::spawn(keep_connected(Arc::downgrade(&target), transport, over));
        Ok(target)
    }

    /// Returns the error of a call to a target that was closed.
    pub(super) fn closed_error(&self) -> RunError {
        let message = format!("the target {} was closed", self.id());
        RunError::FromTarget { code: "ERR_BASH_CLOSED", message, errno: None }
    }

    /// Returns the error of a call that cannot be sent.
    pub(super) fn unsent_error(&self, error: WireError) -> RunError {
        if error != WireError::Waiting {
            let message = format!(
                "the command with its input is too large for a target, which takes {MAX_MESSAGE} bytes: write the input \
                 to a file there first"
            );
            return RunError::InvalidArg(message);
        }
        let message = format!(
            "more than {MAX_WAITING} bytes wait for the target {}: wait for the end of earlier calls",
            self.id()
        );
        RunError::FromTarget { code: "ERR_BASH_SPAWN", message, errno: None }
    }

    /// Begins a command, now or once a link is there. `most_bytes`: of its result.
    ///
    /// # Errors
    /// If the target was closed, or the command is too large.
    pub(super) fn begin_command(
        self: &Arc<Self>,
        order: TargetCommand,
        most_bytes: usize,
    ) -> Result<TargetRunHandle, RunError> {
        let (mark, call) = (Some(order.mark.clone()), TargetCall::Run(Box::new(order)));
        self.begin_run(mark, most_bytes, None, |run| self.outbox.send(run, &call))
    }

    /// Begins a question, now or once a link is there.
    ///
    /// # Errors
    /// If the target was closed, or the question is too large.
    pub(super) fn begin_request(self: &Arc<Self>, ask: TargetRequest) -> Result<TargetRunHandle, RunError> {
        let most_bytes = if ask.has_long_answer() { MAX_MESSAGE } else { LONGEST_ANSWER };
        let (patience, call) = (ask.response_timeout(), TargetCall::Ask(ask));
        self.begin_run(None, most_bytes, patience, |run| self.outbox.send(run, &call))
    }

    /// Begins a run that goes on in each later program there, which is asked the same first.
    ///
    /// # Errors
    /// If the target was closed, or the question is too large.
    pub(super) fn begin_standing_request(self: &Arc<Self>, ask: TargetRequest) -> Result<TargetRunHandle, RunError> {
        self.begin_run(None, MAX_MESSAGE, None, |run| self.outbox.send_standing(run, ask))
    }

    fn begin_run(
        self: &Arc<Self>,
        mark: Option<String>,
        most_bytes: usize,
        patience: Option<Duration>,
        send: impl FnOnce(u64) -> Result<(), WireError>,
    ) -> Result<TargetRunHandle, RunError> {
        let _beginning = self.lock_beginning();
        if self.state() == TargetState::Closed {
            return Err(self.closed_error());
        }
        let (run, happened) = self.add_run(mark, most_bytes);
        let begun = TargetRunHandle { target: Arc::clone(self), run, happened, patience };
        send(run).map_err(|error| self.unsent_error(error))?;
        self.wanted.notify_one();
        Ok(begun)
    }
}

/// A run that has begun, or waits for a link. When this is dropped it is given up, here and there.
pub(super) struct TargetRunHandle {
    pub target: Arc<RemoteTarget>,
    pub run: u64,
    pub happened: RunUpdateReceiver,
    /// How long a program of ours may be silent. `None`: for any time.
    pub patience: Option<Duration>,
}

impl Drop for TargetRunHandle {
    fn drop(&mut self) {
        let Self { target, run, happened, .. } = self;
        target.remove_run(*run);
        if !target.outbox.forget_run(*run) && !happened.is_over() {
            // Room is left for it, unless the program takes nothing for ever.
            let _full = target.outbox.send(*run, &TargetCall::Abort);
        }
    }
}
