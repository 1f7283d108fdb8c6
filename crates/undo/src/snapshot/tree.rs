//! The tree of a snapshot, in memory and in a file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::images::PLACE;
use crate::manifest::{Frames, encode};
use crate::node::{Node, Time};

/// The file of the tree, beside the manifest.
pub const TREE: &str = "tree";
/// The file with the contents of files.
pub const PACK: &str = "pack";

/// A tree before a command.
#[derive(Debug)]
pub struct Snapshot {
    pub(super) tree: Tree,
    /// The contents of its files.
    pub(super) pack: File,
}

/// The known entries of a tree.
#[derive(Debug, PartialEq, Eq)]
pub struct Tree {
    /// Path of the root.
    pub root: PathBuf,
    /// State of the root.
    pub node: Node,
    /// When reading began.
    pub began: Time,
    /// The directories that were read.
    pub directories: BTreeMap<PathBuf, Listing>,
}

/// The entries of a directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The entries that were read.
    pub entries: BTreeMap<OsString, Entry>,
    /// Whether these are all entries.
    pub is_whole: bool,
}

/// An earlier thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The thing. A file that is kept by another name has an image.
    pub node: Node,
    /// The place of a file's contents in the pack.
    pub at: Option<u64>,
}

/// A part of the tree's file.
#[derive(Serialize, Deserialize)]
enum Part {
    Root {
        #[serde(with = "protocol::plan::bytes::path")]
        path: PathBuf,
        node: Node,
        began: Time,
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
        node: Node,
        at: Option<u64>,
    },
    /// The last part.
    End,
}

impl Tree {
    /// Writes the file.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(File::options().write(true).create_new(true).mode(0o600).open(path)?);
        let mut buffer = Vec::new();
        let mut write = |part: Part| -> io::Result<()> {
            encode(&part, &mut buffer)?;
            file.write_all(&buffer)
        };
        write(Part::Root { path: self.root.clone(), node: self.node.clone(), began: self.began })?;
        for (path, listing) in &self.directories {
            write(Part::Directory { path: path.clone(), is_whole: listing.is_whole })?;
            for (name, Entry { node, at }) in &listing.entries {
                write(Part::Entry { name: name.into(), node: node.clone(), at: *at })?;
            }
        }
        write(Part::End)?;
        file.flush()
    }

    /// Reads the file. `None`: it is not complete.
    pub fn read(path: &Path) -> Option<Self> {
        let mut parts = Frames::new(BufReader::new(File::open(path).ok()?));
        let Part::Root { path: root, node, began } = parts.next_one()? else { return None };
        let mut tree = Self { root, node, began, directories: BTreeMap::new() };
        let mut directory = (PathBuf::new(), Listing::default());
        loop {
            match parts.next_one()? {
                Part::Root { .. } => return None,
                Part::Entry { name, node, at } => {
                    directory.1.entries.insert(name.into_os_string(), Entry { node, at });
                }
                next => {
                    let (path, listing) = directory;
                    if !path.as_os_str().is_empty() {
                        tree.directories.insert(path, listing);
                    }
                    let Part::Directory { path, is_whole } = next else { return Some(tree) };
                    directory = (path, Listing { is_whole, ..Listing::default() });
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
pub fn is_own(path: &Path, store: &Path) -> bool {
    let is_place = |name: &OsStr| name.as_encoded_bytes().starts_with(PLACE.as_bytes());
    path.starts_with(store) || path.file_name().is_some_and(is_place)
}
