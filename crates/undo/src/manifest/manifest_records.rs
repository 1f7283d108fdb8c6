//! The records of a manifest.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::directory_names::DirectoryNames;
use crate::path_state::{FileIdentity, KnownContents, PathState};
use protocol::task::MachineIdentity;

/// The format. A reader knows no other.
pub const VERSION: u32 = 1;

/// The run that a manifest is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestHeader {
    /// [`VERSION`]
    pub version: u32,
    /// The id of the run, unique for ever.
    pub run: String,
    /// The command as the caller gave it.
    pub command: String,
    /// Directory of the command.
    #[serde(with = "protocol::plan::bytes::path")]
    pub cwd: PathBuf,
    /// Start of the run, in ms since 1970.
    pub at: u64,
    /// The machine on which the command ran.
    #[serde(with = "json")]
    pub machine: MachineIdentity,
    /// The reason for the manifest.
    pub purpose: ManifestPurpose,
    /// The tree whose snapshot was compared after the run. Empty: each change was recorded.
    #[serde(with = "protocol::plan::bytes::path")]
    pub tree: PathBuf,
}

impl ManifestHeader {
    /// Returns whether a snapshot was taken, because the changes could not be recorded.
    pub fn is_snapshot(&self) -> bool {
        !self.tree.as_os_str().is_empty()
    }

    /// Returns a sentence on the changes that the undo always leaves.
    pub fn beyond(&self) -> Option<String> {
        let of = || format!("changes outside of {}, of which a snapshot was taken", self.tree.display());
        self.is_snapshot().then(of)
    }
}

/// Values with optional fields, which only a format with names can hold.
mod json {
    use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
    use serde::ser::{Error as _, Serialize, Serializer};

    /// Encodes the value as text.
    pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::to_string(value).map_err(S::Error::custom)?.serialize(serializer)
    }

    /// Decodes the value.
    pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        serde_json::from_str(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// The reason for a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ManifestPurpose {
    /// The run can be undone.
    Undo,
    /// Only a receipt is wanted. No contents are kept.
    Receipt,
    /// The run is itself the undo of this run.
    Undone(String),
}

/// An entry of a manifest. *Earlier* and *current* paths are defined at [`crate::directory_names::DirectoryNames`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ManifestRecord {
    /// The first entry.
    Header(ManifestHeader),
    /// A directory that keeps files of this run, on the mount that they came from. Number 0 is the store itself.
    Place {
        /// Number of the place, from 1.
        number: u16,
        /// The directory of this run in the place.
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
    },
    /// The thing at a path when the command first touched it.
    Before {
        /// Earlier path.
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
        /// The thing.
        state: PathState,
    },
    /// The contents of a file, kept later than its `Before`.
    Kept {
        /// Earlier path.
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
        /// The contents.
        contents: KnownContents,
    },
    /// A directory or a file is about to be renamed.
    Moving(RecordedRename),
    /// The rename has happened.
    Renamed(RecordedRename),
    /// A directory is about to be made where nothing is.
    Made {
        /// Current path.
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
    },
    /// A moved directory is removed.
    Gone {
        /// Current path.
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
    },
    /// An effect that an undo will not cover.
    Missing {
        /// The path, or the name of another effect.
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// An undo is about to change a thing in more than one step.
    Writing {
        /// Current path.
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
        /// The thing.
        id: FileIdentity,
    },
    /// The thing that the command left at a path.
    After {
        /// Current path.
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
        /// The thing.
        state: PathState,
    },
    /// The last entry.
    End(ManifestEnd),
    /// Another program made what is at a path, or changed it after the command.
    Others {
        /// Current path.
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
    },
}

/// A rename.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedRename {
    /// Current path before the rename.
    #[serde(with = "protocol::plan::bytes::path")]
    pub from: PathBuf,
    /// Current path after the rename.
    #[serde(with = "protocol::plan::bytes::path")]
    pub to: PathBuf,
    /// Id of the thing at `from`.
    pub id: FileIdentity,
    /// Whether the thing is a directory.
    pub directory: bool,
    /// For a swap: whether the thing that comes from `to` to `from` is a directory.
    pub swap: Option<bool>,
}

impl RecordedRename {
    /// Returns whether this rename moves a directory that an earlier rename would have moved. The earlier rename had
    /// not happened when this rename began, so it has failed. A later place of its directory does not prove that it
    /// happened.
    pub fn replaces(&self, earlier: &Self) -> bool {
        let moves = |path: &Path| earlier.from.starts_with(path);
        earlier.id == self.id || moves(&self.from) || self.swap.is_some() && moves(&self.to)
    }

    /// Applies the rename to the names of directories.
    pub fn apply(&self, names: &mut DirectoryNames) {
        let (from, to) = (&self.from, &self.to);
        match (self.directory, self.swap) {
            (true, Some(true)) => names.swap(from, to),
            (true, _) => names.rename(from, to),
            (false, Some(true)) => names.rename(to, from),
            (false, _) => {}
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEnd {
    /// When its effects were recorded, in ms since 1970.
    pub at: u64,
    /// Bytes of the kept files.
    pub bytes: u64,
    /// The changed files that an undo covers.
    pub extent: CoverageExtent,
    /// Effects that an undo does not cover, as sentences.
    pub not_covered: Vec<String>,
}

/// The changed files that an undo covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CoverageExtent {
    /// All files.
    #[default]
    All,
    /// Not the files that could not be kept or followed.
    Part,
    /// Perhaps without the changes of the very end: the recorder was killed.
    Guessed,
}
