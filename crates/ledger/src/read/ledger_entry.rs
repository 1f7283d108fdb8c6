//! An entry: all that the records of one run say together.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::ledger_record::{
    Actor, LedgerRunChanges, LedgerRunEnd, LedgerRunHost, LedgerRunNote, LedgerRunSecret, LedgerRunStart,
    LedgerRunState, LedgerRunTask,
};

/// A run, as its records have it.
#[derive(Debug, Clone, Copy)]
pub struct LedgerEntry<'a> {
    /// The id of the run.
    pub run: &'a str,
    /// How the run ended.
    pub state: LedgerRunState,
    /// The start of the run.
    pub start: &'a LedgerRunStart<'a>,
    later: &'a LaterRecords<'a>,
}

/// What the records of a run say beside its start.
#[derive(Debug, Default)]
pub struct LaterRecords<'a> {
    /// The end of the run, as its shim has seen it.
    end: Option<LedgerRunEnd<'a>>,
    /// The notes of host and shim in one.
    note: LedgerRunNote<'a>,
}

impl<'a> LaterRecords<'a> {
    /// Adds the parts of a record that was written before those that were added. The later of two parts counts.
    pub fn add_earlier(&mut self, end: Option<LedgerRunEnd<'a>>, note: Option<Box<LedgerRunNote<'a>>>) {
        fill_if_missing(&mut self.end, end);
        let Some(note) = note else { return };
        let LedgerRunNote { changes, output, task, end, silence, evidence, reused, secrets } = *note;
        fill_if_missing(&mut self.note.changes, changes);
        fill_if_missing(&mut self.note.output, output);
        fill_if_missing(&mut self.note.task, task);
        fill_if_missing(&mut self.note.end, end);
        fill_if_missing(&mut self.note.silence, silence);
        fill_if_missing(&mut self.note.evidence, evidence);
        fill_if_missing(&mut self.note.reused, reused);
        if self.note.secrets.is_empty() {
            self.note.secrets = secrets;
        }
    }

    /// Returns the end. The host knows it better than the shim.
    fn end(&self) -> Option<&LedgerRunEnd<'a>> {
        self.note.end.as_ref().or(self.end.as_ref())
    }

    /// Returns whether the end is known.
    pub fn has_ended(&self) -> bool {
        self.end().is_some()
    }
}

/// Sets a part that is not known yet.
fn fill_if_missing<T>(known: &mut Option<T>, part: Option<T>) {
    if known.is_none() && part.is_some() {
        *known = part;
    }
}

impl<'a> LedgerEntry<'a> {
    /// Puts the records of a run together. `is_lost`: it has no end, and no process can write one.
    pub fn of(run: &'a str, start: &'a LedgerRunStart<'a>, later: &'a LaterRecords<'a>, is_lost: bool) -> Self {
        let state = match later.end() {
            Some(end) => end.state,
            None if is_lost => LedgerRunState::Lost,
            None if start.task.is_some() || later.note.task.is_some() => LedgerRunState::Backgrounded,
            None => LedgerRunState::Running,
        };
        Self { run, state, start, later }
    }

    /// Returns when the run started, in ms since 1970.
    pub fn started_at(&self) -> u64 {
        self.start.at
    }

    /// Returns who asked for the run.
    pub fn actor(&self) -> Option<&Actor> {
        self.start.actor.as_deref()
    }

    /// Returns the exit code. `None` while the run goes on, and where nothing exited or the end is not known.
    pub fn exit_code(&self) -> Option<i32> {
        self.later.end()?.code
    }

    /// Returns the signal that ended the shell.
    pub fn signal(&self) -> Option<&str> {
        self.later.end()?.signal.as_deref()
    }

    /// Returns the time to the exit of the shell, ms.
    pub fn duration_ms(&self) -> Option<f64> {
        self.later.end()?.ms
    }

