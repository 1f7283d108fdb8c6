//! Records in a file, each with its length and a checksum.

use std::io::{self, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes before each record: the record's length and its checksum.
pub const FRAME: usize = 8;
/// Length limit. A longer record was not written by agent-bash.
const MOST: usize = 64 * 1024 * 1024;

/// Encodes a record with its frame.
///
/// # Errors
/// If it is too large.
pub fn encode(record: &impl Serialize, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    buffer.resize(FRAME, 0);
    let taken = std::mem::take(buffer);
    *buffer = postcard::to_extend(record, taken).map_err(io::Error::other)?;
    let length = u32::try_from(buffer.len() - FRAME).map_err(io::Error::other)?;
    let sum = checksum(&buffer[FRAME..]);
    buffer[..4].copy_from_slice(&length.to_le_bytes());
    buffer[4..FRAME].copy_from_slice(&sum.to_le_bytes());
    Ok(())
}

/// Returns the low 32 bits of the XXH3 hash.
#[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
fn checksum(bytes: &[u8]) -> u32 {
    twox_hash::XxHash3_128::oneshot(bytes) as u32
}

/// The records of a file, in order.
#[derive(Debug)]
pub struct RecordFrames<R> {
    from: R,
    /// Bytes of the file up to the end of the last whole record.
    pub length: u64,
    buffer: Vec<u8>,
}

impl<R: Read> RecordFrames<R> {
    /// Reads from the first record.
    pub fn new(from: R) -> Self {
        Self { from, length: 0, buffer: Vec::new() }
    }

    /// Reads after a beginning of another form, with this length.
    pub fn after(from: R, length: u64) -> Self {
        Self { length, ..Self::new(from) }
    }

    /// Returns the next record, or `None` at the end, torn or not.
    pub fn next_one<T: DeserializeOwned>(&mut self) -> Option<T> {
        let mut frame = [0; FRAME];
        self.from.read_exact(&mut frame).ok()?;
        let (length, sum) = frame.split_at(4);
        let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
        let sum = u32::from_le_bytes(sum.try_into().ok()?);
        if length > MOST {
            return None;
        }
        self.buffer.clear();
        // The length may be damaged, so the buffer grows with the available bytes.
        let got = self.from.by_ref().take(length as u64).read_to_end(&mut self.buffer).ok()?;
        if got < length || checksum(&self.buffer) != sum {
            return None;
        }
        let record = postcard::from_bytes(&self.buffer).ok()?;
        self.length += (FRAME + length) as u64;
        Some(record)
    }
}
