//! The entries of a shim's commands in the ledger: their starts and their ends.
//!
//! What fails here costs the entry, and never the command.

use std::time::Duration;

use super::supervised_command::SupervisedCommand;
use confine_policy::SecretUses;
use ledger::{
    LedgerError, LedgerLine, LedgerRunEnd, LedgerRunNote, LedgerRunSilence, LedgerRunState, LedgerRunTask,
    LedgerWriter, ShimId, own_shim,
};
use protocol::task::{TaskEnd, TaskSpec, TaskStore, now_ms};
use protocol::{CommandConclusion, LedgerOpening, TerminationCause};
use sys::ResourceUsage;

/// The entries of one command after another.
#[derive(Default)]
pub struct ShimLedgerEntries {
    writer: Option<LedgerWriter>,
    /// This shim, for readers that have to know whether an end can still come.
    shim: Option<ShimId<'static>>,
    /// The entry without an end.
    open: Option<UnfinishedLedgerEntry>,
    /// Why a part of it is missing.
    failure: Option<String>,
}

/// An entry without an end.
struct UnfinishedLedgerEntry {
    run: String,
    /// Unix time of the start, ms.
    at: u64,
    /// The start as JSON, until it is written.
    start: Option<String>,
    /// What the command used secrets for.
    uses: SecretUses,
}

impl UnfinishedLedgerEntry {
    /// Begins a record. It has the start, unless that is written.
    fn line(&mut self, shim: &mut Option<ShimId<'static>>) -> LedgerLine {
        let line = LedgerLine::of(&self.run);
        match self.start.take() {
            Some(start) => line.with("shim", shim.get_or_insert_with(own_shim)).with_json("start", &start),
            None => line,
        }
    }
}

impl ShimLedgerEntries {
    /// Begins the entry of a command.
    pub fn begin(&mut self, run: Option<&str>, opening: Option<LedgerOpening>) {
        (self.open, self.failure) = (None, None);
        let Some((run, LedgerOpening { directory, at, start })) = run.zip(opening) else { return };
        if self.writer.as_ref().is_none_or(|writer| writer.directory() != directory) {
            self.writer = Some(LedgerWriter::new(directory));
        }
        self.open =
            Some(UnfinishedLedgerEntry { run: run.to_owned(), at, start: Some(start), uses: SecretUses::default() });
    }

    /// Writes the start of the command, which goes on. The start of a command that has exited already is written with
    /// its end.
    pub fn start(&mut self) {
        if let Some(open) = self.open.as_mut().filter(|open| open.start.is_some()) {
            let (at, line) = (open.at, open.line(&mut self.shim));
            self.append(at, line);
        }
    }

    /// Adds what the command used secrets for. It is written before its end.
    pub fn add_secrets(&mut self, uses: &SecretUses) {
        if let Some(open) = self.open.as_mut().filter(|_| !uses.0.is_empty()) {
            open.uses.merge(uses.clone());
        }
    }

    /// Writes the end of the command. Returns why a part of its entry is missing.
    pub fn end(&mut self, conclusion: CommandConclusion, duration: Duration, usage: ResourceUsage) -> Option<String> {
        let CommandConclusion { status, exit_code, signal } = conclusion;
        let end = LedgerRunEnd {
            code: Some(exit_code),
            signal: signal.map(|number| sys::signal_name(number).into()),
            ..LedgerRunEnd::with_state(now_ms(), status.into()).with_costs(duration, usage)
        };
        self.finish(end, None)
    }

    /// Writes that the command goes on as this task.
    pub fn become_task(&mut self, spec: &TaskSpec) {
        let Some(open) = &mut self.open else { return };
        let log = TaskStore::at(spec.folder.clone()).log_path(&spec.id);
        let task = LedgerRunTask { id: (&*spec.id).into(), log: log.to_string_lossy() };
        let line =
            open.line(&mut self.shim).with("note", &LedgerRunNote { task: Some(task), ..LedgerRunNote::default() });
        self.append(now_ms(), line);
    }

    /// Writes the end of a command that is a task. `silence`: the longest silence, if it was the limit. Survivors
    /// that become a task have no entry of their own.
    pub fn end_task(&mut self, running: &SupervisedCommand, silence: Option<Duration>) {
        let cause = running.ending.as_ref().map(|ending| ending.cause);
        let now = now_ms();
        let ended =
            |state| LedgerRunEnd::with_state(now, state).with_costs(running.started.elapsed(), running.total_usage());
        let end = match running.end_as_task() {
            TaskEnd::Code(code) => LedgerRunEnd { code: Some(code), ..ended(LedgerRunState::Exited) },
            TaskEnd::Signal(name, code) => {
                let state = match cause {
                    Some(TerminationCause::Limit) => LedgerRunState::TimedOut,
                    Some(TerminationCause::Abort | TerminationCause::Host) => LedgerRunState::Aborted,
                    Some(
                        TerminationCause::Itself | TerminationCause::Supervisor | TerminationCause::LimitExceeded(_),
                    )
                    | None => LedgerRunState::Signaled,
                };
                LedgerRunEnd { code: Some(code), signal: Some(name.into()), ..ended(state) }
            }
            TaskEnd::Lost(_) => LedgerRunEnd::with_state(now, LedgerRunState::Lost),
        };
        let silence = silence
            .map(|most| LedgerRunNote { silence: Some(LedgerRunSilence::of(most, None)), ..LedgerRunNote::default() });
        // A note would be in the log of the task, which models read. The next command reports the reason.
        self.finish(end, silence);
        self.check_last_write();
    }

    fn finish(&mut self, mut end: LedgerRunEnd<'_>, note: Option<LedgerRunNote<'_>>) -> Option<String> {
        self.write_secrets();
        let mut open = self.open.take()?;
        // The clock may have been set back since.
        end.at = end.at.max(open.at);
        let line = open.line(&mut self.shim).with("end", &end);
        let line = note.iter().fold(line, |line, note| line.with("note", note));
        let written = self.writer.as_mut().map(|writer| writer.append_unchecked(end.at, line.finish()));
        self.keep_failure(written);
        self.failure.take()
    }

    fn write_secrets(&mut self) {
        if self.open.as_ref().is_none_or(|open| open.uses.0.is_empty()) {
            return;
        }
        // The line of a long start has no room for them.
        self.start();
        if let Some(open) = &self.open {
            let note = LedgerRunNote { secrets: ledger::run_secrets(&open.uses), ..LedgerRunNote::default() };
            let line = LedgerLine::of(&open.run).with("note", &note);
            self.append(now_ms(), line);
        }
    }

    /// Checks the last record, which the result of the command does not wait for.
    pub fn check_last_write(&mut self) {
        self.writer.iter_mut().for_each(LedgerWriter::check_last_record);
    }

    fn keep_failure(&mut self, written: Option<Result<(), LedgerError>>) {
        if let Some(Err(error)) = written {
            self.failure.get_or_insert_with(|| error.to_string());
        }
    }

    fn append(&mut self, at: u64, line: LedgerLine) {
        let written = self.writer.as_mut().map(|writer| writer.append(at, &line.finish()));
        self.keep_failure(written);
    }
}
