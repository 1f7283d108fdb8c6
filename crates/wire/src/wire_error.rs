//! Why a link cannot go on.

/// Longest message, bytes.
pub const MAX_MESSAGE: usize = 80 * 1024 * 1024;
/// Most bytes that wait to be acknowledged before messages are refused that may be.
pub const MAX_WAITING: usize = 4 * MAX_MESSAGE;
/// Bytes beyond them for messages without which the other side would wait for ever.
pub const HEADROOM: usize = MAX_MESSAGE;

/// What the other side did that no program of ours does, or what this side cannot keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A frame is shorter than its head or longer than the maximum.
    #[error("a frame of {0} bytes")]
    Length(usize),
    /// No kind of frame has this number.
    #[error("a frame of the unknown kind {0}")]
    Kind(u8),
    /// A frame is not the next one.
    #[error("frame {found} in place of {expected}")]
    Number {
        /// The number that had to follow.
        expected: u64,
        /// The number of the frame.
        found: u64,
    },
    /// A frame was acknowledged that was never posted, or is no longer kept.
    #[error("an acknowledgment of frame {0}, which does not wait for one")]
    Acknowledged(u64),
    /// A message continues one of another run.
    #[error("a part of a message of run {found} within one of run {expected}")]
    Run {
        /// The run of the message.
        expected: u64,
        /// The run of the part.
        found: u64,
    },
    /// A message is longer than the maximum.
    #[error("a message of more than {MAX_MESSAGE} bytes")]
    Message,
    /// More is waiting to be acknowledged than this side keeps.
    #[error("more than {MAX_WAITING} bytes wait to be acknowledged")]
    Waiting,
}
