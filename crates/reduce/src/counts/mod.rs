//! Counts the tests in the output of test runners.
//!
//! What a runner prints is data: the table `[tests]` of `rules/*.toml`. A runner is recognised by lines that only it
//! prints, by its whole summary, or by the command. Files, searches and logs count nothing.
//!
//! - **A run is a frame.** A line begins it, and its summary ends it. What other runners seem to say between the two is
//!   the output of a test, and is dropped with the frame.
//! - **Nothing is guessed.** What a runner does not print is `None`, and a run without its summary is not complete.
//! - **Bounded.** Each line is read once and alone, up to `LONGEST` bytes. Names, frames and runs have a bound.

mod plain_line_splitter;
mod test_count_reader;
mod test_counts;
mod test_run;
#[cfg(test)]
mod tests;

use crate::CommandStream;
use crate::class::output_profile;

pub use test_count_reader::TestCountReader;
pub use test_counts::{CommandTermination, MOST_NAMES, TestCounts};

/// Counts the tests in a whole output.
pub fn read_tests(text: &str, command: Option<&str>, ended: CommandTermination) -> Vec<TestCounts> {
    let printed = command.map(output_profile);
    let mut reader = TestCountReader::new(printed.as_ref());
    reader.push(CommandStream::Stdout, text.as_bytes());
    reader.end(ended)
}
