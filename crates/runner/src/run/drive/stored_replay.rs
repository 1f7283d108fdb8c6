//! Drives the output of a stored run: the loop is that of any command, and no process exists.

use std::io::{self, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::Pid;
use tokio::sync::{Notify, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::early_ends::CommandDeadlines;
use super::producer_copy::ProducerCopier;
use super::settlement::finish_output;
use super::{CommandDriver, ShimControl};
use crate::proof::TestCounter;
use crate::request::PlannedRun;
use crate::reuse::StoredRun;
use crate::run::command_listener::{CallerReplies, CommandListener};
use crate::run::completion::{CommandCompletion, EndSeenByShim, ExitUnknown, ShellAfter};
use crate::supervise::ShimEvent;
use capture::OutputStream;
use protocol::plan::ChangeJournalOutcome;
use protocol::{CommandPipes, PipelineTapEnds, ShellExitReport, SilenceWatch, TaskTransfer, TerminationCause};
use sys::{ChildExit, ResourceUsage, Signal};

/// The shim of a stored run: it ends once the whole output is written, or when it is terminated.
pub struct StoredRunShim {
    code: i32,
    written: oneshot::Receiver<()>,
    terminated: Notify,
    began: Instant,
}

/// Gives the output of a stored run as that of a command.
///
/// # Errors
/// If no descriptors are free.
pub async fn replay<'a, L: CommandListener>(
    request: &'a PlannedRun,
    stored: Arc<StoredRun>,
    listener: &'a L,
    replies: &'a mut CallerReplies,
) -> io::Result<CommandCompletion<'a>> {
    let (stdout, to_stdout) = pipe()?;
    let (stderr, to_stderr) =
        if request.merge { (None, None) } else { pipe().map(|(read, write)| (Some(read), Some(write)))? };
    let pipes = CommandPipes { stdin: None, stdout, stderr, other_end: None };
    let (has_written, written) = oneshot::channel();
    let denials = stored.denials.clone();
    let shim = StoredRunShim { code: stored.code, written, terminated: Notify::new(), began: Instant::now() };
    let mut drive = CommandDriver::new(request, (shim, pipes), None, listener, replies)?;
    drive.denials = denials;
    // It only waits for its listener, as the rest of a command that has ended.
    drive.deadlines = CommandDeadlines::new(drive.deadlines.began(), None, request.grace);
    drive.silence = SilenceWatch::begin(None, drive.deadlines.began().into_std());
    drive.output.moving.cancel();
    // The evidence is that of the stored run.
    drive.output.readers.counter = TestCounter::Off;
    spawn_blocking(move || {
        // The other ends are closed when the command is aborted.
        let _ = write(&stored, to_stdout, to_stderr);
        let _ = has_written.send(());
    });
    // A replay always starts.
    let _ = drive.run().await;
    let elapsed = drive.deadlines.began().elapsed();
    drive.deliver_rest().await;
    // The tap is a copy of its own.
    drive.output.streams.stdout.take_kept().into_iter().for_each(ProducerCopier::discard);
    let CommandDriver { output, process, denials, .. } = drive;
    let (output, notes) = finish_output(output);
    Ok(CommandCompletion {
        pid: 0,
        exit: process.exit.unwrap_or(Err(ExitUnknown::AliveAfterAbort)),
        seen: EndSeenByShim::Different,
        silent: None,
        output,
        survivors: Vec::new(),
        task: None,
        moved: false,
        elapsed,
        notes,
        denials,
        shell: ShellAfter::default(),
    })
}

fn pipe() -> io::Result<(OwnedFd, PipeWriter)> {
    let (read, write) = io::pipe()?;
    let read = OwnedFd::from(read);
    fcntl(&read, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok((read, write))
}

fn write(stored: &StoredRun, mut stdout: PipeWriter, mut stderr: Option<PipeWriter>) -> io::Result<()> {
    stored.output.write_pieces(|stream, bytes| match (stream, &mut stderr) {
        (OutputStream::Stderr, Some(stderr)) => stderr.write_all(bytes),
        _ => stdout.write_all(bytes),
    })
}

impl StoredRunShim {
    fn ended(&self, end: ChildExit, cause: TerminationCause) -> ShimEvent {
        ShimEvent::Ended(ShellExitReport {
            end,
            usage: ResourceUsage::default(),
            duration: self.began.elapsed(),
            cause,
            alive: false,
            last: false,
            record: ChangeJournalOutcome::Off,
            unwritten: None,
        })
    }
}

impl ShimControl for StoredRunShim {
    async fn next_event(&mut self) -> ShimEvent {
        tokio::select! {
            biased;
            () = self.terminated.notified() => self.ended(ChildExit::Signal(libc::SIGTERM), TerminationCause::Abort),
            _ = &mut self.written => self.ended(ChildExit::Code(self.code), TerminationCause::Itself),
        }
    }

    fn try_next_event(&mut self) -> Option<ShimEvent> {
        None
    }

    fn terminate(&self) {
        self.terminated.notify_one();
    }

    fn terminate_at_limit(&self) {
        self.terminate();
    }

    fn signal(&self, _: Signal, _: Option<i32>) {}

    fn scan(&self) {}

    fn ask_for_denials(&self) {}

    fn acknowledge_blocked(&self) {}

    fn hand_over(&self, _: &TaskTransfer, _: Vec<OwnedFd>) {}

    fn leave_tap(&self, _: PipelineTapEnds) {}

    fn runs_only(&self, _: Pid) -> bool {
        false
    }
}
