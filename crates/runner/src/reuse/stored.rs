//! A run that has ended, and what its result depends on.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use capture::Stream;
use confine::Denials;
use evidence::{Evidence, Part};
use serde::Serialize;

use super::copy::Copied;

/// What has to be the same besides the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The text of the command.
    pub command: String,
    /// The device and the inode of its directory.
    pub directory: (u64, u64),
    /// A hash of all else that the command is given.
    pub surroundings: u128,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Stored {
    /// Its name.
    pub run: String,
    /// The text of its command.
    pub command: String,
    /// The time of its end, Unix ms.
    pub at: u64,
    /// The same by the clock that only goes on.
    pub ended: Instant,
    /// Its exit code.
    pub code: i32,
    /// What it proved.
    pub evidence: Evidence,
    /// Its whole output.
    pub output: Copied,
    /// What its first program has written, if that can go through another filter.
    pub written: Option<Written>,
    /// The denials of its confinement.
    pub denials: Denials,
}

/// What the first program of a stored command has written, all of it.
#[derive(Debug)]
pub struct Written {
    /// The program, as `Source::text` has it.
    pub text: String,
    /// The program among the parts.
    pub part: Part,
    /// The file, and its length. `None`: it is the standard output of the command.
    pub file: Option<(File, u64)>,
}

/// The run whose result was given again, as results have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reused {
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
const CHECKED: &str = "the command, its directory, shell, environment, standard input, umask, limits and confinement";

impl Stored {
    /// Returns how many bytes are kept of it.
    pub fn bytes(&self) -> u64 {
        let tap = self.written.as_ref().and_then(|written| written.file.as_ref()).map_or(0, |(_, length)| *length);
        self.output.bytes() + tap
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
        self.output.each(|stream, piece| {
            if stream == Stream::Stdout {
                bytes.extend_from_slice(piece);
            }
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Returns the label of the result, for a run in the tree with this root. `filtered`: through another filter.
    pub fn reused(&self, root: &Path, filtered: bool) -> Reused {
        let root = root.display();
        Reused {
            run_id: self.run.clone(),
            at: self.at,
            filtered,
            checked: vec![CHECKED.to_owned(), format!("every file below {root}, with its times"), "git".to_owned()],
            not_checked: vec![
                format!("files outside of {root}"),
                "what lies deeper in large directories that git ignores".to_owned(),
                "writes through a memory mapping that is still open".to_owned(),
            ],
        }
    }
}
