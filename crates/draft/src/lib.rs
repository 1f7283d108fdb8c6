//! Drafts: commands run in a copy-on-write view of a directory, and their changes are committed or thrown away later.
//!
//! The world of a draft's commands mounts an overlay over each drafted directory, at its own path (`confine-world`).
//! The kernel writes all changes to directories of the draft. Everything else happens here, without any mount, and
//! reads what the overlay has left.
//!
//! | step | where |
//! |---|---|
//! | what the overlay leaves | `layer.rs` |
//! | the base when the draft first touched a path | `base_memory.rs` |
//! | where draft and base differ, and where both changed | `difference.rs` |
//! | what people see of it | `draft_effect.rs`, `draft_repositories.rs`, `patch.rs`; of one command `draft_moment.rs` |
//! | drafts on disk, and forks of them | `draft_store.rs`, `layer_room.rs`, `copy.rs` |
//! | files that both have changed | `merge.rs` |
//! | the changes move into the base, as a run that can be undone | `draft_commit.rs`, `commit.rs` |
//!
//! Runs in the host. Begin with `layer.rs`, then read `difference.rs`.

pub mod base_memory;
pub mod commit;
mod copy;
pub mod difference;
pub mod draft_commit;
pub mod draft_effect;
pub mod draft_error;
pub mod draft_moment;
pub mod draft_repositories;
pub mod draft_store;
pub mod layer;
mod layer_room;
mod merge;
pub mod patch;

#[cfg(all(test, target_os = "linux"))]
mod tests;
