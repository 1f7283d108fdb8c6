//! A run on a target among the live runs of this process, for the people who watch.

use std::borrow::Cow;
use std::future::pending;
use std::sync::Arc;

use super::partial_run_result::PartialRunResult;
use crate::messages::TargetCommandPlace;
use capture::OutputStream;
use protocol::EndedBy;
use runner::live::{LiveRun, RegisteredRun, RunKind, RunRegistration, WatcherOrder, WatcherQueue, last_line_of, runs};
use runner::pty::CommandTerminal;
use runner::run::outcome::CommandOutcome;
use runner::run::{JudgedDistantCommand, STOPPED_BY_PERSON, run_ending};

/// A run on a target, as the people who watch see it. Some runs are never shown, such as the start of a task.
pub struct WatchedRun {
    registered: Option<RegisteredRun>,
    terminal: Option<Arc<CommandTerminal>>,
    /// Whether its text has a character for each byte.
    keeps_bytes: bool,
    /// Whether its output comes while it runs. Otherwise it comes with its end.
    is_live: bool,
    /// Whether a person has stopped it.
    is_stopped: bool,
}

impl WatchedRun {
    /// Registers a command until the run ends or is dropped.
    pub fn register(
        judged: &mut JudgedDistantCommand,
        place: &TargetCommandPlace,
        terminal: Option<&Arc<CommandTerminal>>,
    ) -> Self {
        let is_live = judged.is_listened || terminal.is_some();
        let terminal = terminal.cloned();
        let kind = match place {
            TargetCommandPlace::Session(_) => RunKind::Session,
            TargetCommandPlace::Terminal { .. } => RunKind::Terminal,
            TargetCommandPlace::Shell => RunKind::Command,
        };
        let shown = judged.shown.take();
        let shown = shown.map(|shown| RunRegistration { kind, terminal: terminal.clone(), ..shown });
        let registered = shown.map(|shown| runs().register(shown));
        Self { registered, terminal, keeps_bytes: judged.keeps_bytes, is_live, is_stopped: false }
    }

    fn run(&self) -> Option<&Arc<LiveRun>> {
        self.registered.as_ref().map(RegisteredRun::run)
    }

    /// Records that the run takes orders from here on.
    pub fn on_driven(&self) {
        self.run().iter().for_each(|run| run.on_driven());
    }

    /// Waits for the next order of a person.
    pub async fn next_order(&self) -> WatcherOrder {
        match self.run() {
            Some(run) => run.next_order().await,
            None => pending().await,
        }
    }

    /// Passes output to the watchers. Those of a terminal see its screen.
    pub fn on_output(&self, stream: OutputStream, text: &str) {
        if let Some(run) = self.run().filter(|run| run.takes_output()) {
            run.on_output(stream, &self.bytes_of(text));
        }
    }

    /// Records a watcher. Returns true for the first one: the target has to be asked for the output.
    pub fn begins_to_listen(&mut self) -> bool {
        !std::mem::replace(&mut self.is_live, true)
    }

    /// Records that a person stops the run.
    pub fn on_stop(&mut self) {
        self.is_stopped = true;
    }

    /// Records input of a person that was sent, and how much of all input is not sent yet.
    pub fn on_input(&self, bytes: usize, unsent: usize) {
        if let Some(run) = self.run() {
            run.on_input(bytes);
            run.set_unwritten(unsent);
        }
    }

    /// Passes a tap the output that has arrived, and then all output.
    pub fn follow(&self, tap: Arc<WatcherQueue>, arrived: &PartialRunResult) {
        if let Some(run) = self.run() {
            self.copy_arrived(&tap, arrived);
            run.attach(tap);
        }
    }

    /// Reports the last line: of the screen of a terminal, else of the stream that has written last.
    pub fn report_status(&self, arrived: &PartialRunResult) {
        let Some(run) = self.run() else { return };
        let line = match &self.terminal {
            Some(terminal) => {
                let lines = terminal.screen().lines;
                lines.into_iter().rev().find(|line| !line.is_empty()).unwrap_or_default()
            }
            None => String::from_utf8_lossy(&self.bytes_of(&last_line_of(&arrived.end()))).into_owned(),
        };
        if run.on_look(line, None) {
            runs().on_change();
        }
    }

    /// Keeps the output at the end for watchers who come a moment later, if someone watches and no tail has it.
    pub fn keep_last(&self, arrived: &PartialRunResult) {
        if let Some(run) = self.run().filter(|run| runs().is_watched() && self.terminal.is_none() && !run.has_tail()) {
            let last = WatcherQueue::new(Arc::default());
            self.copy_arrived(&last, arrived);
            run.keep_last_output(last);
        }
    }

    /// Ends the run. `outcome` is `None` if nothing was run.
    pub fn end(self, outcome: Option<&mut CommandOutcome>) {
        let outcome = outcome.map(|outcome| {
            if self.is_stopped && outcome.ended_by == Some(EndedBy::Abort) {
                outcome.notes.push(STOPPED_BY_PERSON.to_owned());
            }
            if let Some(run) = self.run().filter(|run| run.takes_output() && !self.is_live) {
                run.on_output(OutputStream::Stdout, outcome.stdout.as_bytes());
                run.on_output(OutputStream::Stderr, outcome.stderr.as_bytes());
            }
            &*outcome
        });
        if let Some(registered) = self.registered {
            registered.end(|| run_ending(outcome));
        }
    }

    fn copy_arrived(&self, tap: &WatcherQueue, arrived: &PartialRunResult) {
        for (stream, text, before) in arrived.kept() {
            tap.set_bytes_before_watching(before);
            tap.push(stream, &self.bytes_of(text));
        }
    }

    fn bytes_of<'t>(&self, text: &'t str) -> Cow<'t, [u8]> {
        match self.keeps_bytes {
            true => text.chars().map(|byte| byte as u8).collect(),
            false => text.as_bytes().into(),
        }
    }
}
