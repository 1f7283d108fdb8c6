//! The end of a run, as the host's socket tells it: how it ended, what was denied, and what it changed.
//!
//! Lists are cut so that an end fits into a message. What is too long for that is left out, and never cut: the numbers
//! beside the lists tell of it.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::shape::{cut, without_secrets};
use confine::{Denials, Grant};
use ledger::in_milliseconds;
use protocol::EndedBy;
use protocol::task::now_ms;
use receipt::recording::Coverage;
use receipt::{Completeness, Counts, Receipt};
use sys::Usage;

/// Most denials that are told, and most bytes of them in JSON.
const DENIALS: Room = Room { items: 20, bytes: 32 * 1024 };
/// Most changes that are told, and most bytes of them in JSON.
const CHANGES: Room = Room { items: 200, bytes: 64 * 1024 };
/// Most repositories, directories and sentences that are told, and most bytes of each of these lists in JSON.
const OTHERS: Room = Room { items: 32, bytes: 16 * 1024 };

/// Longest sentence, bytes.
const SENTENCE: usize = 1024;

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    #[expect(missing_docs, reason = "see Run::key")]
    pub key: String,
    /// Unix time, ms.
    pub ended_at: u64,
    /// Its end.
    #[serde(flatten)]
    pub end: Ending,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ending {
    #[expect(missing_docs, reason = "see its type")]
    pub state: ledger::State,
    /// The exit code, as in its result.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// What has ended it. `None`: it exited by itself or by a signal of its own, or goes on.
    pub cause: Option<EndedBy>,
    /// The time limit, ms. If `cause` is the silence, the longest silence.
    pub limit_ms: Option<u64>,
    /// Time to the exit of its shell, ms. `None`: nothing was started, or the time is not known.
    pub duration_ms: Option<f64>,
    /// What it has used.
    pub usage: Option<Used>,
    /// The file with the whole output, or the log of the task.
    pub output_path: Option<String>,
    /// The task that the command or its survivors have become.
    pub task_id: Option<String>,
    /// What was denied.
    #[serde(flatten)]
    pub denied: Denied,
    /// What it changed.
    #[serde(flatten)]
    pub changed: Changed,
}

/// Resources that a run used, as in `BashResult.usage`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Used {
    /// CPU time in user mode, ms.
    pub user_ms: f64,
    /// CPU time in the kernel, ms.
    pub system_ms: f64,
    /// The largest resident size of one process, bytes.
    pub max_rss_bytes: u64,
}

/// The denials of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Denied {
    /// The first of them, each once.
    pub denials: Vec<Denial>,
    /// Number of all attempts.
    pub denied: u64,
}

/// Equal attempts that were denied, as in `BashResult.confinement`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Denial {
    /// The name of its kind.
    pub kind: &'static str,
    /// An absolute path, `host:port`, a name, or the name of a system call.
    pub target: String,
    /// The basename of the executable that tried.
    pub program: String,
    /// Number of attempts.
    pub count: u64,
    /// The smallest change of the options that would allow it.
    pub grant: Option<GrantShape>,
}

/// A change of the options.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantShape {
    /// Paths that may be changed.
    Write([String; 1]),
    /// Hosts that may be reached.
    Network {
        /// The entries of the option.
        allow: [String; 1],
    },
    /// Ports that the host's loopback forwards to.
    Expose([u16; 1]),
}

/// What a run changed. Without a receipt all is `null` or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// The numbers of all changes.
    pub receipt: Option<Counts>,
    /// Completeness of the receipt.
    pub receipt_state: Option<&'static str>,
    /// Why it is not complete, in a sentence.
    pub receipt_why: Option<String>,
    /// The origin of the changes.
    pub attribution: Option<&'static str>,
    /// Changes of files.
    pub changes: Option<Vec<Change>>,
    /// Large ignored directories that changed and are not listed file by file.
    pub directories: Vec<String>,
    /// Repositories whose `.git` changed.
    pub git: Vec<GitChange>,
    /// The extent of an undo. `None`: the run cannot be undone.
    pub undo: Option<UndoExtent>,
}

/// A file or directory that was changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What was done with it.
    pub kind: Done,
    /// The absolute path: after the run, of a deleted file before it.
    pub path: String,
    /// The path before a rename.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What it is. `None` for a rename, whose receipt does not say.
    #[serde(rename = "type")]
    pub file: Option<&'static str>,
    /// The size after the run.
    pub bytes: Option<u64>,
    /// The size before the run.
    pub bytes_before: Option<u64>,
}

/// What was done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Done {
    /// It is new.
    Created,
    /// It has other contents, or another mode, owner or attribute.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another path.
    Renamed,
}

