//! A task of the runtime that ends with its owner.

use tokio::task::AbortHandle;

/// A task of the runtime. It is ended when this is dropped.
#[derive(Debug)]
pub struct AbortOnDropTask(AbortHandle);

impl AbortOnDropTask {
    /// Starts a task.
    pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(work).abort_handle())
    }
}

impl Drop for AbortOnDropTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}
