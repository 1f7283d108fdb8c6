//! Whether a fresh shell takes a snapshot without a word.

use std::time::Duration;

use super::asked::Wanted;
use super::code::Code;
use super::read::{Quiet, raw, unheard};
use crate::outcome::Status;
use crate::request::Request;
use crate::run::Run;
use crate::sys::Shared;

/// For a shell to take it.
const LIMIT: Duration = Duration::from_secs(5);

/// Says why it cannot be used.
pub async fn check(wanted: &Wanted, code: &Code) -> Result<(), String> {
    let failed = |_| "a shell to try it in could not be started".to_owned();
    let file = Shared::file(code.bytes()).map_err(|error| error.to_string())?;
    let file_name = crate::plan::quoted(&file.path().to_string_lossy());
    // A line of its own, which is read once the aliases are there.
    let request = Request::check(raw(wanted, format!("\\builtin . {file_name}\n:\n"), LIMIT)).map_err(failed)?;
    let (_silent, replies) = unheard();
    let outcome = Run::begin(request).map_err(failed)?.finish(Quiet, replies).await.map_err(failed)?.outcome;
    match (outcome.status, outcome.exit_code) {
        (Status::Exited, Some(0)) if outcome.stdout.is_empty() && outcome.stderr.is_empty() => Ok(()),
        (Status::Exited, Some(0)) => Err("a fresh shell could not take all of it over".to_owned()),
        (Status::TimedOut, _) => Err(format!("a fresh shell took more than {} s to take it over", LIMIT.as_secs())),
        _ => Err("a fresh shell failed as it took it over".to_owned()),
    }
}
