//! The thing at a path: a file, a directory, a link or nothing. Plain data, as a manifest keeps it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// A thing in the file system, or its absence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathState {
    /// Nothing.
    Absent,
    /// A regular file.
    File(FileState),
    /// A directory, without its entries.
    Directory(FileMeta),
    /// A symbolic link.
    Link {
        /// The text of the link.
        #[serde(with = "protocol::plan::bytes::path")]
        target: PathBuf,
        /// Metadata of the link. The mode means nothing.
        meta: FileMeta,
    },
    /// A named pipe, a socket or a device.
    Other {
        /// The type bits of its mode.
        kind: u32,
        /// The device that it stands for, or 0.
        device: u64,
        #[expect(missing_docs, reason = "as for the others")]
        meta: FileMeta,
    },
}

/// A regular file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    #[expect(missing_docs, reason = "as for the others")]
    pub meta: FileMeta,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of the contents.
    pub mtime: FileTime,
    /// Time of the last change of anything about the file.
    pub ctime: FileTime,
    /// Number of names.
    pub links: u64,
    /// Knowledge of the contents.
    pub contents: KnownContents,
}

/// The knowledge of a file's contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum KnownContents {
    /// Nothing was read or kept, as no change was about to happen. Size, time and identity distinguish the contents
    /// from others.
    Untouched,
    /// The hash of the contents.
    Hash(ContentHash),
    /// The store keeps the contents.
    Image(ImageId),
    /// The store should keep the contents, and does not.
    Nothing {
        /// The reason.
        why: String,
    },
    /// The run took the last name of the file away, and the contents were not read. A later file at the place is
    /// another file, even with the same inode, size and times.
    Removed,
}

/// The XXH3 hash of a file's contents, of 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ContentHash(pub u128);

/// The name of a kept file: the place of the run that has it, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ImageId {
    /// The number of a [`super::manifest::ManifestRecord::Place`]; 0 is the store itself.
    pub place: u16,
    /// Counted from 0 in each run.
    pub number: u64,
}

/// Owner, mode and attributes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMeta {
    /// The permission bits, and the bits for set-uid, set-gid and sticky.
    pub mode: u32,
    #[expect(missing_docs, reason = "the user")]
    pub uid: u32,
    #[expect(missing_docs, reason = "the group")]
    pub gid: u32,
    /// Identity of the existing thing.
    pub id: FileIdentity,
    /// Extended attributes, access lists among them, by name.
    pub xattrs: Vec<ExtendedAttribute>,
}

/// The identity of an existing thing. A later thing may have it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileIdentity {
    #[expect(missing_docs, reason = "the number of the file system")]
    pub device: u64,
    #[expect(missing_docs, reason = "the number of the inode")]
    pub inode: u64,
}

/// An extended attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExtendedAttribute {
    #[expect(missing_docs, reason = "its name")]
    pub name: OsString,
    #[expect(missing_docs, reason = "its value")]
    pub value: Vec<u8>,
}

/// A time of a file, since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileTime {
    #[expect(missing_docs, reason = "whole seconds")]
    pub seconds: i64,
    #[expect(missing_docs, reason = "the rest")]
    pub nanoseconds: i64,
}

/// The kind of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathKind {
    #[expect(missing_docs, reason = "a regular file")]
    File,
    #[expect(missing_docs, reason = "a directory")]
    Directory,
    /// A symbolic link.
    Link,
    /// A named pipe, a socket or a device.
    Other,
}

impl KnownContents {
    /// Returns whether `other` is better knowledge: an image, or the reason for a missing image, beats a hash, and a
    /// hash beats none.
    pub fn is_weaker(&self, other: &Self) -> bool {
        let rank = |contents: &Self| match contents {
            Self::Untouched => 0,
            Self::Hash(_) | Self::Removed => 1,
            Self::Image(_) | Self::Nothing { .. } => 2,
        };
        rank(self) < rank(other)
    }
}

/// The number of a user or a group that this process could not see: another than its own, in a confinement of an
/// ordinary user.
pub const UNSEEN: u32 = u32::MAX;

impl FileMeta {
    /// Returns whether mode, owner and attributes are equal, of whatever things.
    pub fn has_same_metadata(&self, other: &Self) -> bool {
        self.mode == other.mode && self.has_owner_of(other) && self.xattrs == other.xattrs
    }

    /// Returns whether the owners are equal, as far as they were seen.
    pub fn has_owner_of(&self, other: &Self) -> bool {
        let is_same = |one: u32, other: u32| one == other || one == UNSEEN || other == UNSEEN;
        is_same(self.uid, other.uid) && is_same(self.gid, other.gid)
    }
}

impl PathState {
    /// Returns the owner, mode and attributes, if anything exists.
    pub fn meta(&self) -> Option<&FileMeta> {
        match self {
            Self::Absent => None,
            Self::File(FileState { meta, .. })
            | Self::Directory(meta)
            | Self::Link { meta, .. }
            | Self::Other { meta, .. } => Some(meta),
        }
    }

