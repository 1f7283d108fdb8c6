//! Reads the rc files in a separate shell, and terminates all processes that they have started.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::error::SnapshotError;
use super::rc_progress::{RcProgress, RcProgressPipe};
use super::rc_script::{RcOutputPaths, dump_file, outer_command};
use super::secret_values::SecretValues;
use super::snapshot_code::{SnapshotCode, joined};
use super::snapshot_request::SnapshotRequest;
use crate::error::RunError;
use crate::request::{PlannedRun, RawLimits, RawOptions};
use crate::run::outcome::{CommandOutcome, CommandStatus};
use crate::run::{BlockedPrompt, CallerReply, CommandLaunch, CommandListener, LiveView};
use crate::shell_state::SavedShellState;
use capture::OutputStream;
use protocol::plan::InheritMode;
use sys::SharedDescriptor;

/// Time the rc files may take.
const LIMIT: Duration = Duration::from_secs(10);
/// The part of that time in which processes that the rc files have started may exit.
const GRACE: Duration = Duration::from_millis(500);
/// The most bytes of a file that the rc files, or the dump of their shell, may write.
const LARGEST: f64 = 64.0 * 1024.0 * 1024.0;

/// A listener that ignores everything.
pub struct SilentListener;

impl CommandListener for SilentListener {
    fn output(&self, _: OutputStream, _: String) {}
    fn live_view(&self, _: LiveView) {}
    fn prompt(&self, _: BlockedPrompt) {}
    fn allocate(&self, _: OutputStream) {}
}

/// Returns the replies of such a listener. The caller keeps the sender, because without it a command counts as aborted.
pub fn unanswered_replies() -> (UnboundedSender<CallerReply>, UnboundedReceiver<CallerReply>) {
    unbounded_channel()
}

/// Returns an internal command with the shell and the environment of a snapshot. It is not listed among the live runs.
///
/// # Errors
/// As [`PlannedRun::check`].
pub fn internal_request(wanted: &SnapshotRequest, command: String, limit: Duration) -> Result<PlannedRun, RunError> {
    let mut run = PlannedRun::check(raw(wanted, command, limit))?;
    run.shown_as = None;
    Ok(run)
}

fn raw(wanted: &SnapshotRequest, command: String, limit: Duration) -> RawOptions {
    let home = &*wanted.environment.home;
    let directory = if home.is_dir() { home } else { Path::new("/") };
    RawOptions {
        command,
        cwd: directory.to_string_lossy().into_owned(),
        host_env: wanted.environment.block.to_string(),
        inherit: InheritMode::All,
        timeout_ms: Some(limit.as_secs_f64() * 1000.0),
        grace_ms: Some(GRACE.as_secs_f64() * 1000.0),
        umask: wanted.umask,
        shell: Some(wanted.shell.to_string_lossy().into_owned()),
        limits: Some(RawLimits { file_bytes: Some(LARGEST), ..RawLimits::default() }),
        warm: Some(false),
        ..RawOptions::default()
    }
}

/// Reads the rc files. Returns the code that restores their state.
///
/// # Errors
/// [`SnapshotError`] if there is no snapshot.
pub async fn read(wanted: &SnapshotRequest) -> Result<SnapshotCode, SnapshotError> {
    for file in &wanted.files {
        can_be_read(file)?;
    }
    let files = SnapshotError::Files;
    let (variables, state) = (SharedDescriptor::file(b"").map_err(files)?, SharedDescriptor::file(b"").map_err(files)?);
    let (progress, reports) = SharedDescriptor::pipe().map_err(files)?;
    let (never, _nothing) = SharedDescriptor::pipe().map_err(files)?;
    let places = RcOutputPaths {
        progress: progress.path(),
        variables: variables.path(),
        state: state.path(),
        never: never.path(),
    };
    let save = SharedDescriptor::file(dump_file(&places).as_bytes()).map_err(files)?;
    let mut progress = RcProgressPipe::new(reports).map_err(files)?;
    let outcome = run(wanted, outer_command(wanted, &places, save.path()), &mut progress).await?;

    let reported = progress.reported();
    if let Some(error) = failure(wanted, &reported, outcome.status) {
        return Err(error);
    }
    let unreadable = || SnapshotError::Exited { file: name(wanted, reported.file), exit_code: reported.end };
    let variables = variables.read().map_err(files)?;
    let variables = String::from_utf8_lossy(&variables);
    let variables = variables.strip_suffix("end\0").ok_or_else(unreadable)?;
    let variables = || variables.split_terminator('\0').filter_map(|entry| entry.split_once('='));
    let state = SavedShellState::parse(&state.read().map_err(files)?).ok_or_else(unreadable)?;
    let path = variables().find(|(name, _)| *name == "PATH").map(|(_, made)| joined(made, &wanted.environment.path));
    SnapshotCode::of(&state.for_snapshot().restore(b""), path.as_deref(), &SecretValues::of(variables()))
}

/// Runs the reading shell to its exit, then terminates its survivors.
async fn run(
    wanted: &SnapshotRequest,
    command: String,
    progress: &mut RcProgressPipe,
) -> Result<CommandOutcome, SnapshotError> {
    let failed = SnapshotError::Reader;
    let request = internal_request(wanted, command, LIMIT.saturating_sub(GRACE)).map_err(failed)?;
    let (end, replies) = unanswered_replies();
    let running = CommandLaunch::start(request).map_err(failed)?.finish(SilentListener, replies);
    tokio::pin!(running);
    let ran = tokio::select! {
        ran = &mut running => ran,
        () = progress.ended() => {
            let _ = end.send(CallerReply::Abort);
            running.await
        }
    };
    ran.map(|ran| ran.outcome).map_err(failed)
}

/// Returns the failure that the shell reported, or that its time limit shows.
fn failure(wanted: &SnapshotRequest, reported: &RcProgress, status: CommandStatus) -> Option<SnapshotError> {
    if reported.end.is_none() && status == CommandStatus::TimedOut {
        return Some(SnapshotError::Slow { file: name(wanted, reported.file), limit: LIMIT });
    }
    reported.syntax.map(|number| SnapshotError::Syntax { file: name(wanted, Some(number)) })
}

fn name(wanted: &SnapshotRequest, number: Option<usize>) -> String {
    number
        .and_then(|number| wanted.files.get(number))
        .map_or_else(|| "an rc file".to_owned(), |file| file.display().to_string())
}

fn can_be_read(file: &Path) -> Result<(), SnapshotError> {
    let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(file);
    match opened.and_then(|file| file.metadata()) {
        Ok(metadata) if metadata.is_dir() => Err(SnapshotError::Directory { path: file.to_owned() }),
        Ok(_) => Ok(()),
        Err(source) => Err(SnapshotError::Unreadable { path: file.to_owned(), source }),
    }
}
