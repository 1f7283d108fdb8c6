//! Questions for the program of a target.

use std::sync::Arc;

use super::connect::TargetRunHandle;
use super::error::TargetError;
use super::happenings::{BROKEN, CLOSED, TargetRunUpdate};
use super::overdue::{SILENT, linked_for};
use super::run::error_of;
use super::target::{RemoteTarget, TargetState};
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
    pub const fn broken() -> Self {
        Self::Lost(BROKEN)
    }
}

impl RemoteTarget {
    /// Asks the program. Questions and commands arrive in the order of these calls. The future waits through cuts until
    /// the program answers.
    ///
    /// # Errors
    /// If nothing could be done, or the target is lost.
    pub fn ask(
        self: &Arc<Self>,
        ask: TargetRequest,
    ) -> impl Future<Output = Result<TargetResponse, UnansweredRequest>> + Send + 'static {
        self.ask_until(ask, std::future::pending())
    }

    /// Like [`Self::ask`]. Once the caller gives up, the program is asked for what there is.
    ///
    /// # Errors
    /// As [`Self::ask`], and [`RunError::Aborted`] if the caller gives up while no link is there.
    pub fn ask_until(
        self: &Arc<Self>,
        ask: TargetRequest,
        given_up: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = Result<TargetResponse, UnansweredRequest>> + Send + 'static {
        let begun = self.begin_ask(ask);
        async move {
            let mut begun = begun.map_err(UnansweredRequest::Failed)?;
            tokio::select! {
                biased;
                answer = answered(&mut begun) => return answer,
                () = given_up => {}
            }
            give_up(begun).await
        }
    }
}

async fn answered(begun: &mut TargetRunHandle) -> Result<TargetResponse, UnansweredRequest> {
    loop {
        if let TransferOrResponse::Answer(answer) = begun.step().await? {
            return Ok(answer);
        }
    }
}

async fn give_up(mut begun: TargetRunHandle) -> Result<TargetResponse, UnansweredRequest> {
    let target = Arc::clone(&begun.target);
    if !target.outbox.take_back(begun.run) {
        // Room is left for it, unless the program takes nothing for ever.
        let _full = target.outbox.send(begun.run, &TargetCall::Abort);
        let mut state = target.state.subscribe();
        tokio::select! {
            biased;
            answer = answered(&mut begun) => return answer,
            _down = state.wait_for(|state| *state == TargetState::Disconnected) => {}
        }
        // The word that the caller has given up still has to arrive.
        tokio::spawn(async move { answered(&mut begun).await });
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
    pub(super) async fn step(&mut self) -> Result<TransferOrResponse, UnansweredRequest> {
        loop {
            let happened = tokio::select! {
                biased;
                happened = self.happened.recv() => happened,
                () = linked_for(&self.target, self.run, self.patience.unwrap_or_default()), if self.patience.is_some() => {
                    return Err(UnansweredRequest::Lost(SILENT));
                }
            };
            match happened {
                Some(TargetRunUpdate::Event(TargetEvent::Answered(answer))) => {
                    return Ok(TransferOrResponse::Answer(answer));
                }
                Some(TargetRunUpdate::Event(TargetEvent::Part(part))) => return Ok(TransferOrResponse::Part(part)),
                Some(TargetRunUpdate::Event(TargetEvent::Failed(failure))) => {
                    return Err(UnansweredRequest::Failed(error_of(failure)));
                }
                Some(TargetRunUpdate::Event(_)) => {}
                Some(TargetRunUpdate::Unreachable(error)) => return Err(UnansweredRequest::Unreachable(error)),
                Some(TargetRunUpdate::Lost(why)) => return Err(UnansweredRequest::Lost(why)),
                None => return Err(UnansweredRequest::Lost(CLOSED)),
            }
        }
    }

    /// Sends a part of a transfer.
    ///
    /// # Errors
    /// If too much waits for the target.
    pub(super) fn pass(&self, part: TransferPart) -> Result<(), UnansweredRequest> {
        let sent = self.target.outbox.send(self.run, &TargetCall::Part(part));
        sent.map_err(|error| UnansweredRequest::Failed(self.target.refused(error)))
    }
}
