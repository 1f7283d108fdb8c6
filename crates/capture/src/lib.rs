//! Turns the bytes of a stream into its kept text: decodes, sanitizes, bounds and cuts the stream, and writes the rest
//! to a file. Synchronous, without tokio or napi, because helper processes use this crate, too.
//!
//! Runs in the host and in the shim of a task. Begin with `stream_capture.rs`.

mod capture_policy;
mod captured_stream;
mod cut_position;
mod escape_recognizer;
mod facts;
mod live_text;
mod output_cleaner;
mod overdrawn_line;
mod plain_text;
mod plain_text_scan;
mod spill_dir;
mod spill_file;
mod spill_writer;
mod stream_capture;
mod stream_window;
mod terminal_cells;
mod truncation_notice;
mod utf8_decoder;

#[cfg(test)]
mod tests;

pub use capture_policy::{
    HARD_KEEP, KeptStreamPart, KeptTextLimits, OutputStream, ProgressLineHandling, SanitizeRules, TruncationPolicy,
};
pub use captured_stream::{CapturedStream, StreamTruncation};
pub use cut_position::TruncationLimit;
pub use facts::facts;
pub use output_cleaner::{CleanTextSink, OutputCleaner};
pub use plain_text::keep_controls;
pub use spill_dir::{SpillDir, SpillError, open_private, private_parent};
pub use spill_file::SpillFile;
pub use stream_capture::{SNAPSHOT, StreamCapture};
pub use truncation_notice::{ShownRange, WholeStreamLocation, cut_notice};
