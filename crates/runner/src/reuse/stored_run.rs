//! A run that has ended, and what its result depends on.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use capture::OutputStream;
use confine_policy::CommandDenials;
use evidence::{CommandEvidence, EvidencePart};
use protocol::task::now_ms;
use serde::{Deserialize, Serialize};

use super::output_copy::WholeOutputCopy;

/// What has to be the same besides the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReuseKey {
    /// The text of the command.
    pub command: String,
    /// The device and the inode of its directory.
    pub directory: (u64, u64),
    /// A hash of all else that the command is given.
    pub surroundings: u128,
}

impl ReuseKey {
    /// Returns whether it is another key for its text at most.
    pub fn differs_in_text(&self, other: &Self) -> bool {
        self.directory == other.directory && self.surroundings == other.surroundings
    }
}

/// A run that has ended.
#[derive(Debug)]
pub struct StoredRun {
    /// The command with everything that its result depends on.
    pub key: ReuseKey,
    /// The name of the run.
    pub run: String,
    /// The time of its end, Unix ms.
    pub at: u64,
    /// The same by the clock that only goes on.
    pub ended: Instant,
    /// Its exit code.
    pub code: i32,
    /// What it proved.
    pub evidence: CommandEvidence,
    /// Its whole output.
    pub output: WholeOutputCopy,
    /// What its first program has written, if that can go through another filter.
    pub written: Option<SourceOutput>,
    /// The denials of its confinement.
    pub denials: CommandDenials,
    /// Why its result may be given again.
    pub ground: ReuseGround,
}

/// Why a result may be given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReuseGround {
    /// The command only reads.
    ReadsOnly,
    /// The host vouches for it.
    Vouched,
    /// It was confined to its tree.
    Confined,
}

/// What the first program of a stored command has written, all of it.
#[derive(Debug)]
pub struct SourceOutput {
    /// The program, as `Source::text` has it.
    pub text: String,
    /// The program among the parts.
    pub part: EvidencePart,
    /// The file, and its length. `None`: it is the standard output of the command.
    pub file: Option<(File, u64)>,
    /// Whether it can go through another filter: it is known where its errors went.
    pub is_filterable: bool,
}

/// The run whose result was given again, as results have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReusedRun {
    /// The run that ran.
    pub run_id: String,
    /// The time of its end, Unix ms.
    pub at: u64,
    /// Whether its output went through another filter.
    pub filtered: bool,
    /// What was compared.
    pub checked: Vec<String>,
    /// What a result can depend on and was not compared.
    pub not_checked: Vec<String>,
}

/// What is compared, besides the files.
const CHECKED: &str =
    "the command, its directory, shell, environment, standard input, umask, and its options for limits and confinement";
/// What of a tree is not compared.
const NOT_CHECKED: [&str; 5] = [
    "what lies deeper in large directories that git ignores",
    "git's objects and logs",
    "access times",
    "writes through another name of a file, made outside of the tree since",
    "writes through a memory mapping that is still open",
];
/// What of a run by a rule of its host is not compared.
const VOUCHED: &str = "ignored files that changed while it ran";
/// What of a confined run is not compared.
const CONFINED: &str = "what its programs read of the time, of chance and of the machine";

impl StoredRun {
    /// Returns how many bytes are kept of it.
    pub fn bytes(&self) -> u64 {
        let tap = self.written.as_ref().and_then(|written| written.file.as_ref()).map_or(0, |(_, length)| *length);
        self.output.bytes() + tap
    }

    /// Returns whether it is not older than this, by the clock of the day and by one that only goes on.
    pub fn is_recent(&self, max_age: Duration) -> bool {
        let by_day = now_ms().checked_sub(self.at).map(Duration::from_millis);
        self.ended.elapsed() <= max_age && by_day.is_some_and(|age| age <= max_age)
    }

    /// Reads what its first program has written. Blocks.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn written_bytes(&self) -> io::Result<Vec<u8>> {
        if let Some((file, length)) = self.written.as_ref().and_then(|written| written.file.as_ref()) {
            let mut bytes = vec![0; usize::try_from(*length).map_err(io::Error::other)?];
            file.read_exact_at(&mut bytes, 0)?;
            return Ok(bytes);
        }
        let mut bytes = Vec::new();
        self.output.write_pieces(|stream, piece| {
            if stream == OutputStream::Stdout {
                bytes.extend_from_slice(piece);
            }
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Returns the label of the result, for a run in the tree with this root. `filtered`: through another filter.
    pub fn to_reused(&self, root: &Path, filtered: bool) -> ReusedRun {
        let root = root.display();
        let outside = format!("files outside of {root}");
        let outside = std::iter::once(outside.as_str());
        let more = match self.ground {
            ReuseGround::ReadsOnly => None,
            ReuseGround::Vouched => Some(VOUCHED),
            ReuseGround::Confined => Some(CONFINED),
        };
        ReusedRun {
            run_id: self.run.clone(),
            at: self.at,
            filtered,
            checked: vec![
                CHECKED.to_owned(),
                format!("the other files below {root}, with the times of their writes"),
                "git's HEAD, references, index, stash and settings".to_owned(),
            ],
            not_checked: outside.chain(NOT_CHECKED).chain(more).map(str::to_owned).collect(),
        }
    }
}
