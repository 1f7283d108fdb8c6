//! Sorts an output by what a model does with it. That decides how much of it may be left out.

mod command;
mod program;
#[cfg(test)]
mod tests;
mod words;

pub use command::{Printed, printed};

/// The class of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A model edits or compares it: contents of files, differences, data for programs.
    Exact,
    /// Something failed.
    Red,
    /// All the rest.
    Green,
}

impl Class {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Red => "red",
            Self::Green => "green",
        }
    }

    /// The class of an output. `failed`: the command failed, or a line of its output reports a failure.
    pub fn of(printed: &Printed, failed: bool) -> Self {
        match (printed.exact, failed) {
            (true, _) => Self::Exact,
            (false, true) => Self::Red,
            (false, false) => Self::Green,
        }
    }
}
