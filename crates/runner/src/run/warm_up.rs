//! Starts a warm shell before any command needs it.

use super::plan::plan_of;
use super::record::{record_of, recorded};
use super::warm;
use crate::error::Error;
use crate::request::Request;
use crate::supervise::{self, Admission, HelperError, Helpers};

/// Starts a warm shell for commands like this, unless one is there. Returns whether one is there now.
///
/// # Errors
/// If there is no shell, no directory or no helper process.
pub async fn warm_up(mut request: Request) -> Result<bool, Error> {
    let command = request.command.clone();
    let failed = |error: HelperError| Error::helper(error, &command);
    let helpers = Helpers::shared().map_err(failed)?;
    let plan = plan_of(&request, helpers)?;
    match std::fs::metadata(&request.cwd) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(Error::CwdNotDirectory(request.cwd)),
        Err(_) => return Err(Error::CwdNotFound(request.cwd)),
    }
    let Some(warm) = warm::of(&request, &plan, helpers) else { return Ok(false) };
    let warm = match record_of(&mut request).await?.record {
        Some(record) => recorded(warm, &record),
        None => Some(warm),
    };
    let Some(warm) = warm else { return Ok(false) };
    // The shim and the pipes of the shell take the descriptors of a command.
    let _slot = Admission::shared().enter().await;
    supervise::warm_up(helpers, warm.kind).await.map_err(failed)
}
