//! The options for the capture of one stream.

use serde::{Deserialize, Serialize};

/// An output stream of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OutputStream {
    /// File descriptor 1; with `merge` it holds both.
    Stdout,
    /// File descriptor 2.
    Stderr,
}

impl OutputStream {
    /// Returns the name in notices, file names and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Most bytes of text that are kept: 16 MiB. This bound replaces a `max_bytes` that is larger or left out, so that a
/// longer stream is cut by bytes and written to a file.
pub const HARD_KEEP: u64 = 16 << 20;

/// Which part of a stream is kept once it is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TruncationPolicy {
    /// Whole lines from the end. A last line that is itself too long keeps its own end.
    Tail(KeptTextLimits),
    /// The beginning, cut inside a line if need be.
    Head(KeptTextLimits),
    /// The first `head_bytes` and the last `tail_bytes`, once the stream exceeds `max_bytes`.
    Ends {
        /// Bytes up to which nothing is cut, 1 or more.
        max_bytes: u64,
        /// Bytes kept from the beginning.
        head_bytes: u64,
        /// Bytes kept from the end; with `head_bytes` at most `max_bytes`.
        tail_bytes: u64,
    },
}

/// Bounds of the kept text, whichever is hit first. Each is 1 or more; `None` sets no bound of its kind, and
/// [`HARD_KEEP`] holds in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeptTextLimits {
    /// Number of lines, including an unfinished last line.
    pub max_lines: Option<u64>,
    /// Bytes of UTF-8.
    pub max_bytes: Option<u64>,
    /// UTF-16 units, as JavaScript counts.
    pub max_chars: Option<u64>,
}

impl KeptTextLimits {
    /// Returns the bound in bytes that really holds.
    pub(super) fn bytes(&self) -> u64 {
        self.max_bytes.map_or(HARD_KEEP, |max| max.min(HARD_KEEP))
    }

    /// Returns how many bytes of text suffice to decide where to cut: the limit in bytes, or the most bytes that the
    /// limit in characters can take (three per UTF-16 unit), plus one character to see beyond the cut.
    pub(super) fn bytes_to_decide_cut(&self) -> usize {
        let chars = self.max_chars.map_or(u64::MAX, |max| max.saturating_mul(3));
        to_usize(self.bytes().min(chars)) + 4
    }
}

impl Default for TruncationPolicy {
    /// The last 2000 lines or 51,200 bytes.
    fn default() -> Self {
        Self::Tail(KeptTextLimits { max_lines: Some(2000), max_bytes: Some(51_200), max_chars: None })
    }
}

impl TruncationPolicy {
    /// Returns the part that the policy keeps.
    pub fn keep(&self) -> KeptStreamPart {
        match self {
            Self::Tail(_) => KeptStreamPart::Tail,
            Self::Head(_) => KeptStreamPart::Head,
            Self::Ends { .. } => KeptStreamPart::Ends,
        }
    }

    /// Returns the same policy with every bound inside [`HARD_KEEP`].
    pub(super) fn clamped(self) -> Self {
        match self {
            Self::Ends { max_bytes, head_bytes, tail_bytes } => {
                let max_bytes = max_bytes.min(HARD_KEEP);
                let head_bytes = head_bytes.min(max_bytes);
                Self::Ends { max_bytes, head_bytes, tail_bytes: tail_bytes.min(max_bytes - head_bytes) }
            }
            other => other,
        }
    }

    /// Returns the most bytes of text that this policy keeps, without notices.
    pub fn most_kept(&self) -> u64 {
        self.clamped().max_bytes()
    }

    /// Returns the number of bytes that may pass before the stream has to be written out.
    pub(super) fn max_bytes(&self) -> u64 {
        match self {
            Self::Tail(limits) | Self::Head(limits) => limits.bytes(),
            Self::Ends { max_bytes, .. } => *max_bytes,
        }
    }

    /// Returns the number of UTF-16 units that may pass before the stream has to be written out. `None` if they need
    /// not be counted.
    pub(super) fn max_chars(&self) -> Option<u64> {
        match self {
            Self::Tail(limits) | Self::Head(limits) => limits.max_chars,
            Self::Ends { .. } => None,
        }
    }
}

/// The part of a stream that a policy keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum KeptStreamPart {
    /// The end.
    Tail,
    /// The beginning.
    Head,
    /// Both, without the middle.
    Ends,
}

impl KeptStreamPart {
    /// 'tail', 'head' or 'ends'.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tail => "tail",
            Self::Head => "head",
            Self::Ends => "ends",
        }
    }
}

/// How raw output becomes clean text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SanitizeRules {
    /// Whether control sequences are removed. Kept sequences take no columns, except for those that `Collapse`
    /// executes.
    pub ansi: bool,
    /// The treatment of lines that are drawn over.
    pub progress: ProgressLineHandling,
}

impl Default for SanitizeRules {
    /// Removes control sequences and collapses lines to their final form in a terminal.
    fn default() -> Self {
        Self { ansi: true, progress: ProgressLineHandling::Collapse }
    }
}

impl SanitizeRules {
    /// Returns the value for decoding alone: invalid UTF-8 is replaced and everything else is kept.
    pub const fn off() -> Option<Self> {
        None
    }
}

/// The treatment of lines that are drawn over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ProgressLineHandling {
    /// Only the final form in a terminal is kept. A line is delivered when it ends.
    Collapse,
    /// Carriage returns and backspaces stay. Text is delivered at once.
    Keep,
}

/// Lengths in memory never exceed `usize`. On a 32-bit machine a larger limit has no effect.
pub(super) fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX - 8)
}
