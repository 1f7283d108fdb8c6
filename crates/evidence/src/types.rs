//! The result, in the terms of the public API.

use serde::Serialize;

/// How the command itself ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The exit code. `None` after a signal, and if it is not known.
    pub code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// Whether it ended by itself: no limit, no abort.
    pub by_itself: bool,
}

/// What a command proved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The verdict.
    pub verdict: Verdict,
    /// Why the verdict is not `passed`, in a sentence.
    pub why: Option<String>,
    /// How much `parts` knows.
    pub state: State,
    /// The parts in the order of their start: at most 50, failed ones are kept first.
    pub parts: Vec<Part>,
    /// The number of all parts.
    pub parts_total: usize,
    /// Failures that the exit code does not show: at most 20.
    pub masked: Vec<Masked>,
}

/// What a command proved as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Each part ended well.
    Passed,
    /// A failure, which the exit code may hide.
    Failed,
    /// Neither is known.
    Unproven,
}

/// How much is known of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// Every process that the shell waited for has its place.
    Known,
    /// Some are missing, or a failure has no certain place.
    Partial,
    /// The shell could not be watched.
    Unknown,
}

/// A part of a command that ran as a process of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// The source, at most 200 characters.
    pub command: String,
    /// The place in the command, in UTF-16 units. `None` for a part from elsewhere.
    pub span: Option<(usize, usize)>,
    /// The exit code. `None` after a signal, and if it is not known.
    pub exit_code: Option<i32>,
    /// The name of the signal that ended it.
    pub signal: Option<String>,
    /// How often the part ended like this.
    pub times: usize,
}

/// A failure that the exit code does not show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Masked {
    /// The part.
    #[serde(flatten)]
    pub part: Part,
    /// What hides it.
    pub by: By,
    /// The source of what ran in its place.
    pub behind: Option<String>,
}

/// What hides a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum By {
    /// A later element of its pipeline.
    Pipe,
    /// The right side of `||`.
    Or,
    /// Something ran after it.
    Sequence,
    /// `&`
    Background,
    /// `$(…)`, backquotes, `<(…)`
    Substitution,
}
