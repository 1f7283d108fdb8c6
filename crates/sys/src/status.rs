//! The status of the thing at a path.

/// The part of the status of a thing that tells it from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in stat(2)")]
pub struct PathStatus {
    pub device: u64,
    pub inode: u64,
    /// Type and permissions.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub links: u64,
    pub size: u64,
    /// The device that a device file stands for.
    pub stands_for: u64,
    /// Last change of the contents: seconds and nanoseconds.
    pub mtime: (i64, i64),
    /// Last change of anything about the file.
    pub ctime: (i64, i64),
}