    /// Returns what the run changed.
    pub fn changes(&self) -> Option<&LedgerRunChanges<'a>> {
        self.later.note.changes.as_ref()
    }

    /// Returns whether the silence of the command was its limit.
    pub fn was_silent(&self) -> bool {
        self.later.note.silence.is_some()
    }

    /// Returns what secrets the run used.
    pub fn secrets(&self) -> &[LedgerRunSecret<'a>] {
        &self.later.note.secrets
    }

    fn task(&self) -> Option<&LedgerRunTask<'a>> {
        self.later.note.task.as_ref().or(self.start.task.as_ref())
    }

    fn output(&self) -> Option<&str> {
        self.later.note.output.as_deref().or(self.task().map(|task| &*task.log))
    }
}

/// CPU times and memory as in a result.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryUsage {
    user_ms: f64,
    system_ms: f64,
    max_rss_bytes: u64,
}

impl From<[u64; 3]> for EntryUsage {
    fn from([user, system, max_rss_bytes]: [u64; 3]) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a time in µs")]
        let ms = |us: u64| us as f64 / 1000.0;
        Self { user_ms: ms(user), system_ms: ms(system), max_rss_bytes }
    }
}

/// The numbers of changes as in a receipt, with its state.
#[derive(Serialize)]
struct EntryReceipt<'a> {
    created: u64,
    modified: u64,
    deleted: u64,
    renamed: u64,
    state: &'a str,
}

impl<'a> From<&'a LedgerRunChanges<'a>> for EntryReceipt<'a> {
    fn from(
        LedgerRunChanges { state, counts: [created, modified, deleted, renamed], .. }: &'a LedgerRunChanges<'a>,
    ) -> Self {
        Self { created: *created, modified: *modified, deleted: *deleted, renamed: *renamed, state }
    }
}

impl Serialize for LedgerEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let LedgerRunStart {
            redacted,
            host: LedgerRunHost { pid, program },
            verdict,
            rules,
            decided_by,
            confinement,
            target,
            draft,
            ..
        } = self.start;
        let end = self.later.end();
        let ended_at = end.filter(|end| end.state != LedgerRunState::Lost).map(|end| end.at);
        let mut map = serializer.serialize_map(Some(26))?;
        map.serialize_entry("runId", self.run)?;
        map.serialize_entry("startedAt", &self.start.at)?;
        map.serialize_entry("endedAt", &ended_at)?;
        map.serialize_entry("state", &self.state)?;
        map.serialize_entry("command", &self.start.command)?;
        map.serialize_entry("redacted", redacted)?;
        map.serialize_entry("cwd", &self.start.cwd)?;
        map.serialize_entry("host", &LedgerRunHost { pid: *pid, program: (&**program).into() })?;
        map.serialize_entry("actor", &self.actor())?;
        map.serialize_entry("verdict", verdict.as_deref().unwrap_or("allow"))?;
        map.serialize_entry("rules", rules)?;
        map.serialize_entry("decidedBy", decided_by)?;
        map.serialize_entry("confinement", confinement)?;
        map.serialize_entry("exitCode", &self.exit_code())?;
        map.serialize_entry("signal", &self.signal())?;
        map.serialize_entry("durationMs", &self.duration_ms())?;
        map.serialize_entry("usage", &end.and_then(|end| end.usage).map(EntryUsage::from))?;
        map.serialize_entry("silence", &self.later.note.silence)?;
        map.serialize_entry("receipt", &self.changes().map(EntryReceipt::from))?;
        map.serialize_entry("evidence", &self.later.note.evidence)?;
        map.serialize_entry("reused", &self.later.note.reused)?;
        map.serialize_entry("outputPath", &self.output())?;
        map.serialize_entry("taskId", &self.task().map(|task| &*task.id))?;
        map.serialize_entry("target", target)?;
        map.serialize_entry("draft", draft)?;
        map.serialize_entry("secrets", self.secrets())?;
        map.end()
    }
}
