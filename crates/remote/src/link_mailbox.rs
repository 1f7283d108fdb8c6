//! The mailbox of one side, shared by all its tasks.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::messages::{MachineLoad, RunMessage, decode, encode};
use wire::{
    FrameKind, HEADER, HEADROOM, MAX_MESSAGE, MAX_PAYLOAD, MAX_WAITING, Mailbox, MailboxMessage, WireError, WireFrame,
};

/// Most bytes that are written at once.
const MAX_WRITE: usize = 256 * 1024;

/// Longest message that may use the headroom of the mailbox: a result without its output is shorter.
const MAX_VITAL_MESSAGE: usize = 64 * 1024;

/// A message of a run as it is sent.
#[derive(Debug)]
pub(crate) struct PackedRunMessage {
    bytes: Vec<u8>,
    is_vital: bool,
}

impl PackedRunMessage {
    /// Packs a message.
    ///
    /// # Errors
    /// If it is too long.
    pub fn pack(message: &impl RunMessage) -> Result<Self, WireError> {
        let bytes = encode(message).map_err(|_| WireError::Message)?;
        let is_vital = !message.may_be_refused() && bytes.len() <= MAX_VITAL_MESSAGE;
        if bytes.len() > MAX_MESSAGE { Err(WireError::Message) } else { Ok(Self { bytes, is_vital }) }
    }
}

impl PackedRunMessage {
    /// Returns its length.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns what it adds to the bytes that wait.
    pub fn queued_len(&self) -> usize {
        self.bytes.len() + HEADER * self.bytes.len().div_ceil(MAX_PAYLOAD).max(1)
    }

    /// Returns the most bytes that may wait with it.
    pub fn max_waiting_bytes(&self) -> usize {
        MAX_WAITING + if self.is_vital { HEADROOM } else { 0 }
    }
}

/// A mailbox, and what wakes the link that empties it.
#[derive(Debug, Default)]
pub struct LinkMailbox {
    mailbox: Mutex<Mailbox>,
    wake: Notify,
    /// Measures what heartbeats tell of this machine. `None`: they tell nothing.
    measure: Option<fn() -> MachineLoad>,
    /// What the other side has told last.
    heard: Mutex<MachineLoad>,
}

impl LinkMailbox {
    /// Makes the mailbox of a program, whose heartbeats tell the load of its machine.
    pub fn telling(measure: fn() -> MachineLoad) -> Self {
        Self { measure: Some(measure), ..Self::default() }
    }

    /// Makes the mailbox of a host, whose program has told this load.
    pub fn told(load: MachineLoad) -> Self {
        Self { heard: Mutex::new(load), ..Self::default() }
    }

    /// Returns the load that the other side has told last.
    pub fn load(&self) -> MachineLoad {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mailbox(&self) -> MutexGuard<'_, Mailbox> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message of a run, now or over a later link.
    ///
    /// # Errors
    /// If the message is too long, or too much is waiting already. Room is left for short messages that must arrive.
    pub fn send(&self, run: u64, message: &impl RunMessage) -> Result<(), WireError> {
        self.post(run, &PackedRunMessage::pack(message)?)
    }

    /// As [`LinkMailbox::send`].
    pub(crate) fn post(
        &self,
        run: u64,
        PackedRunMessage { bytes, is_vital }: &PackedRunMessage,
    ) -> Result<(), WireError> {
        let mut mailbox = self.mailbox();
        if *is_vital { mailbox.post_vital(run, bytes) } else { mailbox.post(run, bytes) }?;
        drop(mailbox);
        self.wake.notify_one();
        Ok(())
    }

    /// Sends a message for which room was kept.
    pub(crate) fn post_reserved(&self, run: u64, PackedRunMessage { bytes, .. }: &PackedRunMessage) {
        // An error: it was too long before.
        let _kept = self.mailbox().post_vital(run, bytes);
        self.wake.notify_one();
    }

    /// Returns the number of the last frame that was posted.
    pub(crate) fn last_posted(&self) -> u64 {
        self.mailbox().last_posted()
    }

    /// Returns the number of the last frame that was given to any link.
    pub(crate) fn last_given(&self) -> u64 {
        self.mailbox().last_given()
    }

    /// Returns how many bytes wait to be acknowledged.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.mailbox().waiting_bytes()
    }

    /// Returns the number of the last frame that was received.
    pub fn received(&self) -> u64 {
        self.mailbox().last_received()
    }

    /// Continues over a new link with another side that has received frames up to this number.
    ///
    /// # Errors
    /// As [`Mailbox::resume`].
    pub fn resume(&self, received: u64) -> Result<(), WireError> {
        self.mailbox().resume(received)
    }

    pub(crate) fn receive(&self, frame: WireFrame) -> Result<Option<MailboxMessage>, WireError> {
        if frame.kind == FrameKind::Beat
            && let Ok(load) = decode(&frame.payload)
        {
            *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = load;
        }
        let mut mailbox = self.mailbox();
        let message = mailbox.receive(frame);
        if mailbox.owes_acknowledgment() {
            self.wake.notify_one();
        }
        message
    }

    /// Fills the buffer with the next frames. Waits until there are any.
    pub(crate) async fn fill(&self, buffer: &mut Vec<u8>) {
        loop {
            {
                let mut mailbox = self.mailbox();
                while buffer.len() < MAX_WRITE && mailbox.encode_next(buffer) {}
                if buffer.is_empty() && mailbox.owes_acknowledgment() {
                    mailbox.beat_frame(Vec::new()).encode(buffer);
                }
            }
            if !buffer.is_empty() {
                return;
            }
            self.wake.notified().await;
        }
    }

    /// Appends a heartbeat.
    pub(crate) fn append_beat(&self, buffer: &mut Vec<u8>) {
        let load = self.measure.and_then(|measure| encode(&measure()).ok());
        self.mailbox().beat_frame(load.unwrap_or_default()).encode(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beat_with(payload: &[u8]) -> WireFrame {
        WireFrame::unnumbered(FrameKind::Beat, payload.to_vec())
    }

    #[test]
    fn heartbeats_tell_the_load_and_garbage_in_one_tells_nothing() {
        let host = LinkMailbox::told(MachineLoad { hundredths: 5, memory_free: 9 });
        let told = MachineLoad { hundredths: 150, memory_free: 1 << 40 };
        for garbage in [&[][..], &[1], &[255; 40], &[0; 200_000]] {
            assert_eq!(host.receive(beat_with(garbage)), Ok(None));
            assert_eq!(host.load(), MachineLoad { hundredths: 5, memory_free: 9 });
        }
        assert_eq!(host.receive(beat_with(&encode(&told).expect("numbers"))), Ok(None));
        assert_eq!(host.load(), told);
    }
}
