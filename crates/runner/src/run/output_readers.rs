//! What reads the whole output of a command while it arrives, before any of it is cut.

use super::view_maker::ViewMaker;
use crate::proof::TestCounter;
use crate::request::PlannedRun;
use capture::OutputStream;

/// All readers of an output.
pub struct WholeOutputReaders<'a> {
    /// The view, in the making.
    pub view: ViewMaker<'a>,
    /// The counts of tests.
    pub counter: TestCounter<'a>,
    /// The counts of tests in what the producer of a tap writes. Its standard error is that of the command.
    pub tapped: TestCounter<'a>,
}

impl<'a> WholeOutputReaders<'a> {
    /// Begins what a command asks for.
    pub fn new(request: &'a PlannedRun) -> Self {
        let counter = request.evidence.as_ref().map(|_| TestCounter::Waiting(&request.command));
        Self { view: ViewMaker::new(request), counter: counter.unwrap_or_default(), tapped: TestCounter::Off }
    }

    /// Takes the next text of a stream.
    pub fn push(&mut self, stream: OutputStream, text: &str) {
        let stream = match stream {
            OutputStream::Stdout => reduce::CommandStream::Stdout,
            OutputStream::Stderr => reduce::CommandStream::Stderr,
        };
        self.view.push(stream, text);
        self.counter.push(stream, text.as_bytes());
        if stream == reduce::CommandStream::Stderr {
            self.tapped.push(stream, text.as_bytes());
        }
    }
}
