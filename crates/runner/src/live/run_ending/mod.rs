//! The end of a run as the host's socket sends it: the outcome, the denials and the changes. `ending_conversion.rs`
//! fills these types.

use serde::Serialize;

use confine_policy::CountedSecretUse;
use protocol::EndedBy;
use protocol::task::now_ms;
use receipt::ReceiptCounts;

mod ending_conversion;

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunEndReport {
    #[expect(missing_docs, reason = "see Run::key")]
    pub key: String,
    /// Unix time, ms.
    pub ended_at: u64,
    /// How it ended.
    #[serde(flatten)]
    pub end: RunEnding,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunEnding {
    #[expect(missing_docs, reason = "see its type")]
    pub state: ledger::LedgerRunState,
    /// The exit code, as in its result.
    pub exit_code: Option<i32>,
    /// The name of the signal that ended the shell.
    pub signal: Option<String>,
    /// The cause. `None`: the command exited, died of a signal from elsewhere, or goes on as a task.
    pub cause: Option<EndedBy>,
    /// The time limit, ms. If `cause` is [`EndedBy::Silence`], the limit on silence.
    pub limit_ms: Option<u64>,
    /// Time from the start to the exit of the shell, ms. `None`: nothing was started, or the time is unknown.
    pub duration_ms: Option<f64>,
    /// Resources that the command used. `None`: nothing was started, or the command goes on as a task.
    pub usage: Option<RunResourceUsage>,
    /// The path of the file with the whole output, or of the log of the task.
    pub output_path: Option<String>,
    /// The id of the task that the command or its survivors became.
    pub task_id: Option<String>,
    /// The denials.
    #[serde(flatten)]
    pub denied: RunDenials,
    /// The changes.
    #[serde(flatten)]
    pub changed: RunChanges,
}

/// Resources that a run used, as in `BashResult.usage`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunResourceUsage {
    /// CPU time in user mode, ms.
    pub user_ms: f64,
    /// CPU time in the kernel, ms.
    pub system_ms: f64,
    /// The largest resident size of one process, bytes.
    pub max_rss_bytes: u64,
}

/// The denials of a run, and the uses of its secrets.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RunDenials {
    /// The first denials, with equal attempts counted as one.
    pub denials: Vec<RunDenial>,
    /// Number of all denied attempts.
    pub denied: u64,
    /// The first uses of secrets.
    pub secrets: Vec<CountedSecretUse>,
}

/// Equal attempts that were denied, as in `BashResult.confinement`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunDenial {
    /// The public name of the kind.
    pub kind: &'static str,
    /// An absolute path, `host:port`, a name, or the name of a system call.
    pub target: String,
    /// The basename of the executable that made the attempts.
    pub program: String,
    /// Number of these attempts.
    pub count: u64,
    /// The smallest change of the options that would have allowed the attempts.
    pub grant: Option<ReportedGrant>,
}

/// A grant, as the options that it changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportedGrant {
    /// Paths that may be changed.
    Write([String; 1]),
    /// Hosts that may be reached.
    Network {
        /// Entries of `network.allow`.
        allow: [String; 1],
    },
    /// Ports that the host's loopback forwards to.
    Expose([u16; 1]),
}

/// The changes of a run. Without a receipt, all fields but `undo` are `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunChanges {
    /// Number of all changes of each kind.
    pub receipt: Option<ReceiptCounts>,
    /// Completeness of the receipt.
    pub receipt_state: Option<&'static str>,
    /// The reason why the receipt is not complete, as a sentence.
    pub receipt_why: Option<String>,
    /// The origin of the changes.
    pub attribution: Option<&'static str>,
    /// Changes of files.
    pub changes: Option<Vec<RunFileChange>>,
    /// Large ignored directories that changed. Their files are not listed.
    pub directories: Vec<String>,
    /// Repositories whose `.git` changed.
    pub git: Vec<RunGitChange>,
    /// The extent of an undo. `None`: the run cannot be undone.
    pub undo: Option<UndoExtent>,
}

/// A file or directory that was changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunFileChange {
    /// The kind of the change.
    pub kind: RunChangeKind,
    /// The absolute path after the run. Of a deleted file, the path before it.
    pub path: String,
    /// The path before a rename.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The type of the file. `None` for a rename: its receipt does not say.
    #[serde(rename = "type")]
    pub file: Option<&'static str>,
    /// The size after the run.
    pub bytes: Option<u64>,
    /// The size before the run.
    pub bytes_before: Option<u64>,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunChangeKind {
    /// The file is new.
    Created,
    /// The file has other contents, or another mode, owner or attribute.
    Modified,
    /// The file is gone.
    Deleted,
    /// The file has another path.
    Renamed,
}

/// The changes in a git repository, as in a receipt. Each pair has the values before and after the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunGitChange {
    /// The path of the work tree.
    pub repository: String,
    /// The id of the commit.
    pub head: [Option<String>; 2],
    /// The short name of the branch.
    pub branch: [Option<String>; 2],
    /// Whether the entries of the index changed.
    pub index: bool,
    /// Whether the stash changed.
    pub stash: bool,
    /// The operation under way after the run.
    pub state: Option<&'static str>,
}

/// The extent of the undo of a run, as in its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoExtent {
    /// `all` or `part`.
    pub covers: &'static str,
    /// Effects that no undo takes back, as sentences.
    pub not_covered: Vec<String>,
    /// Bytes kept for the undo.
    pub bytes: u64,
}

impl RunEnding {
    /// Returns an end of which only the state is known.
    pub fn with_state_only(state: ledger::LedgerRunState) -> Self {
        Self {
            state,
            exit_code: None,
            signal: None,
            cause: None,
            limit_ms: None,
            duration_ms: None,
            usage: None,
            output_path: None,
            task_id: None,
            denied: RunDenials::default(),
            changed: RunChanges::default(),
        }
    }

    /// Returns the end of the run with this key, dated now.
    pub fn into_report(self, key: String) -> RunEndReport {
        RunEndReport { key, ended_at: now_ms(), end: self }
    }
}
