//! Which commands a shell that waits can run, so that nothing could tell.

use std::sync::Arc;

use crate::error::Error;
use crate::plan::{self, Kind, Plan};
use crate::request::Request;
use crate::supervise::{self, HelperError, Helpers, Warm};

/// What a waiting shell would be told to run this; `None` for what has to start cold.
pub(super) fn of(request: &Request, plan: &Plan, helpers: &Helpers) -> Option<Warm> {
    if !request.warm || request.background || !request.args.is_empty() || !helpers.shells_can_wait() {
        return None;
    }
    let name = plan.argv.first().map(|name| String::from_utf8_lossy(name))?;
    if !plan::can_wait(&name, &request.environment) {
        return None;
    }
    let startup = request.startup.as_ref();
    let (text, prologue) = (request.text(), plan::prologue(&request.command, startup));
    if !plan::fits(&text, &prologue) || (startup.is_none() && plan::shows_its_start(&text)) {
        return None;
    }
    let boot = startup.map(|startup| startup.boot.clone()).unwrap_or_default();
    let kind = Arc::new(Kind { plan: plan.kind(&request.mark), boot });
    Some(Warm { kind, command: text.into_owned().into_bytes(), prologue, made: startup.is_some() })
}

/// Has a shell wait for a command like this one. Returns whether one waits.
///
/// # Errors
/// When no shell could be found or no helper process be had.
pub async fn warm_up(request: Request) -> Result<bool, Error> {
    let failed = |error: HelperError| Error::helper(&error, &request.command);
    let helpers = Helpers::shared().map_err(failed)?;
    let plan = super::plan_of(&request)?;
    match std::fs::metadata(&request.cwd) {
        Ok(folder) if folder.is_dir() => {}
        Ok(_) => return Err(Error::CwdNotDirectory(request.cwd)),
        Err(_) => return Err(Error::CwdNotFound(request.cwd)),
    }
    match of(&request, &plan, helpers) {
        Some(warm) => supervise::warm_up(helpers, warm.kind).await.map_err(failed),
        None => Ok(false),
    }
}
