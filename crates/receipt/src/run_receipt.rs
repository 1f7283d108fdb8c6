//! A receipt: the changes that were made while a command ran.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use protocol::plan::bytes;

/// The most changes that each list of a receipt holds. Further changes are only counted.
pub const MAX_LISTED_CHANGES: usize = 100;

/// Completeness of a receipt, from best to worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ReceiptCompleteness {
    /// The receipt has every change.
    #[default]
    Known,
    /// Changes may be missing, or equal files listed as modified. `Receipt::why` says which.
    Partial,
    /// Any change may be missing.
    Unknown,
}

impl ReceiptCompleteness {
    /// Returns the name that results use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Partial => "partial",
            Self::Unknown => "unknown",
        }
    }
}

/// The origin of the changes in a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChangeAttribution {
    /// The command's own processes.
    Command,
    /// Any process that made changes while the command ran.
    Window,
}

impl ChangeAttribution {
    /// Returns the name that results use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Window => "window",
        }
    }
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChangedFileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a socket or a named pipe.
    Other,
}

impl ChangedFileKind {
    /// Returns the name that results use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link => "link",
            Self::Other => "other",
        }
    }
}

/// A file that was created, modified or deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The absolute path: before the command for a deleted file, after it for all others.
    #[serde(with = "bytes::path")]
    pub path: PathBuf,
    /// The size after the command. `None`: the file has no size, or was deleted.
    pub bytes: Option<u64>,
    /// The size before the command. `None`: the file had no size, or was created.
    pub bytes_before: Option<u64>,
    /// The kind: before the command for a deleted file, after it for all others.
    pub kind: ChangedFileKind,
}

/// A file or directory whose path has changed. The contents of a renamed directory are not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRename {
    /// The absolute path before the command.
    #[serde(with = "bytes::path")]
    pub from: PathBuf,
    /// The absolute path after the command.
    #[serde(with = "bytes::path")]
    pub to: PathBuf,
}

/// The numbers of all changes, including unlisted changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptCounts {
    /// Created files and directories.
    pub created: u64,
    /// Modified files and directories.
    pub modified: u64,
    /// Deleted files and directories.
    pub deleted: u64,
    /// Renamed files and directories.
    pub renamed: u64,
}

impl ReceiptCounts {
    /// Returns whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A TCP port at which a server listens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ListeningPort {
    /// The number.
    pub port: u16,
    /// The address of the listening socket. An unspecified address stands for every address of the host.
    pub address: String,
    /// The process that holds the socket. `None`: it was not found.
    pub pid: Option<i32>,
}

/// Ports that differ after a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortDifference {
    /// Ports with a server now and without a server before.
    pub opened: Vec<ListeningPort>,
    /// Ports without a server now and with a server before.
    pub closed: Vec<ListeningPort>,
}

/// The changes that a command made in a git repository. Each pair is a value before and after the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryChange {
    /// The top of the work tree.
    #[serde(with = "bytes::path")]
    pub repository: PathBuf,
    /// The id of the commit. `None`: there is no commit.
    pub head: [Option<String>; 2],
    /// The short name of the branch. `None`: HEAD is detached.
    pub branch: [Option<String>; 2],
    /// Whether the entries of the index changed. A refresh of the entries' times is no change.
    pub index: bool,
    /// Whether the stash changed.
    pub stash: bool,
    /// The operation under way after the command.
    pub state: Option<GitState>,
}

/// An operation of git that waits for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GitState {
    /// `git merge`
    Merge,
    /// `git rebase` or `git am`
    Rebase,
    /// `git cherry-pick`
    CherryPick,
    /// `git revert`
    Revert,
    /// `git bisect`
    Bisect,
}

impl GitState {
    /// Returns the name that results use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
        }
    }
}

