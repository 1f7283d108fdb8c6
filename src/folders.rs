//! Directories of this process, for the private home of a sandbox.

use std::path::Path;

use napi_derive::napi;

use protocol::task;
use runner::supervise::HelperProcesses;

/// Returns the part of a directory's name that tells this process from any other.
#[napi]
pub fn own_name() -> String {
    task::own_process_name()
}

/// Removes the directories `PREFIX` + `ownName()` + `-…` of processes that were killed.
#[napi]
pub fn remove_left(parent: String, prefix: String) {
    task::remove_abandoned(Path::new(&parent), &prefix);
}

/// Removes a directory once this process has exited, however it exits. Does nothing on a system without helpers, where
/// no command runs either.
#[napi]
pub fn remove_at_end(path: String) {
    if let Ok(helpers) = HelperProcesses::shared() {
        helpers.remove_at_end(Path::new(&path));
    }
}

/// Forgets a directory that was removed already.
#[napi]
pub fn remove_no_more(path: String) {
    if let Ok(helpers) = HelperProcesses::shared() {
        helpers.remove_no_more(Path::new(&path));
    }
}
