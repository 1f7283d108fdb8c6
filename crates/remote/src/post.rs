//! The mailbox of one side, shared by all its tasks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::Notify;

use crate::messages::encode;
use wire::{Frame, Mailbox, Message, WireError};

/// Most bytes that are written at once.
const AT_ONCE: usize = 256 * 1024;

/// A mailbox, and what wakes the link that empties it.
#[derive(Debug, Default)]
pub struct Post {
    mailbox: Mutex<Mailbox>,
    wake: Notify,
}

impl Post {
    fn mailbox(&self) -> MutexGuard<'_, Mailbox> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message of a run, now or over a later link.
    ///
    /// # Errors
    /// If the message is too long, or too much is waiting already.
    pub fn send(&self, run: u64, message: &impl Serialize) -> Result<(), WireError> {
        let bytes = encode(message).map_err(|_| WireError::Message)?;
        self.mailbox().post(run, &bytes)?;
        self.wake.notify_one();
        Ok(())
    }

    /// Returns the number of the last frame that was received.
    pub fn received(&self) -> u64 {
        self.mailbox().received()
    }

    /// Continues over a new link with another side that has received frames up to this number.
    ///
    /// # Errors
    /// As [`Mailbox::resume`].
    pub fn resume(&self, received: u64) -> Result<(), WireError> {
        self.mailbox().resume(received)
    }

    pub(crate) fn receive(&self, frame: Frame) -> Result<Option<Message>, WireError> {
        let mut mailbox = self.mailbox();
        let message = mailbox.receive(frame);
        if mailbox.owes() {
            self.wake.notify_one();
        }
        message
    }

    /// Fills the buffer with the next frames. Waits until there are any.
    pub(crate) async fn fill(&self, buffer: &mut Vec<u8>) {
        loop {
            {
                let mut mailbox = self.mailbox();
                while buffer.len() < AT_ONCE && mailbox.encode_next(buffer) {}
                if buffer.is_empty() && mailbox.owes() {
                    mailbox.beat().encode(buffer);
                }
            }
            if !buffer.is_empty() {
                return;
            }
            self.wake.notified().await;
        }
    }

    pub(crate) fn beat(&self, buffer: &mut Vec<u8>) {
        self.mailbox().beat().encode(buffer);
    }
}
