//! Why options cannot be run.

use super::number_option::{NotInRange, shown};
use super::safety_options::SafetyError;
use crate::drafts::DraftFault;
use crate::pattern::JsPatternError;
use confine_policy::PolicyError;
use protocol::plan::EnvironmentError;
use reduce::rules::RuleError;

/// An option has an impossible value, or a value that this system cannot honour.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The options are no JSON text of the contract.
    #[error("options: {0}")]
    Options(serde_json::Error),
    /// `safety` names an unknown rule, level or kind of wrapper.
    #[error(transparent)]
    Safety(#[from] SafetyError),
    /// The draft cannot be used.
    #[error(transparent)]
    Draft(#[from] DraftFault),
    /// The command holds a NUL.
    #[error("the command holds a NUL character, which no shell can be given")]
    NulInCommand,
    /// The command is too long.
    #[error("the command has {length} bytes; at most {} MiB can be run", most / (1024 * 1024))]
    CommandTooLong {
        /// Length of the command, bytes.
        length: usize,
        /// Length of the longest possible command, bytes.
        most: usize,
    },
    /// Another option holds a NUL.
    #[error("{option}: {value:?} holds a NUL character")]
    Nul {
        /// The option.
        option: &'static str,
        /// Value of the option.
        value: String,
    },
    /// A number has a fraction, or is too small or too large.
    #[error(transparent)]
    NotInRange(#[from] NotInRange),
    /// An option that another option needs was left out.
    #[error("{option} is missing")]
    Missing {
        /// The option.
        option: &'static str,
    },
    /// The two ends together are larger than the whole.
    #[error("truncate: headBytes {head_bytes} and tailBytes {tail_bytes} are more than maxBytes {max_bytes}")]
    EndsTooLarge {
        /// `truncate.headBytes`
        head_bytes: u64,
        /// `truncate.tailBytes`
        tail_bytes: u64,
        /// `truncate.maxBytes`
        max_bytes: u64,
    },
    /// A background command was given a terminal.
    #[error("a command in a terminal: a task has none")]
    TaskInTerminal,
    /// A command in a terminal was given standard input.
    #[error("a command in a terminal: what it reads is typed: use write instead of stdin")]
    StdinInTerminal,
    /// `limits.cpuSeconds` is 0, negative, infinite or not a number.
    #[error("limits.cpuSeconds: {} is not a number above 0", shown(*.0))]
    CpuSeconds(f64),
    /// Limits over a tree need a list of each process's children.
    #[error(
        "limits: cpuSeconds, memoryBytes and processes cannot be held here, where /proc does not list the children of a \
         process"
    )]
    TreeLimits,
    /// `checks` or `reuse.commands` has a rule that means nothing.
    #[error(transparent)]
    Checks(#[from] safety::decide::BadPermissionRule),
    /// `undo.dir` is relative, or holds a NUL.
    #[error("undo.dir: {0:?} is not the absolute path of a directory; give one, or leave it out")]
    UndoDir(String),
    /// An expression of `reduce.keep` cannot be read.
    #[error("reduce.keep: {}", .0.reason())]
    Keep(#[source] JsPatternError),
    /// A rule of `reduce.rules` cannot be used.
    #[error("reduce.rules: {0}")]
    Rules(#[source] RuleError),
    /// The options of the confinement are no valid policy.
    #[error(transparent)]
    Confine(#[from] PolicyError),
    /// `env` holds a name or value that no environment can hold.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}
