//! A plan, and the tree that it is made for.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::path_state::{FileIdentity, PathState};

/// The tree as it is now. A trait, so that each rule of a plan is tested on trees of plain data.
pub trait CurrentTree {
    /// Returns the thing at a path. `None` if the system refuses to answer.
    fn read_state(&self, path: &Path) -> Option<PathState>;
    /// Returns whether the thing at a path, as `read_state` returned it, is the recorded thing. Contents count, times
    /// do not.
    fn is_recorded_state(&self, recorded: &PathState, path: &Path, now: &PathState) -> bool;
    /// Returns whether this is the recorded directory, or a directory that an undo has made again in its place.
    fn is_recorded_directory(&self, recorded: FileIdentity, now: &PathState) -> bool;
    /// Returns the recorded directory, and the directories that undos have made again in its place, oldest first.
    fn successors_of(&self, recorded: FileIdentity) -> Vec<FileIdentity>;
    /// Returns the names in a directory.
    fn entry_names(&self, directory: &Path) -> Vec<OsString>;
    /// Returns whether a killed undo was changing this thing.
    fn is_half_undone(&self, path: &Path, now: &PathState) -> bool;
}

/// The actions of an undo, in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoPlan {
    #[expect(missing_docs, reason = "the steps")]
    pub steps: Vec<UndoStep>,
    /// Things that stay.
    pub conflicts: Vec<PlannedConflict>,
    /// Ids of the things in the conflicts. The paths of the conflicts are paths after the steps.
    pub contested: HashSet<FileIdentity>,
    /// Directories that the run put in the place of removed directories, and that stay there: earlier id, and current
    /// id.
    pub remade_directories: Vec<(FileIdentity, FileIdentity)>,
    /// Things that have changed and were not kept: path and reason.
    pub lost: Vec<(PathBuf, String)>,
}

/// A step of an undo. Paths are paths at the time of the step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoStep {
    /// Removes a new thing of the run that is no directory.
    Remove {
        #[expect(missing_docs, reason = "where")]
        path: PathBuf,
        /// Where the thing was before the first step, for the report.
        shown: PathBuf,
        /// The state of the thing after the run.
        state_after_run: PathState,
    },
    /// Removes an empty directory that the run made.
    RemoveDirectory {
        #[expect(missing_docs, reason = "where")]
        path: PathBuf,
        /// Where the directory was before the first step, for the report.
        shown: PathBuf,
        /// The state of the directory after the run.
        state_after_run: PathState,
    },
    /// Renames a thing that the run moved: out of the way, or back.
    Move {
        #[expect(missing_docs, reason = "from where")]
        from: PathBuf,
        #[expect(missing_docs, reason = "to where")]
        to: PathBuf,
        #[expect(missing_docs, reason = "the thing")]
        id: FileIdentity,
        /// Whether the thing is at its original place then.
        is_final: bool,
        /// The file to replace, or nothing.
        replaced: PathState,
    },
    /// Makes a directory that the run removed.
    MakeDirectory {
        #[expect(missing_docs, reason = "where")]
        path: PathBuf,
        #[expect(missing_docs, reason = "how it was")]
        state_before: PathState,
    },
    /// Puts back a thing that is no directory.
    Restore {
        #[expect(missing_docs, reason = "where")]
        path: PathBuf,
        #[expect(missing_docs, reason = "how it was")]
        state_before: PathState,
        /// The thing to replace.
        state_now: PathState,
    },
    /// Sets mode, owner and attributes.
    SetMeta {
        #[expect(missing_docs, reason = "where")]
        path: PathBuf,
        #[expect(missing_docs, reason = "how it was")]
        state_before: PathState,
    },
}

impl UndoStep {
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
pub struct PlannedConflict {
    /// Path of the file, or its path before the run.
    pub path: PathBuf,
    /// The reason, as a sentence.
    pub why: String,
    /// State of the file before the run.
    pub state_before: PathState,
    /// The place at which the moved thing stays, if it does.
    pub stays_at: Option<PathBuf>,
    /// Where the earlier file is before the first step, if nothing keeps it and another thing comes back there.
    pub copy_from: Option<PathBuf>,
}

/// Returns the name under which a moved directory or file waits until its place is free.
pub fn waiting_name(id: FileIdentity) -> String {
    format!(".agent-bash-undo-{}-{}", id.device, id.inode)
}
