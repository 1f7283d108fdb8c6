//! A run that has ended, and what its result depends on.

use std::path::Path;
use std::time::Instant;

use confine::Denials;
use evidence::Evidence;
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
    /// The denials of its confinement.
    pub denials: Denials,
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
    /// Returns the label of the result, for a run in the tree with this root.
    pub fn reused(&self, root: &Path) -> Reused {
        let root = root.display();
        Reused {
            run_id: self.run.clone(),
            at: self.at,
            filtered: false,
            checked: vec![CHECKED.to_owned(), format!("every file below {root}, with its times"), "git".to_owned()],
            not_checked: vec![
                format!("files outside of {root}"),
                "what lies deeper in large directories that git ignores".to_owned(),
                "writes through a memory mapping that is still open".to_owned(),
            ],
        }
    }
}
