//! The sessions of the host.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::messages::{Answer, OfSession};
use runner::error::Error;
use runner::session::Session;

/// An answer in the making. What has its place among the calls of the host is done already.
pub type Answering = Pin<Box<dyn Future<Output = Result<Answer, Error>> + Send>>;

/// The sessions, by the numbers that the host gave them.
#[derive(Default)]
pub struct Sessions(Mutex<HashMap<u64, Arc<Session>>>);

impl Sessions {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, Arc<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a session.
    ///
    /// # Errors
    /// If it was closed.
    pub fn get(&self, number: u64) -> Result<Arc<Session>, Error> {
        self.all().get(&number).cloned().ok_or(Error::SessionClosed)
    }

    /// Does what a host asks of a session.
    pub fn ask(&self, number: u64, ask: OfSession) -> Answering {
        match ask {
            OfSession::Begin(directory) => {
                self.all().insert(number, Session::new(directory.into()));
            }
            OfSession::Close => {
                if let Some(session) = self.all().remove(&number) {
                    session.close();
                }
            }
            OfSession::Reset => {
                let turn = self.get(number).and_then(|session| session.enter());
                return Box::pin(async move {
                    let mut turn = turn?;
                    turn.come().await?;
                    turn.session().reset();
                    Ok(Answer::Done)
                });
            }
        }
        Box::pin(async { Ok(Answer::Done) })
    }
}