/// The changes in a git repository, as in a receipt. Each pair is the value before the run and after it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GitChange {
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
    /// Bytes that are kept for it.
    pub bytes: u64,
}

impl Ending {
    /// Returns an end of which nothing else is known.
    pub fn bare(state: ledger::State) -> Self {
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
            denied: Denied::default(),
            changed: Changed::default(),
        }
    }

    /// Returns the end of the run with this key, now.
    pub fn of(self, key: String) -> Ended {
        Ended { key, ended_at: now_ms(), end: self }
    }
}

impl From<Usage> for Used {
    fn from(Usage { user_us, system_us, max_rss }: Usage) -> Self {
        let ms = |us| in_milliseconds(Duration::from_micros(us));
        Self { user_ms: ms(user_us), system_ms: ms(system_us), max_rss_bytes: max_rss }
    }
}

impl From<&Denials> for Denied {
    fn from(denials: &Denials) -> Self {
        Self { denials: DENIALS.fill(denials.listed.iter().map(Denial::from)), denied: denials.total }
    }
}

impl From<&confine::Denial> for Denial {
    fn from(denial: &confine::Denial) -> Self {
        let confine::Denial { kind, target, program, count, grant } = denial;
        Self {
            kind: kind.name(),
            target: without_secrets(target),
            program: program.clone(),
            count: *count,
            grant: grant.as_ref().map(GrantShape::from),
        }
    }
}

impl From<&Grant> for GrantShape {
    fn from(grant: &Grant) -> Self {
        match grant {
            Grant::Write(path) => Self::Write([without_secrets(path)]),
            Grant::Host(entry) => Self::Network { allow: [without_secrets(entry)] },
            Grant::Expose(port) => Self::Expose([*port]),
        }
    }
}

impl Changed {
    /// Returns what a record tells.
    pub fn of(receipt: Option<&Receipt>, undo: Option<&Coverage>) -> Self {
        let undo = undo.map(UndoExtent::from);
        let Some(receipt) = receipt else { return Self { undo, ..Self::default() } };
        Self {
            receipt: Some(receipt.counts),
            receipt_state: Some(receipt.state.name()),
            receipt_why: receipt.why.as_deref().filter(|_| receipt.state != Completeness::Known).map(sentence),
            attribution: Some(receipt.attribution.name()),
            changes: Some(changes_of(receipt)),
            directories: OTHERS.fill(receipt.directories.iter().map(|path| text(path))),
            git: OTHERS.fill(receipt.git.iter().map(GitChange::from)),
            undo,
        }
    }
}

/// Returns the changes of a receipt. Of each kind a quarter has room, and more if others leave some.
fn changes_of(receipt: &Receipt) -> Vec<Change> {
    let of = |list: &[receipt::Change], kind| list.iter().map(|change| Change::of(kind, change)).collect::<Vec<_>>();
    let lists = [
        of(&receipt.created, Done::Created),
        of(&receipt.modified, Done::Modified),
        of(&receipt.deleted, Done::Deleted),
        receipt.renamed.iter().map(Change::from).collect(),
    ];
    let share = CHANGES.items / lists.len();
    let mut spare: usize = lists.iter().map(|list| share.saturating_sub(list.len())).sum();
    let mut shown = Vec::new();
    for list in lists {
        let more = list.len().saturating_sub(share).min(spare);
        spare -= more;
        shown.extend(list.into_iter().take(share + more));
    }
    CHANGES.fill(shown.into_iter())
}

impl Change {
    fn of(kind: Done, change: &receipt::Change) -> Self {
        let receipt::Change { path, bytes, bytes_before, kind: file } = change;
        let (file, bytes, bytes_before) = (Some(file.name()), *bytes, *bytes_before);
        Self { kind, path: text(path), from: None, file, bytes, bytes_before }
    }
}

impl From<&receipt::Rename> for Change {
    fn from(rename: &receipt::Rename) -> Self {
        let (path, from) = (text(&rename.to), Some(text(&rename.from)));
        Self { kind: Done::Renamed, path, from, file: None, bytes: None, bytes_before: None }
    }
}

impl From<&receipt::GitChange> for GitChange {
    fn from(change: &receipt::GitChange) -> Self {
        let receipt::GitChange { repository, head, branch, index, stash, state } = change;
        Self {
            repository: text(repository),
            head: head.clone(),
            branch: branch.clone(),
            index: *index,
            stash: *stash,
            state: state.map(receipt::GitState::name),
        }
    }
}

impl From<&Coverage> for UndoExtent {
    fn from(coverage: &Coverage) -> Self {
        let Coverage { all, not_covered, bytes } = coverage;
        let not_covered = OTHERS.fill(not_covered.iter().map(|what| sentence(what)));
        Self { covers: if *all { "all" } else { "part" }, not_covered, bytes: *bytes }
    }
}

