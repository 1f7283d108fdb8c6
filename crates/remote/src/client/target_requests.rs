//! Questions for the program of a target.

use std::sync::Arc;

use tokio::runtime::Handle;

use super::connect::TargetRunHandle;
use super::distant_run::reported_error;
use super::overdue_calls::{ANSWER_OVERDUE, wait_connected_for};
use super::remote_target::{RemoteTarget, TargetState};
use super::target_error::TargetError;
use super::target_run_updates::{PROTOCOL_BROKEN, TARGET_CLOSED, TargetRunUpdate};
use crate::messages::{TargetCall, TargetEvent, TargetRequest, TargetResponse, TransferPart};
use runner::error::RunError;

/// Why a question has no answer.
#[derive(Debug)]
pub enum UnansweredRequest {
    /// The program refuses, or could not do it.
    Failed(RunError),
    /// The target cannot be reached, and nothing was done.
    Unreachable(TargetError),
    /// The target was lost before it answered, with the reason. The work may be done or not.
    Lost(&'static str),
}

impl UnansweredRequest {
    /// Returns the reason if the answer is none that a program of ours gives.
    #[must_use]
    pub const fn protocol_violation() -> Self {
        Self::Lost(PROTOCOL_BROKEN)
    }
}

impl RemoteTarget {
    /// Asks the program. Questions and commands arrive in the order of these calls. The future waits through cuts until
    /// the program answers.
    ///
    /// # Errors
    /// If nothing could be done, or the target is lost.
    pub fn request(
        self: &Arc<Self>,
        ask: TargetRequest,
    ) -> impl Future<Output = Result<TargetResponse, UnansweredRequest>> + Send + 'static {
        self.request_until(ask, std::future::pending())
    }

    /// Sends a request without waiting for an answer. Does nothing if the program is gone.
    pub(super) fn tell(self: &Arc<Self>, ask: TargetRequest, runtime: &Handle) {
        if matches!(self.state(), TargetState::Connected | TargetState::Disconnected) {
            runtime.spawn(self.request(ask));
        }
    }

    /// Ends the worlds there of an owner, whose number is that of its commands' `confine`.
    pub fn end_worlds(self: &Arc<Self>, owner: u64, runtime: &Handle) {
        self.tell(TargetRequest::EndWorlds(owner), runtime);
    }

    /// Like [`Self::request`]. Once the caller gives up, the program is asked for what there is.
    ///
    /// # Errors
    /// As [`Self::request`], and [`RunError::Aborted`] if the caller gives up while no link is there.
    pub fn request_until(
        self: &Arc<Self>,
        ask: TargetRequest,
        given_up: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = Result<TargetResponse, UnansweredRequest>> + Send + 'static {
        let begun = self.begin_request(ask);
        async move {
            let mut begun = begun.map_err(UnansweredRequest::Failed)?;
            tokio::select! {
                biased;
                answer = wait_for_response(&mut begun) => return answer,
                () = given_up => {}
            }
            give_request_up(begun).await
        }
    }
}

async fn wait_for_response(begun: &mut TargetRunHandle) -> Result<TargetResponse, UnansweredRequest> {
    loop {
        if let TransferOrResponse::Answer(answer) = begun.next_part_or_response().await? {
            return Ok(answer);
        }
    }
}

async fn give_request_up(mut begun: TargetRunHandle) -> Result<TargetResponse, UnansweredRequest> {
    let target = Arc::clone(&begun.target);
    if !target.outbox.withdraw(begun.run) {
        // Room is left for it, unless the program takes nothing for ever.
        let _full = target.outbox.send(begun.run, &TargetCall::Abort);
        let mut state = target.state.subscribe();
        tokio::select! {
            biased;
            answer = wait_for_response(&mut begun) => return answer,
            _down = state.wait_for(|state| *state == TargetState::Disconnected) => {}
        }
        // The word that the caller has given up still has to arrive.
        tokio::spawn(async move { wait_for_response(&mut begun).await });
    }
    Err(UnansweredRequest::Failed(RunError::Aborted))
}

/// A part of a transfer, or the answer of a question.
pub(super) enum TransferOrResponse {
    /// A part of its transfer.
    Part(TransferPart),
    /// The answer.
    Answer(TargetResponse),
}

impl TargetRunHandle {
    /// Waits for the next event of a question.
    pub(super) async fn next_part_or_response(&mut self) -> Result<TransferOrResponse, UnansweredRequest> {
        loop {
            let happened = tokio::select! {
                biased;
                happened = self.happened.recv() => happened,
                () = wait_connected_for(&self.target, self.run, self.patience.unwrap_or_default()), if self.patience.is_some() => {
                    return Err(UnansweredRequest::Lost(ANSWER_OVERDUE));
                }
            };
            match happened {
                Some(TargetRunUpdate::Event(TargetEvent::Answered(answer))) => {
                    return Ok(TransferOrResponse::Answer(answer));
                }
                Some(TargetRunUpdate::Event(TargetEvent::Part(part))) => return Ok(TransferOrResponse::Part(part)),
                Some(TargetRunUpdate::Event(TargetEvent::Failed(failure))) => {
                    return Err(UnansweredRequest::Failed(reported_error(failure)));
                }
                Some(TargetRunUpdate::Event(_)) => {}
                Some(TargetRunUpdate::Unreachable(error)) => return Err(UnansweredRequest::Unreachable(error)),
                Some(TargetRunUpdate::Lost(why)) => return Err(UnansweredRequest::Lost(why)),
                None => return Err(UnansweredRequest::Lost(TARGET_CLOSED)),
            }
        }
    }

    /// Sends a part of a transfer.
    ///
    /// # Errors
    /// If too much waits for the target.
    pub(super) fn send_part(&self, part: TransferPart) -> Result<(), UnansweredRequest> {
        let sent = self.target.outbox.send(self.run, &TargetCall::Part(part));
        sent.map_err(|error| UnansweredRequest::Failed(self.target.unsent_error(error)))
    }
}
