//! Orders of people who watch the command: the end, input, its output, and a look at it.

use std::sync::Arc;

use tokio::time::Instant;

use super::output_delivery::CommandOutput;
use super::{CommandDriver, ShimControl};
use crate::live::{WatcherOrder, WatcherQueue, last_line_of, runs};
use crate::run::blocked_watch::LastLines;
use crate::run::command_listener::CommandListener;
use crate::run::live_registration::STOPPED;
use capture::OutputStream;
use protocol::BlockedProcess;

/// The most bytes of each stream that a watcher gets first, of those that are still held.
const HELD: usize = 56 * 1024;
/// Bytes of a stream in which the last line is searched.
const END: usize = 2 * 1024;

impl<S: ShimControl, L: CommandListener> CommandDriver<'_, S, L> {
    pub(super) fn on_order(&mut self, order: WatcherOrder) {
        match order {
            WatcherOrder::Stop if self.can_abort() && self.process.is_alive() => {
                self.output.notes.push(STOPPED.to_owned());
                self.abort();
            }
            // It has ended, or is becoming a task, which can be stopped.
            WatcherOrder::Stop => {}
            WatcherOrder::Input(bytes) => self.output.give_input(&bytes),
            WatcherOrder::Follow(tap) => self.output.add_follower(tap),
            WatcherOrder::ReportStatus => {
                let Some(run) = &self.request.live_run else { return };
                let waiting = self.output.watches.waiting.on_look(Instant::now());
                if run.on_look(self.output.last_line(), waiting) {
                    runs().on_change();
                }
            }
        }
    }

    /// Handles a scan of the shim that watchers may have caused.
    pub(super) fn on_scanned(&mut self, process: Option<BlockedProcess>, lines: &LastLines) {
        let Some(run) = &self.request.live_run else { return };
        let asks_only = self.request.terminal.is_some() || self.request.is_fed();
        if let Some(waiting) = self.output.watches.waiting.on_scanned(process, lines, asks_only)
            && run.on_look(self.output.last_line(), waiting)
        {
            runs().on_change();
        }
    }
}

impl<L: CommandListener> CommandOutput<'_, L> {
    /// Passes a tap what is held of both streams, and then all output.
    fn add_follower(&mut self, tap: Arc<WatcherQueue>) {
        let Some(run) = &self.request.live_run else { return };
        self.copy_held_output(&tap);
        run.attach(tap);
    }

    /// Keeps the output held at the end for watchers who come a moment later, if someone watches and no tail has it.
    pub(super) fn keep_last(&self) {
        let Some(run) = self.request.live_run.as_ref().filter(|_| runs().is_watched()) else { return };
        if self.request.terminal.is_none() && !run.has_tail() {
            let last = WatcherQueue::new(Arc::default());
            self.copy_held_output(&last);
            run.keep_last_output(last);
        }
    }

    /// Passes the output held of both streams to a tap.
    fn copy_held_output(&self, tap: &WatcherQueue) {
        for reader in self.streams.all() {
            let (text, before) = reader.capture.kept_tail(HELD);
            let mut bytes = match reader.keeps_bytes {
                // Such text has a character for each byte.
                true => text.chars().map(|byte| byte as u8).collect(),
                false => text.as_bytes().to_vec(),
            };
            bytes.extend(reader.capture.resume_bytes());
            tap.set_bytes_before_watching(before);
            tap.push(reader.stream, &bytes);
        }
    }

    /// Gives input of a person to the command.
    fn give_input(&mut self, bytes: &[u8]) {
        let Some(run) = &self.request.live_run else { return };
        run.on_input(bytes.len());
        self.input.push_from_person(bytes);
        self.watches.waiting.on_output();
        self.write_input();
    }

    /// Returns the last line that is not blank: of the screen of a terminal, else of the stream that has written last.
    fn last_line(&self) -> String {
        if let Some(terminal) = &self.request.terminal {
            let lines = terminal.screen().lines;
            return lines.into_iter().rev().find(|line| !line.is_empty()).unwrap_or_default();
        }
        let of =
            |stream| self.streams.get(stream).map(|reader| last_line_of(&reader.capture.tail(END))).unwrap_or_default();
        let last = of(self.streams.last);
        let other = if self.streams.last == OutputStream::Stdout { OutputStream::Stderr } else { OutputStream::Stdout };
        if last.is_empty() { of(other) } else { last }
    }
}