    /// Returns the owner, mode and attributes for a change, if anything exists.
    pub fn meta_mut(&mut self) -> Option<&mut FileMeta> {
        match self {
            Self::Absent => None,
            Self::File(FileState { meta, .. })
            | Self::Directory(meta)
            | Self::Link { meta, .. }
            | Self::Other { meta, .. } => Some(meta),
        }
    }

    /// Returns the identity, if anything exists.
    pub fn id(&self) -> Option<FileIdentity> {
        self.meta().map(|meta| meta.id)
    }

    /// Returns the kind, if anything exists.
    pub fn kind(&self) -> Option<PathKind> {
        match self {
            Self::Absent => None,
            Self::File(_) => Some(PathKind::File),
            Self::Directory(_) => Some(PathKind::Directory),
            Self::Link { .. } => Some(PathKind::Link),
            Self::Other { .. } => Some(PathKind::Other),
        }
    }

    #[expect(missing_docs, reason = "whether there is nothing")]
    pub fn is_absent(&self) -> bool {
        *self == Self::Absent
    }

    #[expect(missing_docs, reason = "whether it is a directory")]
    pub fn is_directory(&self) -> bool {
        matches!(self, Self::Directory(_))
    }

    /// Returns whether this is a file with several names.
    pub fn has_several_names(&self) -> bool {
        matches!(self, Self::File(file) if file.links > 1)
    }

    /// Returns the file, if this is one.
    pub fn file(&self) -> Option<&FileState> {
        if let Self::File(file) = self { Some(file) } else { None }
    }

    /// Returns the size of a file, in bytes.
    pub fn size(&self) -> Option<u64> {
        self.file().map(|file| file.size)
    }

    /// Returns whether both are equal apart from the contents of files, which the caller compares if the sizes are
    /// equal.
    pub fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent, Self::Absent) => true,
            (Self::File(one), Self::File(two)) => one.size == two.size && one.meta.has_same_metadata(&two.meta),
            (Self::Directory(one), Self::Directory(two)) => one.has_same_metadata(two),
            (Self::Link { target: one, meta }, Self::Link { target: two, meta: other }) => {
                one == two && meta.has_owner_of(other)
            }
            (Self::Other { kind, device, meta }, Self::Other { kind: other, device: number, meta: second }) => {
                (kind, device) == (other, number) && meta.has_same_metadata(second)
            }
            _ => false,
        }
    }
}

impl FileState {
    /// Returns whether both are the same file with the same contents, by identity, size and time. A program can set the
    /// time back.
    pub fn is_unwritten(&self, other: &Self) -> bool {
        (self.meta.id, self.size, self.mtime) == (other.meta.id, other.size, other.mtime)
    }

    /// Returns whether `later`, the same file, has the same contents: by its time, or by their hashes.
    pub fn is_kept_as(&self, later: &Self) -> bool {
        let has_hash = || matches!(self.contents, KnownContents::Hash(_)) && self.contents == later.contents;
        self.is_unwritten(later) && !self.is_rewritten(later) || self.meta.id == later.meta.id && has_hash()
    }

    /// Returns whether nothing about the file has changed. No program can set the time of the last change back.
    pub fn is_untouched(&self, other: &Self) -> bool {
        self.is_unwritten(other) && self.ctime == other.ctime
    }

    /// Returns whether a comparison has found that a run has left other contents, whatever time the file has.
    pub fn is_rewritten(&self, left: &Self) -> bool {
        self.ctime != left.ctime
            && matches!((&self.contents, &left.contents), (KnownContents::Image(_), KnownContents::Hash(_)))
    }
}

impl FileTime {
    /// Returns the current time.
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// Returns the nanoseconds since 1970.
    pub fn as_nanoseconds(self) -> i64 {
        self.seconds.saturating_mul(1_000_000_000).saturating_add(self.nanoseconds)
    }

    /// Returns the time, in nanoseconds, by which the clock that dates files may lag behind.
    pub fn clock_lag() -> i64 {
        // A step of the clock more than is needed.
        2 * i64::try_from(sys::file_clock_step().as_nanos()).unwrap_or(0)
    }

    /// Returns whether the time may be in the same tick of the file clock as `now`.
    pub fn is_recent(self, now: Self) -> bool {
        self.as_nanoseconds().saturating_add(Self::clock_lag()) > now.as_nanoseconds()
    }
}

impl From<SystemTime> for FileTime {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanoseconds: since.subsec_nanos().into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_recent_for_two_steps_of_the_clock_that_dates_files() {
        let step = i64::try_from(sys::file_clock_step().as_nanos()).expect("a short time");
        assert!(step > 0);
        let time = |ago: i64| FileTime { seconds: 9, nanoseconds: 999_999_999 - ago };
        for (ago, is_recent) in [(-step, true), (0, true), (step, true), (2 * step - 1, true), (2 * step, false)] {
            assert_eq!(time(ago).is_recent(time(0)), is_recent, "{ago} ns of {step}");
        }
        let next = FileTime { seconds: 10, nanoseconds: 0 };
        assert!(time(0).is_recent(next));
    }
}
