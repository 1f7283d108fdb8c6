//! Starting a warm shell before any command needs it.

use super::plan::plan_of;
use super::warm;
use crate::error::Error;
use crate::request::Request;
use crate::supervise::{self, HelperError, Helpers};

/// Starts a warm shell for a command like this one, unless there is one. Returns whether there is one then.
///
/// # Errors
/// When there is no shell, no directory or no helper process.
pub async fn warm_up(request: Request) -> Result<bool, Error> {
    let failed = |error: HelperError| Error::helper(error, &request.command);
    let helpers = Helpers::shared().map_err(failed)?;
    let plan = plan_of(&request)?;
    match std::fs::metadata(&request.cwd) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(Error::CwdNotDirectory(request.cwd)),
        Err(_) => return Err(Error::CwdNotFound(request.cwd)),
    }
    match warm::of(&request, &plan, helpers) {
        Some(warm) => supervise::warm_up(helpers, warm.kind).await.map_err(failed),
        None => Ok(false),
    }
}
