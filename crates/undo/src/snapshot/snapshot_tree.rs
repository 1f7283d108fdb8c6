//! The tree of a snapshot, in memory and in a file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::manifest::{RecordFrames, encode};
use crate::path_state::{FileTime, PathState};
use crate::run_images::PLACE;

/// The file of the tree, beside the manifest.
pub const TREE: &str = "tree";
/// The file with the contents of files.
pub const PACK: &str = "pack";

/// A tree before a command.
#[derive(Debug)]
pub struct TreeSnapshot {
    pub(super) tree: SnapshotTree,
    /// The contents of its files.
    pub(super) pack: File,
}

/// The known entries of a tree.
#[derive(Debug, PartialEq, Eq)]
pub struct SnapshotTree {
    /// Path of the root.
    pub root: PathBuf,
    /// State of the root.
    pub state: PathState,
    /// When reading began.
    pub began: FileTime,
    /// The directories that were read.
    pub directories: BTreeMap<PathBuf, DirectoryListing>,
}

/// The entries of a directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DirectoryListing {
    /// The entries that were read.
    pub entries: BTreeMap<OsString, SnapshotEntry>,
    /// Whether these are all entries.
    pub is_whole: bool,
}

/// An earlier thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotEntry {
    /// The thing. A file that is kept by another name has an image.
    pub state: PathState,
    /// The place of a file's contents in the pack.
    pub at: Option<u64>,
}

/// A part of the tree's file.
#[derive(Serialize, Deserialize)]
enum SnapshotRecord {
    Root {
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
        state: PathState,
        began: FileTime,
    },
    Directory {
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
        is_whole: bool,
    },
    /// An entry of the last directory.
    Entry {
        #[serde(with = "protocol::plan::bytes::path")]
        name: PathBuf,
        state: PathState,
        at: Option<u64>,
    },
    /// The last part.
    End,
}

impl SnapshotTree {
    /// Writes the file.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(File::options().write(true).create_new(true).mode(0o600).open(path)?);
        let mut buffer = Vec::new();
        let mut write = |part: SnapshotRecord| -> io::Result<()> {
            encode(&part, &mut buffer)?;
            file.write_all(&buffer)
        };
        write(SnapshotRecord::Root { path: self.root.clone(), state: self.state.clone(), began: self.began })?;
        for (path, listing) in &self.directories {
            write(SnapshotRecord::Directory { path: path.clone(), is_whole: listing.is_whole })?;
            for (name, SnapshotEntry { state, at }) in &listing.entries {
                write(SnapshotRecord::Entry { name: name.into(), state: state.clone(), at: *at })?;
            }
        }
        write(SnapshotRecord::End)?;
        file.flush()
    }

    /// Reads the file. `None`: it is not complete.
    pub fn read(path: &Path) -> Option<Self> {
        let mut parts = RecordFrames::new(BufReader::new(File::open(path).ok()?));
        let SnapshotRecord::Root { path: root, state, began } = parts.next_one()? else { return None };
        let mut tree = Self { root, state, began, directories: BTreeMap::new() };
        let mut directory = (PathBuf::new(), DirectoryListing::default());
        loop {
            match parts.next_one()? {
                SnapshotRecord::Root { .. } => return None,
                SnapshotRecord::Entry { name, state, at } => {
                    directory.1.entries.insert(name.into_os_string(), SnapshotEntry { state, at });
                }
                next => {
                    let (path, listing) = directory;
                    if !path.as_os_str().is_empty() {
                        tree.directories.insert(path, listing);
                    }
                    let SnapshotRecord::Directory { path, is_whole } = next else { return Some(tree) };
                    directory = (path, DirectoryListing { is_whole, ..DirectoryListing::default() });
                }
            }
        }
    }

    /// Returns whether a directory with this name is usually large and reproducible. Such directories are read last.
    pub fn is_large(name: &OsStr) -> bool {
        const LARGE: [&str; 9] =
            ["node_modules", "target", ".venv", "venv", "dist", "build", ".next", ".cache", "__pycache__"];
        LARGE.iter().any(|large| name == *large)
    }
}

/// Returns whether a path belongs to a store.
pub fn belongs_to_store(path: &Path, store: &Path) -> bool {
    let is_place = |name: &OsStr| name.as_encoded_bytes().starts_with(PLACE.as_bytes());
    path.starts_with(store) || path.file_name().is_some_and(is_place)
}
