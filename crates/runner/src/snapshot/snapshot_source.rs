//! Commands that begin with a snapshot. They start at once if this process has the snapshot, otherwise after it was
//! read.

use super::process_cache::CommandSnapshot;
use super::snapshot_request::{SnapshotDemand, SnapshotRequest};
use crate::error::RunError;
use crate::request::{PlannedRun, RawOptions};
use crate::run::{ShellStateSource, StartingShellState};
use protocol::plan::{ShellBootCode, ShellStartup};

impl ShellStateSource for SnapshotRequest {
    type State = CommandSnapshot;

    fn of(raw: &RawOptions) -> Result<StartingShellState<Self>, RunError> {
        Ok(match SnapshotDemand::of(raw)? {
            SnapshotDemand::Nothing => StartingShellState::Plain,
            SnapshotDemand::Impossible(why) => StartingShellState::Known(CommandSnapshot::unavailable(why)),
            SnapshotDemand::Wanted(wanted) => match wanted.find_in_process() {
                Some(snapshot) => StartingShellState::Known(snapshot),
                None => StartingShellState::Unread(wanted),
            },
        })
    }

    fn read(self) -> impl Future<Output = CommandSnapshot> + Send {
        self.take_snapshot()
    }

    fn apply(snapshot: CommandSnapshot, request: &mut PlannedRun) {
        let boot = snapshot.boot(request);
        request.startup = (!boot.is_empty()).then(|| ShellStartup {
            boot: ShellBootCode { early: boot, ..ShellBootCode::default() },
            ..ShellStartup::default()
        });
    }
}
