//! Whether a command is let through, before anything starts.

mod harmless;

use std::borrow::Cow;

use crate::error::Error;
use crate::request::Request;
use crate::safety::{Environment, Finding, Prior, Setting, Verdict, findings};
use crate::sys;

/// A longer command is not judged on the caller's thread.
const MAX_AT_ONCE: usize = 8 * 1024;
/// The same of what its shell holds before it: nearly all of that is only read.
const MAX_HELD_AT_ONCE: usize = 64 * 1024;

/// Whether it takes so long to judge that the caller's thread must not wait for it.
pub(super) fn takes_long(request: &Request) -> bool {
    let held = request.startup.as_ref().map_or(0, |startup| startup.boot.early.len() + startup.boot.late.len());
    request.guard.is_some() && (request.command.len() > MAX_AT_ONCE || held > MAX_HELD_AT_ONCE)
}

/// Judges a command. What it is warned of becomes a note of its outcome.
///
/// # Errors
/// [`Error::Blocked`] for what is denied, and for what a person would be asked about if the caller wants that refused.
pub(super) fn judge(request: &mut Request) -> Result<(), Error> {
    let Some(guard) = request.guard.take() else { return Ok(()) };
    if harmless::knows(request, &guard) {
        return Ok(());
    }
    let own = request.environment.get("HOME").filter(|home| home.starts_with('/')).map(str::to_owned);
    let home = own.or_else(sys::home).unwrap_or_default();
    let cwd = request.cwd.to_string_lossy();
    let startup = request.startup.as_ref();
    let code = startup.map_or(Cow::Borrowed(""), |startup| startup.boot.text());
    let setting = Setting {
        cwd: &cwd,
        home: &home,
        environment: Environment(request.environment.text()),
        args: &request.args,
        // What will be written is not known.
        stdin: request.stdin.as_deref().filter(|_| !request.is_fed()).and_then(|bytes| std::str::from_utf8(bytes).ok()),
        before: Prior { code: &code, given: startup.map_or(&[], |startup| &startup.given) },
    };
    let findings = findings(&request.command, setting, &guard.policy);
    let refused = if guard.denies_ask { Verdict::Ask } else { Verdict::Deny };
    if let Some(strictest) = findings.first().filter(|finding| finding.level >= refused) {
        return Err(Error::Blocked { message: strictest.message.clone(), findings });
    }
    if findings.is_empty() {
        harmless::remember(request, guard);
    }
    request.notes.extend(findings.iter().map(note));
    request.notes.dedup();
    Ok(())
}

fn note(finding: &Finding) -> String {
    let what = if finding.level == Verdict::Ask { "a person would be asked about this" } else { "warning" };
    format!("{what}: {} ({})", finding.message, finding.rule_id)
}
