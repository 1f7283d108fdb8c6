//! The manifest of a run: the state of each path before the command and after it. One file that is only appended to.
//!
//! Each record has its length and a checksum, so that readers recognise the torn end of a killed writer. The first
//! record is the [`Header`].

mod frames;
mod point;
mod read;
mod types;
mod write;

pub use frames::{RecordFrames, encode};
pub use point::{RETENTION, RunManifest};
pub use read::{ManifestReadError, read, read_header};
pub use types::{
    CoverageExtent, ManifestEnd, ManifestHeader, ManifestPurpose, ManifestRecord, RecordedRename, VERSION,
};
pub use write::ManifestWriter;

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
