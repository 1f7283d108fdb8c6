//! Commands for another machine: judged here, run there.

use super::entry;
use super::guard;
use super::outcome::Outcome;
use crate::error::Error;
use crate::request::{RawOptions, Request};

/// Judges a command by the directory and the environment of the machine that will run it. Returns the outcome of a
/// command that was not started there, with the findings as notes.
///
/// # Errors
/// If the options are impossible, or the safety engine refuses the command.
pub fn judged(raw: RawOptions) -> Result<Outcome, Error> {
    // What can be confined, recorded and re-used is known there.
    let raw = RawOptions { confine: None, receipt: None, undo: None, evidence: None, reuse: None, ..raw };
    let mut request = Request::check(raw)?;
    guard::judge(&mut request).map_err(|error| entry::refused(&request, error))?;
    Ok(Outcome::not_started(&request))
}
