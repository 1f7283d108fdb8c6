//! The manifest of a run: the state of each path before the command and after it. One file that is only appended to.
//!
//! Each record has its length and a checksum, so that readers recognise the torn end of a killed writer. The first
//! record is the [`Header`].

mod frames;
mod point;
mod read;
mod types;
mod write;

pub use frames::{Frames, encode};
pub use point::{Point, RETENTION};
pub use read::{ReadError, read, read_header};
pub use types::{End, Extent, Header, Move, Purpose, Record, VERSION};
pub use write::Writer;

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
