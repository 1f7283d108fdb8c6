//! What a listener hears of a command's output: batch by batch, all of it before the result.

use tokio::time::timeout_at;

use super::drive::{BATCH, Drive, flow};
use super::listener::Listener;
use super::stream::Flow;
use crate::capture::Stream;
use crate::supervise::{Cause, Ended};

impl<L: Listener> Drive<'_, L> {
    /// Gives the listener the next batch, if it waits for one.
    pub(super) fn deliver(&mut self) {
        while self.live && !self.in_flight {
            let Some(stream) = self.queue.pop_front() else { return };
            let Some(flow) = flow(&mut self.stdout, &mut self.stderr, stream) else { return };
            if let Some(text) = flow.capture.take_live(BATCH) {
                if flow.capture.live_bytes() > 0 {
                    self.queue.push_back(stream);
                }
                self.in_flight = true;
                self.listener.output(stream, text);
            }
        }
    }

    /// Gives those who listen to a terminal the next text, if they wait for one.
    pub(super) fn deliver_data(&mut self) {
        if let (Some(terminal), Some(_)) = (&self.request.terminal, self.pid)
            && let Some(text) = terminal.next_data()
        {
            self.listener.data(text);
        }
    }

    /// Whether its terminal has more than could be drawn at once.
    pub(super) fn is_behind(&self) -> bool {
        self.request.terminal.as_ref().is_some_and(|terminal| terminal.is_behind())
    }

    /// Draws on. Of a command that was ended not much longer: nobody waits for the rest.
    pub(super) fn draw_on(&mut self) {
        if let Some(terminal) = &self.request.terminal {
            terminal.draw_on();
        }
        if self.was_ended() {
            self.deliver_data();
        } else {
            self.heard(Stream::Stdout);
        }
    }

    pub(super) fn data_waits(&self) -> bool {
        // Nobody listens to what is not known to have started.
        self.pid.is_some() && self.request.terminal.as_ref().is_some_and(|terminal| terminal.is_heard_of())
    }

    /// The listener hears everything before the result is there; only an abort, and the bound after a kill, do not wait
    /// for it.
    pub(super) async fn deliver_the_rest(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            if let Some(flow) = flow(&mut self.stdout, &mut self.stderr, stream) {
                flow.capture.end();
                self.note_output(stream);
            }
        }
        if let Some(terminal) = &self.request.terminal {
            terminal.finish_data();
            self.deliver_data();
        }
        while self.data_waits() || (self.live && (self.in_flight || !self.queue.is_empty())) || self.waits_for_place() {
            let reply = if self.was_ended() {
                match timeout_at(self.hard, self.replies.recv()).await {
                    Ok(reply) => reply,
                    Err(_) => return self.give_listener_up(),
                }
            } else {
                self.replies.recv().await
            };
            if reply.is_none() {
                return;
            }
            self.hear(reply);
        }
    }

    /// Whether the command did not end by itself, or is not wanted any more.
    pub(super) fn was_ended(&self) -> bool {
        let itself = |ended: &Ended| ended.cause == Cause::Itself;
        self.aborted || self.end.as_ref().is_some_and(|end| !end.as_ref().is_ok_and(itself))
    }

    pub(super) fn give_listener_up(&mut self) {
        if std::mem::take(&mut self.live) {
            self.queue.clear();
            self.notes.push("the onOutput listener did not take all output in time".into());
        }
        if self.data_waits()
            && let Some(terminal) = &self.request.terminal
        {
            terminal.give_listeners_up();
            self.notes.push("the listeners of the terminal did not take all output in time".into());
        }
    }

    pub(super) fn waits_for_place(&self) -> bool {
        self.stdout.waits_for_place() || self.stderr.as_ref().is_some_and(Flow::waits_for_place)
    }
}
