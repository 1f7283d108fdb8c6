//! Reads the rc files in a shell of its own, and ends all that they have started.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::asked::Wanted;
use super::code::{Code, joined};
use super::progress::{Progress, Said};
use super::script::{Places, outer, save};
use super::secret::Secrets;
use crate::capture::Stream;
use crate::outcome::{Outcome, Status};
use crate::plan::{Inherit, RawLimits};
use crate::request::{RawOptions, Request};
use crate::run::{Listener, Prompt, Reply, Run, Snapshot};
use crate::session::State;
use crate::sys::Shared;

/// No command waits longer for them.
const LIMIT: Duration = Duration::from_secs(10);
/// Of it, for what they have started to end.
const GRACE: Duration = Duration::from_millis(500);
/// The largest file that they, or the dump of their shell, may write, bytes.
const LARGEST: f64 = 64.0 * 1024.0 * 1024.0;

/// Nobody listens to it.
pub struct Quiet;

impl Listener for Quiet {
    fn output(&self, _: Stream, _: String) {}
    fn snapshot(&self, _: Snapshot) {}
    fn prompt(&self, _: Prompt) {}
    fn allocate(&self, _: Stream) {}
}

/// The answers of a listener that has none. The sender is to be held: without it a command counts as given up.
pub fn unheard() -> (UnboundedSender<Reply>, UnboundedReceiver<Reply>) {
    unbounded_channel()
}

/// A command of ours with the shell and the environment of a snapshot.
pub fn raw(wanted: &Wanted, command: String, limit: Duration) -> RawOptions {
    let home = &*wanted.given.home;
    let folder = if home.is_dir() { home } else { Path::new("/") };
    RawOptions {
        command,
        cwd: folder.to_string_lossy().into_owned(),
        host_env: wanted.given.block.to_string(),
        inherit: Inherit::All,
        timeout_ms: Some(limit.as_secs_f64() * 1000.0),
        grace_ms: Some(GRACE.as_secs_f64() * 1000.0),
        umask: wanted.umask,
        shell: Some(wanted.shell.to_string_lossy().into_owned()),
        limits: Some(RawLimits { file_bytes: Some(LARGEST), ..RawLimits::default() }),
        cold: true,
        ..RawOptions::default()
    }
}

/// The code that the rc files come to.
///
/// # Errors
/// Says why there is none.
pub async fn read(wanted: &Wanted) -> Result<Code, String> {
    for file in &wanted.files {
        can_be_read(file)?;
    }
    let files = |error: std::io::Error| format!("no files could be made for it ({error})");
    let (variables, state) = (Shared::file(b"").map_err(files)?, Shared::file(b"").map_err(files)?);
    let (progress, told) = Shared::pipe().map_err(files)?;
    let (never, _nothing) = Shared::pipe().map_err(files)?;
    let places =
        Places { progress: progress.path(), variables: variables.path(), state: state.path(), never: never.path() };
    let save = Shared::file(save(&places).as_bytes()).map_err(files)?;
    let mut told = Progress::new(told).map_err(files)?;
    let outcome = run(wanted, outer(wanted, &places, save.path()), &mut told).await?;

    if let Some(why) = failure(wanted, &told.said(), outcome.status) {
        return Err(why);
    }
    let unreadable = || ended(wanted, &told.said());
    let variables = variables.read().map_err(files)?;
    let variables = String::from_utf8_lossy(&variables);
    let variables = variables.strip_suffix("end\0").ok_or_else(unreadable)?;
    let variables = || variables.split_terminator('\0').filter_map(|entry| entry.split_once('='));
    let state = State::parse(&state.read().map_err(files)?).ok_or_else(unreadable)?;
    let path = variables().find(|(name, _)| *name == "PATH").map(|(_, made)| joined(made, &wanted.given.path));
    Code::of(&state.for_snapshot().restore(b""), path.as_deref(), &Secrets::of(variables()))
}

/// Runs the shell that reads until it has ended, then ends what it has left.
async fn run(wanted: &Wanted, command: String, told: &mut Progress) -> Result<Outcome, String> {
    let failed = |error| format!("the shell to read them in could not be started ({error})");
    let request = Request::check(raw(wanted, command, LIMIT.saturating_sub(GRACE))).map_err(failed)?;
    let (end, replies) = unheard();
    let running = Run::begin(request).map_err(failed)?.finish(Quiet, replies);
    tokio::pin!(running);
    let ran = tokio::select! {
        ran = &mut running => ran,
        () = told.ended() => {
            let _ = end.send(Reply::Abort);
            running.await
        }
    };
    ran.map(|ran| ran.outcome).map_err(failed)
}

/// Why the reading came to nothing, as far as the shell has said so.
fn failure(wanted: &Wanted, said: &Said, status: Status) -> Option<String> {
    if said.end.is_none() && status == Status::TimedOut {
        return Some(format!("{} did not end within {} s", name(wanted, said.file), LIMIT.as_secs()));
    }
    said.syntax.map(|number| format!("{} has a syntax error", name(wanted, Some(number))))
}

fn ended(wanted: &Wanted, said: &Said) -> String {
    let how = said.end.map(|code| format!(" (exit code {code})")).unwrap_or_default();
    format!("{} ended the shell that read it, or took its place{how}", name(wanted, said.file))
}

fn name(wanted: &Wanted, number: Option<usize>) -> String {
    number
        .and_then(|number| wanted.files.get(number))
        .map_or_else(|| "an rc file".to_owned(), |file| file.display().to_string())
}

fn can_be_read(file: &Path) -> Result<(), String> {
    let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(file);
    match opened.and_then(|file| file.metadata()) {
        Ok(metadata) if metadata.is_dir() => Err(format!("{} is a folder", file.display())),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{} could not be read ({error})", file.display())),
    }
}
