//! Messages between a host and its program on another machine, over a link that may be cut at any byte.
//!
//! Pure: bytes come in and go out, without a process, a clock or a file. Runs in the host and on the other machine.
//!
//! A **link** is one connection, for example the standard streams of `ssh`. It carries [`WireFrame`]s: `wire_frame.rs`
//! is their form, and [`WireFrameReader`] reads them out of bytes as they arrive. A [`Mailbox`] outlives links: it
//! numbers the messages of its side, keeps each one until the other side has acknowledged it, and sends it again over
//! the next link. So each message arrives once and in order, and a write that succeeded is never taken for a delivery.
//!
//! Nothing that the other side sends is trusted: lengths, kinds, numbers and acknowledgments are checked, and memory is
//! bounded by [`MAX_MESSAGE`], [`MAX_WAITING`] and [`HEADROOM`].

mod mailbox;
#[cfg(test)]
mod mailbox_tests;
mod wire_error;
mod wire_frame;

pub use mailbox::{Mailbox, MailboxMessage};
pub use wire_error::{HEADROOM, MAX_MESSAGE, MAX_WAITING, WireError};
pub use wire_frame::{FrameKind, HEADER, MAX_PAYLOAD, WireFrame, WireFrameReader};
