//! The shapes of an end, made from the denials, the receipt and the undo of a run.
//!
//! A list has as many items as have room in a message. An item that is too long is left out and never cut; the counts
//! beside the lists include it.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::super::run_description::{cut, without_secrets};
use super::{
    ReportedGrant, RunChangeKind, RunChanges, RunDenial, RunDenials, RunFileChange, RunGitChange, RunResourceUsage,
    UndoExtent,
};
use confine_policy::{CommandDenials, CountedSecretUse, SuggestedGrant};
use ledger::in_milliseconds;
use receipt::recording::RunUndoCoverage;
use receipt::{ReceiptCompleteness, RunReceipt};
use sys::ResourceUsage;

/// Room for denials.
const DENIALS: MessageListLimit = MessageListLimit { items: 20, bytes: 32 * 1024 };
/// Room for changes.
const CHANGES: MessageListLimit = MessageListLimit { items: 200, bytes: 64 * 1024 };
/// Room for each of the lists of repositories, directories and sentences.
const OTHERS: MessageListLimit = MessageListLimit { items: 32, bytes: 16 * 1024 };

/// Longest sentence, bytes.
const SENTENCE: usize = 1024;

impl From<ResourceUsage> for RunResourceUsage {
    fn from(ResourceUsage { user_us, system_us, max_rss }: ResourceUsage) -> Self {
        let ms = |us| in_milliseconds(Duration::from_micros(us));
        Self { user_ms: ms(user_us), system_ms: ms(system_us), max_rss_bytes: max_rss }
    }
}

impl From<&CommandDenials> for RunDenials {
    fn from(denials: &CommandDenials) -> Self {
        Self {
            denials: DENIALS.take_fitting(denials.listed.iter().map(RunDenial::from)),
            denied: denials.total,
            secrets: OTHERS.take_fitting(denials.secrets.0.iter().map(without_secret_path)),
        }
    }
}

/// Returns a use without the secrets that its path may hold.
fn without_secret_path(of: &CountedSecretUse) -> CountedSecretUse {
    CountedSecretUse { path: without_secrets(&of.path), ..of.clone() }
}

impl From<&confine_policy::DeniedOperation> for RunDenial {
    fn from(denial: &confine_policy::DeniedOperation) -> Self {
        let confine_policy::DeniedOperation { kind, target, program, count, grant } = denial;
        Self {
            kind: kind.name(),
            target: without_secrets(target),
            program: program.clone(),
            count: *count,
            grant: grant.as_ref().map(ReportedGrant::from),
        }
    }
}

impl From<&SuggestedGrant> for ReportedGrant {
    fn from(grant: &SuggestedGrant) -> Self {
        match grant {
            SuggestedGrant::Write(path) => Self::Write([without_secrets(path)]),
            SuggestedGrant::Host(entry) => Self::Network { allow: [without_secrets(entry)] },
            SuggestedGrant::Expose(port) => Self::Expose([*port]),
        }
    }
}

impl RunChanges {
    /// Returns the changes of a receipt, and the extent of an undo.
    pub fn from_receipt(receipt: Option<&RunReceipt>, undo: Option<&RunUndoCoverage>) -> Self {
        let undo = undo.map(UndoExtent::from);
        let Some(receipt) = receipt else { return Self { undo, ..Self::default() } };
        Self {
            receipt: Some(receipt.counts),
            receipt_state: Some(receipt.state.name()),
            receipt_why: receipt
                .why
                .as_deref()
                .filter(|_| receipt.state != ReceiptCompleteness::Known)
                .map(safe_sentence),
            attribution: Some(receipt.attribution.name()),
            changes: Some(changes_of(receipt)),
            directories: OTHERS.take_fitting(receipt.directories.iter().map(|path| path_text(path))),
            git: OTHERS.take_fitting(receipt.git.iter().map(RunGitChange::from)),
            undo,
        }
    }
}

/// Returns the changes of a receipt. Each kind has a quarter of the room, and more if other kinds need less.
fn changes_of(receipt: &RunReceipt) -> Vec<RunFileChange> {
    let of = |list: &[receipt::FileChange], kind| {
        list.iter().map(|change| RunFileChange::of(kind, change)).collect::<Vec<_>>()
    };
    let lists = [
        of(&receipt.created, RunChangeKind::Created),
        of(&receipt.modified, RunChangeKind::Modified),
        of(&receipt.deleted, RunChangeKind::Deleted),
        receipt.renamed.iter().map(RunFileChange::from).collect(),
    ];
    let share = CHANGES.items / lists.len();
    let mut spare: usize = lists.iter().map(|list| share.saturating_sub(list.len())).sum();
    let mut shown = Vec::new();
    for list in lists {
        let more = list.len().saturating_sub(share).min(spare);
        spare -= more;
        shown.extend(list.into_iter().take(share + more));
    }
    CHANGES.take_fitting(shown.into_iter())
}

impl RunFileChange {
    fn of(kind: RunChangeKind, change: &receipt::FileChange) -> Self {
        let receipt::FileChange { path, bytes, bytes_before, kind: file } = change;
        let (file, bytes, bytes_before) = (Some(file.name()), *bytes, *bytes_before);
        Self { kind, path: path_text(path), from: None, file, bytes, bytes_before }
    }
}

impl From<&receipt::FileRename> for RunFileChange {
    fn from(rename: &receipt::FileRename) -> Self {
        let (path, from) = (path_text(&rename.to), Some(path_text(&rename.from)));
        Self { kind: RunChangeKind::Renamed, path, from, file: None, bytes: None, bytes_before: None }
    }
}

impl From<&receipt::RepositoryChange> for RunGitChange {
    fn from(change: &receipt::RepositoryChange) -> Self {
        let receipt::RepositoryChange { repository, head, branch, index, stash, state } = change;
        Self {
            repository: path_text(repository),
            head: head.clone(),
            branch: branch.clone(),
            index: *index,
            stash: *stash,
            state: state.map(receipt::GitState::name),
        }
    }
}

impl From<&RunUndoCoverage> for UndoExtent {
    fn from(coverage: &RunUndoCoverage) -> Self {
        let RunUndoCoverage { all, not_covered, bytes } = coverage;
        let not_covered = OTHERS.take_fitting(not_covered.iter().map(|what| safe_sentence(what)));
        Self { covers: if *all { "all" } else { "part" }, not_covered, bytes: *bytes }
    }
}

fn path_text(path: &Path) -> String {
    without_secrets(&path.to_string_lossy())
}

/// Takes the secrets out of a sentence, which may quote command lines, and cuts it.
fn safe_sentence(what: &str) -> String {
    cut(without_secrets(what), SENTENCE)
}

/// The room for a list in a message.
struct MessageListLimit {
    /// Most items.
    items: usize,
    /// Most bytes in JSON.
    bytes: usize,
}

impl MessageListLimit {
    /// Returns the first items that have room.
    fn take_fitting<T: Serialize>(&self, items: impl Iterator<Item = T>) -> Vec<T> {
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
#[path = "convert_tests.rs"]
mod tests;
