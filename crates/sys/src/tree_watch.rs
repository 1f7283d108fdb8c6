//! The reports of a watch on a tree of directories.

use std::ffi::OsString;

/// A change in a watched directory, which the platform names by `W`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeReport<W> {
    /// The directory, or a file that is watched by itself. Has no meaning with [`TreeChange::Lost`].
    pub watch: W,
    /// The entry of the directory. Empty: the directory or the file itself.
    pub name: OsString,
    /// The change.
    pub change: TreeChange,
}

/// A sort of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeChange {
    /// The content was written or cut.
    Written,
    /// A descriptor that could write was closed. The content may have been written through memory.
    Closed,
    /// The mode, owner, times, attributes or the number of links were set.
    Attributes,
    /// An entry was created.
    Created,
    /// An entry was removed.
    Removed,
    /// An entry was renamed: its old name. The number pairs it with the new one.
    MovedFrom(u32),
    /// An entry was renamed: its new name.
    MovedTo(u32),
    /// The watched directory was renamed.
    MovedItself,
    /// The directory or file is not watched any more, since it is gone.
    Unwatched,
    /// More changes than the kernel remembers. The next ones may belong to directories that are not known.
    Lost,
}
