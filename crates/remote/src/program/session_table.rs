//! The sessions of the host.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::messages::{TargetResponse, TargetSessionRequest};
use runner::error::RunError;
use runner::session::ShellSession;

/// An answer in the making. What has its place among the calls of the host is done already.
pub type ResponseFuture = Pin<Box<dyn Future<Output = Result<TargetResponse, RunError>> + Send>>;

/// The sessions, by the numbers that the host gave them.
#[derive(Default)]
pub struct SessionTable(Mutex<HashMap<u64, Arc<ShellSession>>>);

impl SessionTable {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, Arc<ShellSession>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a session.
    ///
    /// # Errors
    /// If it was closed.
    pub fn get(&self, number: u64) -> Result<Arc<ShellSession>, RunError> {
        self.all().get(&number).cloned().ok_or(RunError::SessionClosed)
    }

    /// Does what a host asks of a session.
    pub fn handle_request(&self, number: u64, ask: TargetSessionRequest) -> ResponseFuture {
        match ask {
            TargetSessionRequest::Begin(directory) => {
                self.all().insert(number, ShellSession::new(directory.into()));
            }
            TargetSessionRequest::Close => {
                if let Some(session) = self.all().remove(&number) {
                    session.close();
                }
            }
            TargetSessionRequest::Reset => {
                let turn = self.get(number).and_then(|session| session.enter_queue());
                return Box::pin(async move {
                    let mut turn = turn?;
                    turn.wait_for_turn().await?;
                    turn.session().reset();
                    Ok(TargetResponse::Done)
                });
            }
        }
        Box::pin(async { Ok(TargetResponse::Done) })
    }
}
