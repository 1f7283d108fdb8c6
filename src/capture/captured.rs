//! What is left of a stream at its end.

use std::path::PathBuf;

use super::truncate::By;

/// A captured stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The kept text with its notice, if anything was cut.
    pub text: String,
    /// `None` when the text is the whole stream.
    pub truncation: Option<Truncation>,
    /// Lines of the sanitized stream, an unfinished last one included.
    pub total_lines: u64,
    /// Bytes of the sanitized stream.
    pub total_bytes: u64,
    /// Invalid UTF-8 sequences that became U+FFFD, and NULs that were dropped. More than a few deserve a note.
    pub replaced: u64,
    /// What the caller should know besides: that the file reached its limit.
    pub notes: Vec<String>,
}

/// What was cut. All figures are of the sanitized stream, and the notice counts in none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// The policy.
    pub keep: Keep,
    /// The limit that made the cut.
    pub by: By,
    /// Lines of the stream, an unfinished last one included.
    pub total_lines: u64,
    /// Bytes of the stream.
    pub total_bytes: u64,
    /// Lines shown, those that are cut included.
    pub output_lines: u64,
    /// Bytes shown.
    pub output_bytes: u64,
    /// First line shown, from 1; with `Ends` of the head part. It is `last_line + 1` when no character fits.
    pub first_line: u64,
    /// Last line shown; with `Ends` of the head part.
    pub last_line: u64,
    /// The first (tail) or last (head) line shown is cut; with `Ends` either beside the gap. A line that lacks only its
    /// newline is whole.
    pub partial_line: bool,
    /// Where the stream was written out, incompletely if `spill_error` is set; `None` when it was not.
    pub path: Option<PathBuf>,
    /// The id an artifact store gave the file.
    pub artifact_id: Option<String>,
    /// Why the file is incomplete or missing, at most 80 bytes; `None` when it is whole or none was wanted.
    pub spill_error: Option<String>,
    /// The words added to the text, lines parted by a newline; '' where nothing was cut.
    pub notice: String,
}

impl Truncation {
    /// The figures of a stream of which nothing was cut, for a result that names a file in any case.
    pub fn nothing_cut(keep: Keep, captured: &Captured, path: Option<PathBuf>) -> Self {
        Self {
            keep,
            by: By::Bytes,
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

/// The part of a stream that a policy keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The end.
    Tail,
    /// The beginning.
    Head,
    /// Both, without the middle.
    Ends,
}

impl Keep {
    /// 'tail', 'head' or 'ends'.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tail => "tail",
            Self::Head => "head",
            Self::Ends => "ends",
        }
    }
}
