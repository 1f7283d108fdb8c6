//! Questions for the program of a target.

use std::sync::Arc;

use super::error::TargetError;
use super::run::error_of;
use super::target::{CLOSED, Happened, Target};
use crate::messages::{Answer, Ask, Call, Event};
use runner::error::Error;

/// Why a question has no answer.
#[derive(Debug)]
pub enum Unanswered {
    /// The program refuses, or could not do it.
    Failed(Error),
    /// The target cannot be reached, and nothing was done.
    Unreachable(TargetError),
    /// The target was lost meanwhile, with the reason. It is not known what was done.
    Lost(&'static str),
}

impl Target {
    /// Asks the program. Questions and commands arrive in the order of these calls. The future waits through cuts until
    /// the program answers.
    ///
    /// # Errors
    /// If nothing could be done, or the target is lost.
    pub fn ask(self: &Arc<Self>, ask: Ask) -> impl Future<Output = Result<Answer, Unanswered>> + Send + 'static {
        let begun = self.begin(Call::Ask(ask));
        async move {
            let mut begun = begun.map_err(Unanswered::Failed)?;
            loop {
                match begun.happened.recv().await {
                    Some(Happened::Event(Event::Answered(answer))) => return Ok(answer),
                    Some(Happened::Event(Event::Failed(failure))) => return Err(Unanswered::Failed(error_of(failure))),
                    Some(Happened::Event(_)) => {}
                    Some(Happened::Unreachable(error)) => return Err(Unanswered::Unreachable(error)),
                    Some(Happened::Lost(why)) => return Err(Unanswered::Lost(why)),
                    None => return Err(Unanswered::Lost(CLOSED)),
                }
            }
        }
    }
}
