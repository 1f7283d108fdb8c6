//! The numbered messages of both sides, across links.

use std::collections::VecDeque;

use crate::wire_error::{HEADROOM, MAX_MESSAGE, MAX_WAITING, WireError};
use crate::wire_frame::{FrameKind, HEADER, MAX_PAYLOAD, WireFrame};

/// A message that has arrived.
#[derive(Debug, PartialEq, Eq)]
pub struct MailboxMessage {
    /// The run that the message belongs to. 0: none.
    pub run: u64,
    /// The content.
    pub payload: Vec<u8>,
}

/// What one side has sent and received.
#[derive(Debug, Default)]
pub struct Mailbox {
    /// Frames that the other side has not acknowledged, by their numbers.
    kept: VecDeque<WireFrame>,
    kept_bytes: usize,
    /// How many of them were given to the present link.
    given: usize,
    /// The number of the last frame that was posted.
    last: u64,
    /// The number of the last frame that was given to any link.
    left: u64,
    /// The number of the last frame that was received.
    received: u64,
    /// The last number that the other side was told.
    told: u64,
    /// The message whose parts are arriving.
    half: Option<MailboxMessage>,
}

impl Mailbox {
    /// Takes a message to send. It goes out by [`Mailbox::encode_next`].
    ///
    /// # Errors
    /// If the message is too long, or too much is waiting already. It is not sent then.
    pub fn post(&mut self, run: u64, payload: &[u8]) -> Result<(), WireError> {
        self.post_within(MAX_WAITING, run, payload)
    }

    /// Like [`Mailbox::post`], for a message that may use the headroom: without it the other side would wait for ever.
    ///
    /// # Errors
    /// If the message is too long, or the headroom is used up.
    pub fn post_vital(&mut self, run: u64, payload: &[u8]) -> Result<(), WireError> {
        self.post_within(MAX_WAITING + HEADROOM, run, payload)
    }

    fn post_within(&mut self, most: usize, run: u64, payload: &[u8]) -> Result<(), WireError> {
        if payload.len() > MAX_MESSAGE {
            return Err(WireError::Message);
        }
        if self.kept_bytes + payload.len() > most {
            return Err(WireError::Waiting);
        }
        // An empty message is one frame, too.
        let count = payload.len().div_ceil(MAX_PAYLOAD).max(1);
        for part in 1..=count {
            let kind = if part == count { FrameKind::Message } else { FrameKind::Part };
            let payload = payload[(part - 1) * MAX_PAYLOAD..payload.len().min(part * MAX_PAYLOAD)].to_vec();
            self.last += 1;
            self.kept_bytes += HEADER + payload.len();
            self.kept.push_back(WireFrame { kind, run, number: self.last, acked: 0, payload });
        }
        Ok(())
    }

    /// Appends the next frame for the present link, with an acknowledgment of all that was received. `false`: all
    /// frames were given to this link.
    pub fn encode_next(&mut self, into: &mut Vec<u8>) -> bool {
        let Some(frame) = self.kept.get_mut(self.given) else { return false };
        frame.acked = self.received;
        frame.encode(into);
        self.left = self.left.max(frame.number);
        self.given += 1;
        self.told = self.received;
        true
    }

    /// Returns whether the other side was not told yet of a frame that was received.
    #[must_use]
    pub fn owes_acknowledgment(&self) -> bool {
        self.told < self.received
    }

    /// Returns a frame that tells the other side of all that was received, with this payload.
    pub fn beat_frame(&mut self, payload: Vec<u8>) -> WireFrame {
        self.told = self.received;
        WireFrame { acked: self.received, ..WireFrame::unnumbered(FrameKind::Beat, payload) }
    }

    /// Returns the number of the last frame that was received, for [`Mailbox::resume`] on the other side.
    #[must_use]
    pub fn last_received(&self) -> u64 {
        self.received
    }

    /// Returns the number of the last frame that was posted.
    #[must_use]
    pub fn last_posted(&self) -> u64 {
        self.last
    }

    /// Returns the number of the last frame that was given to any link. Later ones have never left this side.
    #[must_use]
    pub fn last_given(&self) -> u64 {
        self.left
    }

    /// Returns how many bytes wait to be acknowledged.
    #[must_use]
    pub fn waiting_bytes(&self) -> usize {
        self.kept_bytes
    }

    /// Continues over a new link with another side that has received frames up to this number. All others are sent
    /// again. No frame of the old link may be taken from here on.
    ///
    /// # Errors
    /// If the number is that of a frame that was never sent, or of one before those that the other side has
    /// acknowledged.
    pub fn resume(&mut self, received: u64) -> Result<(), WireError> {
        if received < self.last - self.kept.len() as u64 {
            return Err(WireError::Acknowledged(received));
        }
        self.forget_acknowledged(received)?;
        self.given = 0;
        self.told = self.received;
        Ok(())
    }

    /// Takes a frame of the present link, and returns the message that it completes.
    ///
    /// # Errors
    /// If the frame cannot follow what has arrived. The other side is none of ours then.
    pub fn receive(&mut self, frame: WireFrame) -> Result<Option<MailboxMessage>, WireError> {
        self.forget_acknowledged(frame.acked)?;
        if !matches!(frame.kind, FrameKind::Message | FrameKind::Part) {
            return Ok(None);
        }
        let expected = self.received + 1;
        if frame.number != expected {
            return Err(WireError::Number { expected, found: frame.number });
        }
        let mut message = self.half.take().unwrap_or(MailboxMessage { run: frame.run, payload: Vec::new() });
        if message.run != frame.run {
            return Err(WireError::Run { expected: message.run, found: frame.run });
        }
        if message.payload.len() + frame.payload.len() > MAX_MESSAGE {
            return Err(WireError::Message);
        }
        self.received = expected;
        if message.payload.is_empty() {
            message.payload = frame.payload;
        } else {
            message.payload.extend(frame.payload);
        }
        if frame.kind == FrameKind::Message {
            return Ok(Some(message));
        }
        self.half = Some(message);
        Ok(None)
    }

    /// Forgets the frames up to this number.
    fn forget_acknowledged(&mut self, number: u64) -> Result<(), WireError> {
        if number > self.last {
            return Err(WireError::Acknowledged(number));
        }
        while self.kept.front().is_some_and(|frame| frame.number <= number) {
            let frame = self.kept.pop_front();
            self.kept_bytes -= HEADER + frame.map_or(0, |frame| frame.payload.len());
            self.given = self.given.saturating_sub(1);
        }
        Ok(())
    }
}
