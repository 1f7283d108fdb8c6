//! The result of driving a command.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;

use super::drive::producer_copy::ProducerCopyResult;
use super::tapped_output::{OutputTests, ProducerPlace, TappedOutput};
use super::view_maker::ViewMaker;
use crate::proof::TestCounter;
use crate::request::PlannedRun;
use crate::reuse::StorableRun;
use crate::supervise::{EvidenceWatch, Failure, InheritedStateFiles, ShimCommand};
use capture::CapturedStream;
use confine_policy::CommandDenials;
use evidence::{CommandEnd, CommandEvidence, EvidencePart};
use protocol::plan::WarmShellKind;
use protocol::task::Task;
use protocol::{ShellExitReport, SurvivingProcess, TerminationCause};
use reduce::counts;
use sys::ChildExit;

/// The exit of a shell as reported by its shim, or why there is no report.
pub type ShellExit = Result<ShellExitReport, ExitUnknown>;

/// Why the exit of a command was not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitUnknown {
    /// The shim was killed.
    ShimKilled,
    /// The tree was not gone at the hard bound after the time limit.
    AliveAfterLimit,
    /// The tree was not gone at the hard bound after an abort.
    AliveAfterAbort,
}

/// Why no process was started.
#[derive(Debug)]
pub enum NotStarted {
    /// A step of the start failed.
    Failed(Failure),
    /// The helpers were killed before they started a process.
    HelpersKilled,
}

/// What the shim of a command has seen of its end, and has written into the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndSeenByShim {
    /// The end that the result has.
    Same,
    /// Another end: the command was aborted later, or did not exit in time.
    Different,
    /// Nothing: the shim was killed.
    Unseen,
}

impl EndSeenByShim {
    /// Compares the exit that the shim reported with the exit that the result has. `None`: the shell of a session has
    /// reported its exit code before its exit.
    pub fn of(reported: Option<TerminationCause>, exit: &ShellExit) -> Self {
        match exit {
            Ok(ended) if reported.is_none_or(|cause| cause == ended.cause) => Self::Same,
            Err(ExitUnknown::ShimKilled) => Self::Unseen,
            Ok(_) | Err(ExitUnknown::AliveAfterLimit | ExitUnknown::AliveAfterAbort) => Self::Different,
        }
    }
}

/// A silence that was the time limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilenceLimit {
    /// The longest silence that was allowed.
    pub most: Duration,
    /// What the command waited for, in words, without output and arguments.
    pub waited_for: Option<String>,
}

/// A command that was driven to its end, or until it became a task.
pub struct CommandCompletion<'a> {
    /// Pid of the shell. 0 if it is not known.
    pub pid: i32,
    /// The exit of the shell.
    pub exit: ShellExit,
    /// What the shim has seen of it.
    pub seen: EndSeenByShim,
    /// The silence of the command, if it was the time limit.
    pub silent: Option<SilenceLimit>,
    /// Output of the command.
    pub output: ProducedOutput<'a>,
    /// Processes that the command left running.
    pub survivors: Vec<SurvivingProcess>,
    /// The task that the command or its survivors have become.
    pub task: Option<Task>,
    /// Whether the command itself has become the task, and has not ended.
    pub moved: bool,
    /// Time from the start, as the addon measured it.
    pub elapsed: Duration,
    /// Facts for the caller.
    pub notes: Vec<String>,
    /// The denials of the command's confinement.
    pub denials: CommandDenials,
    /// The shell after its command.
    pub shell: ShellAfter,
}

/// The output of a command.
pub struct ProducedOutput<'a> {
    /// The kept part of standard output.
    pub stdout: CapturedStream,
    /// The kept part of standard error. Empty when both streams were merged.
    pub stderr: CapturedStream,
    /// The view of both streams, in the making.
    pub view: ViewMaker<'a>,
    /// The counts of tests in both streams.
    pub counter: TestCounter<'a>,
    /// The counts of tests in what the producer of a tap has written.
    pub tapped: TestCounter<'a>,
}

/// The shell of a command that has ended.
#[derive(Default)]
pub struct ShellAfter {
    /// The shell, if it still saves its state.
    pub child: Option<ShimCommand>,
    /// The directory that the shell reported with the exit code.
    pub directory: Option<PathBuf>,
    /// The kind of the shell, if such a shell can be warm.
    pub kind: Option<Arc<WarmShellKind>>,
    /// The files for the shell's state, if it was warm and has inherited other files than the request's.
    pub files: Option<InheritedStateFiles>,
    /// How it was watched. `None`: the evidence of its command is not wanted, or the command has become a task.
    pub watched: Option<EvidenceWatch>,
    /// Its run, if its result may be given again once the session is known to be as it was.
    pub storable: Option<StorableRun>,
    /// What the tap of its command has kept, if it had one.
    pub tap: Option<ProducerCopyResult>,
}

impl CommandCompletion<'_> {
    /// Reads what the command proved, once.
    pub async fn evidence(&mut self, request: &PlannedRun) -> Option<(CommandEvidence, Option<TappedOutput>)> {
        let watched = self.shell.watched.take()?;
        let (end, kept) = (end_of(&self.exit), self.shell.tap.take());
        let (counter, tapped) = (std::mem::take(&mut self.output.counter), std::mem::take(&mut self.output.tapped));
        let place = ProducerPlace::of(request, watched.was_tapped());
        let own = counter.end(counts::CommandTermination::with(end.code.map(i64::from)));
        let complete = kept.as_ref().is_some_and(|kept| kept.as_ref().is_ok_and(|copied| copied.complete));
        let tests = OutputTests { own, place, tapped: tapped.detach(), complete };
        let tests = move |parts: &[EvidencePart]| tests.count(parts);
        let evidence = if watched.has_tree() {
            let (run, command) = (request.mark.clone(), request.command.clone());
            spawn_blocking(move || watched.prove((&run, &command), end, tests)).await.ok()?
        } else {
            watched.prove((&request.mark, &request.command), end, tests)
        };
        let tap = TappedOutput::of(request, kept, place.part(&evidence.parts).is_some());
        Some((evidence, tap))
    }
}

/// Returns how a command ended, in the terms of evidence.
fn end_of(exit: &ShellExit) -> CommandEnd {
    let Ok(ended) = exit else { return UNKNOWN_END };
    let (code, signal) = match ended.end {
        ChildExit::Code(code) => (Some(code), None),
        ChildExit::Signal(signal) => (None, Some(signal)),
    };
    CommandEnd { code, signal, by_itself: ended.cause == TerminationCause::Itself }
}

/// The end of a command that was not started, or whose end is not known, in the terms of evidence.
pub const UNKNOWN_END: CommandEnd = CommandEnd { code: None, signal: None, by_itself: false };
