//! Questions of a host that are no commands, each with one answer.

use serde::{Deserialize, Serialize};

/// What a host asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// Something of a session. Answered by [`Answer::Done`].
    Session(u64, OfSession),
}

/// What a host asks of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum OfSession {
    /// Begin it in this directory.
    Begin(String),
    /// Forget its state, when its turn comes.
    Reset,
    /// End it.
    Close,
}

/// The answer of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It is done.
    Done,
}
