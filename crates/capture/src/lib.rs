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

pub use captured::{CapturedStream, StreamTruncation};
pub use collect::{SNAPSHOT, StreamCapture};
pub use facts::facts;
pub use notice::{ShownRange, WholeStreamLocation, cut_notice};
pub use plain::keep_controls;
pub use policy::{
    HARD_KEEP, KeptStreamPart, KeptTextLimits, OutputStream, ProgressLineHandling, SanitizeRules, TruncationPolicy,
};
pub use sanitize::{CleanTextSink, OutputCleaner};
pub use spill::SpillFile;
pub use spill_dir::{SpillDir, SpillError, open_private, private_parent, remove_expired};
pub use truncate::TruncationLimit;
