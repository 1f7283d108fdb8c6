//! The net effect of a run, computed from the earlier files, the renames and the present files.
//!
//! [`ChangeReplay`] receives the steps in order: the file at a path before its first change, renames and removals. It
//! follows each file to its present path. [`ChangeReplay::effect`] then compares. Nothing here reads a file or a clock.

mod change_replay;
mod net_effect;
mod observed_file;
#[cfg(test)]
mod tests;

pub use change_replay::ChangeReplay;
pub use net_effect::{NetEffect, PathListing};
pub use observed_file::{ContentIdentity, ObservedFile, ObservedMetadata};
