//! What is kept of the output of a pipeline's first program, as its evidence has it.

use serde::{Deserialize, Serialize};

use super::drive::producer_copy::{ProducerCopyResult, ProducerOutputCopy};
use crate::proof::TestCounter;
use crate::request::PlannedRun;
use evidence::EvidencePart;
use reduce::counts::{CommandTermination, TestCounts};
use safety::Utf16Offsets;

/// The output of a pipeline's first program, or why it was not kept.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TappedOutput {
    /// The source of the program.
    pub command: String,
    /// What was kept, or why nothing was.
    pub kept: Result<ProducerOutputCopy, String>,
}

const NOT_WATCHED: &str = "The shell could not be watched.";
const NOT_BEGUN: &str = "The program did not start, or not in its place.";

/// The place of a producer in its command, in UTF-16 units. `None`: its output did not lead through this process.
#[derive(Clone, Copy, Debug)]
pub struct ProducerPlace(Option<(usize, usize)>);

impl ProducerPlace {
    /// Returns the place of the producer of a command whose first pipe led through this process, if `was_tapped`.
    pub fn of(request: &PlannedRun, was_tapped: bool) -> Self {
        let producer = request.producer.as_ref().filter(|_| was_tapped);
        Self(producer.map(|producer| Utf16Offsets::new(&request.command).span(&producer.span)))
    }

    /// Returns the producer among the parts of its command. Code that the shell reads from elsewhere may have made the
    /// first pipe: an alias, a trap. Then there is none.
    pub fn part(self, parts: &[EvidencePart]) -> Option<&EvidencePart> {
        let span = self.0?;
        parts.iter().find(|part| part.span == Some(span))
    }
}

/// The tests in the output of a command, and in that of its producer.
pub struct OutputTests {
    /// The tests in what the command printed.
    pub own: Vec<TestCounts>,
    /// The place of its producer.
    pub place: ProducerPlace,
    /// Counts the tests in what the producer wrote.
    pub tapped: TestCounter<'static>,
    /// Whether all of that was kept.
    pub complete: bool,
}

impl OutputTests {
    /// Returns the counts of the producer's own output if it has its place among the parts, with those of other runners
    /// behind it. Else those of what the command printed.
    pub fn count(self, parts: &[EvidencePart]) -> Vec<TestCounts> {
        let Self { own, place, tapped, complete } = self;
        let Some(producer) = place.part(parts) else { return own };
        let mut counts = tapped.end(CommandTermination::with(producer.exit_code.map(i64::from)));
        counts.iter_mut().for_each(|counts| counts.complete &= complete);
        let others: Vec<_> =
            own.into_iter().filter(|own| counts.iter().all(|counts| counts.runner != own.runner)).collect();
        counts.extend(others);
        counts
    }
}

impl TappedOutput {
    /// Returns the tap of a command that has ended. `None`: it has no producer worth keeping. `in_place`: the producer
    /// is a part of the command.
    pub fn of(request: &PlannedRun, copied: Option<ProducerCopyResult>, in_place: bool) -> Option<Self> {
        let producer = request.producer.as_ref()?;
        let is_there = request.is_producer || in_place;
        let kept = match (producer.why, copied) {
            (Some(why), _) => Err(why.to_owned()),
            (None, None) => Err(NOT_WATCHED.to_owned()),
            (None, Some(copied)) if !is_there => {
                if let Ok(ProducerOutputCopy { path, .. }) = copied {
                    // A program that tidies temporary files may have removed it.
                    let _gone = std::fs::remove_file(path);
                }
                Err(NOT_BEGUN.to_owned())
            }
            (None, Some(Err(why))) => Err(format!("Its output could not be kept: {why}.")),
            (None, Some(Ok(copied))) => Ok(copied),
        };
        Some(Self { command: producer.command.clone(), kept })
    }
}
