//! The counts of tests in the output of a command.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};

use reduce::CommandStream;
use reduce::class::output_profile;
use reduce::counts::{CommandTermination, TestCountReader, TestCounts};

/// Most bytes of a log that are read.
const LOG: u64 = 32 << 20;
/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// Counts the tests of test runners while an output arrives.
#[derive(Debug, Default)]
pub enum TestCounter<'c> {
    /// They are not wanted, or a fault in the counting, which must not cost the output.
    #[default]
    Off,
    /// There was no output yet.
    Waiting(&'c str),
    /// Output is read.
    Reading(Box<TestCountReader>),
}

impl TestCounter<'_> {
    /// Takes the next bytes of a stream.
    pub fn push(&mut self, stream: CommandStream, bytes: &[u8]) {
        if let Self::Waiting(command) = self {
            let begun = catch_unwind(|| TestCountReader::new(Some(&output_profile(command))));
            *self = begun.map_or(Self::Off, |reader| Self::Reading(Box::new(reader)));
        }
        let Self::Reading(reader) = self else { return };
        if catch_unwind(AssertUnwindSafe(|| reader.push(stream, bytes))).is_err() {
            *self = Self::Off;
        }
    }

    /// Returns the counter without its command, which it needs for the first output alone.
    pub fn detach(self) -> TestCounter<'static> {
        match self {
            Self::Reading(reader) => TestCounter::Reading(reader),
            Self::Off | Self::Waiting(_) => TestCounter::Off,
        }
    }

    /// Returns the counts of the whole output.
    pub fn end(self, ended: CommandTermination) -> Vec<TestCounts> {
        let Self::Reading(reader) = self else { return Vec::new() };
        catch_unwind(AssertUnwindSafe(|| reader.end(ended))).unwrap_or_default()
    }
}

/// Counts the tests in a log with this length. Of a larger log only the end is read, and nothing in it is complete.
/// Blocks.
pub fn count_log(command: &str, log: &mut File, length: u64, ended: CommandTermination) -> Vec<TestCounts> {
    let from = length.saturating_sub(LOG);
    let mut counter = TestCounter::Waiting(command);
    if log.seek(SeekFrom::Start(from)).is_err() {
        return Vec::new();
    }
    let mut rest = log.take(length - from);
    let mut piece = vec![0; PIECE];
    while let Ok(size @ 1..) = rest.read(&mut piece) {
        counter.push(CommandStream::Stdout, &piece[..size]);
    }
    let counts = counter.end(ended).into_iter();
    counts.map(|counts| TestCounts { complete: counts.complete && from == 0, ..counts }).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_end_of_a_large_log_is_not_complete() {
        let mut log = tempfile::tempfile().expect("a file");
        let summary = b"\n1 failed, 2 passed in 0.02s\n";
        let mut counts = |before: u64| {
            log.set_len(before).expect("set");
            log.seek(SeekFrom::Start(before)).expect("sought");
            log.write_all(summary).expect("written");
            count_log("pytest -q", &mut log, before + summary.len() as u64, CommandTermination::ByItself)
        };
        let small = counts(0);
        assert_eq!((small[0].passed, small[0].failed, small[0].complete), (Some(2), 1, true));
        let large = counts(LOG);
        assert_eq!(large.first().map(|counts| (counts.failed, counts.complete)), Some((1, false)));
    }
}
