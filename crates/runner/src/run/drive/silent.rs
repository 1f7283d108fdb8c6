//! The limit of a running command on its silence.

use std::time::Duration;

use tokio::time::Instant;

use super::Drive;
use super::shim::Shim;
use crate::run::listener::Listener;
use capture::Stream;
use protocol::note_of_silence;

impl<S: Shim, L: Listener> Drive<'_, S, L> {
    /// When the command has been silent for too long. A listener that holds the output back delays that, and the
    /// silence counts from the end of the hold.
    pub(super) fn silent_at(&self) -> Option<Instant> {
        let may_end = self.process.is_running() && !self.process.aborted && self.output.pid.is_some();
        self.silence
            .due_at()
            .map(Instant::from_std)
            .filter(|_| may_end && !self.output.moving.is_under_way() && !self.output.held().any())
    }

    /// The command was silent for too long, which counts as its time limit.
    pub(super) fn on_silence(&mut self, now: Instant) {
        // This thread may have been kept from the processor.
        for stream in [Stream::Stdout, Stream::Stderr] {
            if self.output.read_now(stream) {
                self.on_output(now);
            }
        }
        if !self.silence.is_due(now.into_std()) {
            return;
        }
        self.silence.on_reached();
        if self.output.moving.due_at().is_some() {
            self.hand_over();
        } else {
            self.deadlines.on_terminate(now);
            self.shim.terminate_at_limit();
        }
    }

    /// Keeps the notes about the limit if the command was terminated there, or moved: its silence, and the result of
    /// the scan.
    pub(super) fn note_limit(&mut self) {
        let at_limit = self.process.reached_limit() || self.output.moving.task().is_some();
        let note = self.output.blocked.take_note().filter(|_| at_limit);
        let silence = self.reached_silence().map(note_of_silence);
        self.output.notes.extend(silence.into_iter().chain(note));
    }

    /// The longest silence that was allowed, if the command was terminated or moved for it.
    pub(super) fn reached_silence(&self) -> Option<Duration> {
        let at_limit = self.process.is_at_limit() || self.output.moving.task().is_some();
        self.silence.reached().filter(|_| at_limit)
    }
}