fn text(path: &Path) -> String {
    without_secrets(&path.to_string_lossy())
}

/// Returns a sentence, which may name command lines.
fn sentence(what: &str) -> String {
    cut(without_secrets(what), SENTENCE)
}

/// The room of a list.
struct Room {
    items: usize,
    /// In JSON.
    bytes: usize,
}

impl Room {
    /// Returns the items that have room.
    fn fill<T: Serialize>(&self, items: impl Iterator<Item = T>) -> Vec<T> {
        let mut left = self.bytes;
        let fits = |item: &T| {
            let bytes = serde_json::to_vec(item).map_or(usize::MAX, |json| json.len() + 1);
            let fits = bytes <= left;
            left -= if fits { bytes } else { 0 };
            fits
        };
        items.filter(fits).take(self.items).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use confine::DenialKind;
    use receipt::{Attribution, Kind, Rename};

    fn changes(numbers: [usize; 4]) -> Receipt {
        let change = |at: usize| receipt::Change {
            path: PathBuf::from(format!("/{at}")),
            bytes: Some(1),
            bytes_before: None,
            kind: Kind::File,
        };
        let [created, modified, deleted, renamed] = numbers;
        let mut receipt = Receipt::new(Attribution::Command);
        receipt.created = (0..created).map(change).collect();
        receipt.modified = (0..modified).map(change).collect();
        receipt.deleted = (0..deleted).map(change).collect();
        receipt.renamed = (0..renamed).map(|at| Rename { from: format!("/{at}").into(), to: "/to".into() }).collect();
        receipt
    }

    #[test]
    fn each_kind_of_change_has_its_share_of_the_room() {
        for (numbers, expected) in [
            ([0, 0, 0, 0], [0, 0, 0, 0]),
            ([100, 100, 100, 100], [50, 50, 50, 50]),
            ([100, 0, 0, 0], [100, 0, 0, 0]),
            ([100, 100, 1, 0], [100, 99, 1, 0]),
            ([100, 100, 100, 0], [100, 50, 50, 0]),
            ([60, 60, 60, 10], [60, 60, 60, 10]),
        ] {
            let shown = Changed::of(Some(&changes(numbers)), None).changes.expect("a receipt");
            let kinds = [Done::Created, Done::Modified, Done::Deleted, Done::Renamed];
            assert_eq!(kinds.map(|kind| shown.iter().filter(|change| change.kind == kind).count()), expected);
        }
    }

    #[test]
    fn a_path_is_told_whole_or_not_at_all() {
        let mut receipt = changes([2, 0, 0, 0]);
        receipt.created[0].path = format!("/{}", "x".repeat(CHANGES.bytes)).into();
        let shown = Changed::of(Some(&receipt), None).changes.expect("a receipt");
        assert_eq!(shown.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["/1"]);
    }

    #[test]
    fn without_a_receipt_there_are_no_changes() {
        assert_eq!(Changed::of(None, None), Changed::default());
        let undo = Coverage { all: true, ..Coverage::default() };
        let changed = Changed::of(None, Some(&undo));
        assert_eq!((changed.changes, changed.undo.map(|undo| undo.covers)), (None, Some("all")));
    }

    #[test]
    fn more_denials_than_are_told_are_counted() {
        let mut denials = Denials::default();
        (0..60).for_each(|at| denials.add(DenialKind::Write, &format!("/{at}"), "tee", None));
        let denied = Denied::from(&denials);
        assert_eq!((denied.denials.len(), denied.denied), (DENIALS.items, 60));
    }

    #[test]
    fn no_secret_of_a_command_line_is_told() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let mut receipt = changes([1, 0, 0, 1]);
        let why = format!("processes may go on: 7 (curl -u joe:hunter2hunter2 https://x.example), 8 (x {secret})");
        receipt.lower(Completeness::Partial, why.clone());
        receipt.created[0].path = format!("/p/{secret}").into();
        receipt.renamed[0].from = format!("/p/{secret}").into();
        receipt.directories.push(format!("/p/{secret}").into());
        let undo = Coverage { not_covered: vec![why], ..Coverage::default() };
        let mut denials = Denials::default();
        let target = format!("/etc/{secret}");
        denials.add(DenialKind::Write, &target, "tee", Some(Grant::Write(target.clone())));
        let told = (Denied::from(&denials), Changed::of(Some(&receipt), Some(&undo)));
        let told = serde_json::to_string(&told).expect("JSON");
        assert!(!told.contains("hunter2") && !told.contains(secret), "{told}");
        assert!(told.contains("curl -u joe:") && told.contains("/etc/[redacted]"), "{told}");
    }
}
