//! The form of a frame. All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length of all that follows |
//! | 1 | kind |
//! | 8 | run, by the number that the host gave it; 0: none |
//! | 8 | number of the frame among those of its side, from 1; 0: it is not numbered |
//! | 8 | number of the last frame that its side has received |
//! | … | payload |

use crate::wire_error::WireError;

/// Bytes before the payload, with those of the length.
pub const HEADER: usize = LENGTH + AFTER_LENGTH;
/// Longest payload, bytes.
pub const MAX_PAYLOAD: usize = 256 * 1024 - HEADER;

const LENGTH: usize = 4;
const AFTER_LENGTH: usize = 1 + 8 + 8 + 8;
/// Read bytes from which on the buffer is moved to its front, so that it stays small.
const MOVE: usize = 64 * 1024;

/// The kinds of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// A message before the numbered ones: who both sides are, and where they left off.
    Greeting = 0,
    /// An acknowledgment, and a sign of life. That of a program may have the load of its machine.
    Beat = 1,
    /// A message, or the last part of one.
    Message = 2,
    /// A part of a message. The next numbered frame continues it.
    Part = 3,
    /// The side that sends this is gone for good.
    Goodbye = 4,
    /// For the process that holds the transport: bytes that it passes on as they are. Never crosses a link.
    Raw = 5,
}

impl FrameKind {
    const ALL: [Self; 6] = [Self::Greeting, Self::Beat, Self::Message, Self::Part, Self::Goodbye, Self::Raw];

    fn of(number: u8) -> Result<Self, WireError> {
        Self::ALL.into_iter().find(|&kind| kind as u8 == number).ok_or(WireError::Kind(number))
    }
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireFrame {
    /// The kind of the frame.
    pub kind: FrameKind,
    /// The run that the frame belongs to. 0: none.
    pub run: u64,
    /// The number of the frame. 0: it is not numbered.
    pub number: u64,
    /// The number of the last frame that the sender has received.
    pub acked: u64,
    /// The content.
    pub payload: Vec<u8>,
}

impl WireFrame {
    /// Returns a frame that is not numbered and acknowledges nothing.
    #[must_use]
    pub fn unnumbered(kind: FrameKind, payload: Vec<u8>) -> Self {
        Self { kind, run: 0, number: 0, acked: 0, payload }
    }

    /// Appends the frame to bytes that are about to be written.
    ///
    /// # Panics
    /// If the payload is longer than [`MAX_PAYLOAD`].
    pub fn encode(&self, into: &mut Vec<u8>) {
        assert!(self.payload.len() <= MAX_PAYLOAD, "a payload of {} bytes", self.payload.len());
        let length = u32::try_from(AFTER_LENGTH + self.payload.len()).unwrap_or(u32::MAX);
        into.extend(length.to_le_bytes());
        into.push(self.kind as u8);
        for number in [self.run, self.number, self.acked] {
            into.extend(number.to_le_bytes());
        }
        into.extend(&self.payload);
    }
}

/// The frames in the bytes of one link. A new link needs a new one, since a cut may have left half a frame.
#[derive(Debug, Default)]
pub struct WireFrameReader {
    bytes: Vec<u8>,
    read: usize,
}

impl WireFrameReader {
    /// Takes the next bytes of the link.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.read >= MOVE {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend(bytes);
    }

    /// Returns the next frame, or `None` until all of it has arrived.
    ///
    /// # Errors
    /// If the bytes are no frame. No later frame can be found then.
    pub fn next_frame(&mut self) -> Result<Option<WireFrame>, WireError> {
        let bytes = &self.bytes[self.read..];
        let Some((&length, bytes)) = bytes.split_first_chunk::<LENGTH>() else { return Ok(None) };
        let length = u32::from_le_bytes(length) as usize;
        if !(AFTER_LENGTH..=AFTER_LENGTH + MAX_PAYLOAD).contains(&length) {
            return Err(WireError::Length(length));
        }
        let Some((frame, _)) = bytes.split_at_checked(length) else { return Ok(None) };
        let (&[kind], frame) = frame.split_first_chunk().unwrap_or((&[0], &[]));
        let kind = FrameKind::of(kind)?;
        let (numbers, payload) = frame.split_at(AFTER_LENGTH - 1);
        let mut numbers = numbers.as_chunks().0.iter().map(|&number| u64::from_le_bytes(number));
        let mut number = || numbers.next().unwrap_or(0);
        let frame = WireFrame { kind, run: number(), number: number(), acked: number(), payload: payload.to_vec() };
        self.read += LENGTH + length;
        if self.read == self.bytes.len() {
            self.bytes.clear();
            self.read = 0;
        }
        Ok(Some(frame))
    }

    /// Returns whether half a frame has arrived.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        self.read < self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame() -> impl Strategy<Value = WireFrame> {
        let payload = proptest::collection::vec(any::<u8>(), 0..2000);
        (proptest::sample::select(&FrameKind::ALL[..]), any::<[u64; 3]>(), payload)
            .prop_map(|(kind, [run, number, acked], payload)| WireFrame { kind, run, number, acked, payload })
    }

    proptest! {
        #[test]
        fn frames_are_the_same_under_any_split(sent in proptest::collection::vec(frame(), 0..20), step in 1_usize..4000) {
            let mut bytes = Vec::new();
            sent.iter().for_each(|frame| frame.encode(&mut bytes));
            let mut frames = WireFrameReader::default();
            let mut received = Vec::new();
            for part in bytes.chunks(step) {
                frames.push(part);
                while let Some(frame) = frames.next_frame().expect("frames of ours") {
                    received.push(frame);
                }
            }
            prop_assert_eq!(received, sent);
            prop_assert!(!frames.is_inside());
        }

        #[test]
        fn garbage_is_refused_or_awaited_and_never_more_than_a_frame(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let mut frames = WireFrameReader::default();
            frames.push(&bytes);
            while let Ok(Some(frame)) = frames.next_frame() {
                prop_assert!(frame.payload.len() <= bytes.len());
            }
        }
    }

    #[test]
    fn a_length_out_of_range_and_an_unknown_kind_are_refused_before_the_rest_arrives() {
        for length in [0, AFTER_LENGTH - 1, AFTER_LENGTH + MAX_PAYLOAD + 1, u32::MAX as usize] {
            let mut frames = WireFrameReader::default();
            frames.push(&u32::try_from(length).expect("a length").to_le_bytes());
            assert_eq!(frames.next_frame(), Err(WireError::Length(length)));
        }
        let mut bytes = Vec::new();
        WireFrame::unnumbered(FrameKind::Beat, Vec::new()).encode(&mut bytes);
        bytes[LENGTH] = 6;
        let mut frames = WireFrameReader::default();
        frames.push(&bytes);
        assert_eq!(frames.next_frame(), Err(WireError::Kind(6)));
    }

    #[test]
    fn the_longest_frame_has_256_kib() {
        let mut bytes = Vec::new();
        WireFrame::unnumbered(FrameKind::Message, vec![0; MAX_PAYLOAD]).encode(&mut bytes);
        assert_eq!(bytes.len(), 256 * 1024);
        let mut frames = WireFrameReader::default();
        frames.push(&bytes);
        assert!(frames.next_frame().expect("a frame").is_some());
    }
}
