//! Commands for another machine: judged here, run there.

use std::time::Duration;

use super::entry;
use super::guard;
use super::outcome::Outcome;
use crate::error::Error;
use crate::request::{RawOptions, Request};

/// A command that may run on another machine.
#[derive(Debug)]
pub struct Judged {
    /// The outcome of the command if it is not started, with the findings as notes.
    pub outcome: Outcome,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Whether the caller gave the command up before it began.
    pub aborted: bool,
}

/// Judges a command by the directory and the environment of the machine that will run it.
///
/// # Errors
/// If the options are impossible, or the safety engine refuses the command.
pub fn judged(raw: RawOptions) -> Result<Judged, Error> {
    // What can be confined, recorded and re-used is known there.
    let raw = RawOptions { confine: None, receipt: None, undo: None, evidence: None, reuse: None, ..raw };
    let mut request = Request::check(raw)?;
    guard::judge(&mut request).map_err(|error| entry::refused(&request, error))?;
    Ok(Judged { outcome: Outcome::not_started(&request), grace: request.grace, aborted: request.aborted })
}
