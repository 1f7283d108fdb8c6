//! The record of a command. It is chosen once the command's words are known, and begins right before its start.

use tokio::task::spawn_blocking;

use super::Launch;
use super::plan::{StartupFiles, plan_of};
use super::recorded::{record_of, recorded};
use crate::error::Error;
use protocol::plan::next_mark;
use receipt::recording::{Method, Recording};

impl Launch {
    /// Chooses how the command is recorded.
    ///
    /// # Errors
    /// As [`record_of`].
    pub(super) async fn choose_record(&mut self) -> Result<(), Error> {
        self.prepared = record_of(&mut self.request).await?;
        self.request.notes.append(&mut self.prepared.notes);
        let record = self.prepared.record.take();
        if let Some(record) = &record {
            self.order.warm = self.order.warm.take().and_then(|warm| recorded(warm, record));
            // The record ends with the shell, so no early report is used.
            self.request.report = None;
        }
        self.order.plan.record = record;
        Ok(())
    }

    /// Begins the recording, unless an earlier attempt has. Called right before the command starts.
    pub(super) async fn begin_record(&mut self) {
        if self.prepared.way == Method::Off || self.recording.is_some() {
            return;
        }
        let (cwd, directories) = (self.request.cwd.clone(), self.prepared.directories.clone());
        let store = self.order.plan.record.as_ref().map(|record| record.store.clone());
        let run = self.request.mark.clone();
        let is_confined = self.request.confine.is_some();
        let is_snapshot = self.prepared.way == Method::Snapshot;
        let begin = move || match store {
            Some(store) if is_snapshot => Recording::snapshot(&store, run, &cwd),
            Some(store) => Recording::exact(&store, run, &directories, is_confined),
            None => Recording::watch(&cwd),
        };
        self.recording = spawn_blocking(begin).await.ok();
    }

    /// Reads the tree of the command, if its evidence is to say what changed. Called right before the command starts.
    pub(super) async fn read_tree(&mut self) {
        if let Some(wanted) = self.request.evidence.clone().filter(|wanted| wanted.tree) {
            self.before = spawn_blocking(move || wanted.before()).await.ok().flatten();
        }
    }

    /// Makes the plan again for another attempt. A recorded run gets another id then, because its record may have
    /// begun.
    ///
    /// # Errors
    /// As [`plan_of`].
    pub(super) fn plan_again(&mut self) -> Result<(), Error> {
        let record = self.order.plan.record.take();
        if record.is_some() {
            self.request.mark = next_mark();
            self.recording = None;
        }
        self.order.plan = plan_of(&self.request, self.helpers)?;
        self.order.plan.record = record;
        self.order.files.truncate(self.request.files.len());
        self.startup_files = StartupFiles::default();
        Ok(())
    }

    /// Returns whether the command's changes are recorded.
    pub(super) fn is_recorded(&self) -> bool {
        self.order.plan.record.is_some()
    }
}
