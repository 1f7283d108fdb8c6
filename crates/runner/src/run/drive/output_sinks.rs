//! What takes the bytes of a stream as the command writes them, besides the capture: one list, built from the request.

use std::sync::{Arc, PoisonError};

use super::producer_copy::ProducerCopier;
use crate::live::LiveRun;
use crate::pty::CommandTerminal;
use crate::request::PlannedRun;
use crate::reuse::SharedOutputCopy;
use capture::OutputStream;

/// Takes a stream's bytes, in order, before they are cleaned or cut.
pub trait OutputSink: Send + Sync {
    /// Takes the next bytes.
    fn on_bytes(&mut self, stream: OutputStream, bytes: &[u8]);
}

/// Returns the sinks of a run's streams. People see a command in a terminal as its screen.
pub fn sinks_of(request: &PlannedRun) -> Vec<Box<dyn OutputSink>> {
    let mut sinks: Vec<Box<dyn OutputSink>> = Vec::new();
    match (&request.terminal, &request.live_run) {
        (Some(terminal), _) => sinks.push(Box::new(Arc::clone(terminal))),
        (None, Some(run)) => sinks.push(Box::new(Arc::clone(run))),
        (None, None) => {}
    }
    if let Some(copy) = &request.output_copy {
        sinks.push(Box::new(Arc::clone(copy)));
    }
    sinks
}

/// People who watch the command.
impl OutputSink for Arc<LiveRun> {
    fn on_bytes(&mut self, stream: OutputStream, bytes: &[u8]) {
        if self.takes_output() {
            self.on_output(stream, bytes);
        }
    }
}

/// The screen of a terminal.
impl OutputSink for Arc<CommandTerminal> {
    fn on_bytes(&mut self, _stream: OutputStream, bytes: &[u8]) {
        self.on_output(bytes);
    }
}

/// The copy of an output whose result may be given again.
impl OutputSink for SharedOutputCopy {
    fn on_bytes(&mut self, stream: OutputStream, bytes: &[u8]) {
        self.lock().unwrap_or_else(PoisonError::into_inner).push(stream, bytes);
    }
}

/// The copy of what a producer writes.
impl OutputSink for ProducerCopier {
    fn on_bytes(&mut self, _stream: OutputStream, bytes: &[u8]) {
        self.push(bytes);
    }
}
