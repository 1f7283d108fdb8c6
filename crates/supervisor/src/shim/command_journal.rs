//! A shim and the records of its commands.

use super::ShimProcess;
use super::change_journal::{AnswerChannel, ChangeJournalError, ChangeJournals};
use super::shim_world::ShimWorld;
use super::task_server::TaskServer;
use protocol::RunDescriptors;
use protocol::plan::{ChangeJournalOutcome, ChangeJournalPurpose, ChildPlan};
use sys::{LaunchError, LaunchStep};

impl ShimProcess {
    /// Begins the record of a command's changes, if one is wanted. If that fails, the command still runs, unless the
    /// record is required, and the reason is reported with its end.
    pub(super) fn begin_record(
        &mut self,
        plan: &ChildPlan,
        descriptors: &RunDescriptors,
    ) -> Result<Option<AnswerChannel>, LaunchError> {
        let world = self.world.as_ref().map(ShimWorld::has_listener);
        let begun = self.records.begin(plan, descriptors, world);
        let failed = |error: &ChangeJournalError| LaunchError { step: LaunchStep::Record, errno: error.errno() };
        match begun {
            Ok(way) => Ok(way),
            Err(error) if plan.record.as_ref().is_some_and(|record| record.require) => Err(failed(&error)),
            Err(error) => {
                self.records.note_failure(&error);
                Ok(None)
            }
        }
    }

    /// Adds the store with the recorded changes to the task's state.
    pub(super) fn record_task(&self, server: &mut TaskServer) {
        if let Some(store) = self.records.store() {
            // Other processes may read it, also if nothing has changed.
            self.records.settle();
            server.begin_record(store);
        }
    }

    /// Ends the record of the current command. Returns its outcome. The record is removed if only a receipt was wanted,
    /// and `unread` says that the host that wanted it is gone.
    pub(super) fn end_record(&mut self, mark: Option<&str>, unread: bool) -> ChangeJournalOutcome {
        let is_receipt = self.records.purpose() == Some(ChangeJournalPurpose::Receipt);
        let unread = self.records.store().filter(|_| unread && is_receipt).map(ToOwned::to_owned);
        if self.world.as_ref().is_some_and(ShimWorld::has_lost_listener) {
            self.records.lose_names();
        }
        let recorded = self.records.end();
        if let Some((store, run)) = unread.zip(mark) {
            ChangeJournals::forget_unread(&store, run);
        }
        recorded
    }
}
