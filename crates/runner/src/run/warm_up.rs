//! Starts a warm shell before any command needs it.

use super::plan::{enter_world, plan_of};
use super::warm;
use crate::error::Error;
use crate::request::Request;
use crate::supervise::{self, Admission, HelperError, Helpers};

/// Starts a warm shell for commands like this, unless one is there. Returns whether one is there now.
///
/// # Errors
/// If there is no shell, no directory or no helper process.
pub async fn warm_up(request: Request) -> Result<bool, Error> {
    let failed = |error: HelperError| Error::helper(error, &request.command);
    let helpers = Helpers::shared().map_err(failed)?;
    let mut plan = plan_of(&request, helpers)?;
    match std::fs::metadata(&request.cwd) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(Error::CwdNotDirectory(request.cwd)),
        Err(_) => return Err(Error::CwdNotFound(request.cwd)),
    }
    if let Some(world) = plan.world
        && let Ok(facts) = helpers.world_made(world).await
    {
        enter_world(&mut plan, &facts);
    }
    let Some(warm) = warm::of(&request, &plan, helpers) else { return Ok(false) };
    // The shim and the pipes of the shell take the descriptors of a command.
    let _slot = Admission::shared().enter().await;
    supervise::warm_up(helpers, warm.kind).await.map_err(failed)
}