/// The changes made while a command ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReceipt {
    /// Completeness of the receipt.
    pub state: ReceiptCompleteness,
    /// Why the receipt is not [`ReceiptCompleteness::Known`], in a sentence. `None` if it is.
    pub why: Option<String>,
    /// The origin of the changes.
    pub attribution: ChangeAttribution,
    /// The first [`MAX_LISTED_CHANGES`] created files, by path.
    pub created: Vec<FileChange>,
    /// The first [`MAX_LISTED_CHANGES`] files with other content, mode, owner or attributes, by path.
    pub modified: Vec<FileChange>,
    /// The first [`MAX_LISTED_CHANGES`] deleted files, by path.
    pub deleted: Vec<FileChange>,
    /// The first [`MAX_LISTED_CHANGES`] renamed files, by their new path.
    pub renamed: Vec<FileRename>,
    /// The numbers of all changes.
    pub counts: ReceiptCounts,
    /// Large ignored directories that changed and are not listed file by file.
    #[serde(with = "bytes::paths")]
    pub directories: Vec<PathBuf>,
    /// Ports that were opened and closed.
    pub ports: PortDifference,
    /// Repositories whose `.git` changed.
    pub git: Vec<RepositoryChange>,
}

impl RunReceipt {
    /// Returns a receipt that lists nothing.
    #[must_use]
    pub fn new(attribution: ChangeAttribution) -> Self {
        Self {
            state: ReceiptCompleteness::Known,
            why: None,
            attribution,
            created: Vec::new(),
            modified: Vec::new(),
            deleted: Vec::new(),
            renamed: Vec::new(),
            counts: ReceiptCounts::default(),
            directories: Vec::new(),
            ports: PortDifference::default(),
            git: Vec::new(),
        }
    }

    /// Lowers the state, with the reason. The first reason of the worst state stays.
    pub fn lower(&mut self, state: ReceiptCompleteness, why: impl Into<String>) {
        if state > self.state {
            self.state = state;
            self.why = Some(why.into());
        }
    }

    /// Returns whether the receipt reports no change of any kind.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let ports = self.ports.opened.is_empty() && self.ports.closed.is_empty();
        self.counts.is_empty() && self.directories.is_empty() && ports && self.git.is_empty()
    }

    /// Returns all paths that the receipt lists.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let changes = self.created.iter().chain(&self.modified).chain(&self.deleted).map(|change| &*change.path);
        changes.chain(self.renamed.iter().flat_map(|rename| [&*rename.from, &*rename.to]))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_receipt_crosses_between_processes_with_every_byte_of_its_paths() {
        let path = PathBuf::from(OsString::from_vec(b"/tmp/\xff\n".to_vec()));
        let change = FileChange { path: path.clone(), bytes: Some(1), bytes_before: None, kind: ChangedFileKind::File };
        let mut receipt = RunReceipt::new(ChangeAttribution::Command);
        receipt.created.push(change);
        receipt.renamed.push(FileRename { from: path.clone(), to: "/b".into() });
        receipt.directories.push(path.clone());
        let bytes = postcard::to_allocvec(&receipt).expect("bytes");
        assert_eq!(postcard::from_bytes::<RunReceipt>(&bytes).expect("a receipt"), receipt);
        assert_eq!(receipt.paths().collect::<Vec<_>>(), [&*path, &*path, Path::new("/b")]);
    }

    #[test]
    fn the_first_reason_of_the_worst_state_stays() {
        let mut receipt = RunReceipt::new(ChangeAttribution::Window);
        assert!(receipt.is_empty());
        for (state, why) in [
            (ReceiptCompleteness::Partial, "one"),
            (ReceiptCompleteness::Partial, "two"),
            (ReceiptCompleteness::Unknown, "three"),
        ] {
            receipt.lower(state, why);
        }
        receipt.lower(ReceiptCompleteness::Partial, "four");
        assert_eq!((receipt.state, receipt.why.as_deref()), (ReceiptCompleteness::Unknown, Some("three")));
    }
}
