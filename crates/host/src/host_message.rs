//! The messages between a client and a host: JSON, one object per line, UTF-8.
//!
//! `__test__/host/messages.json` has an example of each, which the tests read.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use runner::live::{ApprovalRequest, PoolDescription, RunDescription, RunEndReport};

/// The version of the protocol. A client names the one that it speaks.
pub const PROTOCOL: u32 = 1;
/// Longest line of a client, bytes.
pub const CLIENT_LINE: usize = 64 * 1024;
/// Longest line of a host, bytes.
#[cfg(test)]
pub const HOST_LINE: usize = 256 * 1024;

/// The first line of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct HelloLine {
    /// The version of the protocol.
    pub hello: u32,
    /// The client may stop, answer and type.
    #[serde(default)]
    pub control: bool,
}

/// The number that a client gives to a request, and gets back with the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct RequestNumber {
    /// The number.
    pub id: u64,
}

/// A request of a client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum HostRequest {
    /// Sends the state, and then its changes.
    Watch,
    /// Sends the output of a run, or the screen of a terminal.
    Follow {
        /// Its key.
        run: String,
    },
    /// Sends no more of it.
    Unfollow {
        /// Its key.
        run: String,
    },
    /// Gives input of a person to a run.
    Input {
        /// Its key.
        run: String,
        /// The input.
        text: String,
    },
    /// Ends a run with its whole tree.
    Stop {
        /// Its key.
        run: String,
    },
    /// Answers a question.
    Answer {
        /// Its key.
        ask: String,
        /// The command may run.
        approved: bool,
        /// The person's words.
        #[serde(default)]
        reason: Option<String>,
    },
}

impl HostRequest {
    /// Returns whether only a client with control may ask for it.
    pub fn needs_control(&self) -> bool {
        matches!(self, Self::Input { .. } | Self::Stop { .. } | Self::Answer { .. })
    }
}

/// What kept a host from doing as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureCode {
    /// The versions of the protocol differ. The host closes.
    Protocol,
    /// The run or the question is there no more.
    Gone,
    /// The request is none, or makes no sense for this run.
    Invalid,
    /// Too much waits already.
    Busy,
    /// The client has no control.
    Refused,
}

/// A failure in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestFailure {
    pub code: FailureCode,
    /// What was wrong, and what to do.
    pub message: Cow<'static, str>,
}

impl RequestFailure {
    /// Makes a failure with these words.
    pub fn new(code: FailureCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The host, as it greets a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostGreeting {
    /// The version of the protocol.
    pub protocol: u32,
    /// The pid of the host.
    pub pid: u32,
    /// Its command line, shortened and without secrets.
    pub program: String,
    /// Its directory.
    pub cwd: String,
    /// Unix time of its start, ms.
    pub started_at: u64,
    /// The version of agent-bash.
    pub version: &'static str,
}

/// The output of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunOutputMessage {
    /// The key of the run.
    pub run: String,
    /// Bytes of the output before this text, those that were dropped included.
    pub at: u64,
    /// Clean text with colours and styles.
    pub text: String,
    /// Bytes that were dropped right before it, because the client was slow.
    pub gap: u64,
    /// Nothing follows.
    pub end: bool,
}

/// The screen of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScreenMessage {
    /// The key of the run.
    pub run: String,
    /// The number of rows.
    pub rows: u16,
    /// The number of columns.
    pub columns: u16,
    /// The rows from top to bottom, with colours and styles. Each begins without any.
    pub lines: Vec<String>,
    /// Row and column of the cursor, from 0.
    pub cursor: [u16; 2],
    /// The title that the program has set.
    pub title: String,
    /// The terminal has ended.
    pub end: bool,
}

/// The first part of the state, and what a change adds to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StateChange {
    /// Runs that are new or differ.
    pub runs: Vec<Arc<RunDescription>>,
    /// Runs that have ended. One that is also in `runs` has come and gone.
    pub ended: Vec<Arc<RunEndReport>>,
    /// Questions that are new.
    pub asks: Vec<Arc<ApprovalRequest>>,
    /// Questions that were answered or withdrawn.
    pub answered: Vec<String>,
    /// Pools that are new or have reported themselves.
    pub pools: Vec<Arc<PoolDescription>>,
    /// Pools that are gone.
    pub pools_gone: Vec<String>,
}

impl StateChange {
    /// Returns whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A message of a host.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HostMessage {
    /// The greeting.
    Hello(HostGreeting),
    /// Why the host closes.
    Error(RequestFailure),
    /// All of the state, or the first part of it.
    State {
        /// Runs that go on.
        runs: Vec<Arc<RunDescription>>,
        /// Questions that wait.
        asks: Vec<Arc<ApprovalRequest>>,
        /// Pools of targets.
        pools: Vec<Arc<PoolDescription>>,
    },
    /// What has changed since the last message.
    Change(StateChange),
    /// Output of a run.
    Output(RunOutputMessage),
    /// The screen of a terminal.
    Screen(ScreenMessage),
    /// The answer to a request.
    #[serde(untagged)]
    Reply(RequestReply),
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RequestReply {
    /// It was done.
    Done {
        /// The number of the request.
        re: u64,
        /// True.
        ok: bool,
    },
    /// It was not done.
    Failed {
        /// The number of the request.
        re: u64,
        /// Why.
        error: RequestFailure,
    },
}

impl RequestReply {
    /// Makes the answer to the request with this number.
    pub fn of(re: u64, result: Result<(), RequestFailure>) -> Self {
        match result {
            Ok(()) => Self::Done { re, ok: true },
            Err(error) => Self::Failed { re, error },
        }
    }
}

impl HostMessage {
    /// Returns the message as a line.
    pub fn to_line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

/// Reads a request with its number.
///
/// # Errors
/// The number, if it can be read, and the reason.
pub fn read_request(line: &[u8]) -> Result<(u64, HostRequest), (Option<u64>, RequestFailure)> {
    let invalid = |error: serde_json::Error| RequestFailure::new(FailureCode::Invalid, format!("no request: {error}"));
    let RequestNumber { id } = read_object(line).map_err(|error| (None, invalid(error)))?;
    let request = read_object(line).map_err(|error| (Some(id), invalid(error)))?;
    Ok((id, request))
}

/// Reads an object. Serde would take the values of its fields in an array, too.
///
/// # Errors
/// If the line is no JSON, another value, or an object of another kind.
pub fn read_object<'a, T: Deserialize<'a>>(line: &'a [u8]) -> serde_json::Result<T> {
    match line.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice(line),
        _ => Err(serde::de::Error::custom("a message is an object")),
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
