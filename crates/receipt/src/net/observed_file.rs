//! The file that a path names at one moment.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::ChangedFileKind;
use undo::path_state::{ExtendedAttribute, FileMeta, PathState};

/// A file of any kind at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedFile {
    /// Kind of the file.
    pub kind: ChangedFileKind,
    /// Size in bytes. Only sizes of files and links count.
    pub bytes: u64,
    /// Mode, owner and attributes.
    pub metadata: ObservedMetadata,
    /// Content of the file. Directories are not compared by content: their entries have paths of their own.
    pub contents: ContentIdentity,
}

/// The permissions, owner and attributes of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ObservedMetadata {
    /// The permissions. Bits of the kind do not count.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// A hash of the extended attributes. 0: the file has none.
    pub attributes: u64,
}

/// The identity of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentIdentity {
    /// A hash of the bytes of a file, or of the target of a link: equal if and only if they are.
    Hash(u128),
    /// A number that stays while the content does. After a change it differs, even if the bytes are equal: each write
    /// and each replacement gives a new version. Equal versions are equal contents. A file with different versions and
    /// equal sizes is listed, and the receipt is partial.
    Version(u64),
    /// The content was not read.
    Unread,
}

/// The result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileComparison {
    Equal,
    Different,
    /// The contents may or may not be equal.
    Unsure,
}

impl ObservedFile {
    /// Returns a file of any kind as a receipt compares it. `contents` are the contents of a regular file.
    #[must_use]
    pub fn of(state: &PathState, contents: ContentIdentity) -> Option<Self> {
        let metadata = |meta: &FileMeta| ObservedMetadata {
            mode: meta.mode,
            uid: meta.uid,
            gid: meta.gid,
            attributes: hash(&meta.xattrs),
        };
        Some(match state {
            PathState::Absent => return None,
            PathState::File(file) => {
                Self { kind: ChangedFileKind::File, bytes: file.size, metadata: metadata(&file.meta), contents }
            }
            PathState::Directory(meta) => Self {
                kind: ChangedFileKind::Directory,
                bytes: 0,
                metadata: metadata(meta),
                contents: ContentIdentity::Unread,
            },
            PathState::Link { target, meta } => Self {
                kind: ChangedFileKind::Link,
                bytes: target.as_os_str().len() as u64,
                metadata: ObservedMetadata { uid: meta.uid, gid: meta.gid, ..ObservedMetadata::default() },
                contents: ContentIdentity::Hash(twox_hash::XxHash3_128::oneshot(target.as_os_str().as_encoded_bytes())),
            },
            PathState::Other { kind, device, meta } => Self {
                kind: ChangedFileKind::Other,
                bytes: 0,
                metadata: metadata(meta),
                contents: ContentIdentity::Hash(u128::from(*kind) << 64 | u128::from(*device)),
            },
        })
    }

    /// Returns the size that a receipt shows.
    pub(super) fn receipt_size(&self) -> Option<u64> {
        matches!(self.kind, ChangedFileKind::File | ChangedFileKind::Link).then_some(self.bytes)
    }

    /// Compares a file with its earlier state. Both have the same kind.
    pub(super) fn compare(&self, before: &Self) -> FileComparison {
        let permissions = |metadata: ObservedMetadata| ObservedMetadata { mode: metadata.mode & 0o7777, ..metadata };
        if permissions(self.metadata) != permissions(before.metadata) {
            return FileComparison::Different;
        }
        if self.kind == ChangedFileKind::Directory {
            return FileComparison::Equal;
        }
        if self.bytes != before.bytes {
            return FileComparison::Different;
        }
        match (self.contents, before.contents) {
            (ContentIdentity::Hash(now), ContentIdentity::Hash(then)) if now != then => FileComparison::Different,
            (ContentIdentity::Hash(_), ContentIdentity::Hash(_)) => FileComparison::Equal,
            (ContentIdentity::Version(now), ContentIdentity::Version(then)) if now == then => FileComparison::Equal,
            _ => FileComparison::Unsure,
        }
    }
}

/// Returns a hash of attributes, or 0 without attributes.
fn hash(attributes: &[ExtendedAttribute]) -> u64 {
    if attributes.is_empty() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    for attribute in attributes {
        (&attribute.name, &attribute.value).hash(&mut hasher);
    }
    hasher.finish()
}
