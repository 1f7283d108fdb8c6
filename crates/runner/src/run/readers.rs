//! What reads the whole output of a command while it arrives, before any of it is cut.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::view::ViewMaker;
use crate::request::Request;
use capture::Stream;
use reduce::class::printed;
use reduce::counts::{Ended, Reader, TestCounts};

/// All readers of an output.
pub struct Readers<'a> {
    /// The view, in the making.
    pub view: ViewMaker<'a>,
    /// The counts of tests.
    pub counter: Counter<'a>,
}

impl<'a> Readers<'a> {
    /// Begins what a command asks for.
    pub fn new(request: &'a Request) -> Self {
        Self { view: ViewMaker::new(request), counter: Counter::new(request) }
    }

    /// Takes the next text of a stream.
    pub fn push(&mut self, stream: Stream, text: &str) {
        let stream = match stream {
            Stream::Stdout => reduce::Stream::Stdout,
            Stream::Stderr => reduce::Stream::Stderr,
        };
        self.view.push(stream, text);
        self.counter.push(stream, text);
    }
}

/// Counts the tests of test runners in an output.
#[derive(Default)]
pub enum Counter<'a> {
    /// They are not wanted, or a fault in the counting, which must not cost the output.
    #[default]
    Off,
    /// There was no output yet.
    Waiting(&'a str),
    /// Output is read.
    Reading(Box<Reader>),
}

impl<'a> Counter<'a> {
    fn new(request: &'a Request) -> Self {
        if request.evidence.is_some() { Self::Waiting(&request.command) } else { Self::Off }
    }

    fn push(&mut self, stream: reduce::Stream, text: &str) {
        if let Self::Waiting(command) = self {
            let begun = catch_unwind(|| Reader::new(Some(&printed(command))));
            *self = begun.map_or(Self::Off, |reader| Self::Reading(Box::new(reader)));
        }
        let Self::Reading(reader) = self else { return };
        if catch_unwind(AssertUnwindSafe(|| reader.push(stream, text.as_bytes()))).is_err() {
            *self = Self::Off;
        }
    }

    /// Returns the counts of the whole output.
    pub fn end(self, ended: Ended) -> Vec<TestCounts> {
        let Self::Reading(reader) = self else { return Vec::new() };
        catch_unwind(AssertUnwindSafe(|| reader.end(ended))).unwrap_or_default()
    }
}
