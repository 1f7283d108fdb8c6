//! Ends the program of a target, with all that is its own.

use std::sync::Arc;

use super::remote_target::RemoteTarget;
use super::target_requests::UnansweredRequest;
use crate::messages::TargetRequest;

impl RemoteTarget {
    /// Removes the program there, and closes the target. What the program has made for itself goes with it: its socket,
    /// and our directories in which nothing is left. Output files and tasks stay.
    ///
    /// # Errors
    /// If the program could not be removed. The target is closed in any case.
    pub async fn uninstall(self: &Arc<Self>) -> Result<(), UnansweredRequest> {
        let answered = self.request(TargetRequest::Uninstall).await;
        self.close();
        answered.map(|_done| ())
    }
}
