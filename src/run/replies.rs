//! What a caller says while its command runs.

use tokio::time::Instant;

use super::drive::{Drive, HARD_BOUND, flow};
use super::listener::{Listener, Reply};
use crate::supervise::Cause;

impl<L: Listener> Drive<'_, L> {
    pub(super) fn hear(&mut self, reply: Option<Reply>) {
        match reply {
            Some(Reply::Abort) => self.abort(),
            Some(Reply::Heard(failure)) => {
                self.in_flight = false;
                if let Some(failure) = failure {
                    self.live = false;
                    self.notes.push(format!("the onOutput listener failed and was taken away: {failure}"));
                }
                self.deliver();
            }
            Some(Reply::Feed(more)) => {
                self.feed.push(more);
                self.write_input();
            }
            Some(Reply::Data) => self.deliver_data(),
            Some(Reply::Signal(signal)) => {
                if let (None, Some(terminal)) = (&self.end, &self.request.terminal) {
                    self.child.signal(signal, terminal.foreground());
                }
            }
            Some(Reply::Seen(failure)) => {
                if let Some(snapshots) = &mut self.snapshots {
                    snapshots.seen();
                }
                if let Some(failure) = failure {
                    self.snapshots = None;
                    self.notes.push(format!("the onSnapshot listener failed and was taken away: {failure}"));
                }
            }
            Some(Reply::Prompted(failure)) => self.prompted(failure),
            Some(Reply::Allocated(stream, answer)) => {
                let spill = self.request.spill.as_ref();
                if let Some(flow) = flow(&mut self.stdout, &mut self.stderr, stream) {
                    flow.allocated(answer, spill);
                }
                self.note_output(stream);
            }
            // The caller's thread has ended, and with it everybody who could want the result.
            None => {
                self.replies_open = false;
                self.live = false;
                self.snapshots = None;
                self.waits.hush();
                self.abort();
            }
        }
    }

    fn abort(&mut self) {
        // A task is not touched by it any more, nor one that is just becoming one.
        if !self.aborted && self.moving.is_none() {
            self.aborted = true;
            self.hard = Instant::now() + self.request.grace + HARD_BOUND;
            // After the end of the shell too, what it left and still is drained belongs to the command.
            if let Some(Ok(ended)) = &mut self.end
                && ended.alive
            {
                ended.cause = Cause::Abort;
                self.child.end();
            } else if self.end.is_none() {
                self.child.end();
            }
        }
    }
}
