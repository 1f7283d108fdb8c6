//! The captured text of a stream.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::capture_policy::KeptStreamPart;
use super::cut_position::TruncationLimit;

/// A captured stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedStream {
    /// The kept text with its notice, if anything was cut.
    pub text: String,
    /// The whole stream if the text is a part of it, but all of it was still in memory.
    pub whole: Option<String>,
    /// `None` when the text is the whole stream.
    pub truncation: Option<StreamTruncation>,
    /// Number of lines of the sanitized stream, including an unfinished last line.
    pub total_lines: u64,
    /// Number of bytes of the sanitized stream.
    pub total_bytes: u64,
    /// Number of invalid UTF-8 sequences that became U+FFFD, and of dropped NULs. More than a few deserve a note.
    pub replaced: u64,
    /// Notes for the caller, such as a file that reached its limit.
    pub notes: Vec<String>,
}

/// How a stream was cut. The figures are of the sanitized stream without the notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamTruncation {
    /// The policy.
    pub keep: KeptStreamPart,
    /// The limit that made the cut.
    pub by: TruncationLimit,
    /// Number of lines of the stream, including an unfinished last line.
    pub total_lines: u64,
    /// Number of bytes of the stream.
    pub total_bytes: u64,
    /// Number of shown lines, including cut lines.
    pub output_lines: u64,
    /// Number of shown bytes.
    pub output_bytes: u64,
    /// First line shown, from 1; with `Ends` of the head part. It is `last_line + 1` when no character fits.
    pub first_line: u64,
    /// Last line shown; with `Ends` of the head part.
    pub last_line: u64,
    /// Whether the first (tail) or last (head) shown line is cut; with `Ends` either line beside the gap. A line that
    /// only lacks its newline is whole.
    pub partial_line: bool,
    /// The file with the whole stream, incomplete if `spill_error` is set; `None` without a file.
    pub path: Option<PathBuf>,
    /// The id that an artifact store gave the file.
    pub artifact_id: Option<String>,
    /// The reason why the file is incomplete or missing, at most 80 bytes. `None` if the file is whole or none was
    /// wanted.
    pub spill_error: Option<String>,
    /// The notice added to the text, its lines separated by newlines. '' if nothing was cut.
    pub notice: String,
}

impl StreamTruncation {
    /// The figures of an uncut stream, for a result that names a file in any case.
    pub fn nothing_cut(keep: KeptStreamPart, captured: &CapturedStream, path: Option<PathBuf>) -> Self {
        Self {
            keep,
            by: TruncationLimit::Bytes,
            total_lines: captured.total_lines,
            total_bytes: captured.total_bytes,
            output_lines: captured.total_lines,
            output_bytes: captured.total_bytes,
            first_line: 1,
            last_line: captured.total_lines,
            partial_line: false,
            path,
            artifact_id: None,
            spill_error: None,
            notice: String::new(),
        }
    }
}
