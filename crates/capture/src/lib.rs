//! Turns the bytes of a stream into its kept text: decodes, sanitizes, bounds and cuts the stream, and writes the rest
//! to a file. Synchronous, without tokio or napi, because helper processes use this crate, too.
//!
//! Runs in the host and in the shim of a task. Begin with `collect.rs`.

mod captured;
mod cells;
mod collect;
mod decode;
mod escape;
mod facts;
mod line;
mod live;
mod notice;
mod plain;
mod policy;
mod sanitize;
mod scan;
mod spill;
mod spill_dir;
mod truncate;
mod window;
mod writer;

#[cfg(test)]
mod tests;

pub use captured::{Captured, Truncation};
pub use collect::{Capture, SNAPSHOT};
pub use facts::facts;
pub use notice::{Shown, Whereabouts, cut_notice};
pub use plain::keep_controls;
pub use policy::{HARD_KEEP, Keep, Limits, Progress, Sanitize, Stream, Truncate};
pub use sanitize::{Cleaner, Sink};
pub use spill::SpillFile;
pub use spill_dir::{SpillDir, SpillError, open_private, private_parent, sweep};
pub use truncate::By;
