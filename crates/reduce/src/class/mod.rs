//! Sorts outputs by their use for a model. The class decides how much of an output may be left out.

use serde::{Deserialize, Serialize};

mod known_words;
mod output_profile;
mod pipeline_producer;
mod printed_content;
#[cfg(test)]
mod tests;

pub use output_profile::{OutputProfile, output_profile, unwrap_command};
pub use pipeline_producer::{PipelineProducer, find_producer, whole_command_producer};

/// The class of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutputClass {
    /// A model edits or compares the output: contents of files, differences, data for programs.
    Exact,
    /// Something failed.
    Red,
    /// Everything else.
    Green,
}

impl OutputClass {
    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Red => "red",
            Self::Green => "green",
        }
    }

    /// Returns the class of an output. `failed`: the command failed, or a line of its output reports a failure.
    pub fn of(printed: &OutputProfile, failed: bool) -> Self {
        match (printed.exact, failed) {
            (true, _) => Self::Exact,
            (false, true) => Self::Red,
            (false, false) => Self::Green,
        }
    }
}
