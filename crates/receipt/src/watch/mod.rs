//! Follows the changes in a tree of directories while a command runs, as the system reports them. The command itself is
//! left alone.
//!
//! | part | where | what |
//! |---|---|---|
//! | [`WatchedTrees`] | `watched_trees.rs` | the trees of a host, and the threads that follow them |
//! | tree | `followed_tree.rs` | one tree: the catalog, the marks and the windows |
//! | events | `tree_events.rs` | the immediate effect of a report |
//! | settle | `report_reading.rs` | reads the files that were reported |
//! | places | `catalog_moves.rs` | directories and entries that come, go and move |
//! | window | `change_window.rs` | the changes since one command began |
//! | [`ChangedFiles`] | `changed_files.rs` | the changed files that git does not ignore |
//! | names | `hard_link_names.rs` | files with several names |
//! | repositories | `tree_repositories.rs`, `repository_refresh.rs` | changes in git |
//!
//! While commands run, only reports change the catalog. Files are read when a command begins or ends, because a path
//! may name another file by the time it is read. Every change of the catalog is reported to the windows before it is
//! made. So a window leads from the catalog at its beginning to the catalog at its end, and both match the disk.
//!
//! Not seen: changes deep in directories that are summed up, and changes of a file by a name that it has only during
//! the command, or that it was given outside of the tree during the command.
//!
//! A tree is watched from the first command in it on. Its watches are added first and its files are read second, in a
//! thread of its own. That command waits 25 ms for it. If the tree is larger, its receipt is unknown.

mod catalog_entry;
mod changed_files;
mod hard_links;
mod tree_catalog;
mod tree_events;
mod unread_reports;
mod watch_failure;
mod watch_limits;
mod watched_trees;

mod catalog_moves;
mod change_window;
mod followed_tree;
mod hard_link_names;
mod ignore_rules;
mod report_reading;
mod repository_refresh;
#[cfg(test)]
mod tests;
mod tree_repositories;

pub use changed_files::ChangedFiles;
pub use watch_failure::TreeWatchFailure;
pub use watched_trees::{ReceiptToken, TreeMark, WatchedTrees};

/// The entry of a work tree that leads to its repository.
const GIT: &str = ".git";
