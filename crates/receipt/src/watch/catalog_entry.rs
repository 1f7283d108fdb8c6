//! A file as a catalog knows it.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::SystemTime;

use crate::ChangedFileKind;
use crate::net::{self, ContentIdentity, ObservedFile};

/// The number of a directory in a catalog. It is never used again.
pub type DirectoryId = u64;

/// An entry of a directory.
pub type CatalogKey = (DirectoryId, OsString);

/// A file as it was last seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Node of the file, for the comparison.
    pub node: ObservedFile,
    /// The file itself, whatever its names are.
    pub inode: InodeIdentity,
    /// Time of the last write of the content.
    pub written: (i64, i64),
    /// Time of the last change of anything about the file.
    pub changed: (i64, i64),
    /// Number of names of the file.
    pub links: u64,
    /// The number of the directory, if the file is a watched directory.
    pub directory: Option<DirectoryId>,
}

/// A file, whatever its names are: its device, its inode number, and its creation time, since numbers are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InodeIdentity {
    device: u64,
    number: u64,
    /// The creation time. `None`: the file system does not report it.
    created: Option<SystemTime>,
}

impl InodeIdentity {
    /// Returns the inode of a file.
    pub fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), number: metadata.ino(), created: metadata.created().ok() }
    }

    /// Returns whether no other file can have an equal identity.
    pub fn is_unique(&self) -> bool {
        self.created.is_some()
    }
}

impl CatalogEntry {
    /// Reads a file. `version` becomes the version of its content. `None`: there is no file.
    pub fn read(path: &Path, version: u64) -> io::Result<Option<Self>> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if is_gone(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let attributes = match sys::attributes(path) {
            Ok(attributes) => attributes,
            Err(error) if is_gone(&error) => return Ok(None),
            // The attributes of an unreadable file cannot be changed by this user either, or not without its time.
            Err(_) => Vec::new(),
        };
        let kind = kind_of(&metadata);
        let contents = match kind {
            ChangedFileKind::Link => match fs::read_link(path) {
                Ok(target) => ContentIdentity::Hash(u128::from(hash(target.as_os_str().as_bytes()))),
                Err(_) => return Ok(None),
            },
            ChangedFileKind::Other => ContentIdentity::Hash(u128::from(metadata.rdev())),
            ChangedFileKind::File | ChangedFileKind::Directory => ContentIdentity::Version(version),
        };
        let metadata_of = net::ObservedMetadata {
            mode: metadata.mode(),
            uid: metadata.uid(),
            gid: metadata.gid(),
            attributes: if attributes.is_empty() { 0 } else { hash(&attributes).max(1) },
        };
        Ok(Some(Self {
            node: ObservedFile { kind, bytes: metadata.len(), metadata: metadata_of, contents },
            inode: InodeIdentity::of(&metadata),
            written: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            links: metadata.nlink(),
            directory: None,
        }))
    }

    /// Returns whether this is a regular file with several names.
    pub fn is_linked(&self) -> bool {
        self.node.kind == ChangedFileKind::File && self.links > 1
    }

    /// Returns whether this is a directory.
    pub fn is_directory(&self) -> bool {
        self.node.kind == ChangedFileKind::Directory
    }

    /// Keeps the version of the earlier entry, since the content is unchanged.
    pub fn keep_version(&mut self, before: &Self) {
        if matches!(self.node.contents, ContentIdentity::Version(_)) {
            self.node.contents = before.node.contents;
        }
    }
}

/// Returns whether an error means that the file does not exist.
pub fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn kind_of(metadata: &Metadata) -> ChangedFileKind {
    let kind = metadata.file_type();
    match kind {
        _ if kind.is_file() => ChangedFileKind::File,
        _ if kind.is_dir() => ChangedFileKind::Directory,
        _ if kind.is_symlink() => ChangedFileKind::Link,
        _ => {
            debug_assert!(kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device());
            ChangedFileKind::Other
        }
    }
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
