//! The manifest of a run: the state of each path before the command and after it. One file that is only appended to.
//!
//! Each record has its length and a checksum, so that readers recognise the torn end of a killed writer. The first
//! record is the [`ManifestHeader`].

mod manifest_reader;
mod manifest_records;
mod manifest_writer;
mod record_frames;
mod run_manifest;

pub use manifest_reader::{ManifestReadError, read, read_header};
pub use manifest_records::{
    CoverageExtent, ManifestEnd, ManifestHeader, ManifestPurpose, ManifestRecord, RecordedRename, VERSION,
};
pub use manifest_writer::ManifestWriter;
pub use record_frames::{RecordFrames, encode};
pub use run_manifest::{RETENTION, RunManifest};

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
