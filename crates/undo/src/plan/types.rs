//! A plan, and the tree that it is made for.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::node::{FileId, Node};

/// The current tree.
pub trait Now {
    /// Returns the thing at a path. `None` if the system refuses to answer.
    fn look(&self, path: &Path) -> Option<Node>;
    /// Returns whether the thing at a path, as `look` returned it, is the recorded thing. Contents count, times do not.
    fn is_same(&self, recorded: &Node, path: &Path, now: &Node) -> bool;
    /// Returns whether this is the recorded directory, or a directory that an undo has made again in its place.
    fn is_directory(&self, recorded: FileId, now: &Node) -> bool;
    /// Returns the recorded directory, and the directories that undos have made again in its place, oldest first.
    fn again(&self, recorded: FileId) -> Vec<FileId>;
    /// Returns the names in a directory.
    fn entries(&self, directory: &Path) -> Vec<OsString>;
    /// Returns whether a killed undo was changing this thing.
    fn is_half_done(&self, path: &Path, now: &Node) -> bool;
}

/// The actions of an undo, in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    #[expect(missing_docs, reason = "the steps")]
    pub steps: Vec<Step>,
    /// Things that stay.
    pub conflicts: Vec<Conflict>,
    /// Ids of the things in the conflicts. The paths of the conflicts are paths after the steps.
    pub contested: HashSet<FileId>,
    /// Directories that the run put in the place of removed directories, and that stay there: earlier id, and current
    /// id.
    pub again: Vec<(FileId, FileId)>,
    /// Things that have changed and were not kept: path and reason.
    pub lost: Vec<(PathBuf, String)>,
}

/// A step of an undo. Paths are paths at the time of the step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Removes a new thing of the run that is no directory.
    Remove {
        #[expect(missing_docs, reason = "where")]
        path: PathBuf,
        /// Where the thing was before the first step, for the report.
        shown: PathBuf,
        /// The state of the thing after the run.
        now: Node,
    },
    /// Removes an empty directory that the run made.
    RemoveDirectory {
        #[expect(missing_docs, reason = "where")]
        path: PathBuf,
        /// Where the directory was before the first step, for the report.
        shown: PathBuf,
        /// The state of the directory after the run.
        now: Node,
    },
    /// Renames a thing that the run moved: out of the way, or back.
    Move {
        #[expect(missing_docs, reason = "from where")]
        from: PathBuf,
        #[expect(missing_docs, reason = "to where")]
        to: PathBuf,
        #[expect(missing_docs, reason = "the thing")]
        id: FileId,
        /// Whether the thing is at its original place then.
        home: bool,
        /// The file to replace, or nothing.
        over: Node,
    },
    /// Makes a directory that the run removed.
    MakeDirectory {
        #[expect(missing_docs, reason = "where")]
        path: PathBuf,
        #[expect(missing_docs, reason = "how it was")]
        before: Node,
    },
    /// Puts back a thing that is no directory.
    Restore {
        #[expect(missing_docs, reason = "where")]
        path: PathBuf,
        #[expect(missing_docs, reason = "how it was")]
        before: Node,
        /// The thing to replace.
        now: Node,
    },
    /// Sets mode, owner and attributes.
    SetMeta {
        #[expect(missing_docs, reason = "where")]
        path: PathBuf,
        #[expect(missing_docs, reason = "how it was")]
        before: Node,
    },
}

impl Step {
    /// Returns the path that the step changes.
    pub fn path(&self) -> &Path {
        match self {
            Self::Remove { path, .. } | Self::RemoveDirectory { path, .. } | Self::MakeDirectory { path, .. } => path,
            Self::Restore { path, .. } | Self::SetMeta { path, .. } | Self::Move { to: path, .. } => path,
        }
    }
}

/// A thing that stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Path of the file, or its path before the run.
    pub path: PathBuf,
    /// The reason, as a sentence.
    pub why: String,
    /// State of the file before the run.
    pub before: Node,
    /// The place at which the moved thing stays, if it does.
    pub stays: Option<PathBuf>,
    /// Where the earlier file is before the first step, if nothing keeps it and another thing comes back there.
    pub found: Option<PathBuf>,
}

/// Returns the name under which a moved directory or file waits until its place is free.
pub fn waiting_name(id: FileId) -> String {
    format!(".agent-bash-undo-{}-{}", id.device, id.inode)
}
