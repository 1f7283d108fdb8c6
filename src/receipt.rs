//! Receipts and what an undo covers, as parts of results.

use std::path::Path;

use napi_derive::napi;
use serde::Serialize;

use receipt::recording;

/// The changes made while a command ran: the net effect.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Clone, Serialize)]
pub struct Receipt {
    /// Completeness of the receipt: `'known'` lists every change, with `'partial'` some changes may be missing or
    /// listed without a difference, with `'unknown'` any change may be missing.
    #[napi(ts_type = "'known' | 'partial' | 'unknown'")]
    pub state: String,
    /// Why the state is not `'known'`, as a sentence; `null` if it is.
    pub why: Option<String>,
    /// The origin of the changes: `'command'` the command's own processes, `'window'` any process that made changes
    /// while the command ran.
    #[napi(ts_type = "'command' | 'window'")]
    pub attribution: String,
    /// Files and directories that exist now and did not exist before, by path, at most 100.
    pub created: Vec<Change>,
    /// Files with other contents, and files and directories with another mode, owner or attributes, at most 100.
    pub modified: Vec<Change>,
    /// Files and directories that existed before and are gone, at most 100.
    pub deleted: Vec<Change>,
    /// Files and directories that have another path now, at most 100. The contents of a directory are not listed.
    pub renamed: Vec<Rename>,
    /// Numbers of all changes, including those that are not listed.
    pub counts: ChangeCounts,
    /// Absolute paths of large ignored directories that changed and are not listed file by file.
    pub directories: Vec<String>,
    /// TCP ports with a server that came or went.
    pub ports: PortChanges,
    /// Repositories below whose `.git` anything changed.
    pub git: Vec<GitChange>,
}

/// A file or directory that was created, modified or deleted.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Absolute path: of a deleted file before the command, of other files after it. Invalid UTF-8 shows as U+FFFD.
    pub path: String,
    /// Size after the command; `null` if the file was deleted, and for a kind without a size.
    pub bytes: Option<f64>,
    /// Size before the command; `null` if the file was created, and for a kind without a size.
    pub bytes_before: Option<f64>,
    /// The kind; `'other'` is a device, a socket or a named pipe.
    #[napi(ts_type = "'file' | 'directory' | 'link' | 'other'")]
    pub kind: String,
}

/// A file or directory that has another path.
#[napi(object, object_from_js = false)]
#[derive(Clone, Serialize)]
pub struct Rename {
    /// The absolute path before the command.
    pub from: String,
    /// The absolute path after the command.
    pub to: String,
}

/// Numbers of changes.
#[napi(object, object_from_js = false)]
#[derive(Clone, Serialize)]
pub struct ChangeCounts {
    /// Of `created`.
    pub created: f64,
    /// Of `modified`.
    pub modified: f64,
    /// Of `deleted`.
    pub deleted: f64,
    /// Of `renamed`.
    pub renamed: f64,
}

/// Ports that differ after a command.
#[napi(object, object_from_js = false)]
#[derive(Clone, Serialize)]
pub struct PortChanges {
    /// Ports with a server now, and without a server before.
    pub opened: Vec<Port>,
    /// Ports without a server now, and with a server before.
    pub closed: Vec<Port>,
}

/// A TCP port at which a server listens.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Clone, Serialize)]
pub struct Port {
    /// 1 to 65,535.
    pub port: u16,
    /// The address of the socket; `'0.0.0.0'` and `'::'` stand for every address of this machine.
    pub address: String,
    /// The process that holds the socket, or `null` if it was not found.
    pub pid: Option<i32>,
}

/// The changes that a command made in a git repository. Each pair is the value before the command and after it.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Clone, Serialize)]
pub struct GitChange {
    /// The absolute path of the repository's work tree.
    pub repository: String,
    /// The id of the commit, `null` if there is none.
    #[napi(ts_type = "[string | null, string | null]")]
    pub head: Vec<Option<String>>,
    /// The short name of the branch, `null` if HEAD is detached.
    #[napi(ts_type = "[string | null, string | null]")]
    pub branch: Vec<Option<String>>,
    /// Whether the entries of the index changed.
    pub index: bool,
    /// Whether the stash changed.
    pub stash: bool,
    /// The operation that waits for the user after the command, or `null`.
    #[napi(ts_type = "'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect' | null")]
    pub state: Option<String>,
}

/// The extent of the undo of a command.
#[napi(object, object_from_js = false)]
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoCoverage {
    /// Whether all changed files are covered.
    #[napi(ts_type = "'all' | 'part'")]
    pub covers: String,
    /// Effects that no undo takes back, as sentences. At most 100 paths are named, and the others are counted.
    pub not_covered: Vec<String>,
    /// Bytes that are kept for the undo. A file that is kept by another name counts as 0.
    pub bytes: f64,
}

/// Returns a path as JavaScript reads it.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles; exact up to 2^53")]
fn number(value: u64) -> f64 {
    value as f64
}

