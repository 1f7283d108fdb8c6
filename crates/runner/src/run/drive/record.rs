//! The end of the record of a command.

use std::sync::Arc;

use tokio::task::{JoinHandle, spawn_blocking};

use crate::registry::Registry;
use crate::run::completion::ShellExit;
use protocol::plan::Recorded;
use protocol::task::Task;
use protocol::{Ended, Survivor};
use receipt::recording::{Recording, RunRecord};

/// The record of a command whose shell has exited.
pub enum EndOfRecord {
    /// Nothing is recorded.
    Off,
    /// No process of the command lives. Its record is being read.
    Reading(JoinHandle<RunRecord>),
    /// The processes that it left are to be known first. The text is the reason why its shim has no record.
    Open(Recording, Option<String>),
}

impl EndOfRecord {
    /// Begins to read what the command left, if nothing of it lives.
    pub fn new(recording: Option<Recording>, exit: Option<&ShellExit>) -> Self {
        let Some(recording) = recording else { return Self::Off };
        let ended = exit.and_then(|exit| exit.as_ref().ok());
        let failure = match ended.map(|ended| &ended.record) {
            Some(Recorded::Failed(why)) => Some(why.clone()),
            Some(Recorded::Off | Recorded::Done) | None => None,
        };
        if matches!(ended, Some(Ended { alive: false, .. })) {
            return Self::Reading(spawn_blocking(move || recording.finish(&[], failure.as_deref())));
        }
        Self::Open(recording, failure)
    }

    /// Returns the record. `None`: nothing is recorded, or the command goes on as a task, which has the record from
    /// here on.
    pub async fn finish(
        self,
        survivors: &[Survivor],
        task: Option<(&Arc<Registry>, &Task)>,
        is_moved: bool,
    ) -> Option<RunRecord> {
        let (recording, failure) = match self {
            Self::Off => return None,
            Self::Reading(reading) => return reading.await.ok(),
            Self::Open(recording, failure) => (recording, failure),
        };
        let survivors = survivors.to_vec();
        let Some((registry, task)) = task else {
            return spawn_blocking(move || recording.finish(&survivors, failure.as_deref())).await.ok();
        };
        if is_moved {
            registry.record(&task.id, recording);
            return None;
        }
        let handed_over = spawn_blocking(move || recording.hand_over(&survivors, failure.as_deref()));
        let (record, recording) = handed_over.await.ok()?;
        match recording {
            Some(recording) => registry.record(&task.id, recording),
            None => registry.set_record(&task.id, record.clone()),
        }
        Some(record)
    }
}
