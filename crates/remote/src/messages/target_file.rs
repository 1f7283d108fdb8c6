//! Questions about files, and their answers.

use serde::{Deserialize, Serialize};

use reduce::recall::RecallSelection;

/// Longest file that is read, bytes.
pub const MAX_READ: usize = 64 * 1024 * 1024;
/// Most entries of a directory that are listed.
pub const MAX_ENTRIES: usize = 500_000;

/// What a host asks of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetFileRequest {
    /// Its content, as parts. Then [`TargetFileResponse::Done`].
    Read,
    /// Replace it by so many bytes, which follow as parts. Then [`TargetFileResponse::Done`].
    Write {
        /// The length of the new content.
        bytes: u64,
        /// The mode of a new file. `None`: that of any new file.
        mode: Option<u32>,
    },
    /// What it is. Answered by [`TargetFileResponse::Stat`].
    Stat,
    /// The entries of a directory, as parts. Each one has a `Vec` of [`TargetDirectoryEntry`]. Then
    /// [`TargetFileResponse::Done`].
    List,
    /// Remove it, a directory with all that is in it if this is set. Answered by [`TargetFileResponse::Done`].
    Remove(bool),
    /// Lines of a whole output, as one part. Then [`TargetFileResponse::Done`].
    Recall {
        /// Whether it has bytes as a program wrote them.
        is_raw: bool,
        /// The lines.
        wanted: RecallSelection,
    },
}

/// The answer about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetFileResponse {
    /// It is done.
    Done,
    /// There is no such file.
    Missing,
    /// What the file is.
    Stat(FileStat),
}

/// What a file is. A link is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStat {
    /// The kind.
    pub kind: TargetFileKind,
    /// The length.
    pub bytes: u64,
    /// The bits of its permissions.
    pub mode: u32,
    /// The time of the last change of its content, ms since 1970.
    pub modified_ms: i64,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetFileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Other,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetDirectoryEntry {
    /// Its name. Bytes that are no text are replaced.
    pub name: String,
    /// Its kind.
    pub kind: TargetFileKind,
}
