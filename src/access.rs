//! Access for one command beyond its confinement, as a model asks for it.

use std::path::Path;

use napi::{Error, Result, Status};
use napi_derive::napi;

use confine_policy::{RawConfine, RealHost, RequestedAccess, make_policy, missing_access};

/// Returns the part of the access, `{ write, network }` as JSON, that the options of a confinement do not allow yet,
/// resolved. `confine` is `ConfineOptions` as JSON, `root` the directory of the owner, `cwd` the directory of the
/// command, and `host_env` as in `Bridge.start`.
///
/// # Errors
/// For a path that does not exist, is hidden or protected, and for a text that names no host.
#[napi]
pub fn check_access(
    confine: String,
    root: String,
    cwd: String,
    host_env: Option<String>,
    access: String,
) -> Result<String> {
    let refused = |message: String| Error::new(Status::InvalidArg, message);
    let asked: RequestedAccess = serde_json::from_str(&access).map_err(|error| refused(format!("access: {error}")))?;
    let options = RawConfine::from_json(&confine).map_err(|error| refused(format!("confine: {error}")))?;
    let environment = host_env.unwrap_or_else(sys::environment);
    let host = RealHost { environment: &environment };
    let missing = missing_access(&options, Path::new(&root), Path::new(&cwd), &asked, &host)
        .map_err(|error| refused(error.to_string()))?;
    serde_json::to_string(&missing).map_err(|error| refused(error.to_string()))
}

/// Returns the reach that a confinement leaves, `{ write, offline, alone }` as JSON: the places that can be changed,
/// whether no host, and whether no process of the machine can be reached. The arguments are as in `check_access`.
///
/// # Errors
/// For options that are no policy.
#[napi]
pub fn confinement_reach(confine: String, root: String, host_env: Option<String>) -> Result<String> {
    let refused = |message: String| Error::new(Status::InvalidArg, message);
    let options = RawConfine::from_json(&confine).map_err(|error| refused(format!("confine: {error}")))?;
    let environment = host_env.unwrap_or_else(sys::environment);
    let host = RealHost { environment: &environment };
    let held = make_policy(&options, Path::new(&root), &host).map_err(|error| refused(error.to_string()))?;
    serde_json::to_string(&held.command_reach(Path::new(&root))).map_err(|error| refused(error.to_string()))
}
