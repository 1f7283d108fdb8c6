//! The parts of a transfer, the same in both directions.

use serde::{Deserialize, Serialize};

/// A part of a transfer: of a file, a list, or a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TransferPart {
    /// The next bytes, answered by [`TransferPart::Taken`].
    Bytes(Vec<u8>),
    /// The side that sends this has no more bytes.
    End,
    /// The side that sends this has taken so many bytes.
    Taken(u64),
}
