//! What all messages of runs have in common.

use serde::Serialize;

/// A message of a run.
pub trait RunMessage: Serialize {
    /// Returns whether the sender can do without it for now: it begins something, or is one of many bytes. All others
    /// must arrive, since the other side waits for them.
    fn may_be_refused(&self) -> bool;
}
