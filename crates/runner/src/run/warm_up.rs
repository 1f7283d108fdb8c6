//! Starts a warm shell before any command needs it, and makes its world.

use super::launch_plan::{enter_world, plan_of, world_error};
use super::recording_choice::{preparation, prepare_blocking, recorded_form};
use super::warm_form;
use crate::error::RunError;
use crate::request::PlannedRun;
use crate::supervise::{self, CommandAdmission, HelperError, HelperProcesses};
use protocol::plan::ChildPlan;

/// Makes the world of commands like this, and starts a warm shell for them, unless they are there. Returns whether a
/// shell is there now.
///
/// # Errors
/// If there is no shell, no directory or no helper process, or if the world cannot be made.
pub async fn warm_up(mut request: PlannedRun) -> Result<bool, RunError> {
    let helpers = HelperProcesses::shared().map_err(|error| RunError::helper(error, &request.command))?;
    let plan = plan_of(&request, helpers)?;
    match std::fs::metadata(&request.cwd) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(RunError::CwdNotDirectory(request.cwd.clone())),
        Err(_) => return Err(RunError::CwdNotFound(request.cwd.clone())),
    }
    warm_up_as(&mut request, plan, helpers).await
}

/// Does the same with the plan of the request.
pub(super) async fn warm_up_as(
    request: &mut PlannedRun,
    mut plan: ChildPlan,
    helpers: &'static HelperProcesses,
) -> Result<bool, RunError> {
    if let Some(world) = plan.world {
        let facts = helpers.world_made(world).await.map_err(|failure| world_error(failure, request))?;
        enter_world(&mut plan, &facts);
    }
    let Some(warm) = warm_form::of(request, &plan, helpers) else { return Ok(false) };
    let record = preparation(request).map(prepare_blocking).transpose()?.and_then(|prepared| prepared.record);
    let warm = match record {
        Some(record) => recorded_form(warm, &record),
        None => Some(warm),
    };
    let Some(warm) = warm else { return Ok(false) };
    // The shim and the pipes of the shell take the descriptors of a command.
    let _slot = CommandAdmission::shared().enter().await;
    let failed = |error: HelperError| RunError::helper(error, &request.command);
    supervise::warm_up(helpers, warm.kind).await.map_err(failed)
}
