//! A snapshot: the tree before a command whose changes cannot be recorded as it makes them.
//!
//! The contents of all files are copied into one file. After the command the tree is compared, and the changes become
//! an ordinary record, with the files it needs. The rest is removed. A snapshot knows nothing of other trees, and
//! cannot tell the command's changes from other changes.
//!
//! | part | where | what |
//! |---|---|---|
//! | tree | `snapshot_tree.rs` | the known entries of the tree, in memory and in a file |
//! | directory | `open_directory.rs` | an open directory, even if another takes its place |
//! | take | `tree_snapshot_taker.rs` | reads the tree before the command |
//! | compare | `tree_comparison.rs`, `arrived_things.rs`, `new_things.rs` | finds what changed |

mod arrived_things;
mod new_things;
mod open_directory;
mod snapshot_tree;
#[cfg(test)]
mod tests;
mod tree_comparison;
mod tree_snapshot_taker;

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::change_journal::ChangeJournal;
pub use snapshot_tree::TreeSnapshot;
use snapshot_tree::{PACK, SnapshotTree, TREE};

/// Time limit of a snapshot before a command.
pub const TIME: Duration = Duration::from_millis(300);

impl TreeSnapshot {
    /// Takes the snapshot of a tree, in the directory of its run's kept files, in the given time. Blocks. Files for
    /// which there is no time or no room are recorded as missing.
    ///
    /// # Errors
    /// If the root cannot be read, or the store cannot be written.
    pub fn take(journal: &mut ChangeJournal, root: &Path, time: Duration) -> io::Result<Self> {
        tree_snapshot_taker::take(journal, root, time)
    }

    /// Returns the snapshot of a run whose recorder was killed. `None`: there is none, or it was not complete.
    pub(crate) fn left(directory: &Path) -> Option<Self> {
        let tree = SnapshotTree::read(&directory.join(TREE))?;
        Some(Self { tree, pack: fs::File::open(directory.join(PACK)).ok()? })
    }

    /// Records the changes in the tree. Blocks.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn compare(self, journal: &mut ChangeJournal) -> io::Result<()> {
        let directory = journal.image_directory();
        tree_comparison::compare(journal, self)?;
        for name in [TREE, PACK] {
            // Files that stay are removed with the run at the latest.
            let _stays = fs::remove_file(directory.join(name));
        }
        // A directory with kept files is not empty, and stays.
        let _stays = fs::remove_dir(directory);
        Ok(())
    }
}
