//! The record of a command. It is chosen and begins right before the command starts.

use tokio::task::{block_in_place, spawn_blocking};

use super::CommandLaunch;
use super::launch_plan::{StartupFiles, plan_of};
use super::recording_choice::{preparation, prepare_blocking, recorded_form};
use crate::error::RunError;
use protocol::plan::next_mark;

impl CommandLaunch {
    /// Chooses how the command is recorded, and begins the recording, unless an earlier attempt has. Called right
    /// before the command starts, once its shell kind is known.
    ///
    /// # Errors
    /// [`RunError::NotUndoable`]
    pub(super) fn begin_record(&mut self) -> Result<(), RunError> {
        if self.recording.is_some() || self.draft_before.is_some() {
            return Ok(());
        }
        if let Some(draft) = &self.request.draft {
            if self.request.record.is_some() {
                self.draft_before = Some(block_in_place(|| draft.before()));
            }
            return Ok(());
        }
        let Some(prepare) = preparation(&mut self.request) else { return Ok(()) };
        let chosen = self.prepared.take();
        let is_chosen = chosen.is_some();
        let (run, is_confined) = (self.request.mark.clone(), self.request.confine.is_some());
        let begin = move || {
            let prepared = chosen.map_or_else(prepare, Ok)?;
            Ok((prepared.begin(run, is_confined), prepared))
        };
        let (recording, mut prepared) = prepare_blocking(begin)?;
        self.recording = recording;
        if !is_chosen {
            self.request.notes.append(&mut prepared.notes);
            self.order.plan.record = prepared.record.take();
            if let Some(record) = &self.order.plan.record {
                self.order.warm = self.order.warm.take().and_then(|warm| recorded_form(warm, record));
                // The record ends with the shell, so no early report is used.
                self.request.exit_report_pipe = None;
            }
        }
        self.prepared = Some(prepared);
        Ok(())
    }

    /// Reads the tree of the command, if its evidence is to say what changed. Called right before the command starts.
    pub(super) async fn read_tree(&mut self) {
        if let Some(wanted) = self.request.evidence.clone().filter(|wanted| wanted.tree) {
            self.before = spawn_blocking(move || wanted.read_tree_before()).await.ok().flatten();
        }
    }

    /// Makes the plan again for another attempt. A recorded run gets another id then, because its record may have
    /// begun.
    ///
    /// # Errors
    /// As [`plan_of`].
    pub(super) fn plan_again(&mut self) -> Result<(), RunError> {
        let record = self.order.plan.record.take();
        if record.is_some() {
            self.request.mark = next_mark();
            self.recording = None;
        }
        self.order.plan = plan_of(&self.request, self.helpers)?;
        self.order.plan.record = record;
        self.order.files.truncate(self.request.inherited_files.len());
        self.startup_files = StartupFiles::default();
        Ok(())
    }

    /// Returns whether the command's changes are recorded.
    pub(super) fn is_recorded(&self) -> bool {
        self.order.plan.record.is_some()
    }
}
