//! What a person may do with a run, and how the order reaches it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::watcher_queue::WatcherQueue;

/// An order for a running command.
#[derive(Debug)]
pub enum WatcherOrder {
    /// Terminate the whole tree.
    Stop,
    /// Write these bytes to the standard input.
    Input(Vec<u8>),
    /// Pass the output to this tap, beginning with the output still held.
    Follow(Arc<WatcherQueue>),
    /// Report the last line, and whether the command waits for a person.
    ReportStatus,
}

/// The orders that a command has not taken yet. Without an order nothing is allocated.
#[derive(Debug, Default)]
pub(super) struct WatcherOrderQueue {
    queue: Mutex<VecDeque<WatcherOrder>>,
    wake: Notify,
}

impl WatcherOrderQueue {
    fn queue(&self) -> MutexGuard<'_, VecDeque<WatcherOrder>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an order.
    pub fn push(&self, order: WatcherOrder) {
        self.queue().push_back(order);
        self.wake.notify_one();
    }

    /// Returns the next order, if there is one.
    pub fn take(&self) -> Option<WatcherOrder> {
        self.queue().pop_front()
    }

    /// Waits for the next order. No order is lost if the future is dropped.
    pub async fn next(&self) -> WatcherOrder {
        loop {
            if let Some(order) = self.take() {
                return order;
            }
            self.wake.notified().await;
        }
    }

    /// Waits until an order may have come.
    pub async fn changed(&self) {
        self.wake.notified().await;
    }
}

/// Why a run takes no input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WatcherInputError {
    /// The run reads none.
    #[error("this run reads no input from a person")]
    ReadsNoInput,
    /// Too many bytes of it were not read.
    #[error("the run has not read its last input; try again later")]
    Full,
    /// The run has ended.
    #[error("this run has ended")]
    Gone,
}
