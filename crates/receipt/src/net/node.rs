//! The file that a path names at one moment.

use crate::Kind;

/// A file of any kind at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Kind of the file.
    pub kind: Kind,
    /// Size in bytes. Only sizes of files and links count.
    pub bytes: u64,
    /// Mode, owner and attributes.
    pub metadata: Metadata,
    /// Content of the file. Directories are not compared by content: their entries have paths of their own.
    pub contents: Contents,
}

/// The permissions, owner and attributes of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Metadata {
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
pub enum Contents {
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
pub(super) enum Comparison {
    Equal,
    Different,
    /// The contents may or may not be equal.
    Unsure,
}

impl Node {
    /// Returns the size that a receipt shows.
    pub(super) fn shown(&self) -> Option<u64> {
        matches!(self.kind, Kind::File | Kind::Link).then_some(self.bytes)
    }

    /// Compares a file with its earlier state. Both have the same kind.
    pub(super) fn compare(&self, before: &Self) -> Comparison {
        let permissions = |metadata: Metadata| Metadata { mode: metadata.mode & 0o7777, ..metadata };
        if permissions(self.metadata) != permissions(before.metadata) {
            return Comparison::Different;
        }
        if self.kind == Kind::Directory {
            return Comparison::Equal;
        }
        if self.bytes != before.bytes {
            return Comparison::Different;
        }
        match (self.contents, before.contents) {
            (Contents::Hash(now), Contents::Hash(then)) if now != then => Comparison::Different,
            (Contents::Hash(_), Contents::Hash(_)) => Comparison::Equal,
            (Contents::Version(now), Contents::Version(then)) if now == then => Comparison::Equal,
            _ => Comparison::Unsure,
        }
    }
}