impl From<receipt::RunReceipt> for Receipt {
    fn from(receipt: receipt::RunReceipt) -> Self {
        let changes = |list: Vec<receipt::FileChange>| list.into_iter().map(Change::from).collect();
        let ports = |list: Vec<receipt::ListeningPort>| list.into_iter().map(Port::from).collect();
        Self {
            state: receipt.state.name().to_owned(),
            why: receipt.why,
            attribution: receipt.attribution.name().to_owned(),
            created: changes(receipt.created),
            modified: changes(receipt.modified),
            deleted: changes(receipt.deleted),
            renamed: receipt.renamed.iter().map(Rename::from).collect(),
            counts: receipt.counts.into(),
            directories: receipt.directories.iter().map(|path| text(path)).collect(),
            ports: PortChanges { opened: ports(receipt.ports.opened), closed: ports(receipt.ports.closed) },
            git: receipt.git.into_iter().map(GitChange::from).collect(),
        }
    }
}

impl From<receipt::ReceiptCounts> for ChangeCounts {
    fn from(counts: receipt::ReceiptCounts) -> Self {
        Self {
            created: number(counts.created),
            modified: number(counts.modified),
            deleted: number(counts.deleted),
            renamed: number(counts.renamed),
        }
    }
}

impl From<receipt::FileChange> for Change {
    fn from(change: receipt::FileChange) -> Self {
        Self {
            path: text(&change.path),
            bytes: change.bytes.map(number),
            bytes_before: change.bytes_before.map(number),
            kind: change.kind.name().to_owned(),
        }
    }
}

impl From<&receipt::FileRename> for Rename {
    fn from(rename: &receipt::FileRename) -> Self {
        Self { from: text(&rename.from), to: text(&rename.to) }
    }
}

impl From<receipt::ListeningPort> for Port {
    fn from(receipt::ListeningPort { port, address, pid }: receipt::ListeningPort) -> Self {
        Self { port, address, pid }
    }
}

impl From<receipt::RepositoryChange> for GitChange {
    fn from(change: receipt::RepositoryChange) -> Self {
        Self {
            repository: text(&change.repository),
            head: change.head.into(),
            branch: change.branch.into(),
            index: change.index,
            stash: change.stash,
            state: change.state.map(|state| state.name().to_owned()),
        }
    }
}

impl From<recording::RunUndoCoverage> for UndoCoverage {
    fn from(coverage: recording::RunUndoCoverage) -> Self {
        Self {
            covers: if coverage.all { "all" } else { "part" }.to_owned(),
            not_covered: coverage.not_covered,
            bytes: number(coverage.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;
    use receipt::{ChangeAttribution, ChangedFileKind, GitState, ReceiptCompleteness};

    #[test]
    fn a_receipt_crosses_as_the_contract_has_it() {
        let path = PathBuf::from(OsString::from_vec(b"/p/\xff".to_vec()));
        let change = |bytes, bytes_before, kind| receipt::FileChange { path: path.clone(), bytes, bytes_before, kind };
        let mut receipt = receipt::RunReceipt::new(ChangeAttribution::Window);
        receipt.lower(ReceiptCompleteness::Partial, "why");
        receipt.created =
            vec![change(Some(1), None, ChangedFileKind::File), change(None, None, ChangedFileKind::Directory)];
        receipt.modified = vec![change(Some(1), Some(2), ChangedFileKind::Link)];
        receipt.deleted = vec![change(None, None, ChangedFileKind::Other)];
        receipt.renamed = vec![receipt::FileRename { from: "/a".into(), to: "/b".into() }];
        receipt.counts = receipt::ReceiptCounts { created: 2, modified: 1, deleted: 1, renamed: 1 };
        receipt.directories = vec!["/p/dist".into()];
        receipt.ports.opened = vec![receipt::ListeningPort { port: 3000, address: "::1".into(), pid: None }];
        receipt.git = vec![receipt::RepositoryChange {
            repository: "/p".into(),
            head: [None, Some("abc".into())],
            branch: [Some("main".into()), None],
            index: true,
            stash: false,
            state: Some(GitState::CherryPick),
        }];
        let expected = json!({
            "state": "partial",
            "why": "why",
            "attribution": "window",
            "created": [
                { "path": "/p/\u{fffd}", "bytes": 1.0, "bytesBefore": null, "kind": "file" },
                { "path": "/p/\u{fffd}", "bytes": null, "bytesBefore": null, "kind": "directory" },
            ],
            "modified": [{ "path": "/p/\u{fffd}", "bytes": 1.0, "bytesBefore": 2.0, "kind": "link" }],
            "deleted": [{ "path": "/p/\u{fffd}", "bytes": null, "bytesBefore": null, "kind": "other" }],
            "renamed": [{ "from": "/a", "to": "/b" }],
            "counts": { "created": 2.0, "modified": 1.0, "deleted": 1.0, "renamed": 1.0 },
            "directories": ["/p/dist"],
            "ports": { "opened": [{ "port": 3000, "address": "::1", "pid": null }], "closed": [] },
            "git": [{
                "repository": "/p",
                "head": [null, "abc"],
                "branch": ["main", null],
                "index": true,
                "stash": false,
                "state": "cherry-pick",
            }],
        });
        assert_eq!(serde_json::to_value(Receipt::from(receipt)).expect("JSON"), expected);
        let coverage = recording::RunUndoCoverage { all: false, not_covered: vec!["a push".into()], bytes: 7 };
        let expected = json!({ "covers": "part", "notCovered": ["a push"], "bytes": 7.0 });
        assert_eq!(serde_json::to_value(UndoCoverage::from(coverage)).expect("JSON"), expected);
    }
}
