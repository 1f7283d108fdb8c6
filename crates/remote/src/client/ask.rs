//! Questions for the program of a target.

use std::sync::Arc;

use super::connect::Begun;
use super::error::TargetError;
use super::happenings::{BROKEN, CLOSED, Happened};
use super::overdue::{SILENT, linked_for};
use super::run::error_of;
use super::target::{State, Target};
use crate::messages::{Answer, Ask, Call, Event, Part};
use runner::error::Error;

/// Why a question has no answer.
#[derive(Debug)]
pub enum Unanswered {
    /// The program refuses, or could not do it.
    Failed(Error),
    /// The target cannot be reached, and nothing was done.
    Unreachable(TargetError),
    /// The target was lost before it answered, with the reason. The work may be done or not.
    Lost(&'static str),
}

impl Unanswered {
    /// Returns the reason if the answer is none that a program of ours gives.
    #[must_use]
    pub const fn broken() -> Self {
        Self::Lost(BROKEN)
    }
}

impl Target {
    /// Asks the program. Questions and commands arrive in the order of these calls. The future waits through cuts until
    /// the program answers.
    ///
    /// # Errors
    /// If nothing could be done, or the target is lost.
    pub fn ask(self: &Arc<Self>, ask: Ask) -> impl Future<Output = Result<Answer, Unanswered>> + Send + 'static {
        self.ask_until(ask, std::future::pending())
    }

    /// Like [`Self::ask`]. Once the caller gives up, the program is asked for what there is.
    ///
    /// # Errors
    /// As [`Self::ask`], and [`Error::Aborted`] if the caller gives up while no link is there.
    pub fn ask_until(
        self: &Arc<Self>,
        ask: Ask,
        given_up: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = Result<Answer, Unanswered>> + Send + 'static {
        let begun = self.begin_ask(ask);
        async move {
            let mut begun = begun.map_err(Unanswered::Failed)?;
            tokio::select! {
                biased;
                answer = answered(&mut begun) => return answer,
                () = given_up => {}
            }
            give_up(begun).await
        }
    }
}

async fn answered(begun: &mut Begun) -> Result<Answer, Unanswered> {
    loop {
        if let Step::Answer(answer) = begun.step().await? {
            return Ok(answer);
        }
    }
}

async fn give_up(mut begun: Begun) -> Result<Answer, Unanswered> {
    let target = Arc::clone(&begun.target);
    if !target.outbox.take_back(begun.run) {
        // Room is left for it, unless the program takes nothing for ever.
        let _full = target.outbox.send(begun.run, &Call::Abort);
        let mut state = target.state.subscribe();
        tokio::select! {
            biased;
            answer = answered(&mut begun) => return answer,
            _down = state.wait_for(|state| *state == State::Disconnected) => {}
        }
        // The word that the caller has given up still has to arrive.
        tokio::spawn(async move { answered(&mut begun).await });
    }
    Err(Unanswered::Failed(Error::Aborted))
}

/// A part of a transfer, or the answer of a question.
pub(super) enum Step {
    /// A part of its transfer.
    Part(Part),
    /// The answer.
    Answer(Answer),
}

impl Begun {
    /// Waits for the next event of a question.
    pub(super) async fn step(&mut self) -> Result<Step, Unanswered> {
        loop {
            let happened = tokio::select! {
                biased;
                happened = self.happened.recv() => happened,
                () = linked_for(&self.target, self.run, self.patience.unwrap_or_default()), if self.patience.is_some() => {
                    return Err(Unanswered::Lost(SILENT));
                }
            };
            match happened {
                Some(Happened::Event(Event::Answered(answer))) => return Ok(Step::Answer(answer)),
                Some(Happened::Event(Event::Part(part))) => return Ok(Step::Part(part)),
                Some(Happened::Event(Event::Failed(failure))) => return Err(Unanswered::Failed(error_of(failure))),
                Some(Happened::Event(_)) => {}
                Some(Happened::Unreachable(error)) => return Err(Unanswered::Unreachable(error)),
                Some(Happened::Lost(why)) => return Err(Unanswered::Lost(why)),
                None => return Err(Unanswered::Lost(CLOSED)),
            }
        }
    }

    /// Sends a part of a transfer.
    ///
    /// # Errors
    /// If too much waits for the target.
    pub(super) fn pass(&self, part: Part) -> Result<(), Unanswered> {
        let sent = self.target.outbox.send(self.run, &Call::Part(part));
        sent.map_err(|error| Unanswered::Failed(self.target.refused(error)))
    }
}
