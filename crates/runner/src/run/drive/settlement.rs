//! From a driven command to its completion: the rest of the output is delivered, and the shim is settled.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::Pid;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, timeout_at};

use super::output_delivery::CommandOutput;
use super::pipeline_tap::PipelineTap;
use super::producer_copy::{ProducerCopier, ProducerCopyResult};
use super::{CommandDriver, ShimControl};
use crate::registry::{RegistryError, TaskRegistry};
use crate::run::command_listener::CommandListener;
use crate::run::completion::{
    CommandCompletion, EndSeenByShim, ExitUnknown, NotStarted, ProducedOutput, ShellAfter, ShellExit, SilenceLimit,
};
use crate::run::output_readers::WholeOutputReaders;
use crate::supervise::{EvidenceWatch, HelperProcesses, ProcessTraces, ShimCommand, ShimEvent};
use confine_gate::servers_of;
use confine_policy::CommandDenials;
use protocol::plan::{ChangeJournalOutcome, WarmShellKind};
use protocol::task::Task;
use protocol::{ExceededLimit, ReleasedSurvivors, ShellExitReport, SurvivingProcess, TaskTransfer, TerminationCause};
use receipt::recording::{RunRecord, RunRecording};

/// Drives the command to its end, or until it becomes a task. `kind` is the shell kind that the next command may need.
/// Returns the record as well, unless the recording goes on with the task.
///
/// # Errors
/// If no process was started.
pub async fn complete<'a, L: CommandListener>(
    mut drive: CommandDriver<'a, ShimCommand, L>,
    helpers: &'static HelperProcesses,
    kind: Option<&Arc<WarmShellKind>>,
    recording: Option<RunRecording>,
) -> Result<(CommandCompletion<'a>, Option<RunRecord>), NotStarted> {
    drive.run().await?;
    let elapsed = drive.deadlines.began().elapsed();
    let record = EndOfRecord::new(recording, drive.process.exit.as_ref());
    let adoption = adoption(&mut drive);
    let moved = drive.output.moving.task().is_some();
    if adoption.is_some() || moved {
        drive.output.streams.all_mut().for_each(|reader| reader.capture.break_off());
    }
    drive.deliver_rest().await;
    drive.output.keep_last();
    let waited_for = drive.note_limit();
    let silent = drive.reached_silence().map(|most| SilenceLimit { most, waited_for });

    let (tap, watched) = take_evidence_sources(&mut drive, moved);
    let CommandDriver { request, shim, mut output, process, deadlines, early, mut denials, .. } = drive;
    let mut exit = process.exit.unwrap_or(Err(ExitUnknown::AliveAfterLimit));
    let remainder = RemainingWork::of(&exit, output.moving.task(), early.has_ended());
    let pid = output.pid.unwrap_or(0);
    let traces = ProcessTraces {
        mark: request.mark.clone(),
        shell: output.pid.map(Pid::from_raw),
        // The pipes are only copied if the helpers of the command are lost, or may be.
        pipes: if remainder.leaves_processes() { output.streams.pipes() } else { Vec::new() },
        group: shim.cgroup().filter(|_| remainder.leaves_processes()).map(Path::to_owned),
    };
    let settlement = SettlementMeans {
        helpers,
        kind,
        registry: request.registry.as_ref(),
        traces,
        adoption,
        bound: if process.aborted { deadlines.hard() } else { record.bound() },
    };
    let SettledSurvivors { released: ReleasedSurvivors { survivors, record: end }, denials: late, task, child, note } =
        settle(shim, remainder, &mut exit, settlement).await;
    denials.merge(late);
    let adopted = request.registry.as_ref().zip(task.as_ref());
    let mut recorded = record.finish((&survivors, &end), adopted, moved).await;
    let servers = request.world.as_ref().and_then(|world| servers_of(world.home.as_deref()?));
    if let Some((receipt, servers)) = recorded.as_mut().and_then(|record| record.receipt.as_mut()).zip(servers) {
        receipt.ports.replace_addresses(&servers);
    }
    // From here on only the shim reads the pipes, if a process still writes to them.
    output.notes.extend(note.map(str::to_owned));
    let (output, notes) = finish_output(output);
    let shell = ShellAfter { child, directory: early.into_directory(), watched, tap, ..ShellAfter::default() };
    let seen = EndSeenByShim::of(process.reported, &exit);
    let completion =
        CommandCompletion { pid, exit, seen, silent, output, survivors, task, moved, elapsed, notes, denials, shell };
    Ok((completion, recorded))
}

/// Ends the output of a command. Returns it with the notes for the caller.
pub fn finish_output<L>(output: CommandOutput<'_, L>) -> (ProducedOutput<'_>, Vec<String>) {
    let CommandOutput { streams, readers: WholeOutputReaders { view, counter, tapped }, mut notes, .. } = output;
    let stdout = streams.stdout.capture.finish();
    let stderr = streams.stderr.map(|reader| reader.capture.finish()).unwrap_or_default();
    notes.extend(stdout.notes.iter().chain(&stderr.notes).cloned());
    (ProducedOutput { stdout, stderr, view, counter, tapped }, notes)
}

/// Returns what is kept of the output of the command's producer, and how the command was watched. A command that has
/// moved is watched on by its task, and has its log. The tap is left to the shim if a process may still use it.
fn take_evidence_sources<L: CommandListener>(
    drive: &mut CommandDriver<'_, ShimCommand, L>,
    moved: bool,
) -> (Option<ProducerCopyResult>, Option<EvidenceWatch>) {
    if moved || drive.process.is_alive() {
        drive.leave_tap();
    }
    let stdout = &mut drive.output.streams.stdout;
    let by_itself = !drive.process.was_terminated();
    let is_whole = !stdout.is_open() && by_itself;
    let (own, tap) = (stdout.take_kept(), drive.tap.take());
    if moved {
        own.into_iter().chain(tap.map(PipelineTap::into_kept)).for_each(ProducerCopier::discard);
        return (None, None);
    }
    let counter = &mut drive.output.readers.tapped;
    (tap.map(|tap| tap.finish(by_itself, counter)).or_else(|| Some(own?.finish(is_whole))), drive.shim.take_watched())
}

/// Returns the order for a task that takes over the pipes that the command left open, if there is a registry.
fn adoption<S: ShimControl, L: CommandListener>(drive: &mut CommandDriver<'_, S, L>) -> Option<SurvivorAdoption> {
    let registry = drive.request.registry.as_ref()?;
    if !drive.process.left_survivors() || !drive.output.streams.is_open() {
        return None;
    }
    let spec = drive.request.later_task()?;
    match registry.reserve(&spec.id) {
        // The task counts itself from here on.
        Ok(_reservation) => {}
        Err(RegistryError::Closed) => return None,
        Err(error) => {
            drive.output.notes.push(format!("what the command left running was not made a task: {error}"));
            return None;
        }
    }
    let transfer = TaskTransfer { spec, resume: drive.output.streams.resume_states() };
    Some(SurvivorAdoption { registry: Arc::clone(registry), transfer })
}

// ---- after the loop

/// Time a shim may take to list the processes that are left.
const RELEASE_BOUND: Duration = Duration::from_secs(5);

/// Time a shim may take to end the record of processes that are left, which reads all that the command made.
const RECORD_BOUND: Duration = Duration::from_secs(60);

/// The note about a shim that exceeded the bound.
const UNLISTED: &str = "what the command left running is not listed: its helper did not answer in time";

/// The work that is left once a command has ended.
#[derive(Debug, PartialEq, Eq)]
pub enum RemainingWork {
    /// The command goes on as this task.
    Task(Box<Task>),
    /// The shell still saves its state, for its session.
    SavingShell,
    /// Processes are left.
    Survivors,
    /// No process is left. The shim can take the next command.
    FreeShim,
    /// No process is left. The shim takes no other command.
    SpentShim,
    /// The shim did not report the exit: processes may be left.
    Unknown,
}

/// The task that the survivors of a command become.
pub struct SurvivorAdoption {
    pub registry: Arc<TaskRegistry>,
    pub transfer: TaskTransfer,
}

/// The processes that are left, and their owner.
#[derive(Default)]
pub struct SettledSurvivors {
    pub released: ReleasedSurvivors,
    /// What the processes that are left were denied until their release.
    pub denials: CommandDenials,
    /// The task that the command or its survivors have become.
    pub task: Option<Task>,
    /// The shim of a shell that still saves its state.
    pub child: Option<ShimCommand>,
    /// Why survivors may be missing here.
    pub note: Option<&'static str>,
}

impl RemainingWork {
    pub fn of(exit: &ShellExit, task: Option<&Task>, early: bool) -> Self {
        match (task, exit) {
            (Some(task), _) => Self::Task(Box::new(task.clone())),
            (None, Ok(_)) if early => Self::SavingShell,
            (None, Ok(ended)) if ended.alive => Self::Survivors,
            (None, Ok(ended)) if ended.last => Self::SpentShim,
            (None, Ok(_)) => Self::FreeShim,
            (None, Err(_)) => Self::Unknown,
        }
    }

    /// Returns whether processes are left, or may be, that the addon has to kill if their helpers are gone.
    pub fn leaves_processes(&self) -> bool {
        matches!(self, Self::Survivors | Self::Unknown)
    }
}

/// The means to settle a command beside its shim.
pub struct SettlementMeans<'a> {
    pub helpers: &'static HelperProcesses,
    /// The shell kind that the next command may need.
    pub kind: Option<&'a Arc<WarmShellKind>>,
    pub registry: Option<&'a Arc<TaskRegistry>>,
    /// The traces by which the command's processes are found without its helpers.
    pub traces: ProcessTraces,
    pub adoption: Option<SurvivorAdoption>,
    /// Time until which survivors of a terminated command may exit.
    pub bound: Instant,
}

/// Gives the shim to its next owner. A limit that survivors exceed meanwhile becomes the cause of the exit.
pub async fn settle(
    mut child: ShimCommand,
    remainder: RemainingWork,
    exit: &mut ShellExit,
    with: SettlementMeans<'_>,
) -> SettledSurvivors {
    let helpers = with.helpers;
    match remainder {
        RemainingWork::Task(task) => {
            let world = child.world();
            if let Some(registry) = with.registry {
                registry.follow_own(child.into_link(), (*task).clone());
            }
            helpers.request_replacement(world);
            return SettledSurvivors { task: Some(*task), ..SettledSurvivors::default() };
        }
        RemainingWork::SavingShell => {
            child.expect_ledger_entry();
            return SettledSurvivors { child: Some(child), ..SettledSurvivors::default() };
        }
        RemainingWork::Survivors => {
            let mut cause = exit.as_ref().map_or(TerminationCause::Itself, |ended| ended.cause);
            let settled = release(child, with, &mut cause).await;
            if let Ok(ended) = exit {
                ended.cause = cause;
            }
            return settled;
        }
        RemainingWork::FreeShim => child.give_back(helpers, with.kind),
        RemainingWork::SpentShim => child.leave_shim(helpers),
        RemainingWork::Unknown => {
            child.abandon(helpers);
            with.traces.kill().await;
        }
    }
    SettledSurvivors::default()
}

/// Leaves the survivors to themselves and to their shim, which continues to read their output, for a task if they are
/// adopted. A terminated tree has until `bound` to exit.
async fn release(child: ShimCommand, with: SettlementMeans<'_>, cause: &mut TerminationCause) -> SettledSurvivors {
    let SettlementMeans { helpers, bound, traces, adoption, .. } = with;
    // Until the shim has released the survivors, they end with its connection. A late shim therefore keeps the
    // connection.
    let released = helpers.runtime().spawn(await_release(child, helpers, adoption, traces));
    await_within(async { released.await.ok() }, bound, cause).await
}

/// Awaits the release of the survivors until `bound`, but at least for [`RELEASE_BOUND`].
async fn await_within(
    released: impl Future<Output = Option<(SettledSurvivors, Option<ExceededLimit>)>>,
    bound: Instant,
    cause: &mut TerminationCause,
) -> SettledSurvivors {
    let bound = bound.max(Instant::now() + RELEASE_BOUND);
    let Ok(Some((settled, exceeded))) = timeout_at(bound, released).await else { return unlisted_survivors(*cause) };
    if let Some(limit) = exceeded
        && *cause == TerminationCause::Itself
    {
        *cause = TerminationCause::LimitExceeded(limit);
    }
    settled
}

/// Returns the survivors of a command whose shim is late, which are unknown. A command that is being terminated has
/// none to list.
fn unlisted_survivors(cause: TerminationCause) -> SettledSurvivors {
    SettledSurvivors { note: (cause == TerminationCause::Itself).then_some(UNLISTED), ..SettledSurvivors::default() }
}

/// Awaits the release of the survivors, and the task that they become. Returns a limit that they exceeded before the
/// release.
async fn await_release(
    mut child: ShimCommand,
    helpers: &'static HelperProcesses,
    mut adoption: Option<SurvivorAdoption>,
    traces: ProcessTraces,
) -> (SettledSurvivors, Option<ExceededLimit>) {
    child.release(adoption.as_ref().map(|adoption| &adoption.transfer));
    let mut exceeded = None;
    let mut denials = CommandDenials::default();
    let released = loop {
        match child.next_event().await {
            ShimEvent::Released(released) => break released,
            ShimEvent::Denied(more) => denials.merge(more),
            ShimEvent::LimitExceeded(limit) => exceeded = exceeded.or(Some(limit)),
            // Without a place for their output, the survivors go on as without a registry.
            ShimEvent::Refused(_) => {
                adoption = None;
                child.release(None);
            }
            ShimEvent::Lost { .. } => {
                helpers.request_replacement(child.world());
                // Survivors belong to the host until their release. The supervisor kills them, unless it was killed as
                // well.
                traces.kill().await;
                return (SettledSurvivors::default(), exceeded);
            }
            // The shim sent these before it knew that the addon has drained the pipes.
            ShimEvent::Started(_)
            | ShimEvent::Failed(_)
            | ShimEvent::Ended(_)
            | ShimEvent::Blocked(..)
            | ShimEvent::Task(_)
            | ShimEvent::Prepared(..) => {}
        }
    };
    // A shim that stays with a survivor after all has closed its socket, and gets no other command.
    if released.survivors.is_empty() {
        child.give_back(helpers, None);
        return (SettledSurvivors { released, denials, ..SettledSurvivors::default() }, exceeded);
    }
    helpers.request_replacement(child.world());
    if let Some(SurvivorAdoption { registry, .. }) = adoption
        && released.survivors.iter().any(|survivor| survivor.holds)
        && let ShimEvent::Task(task) = child.next_event().await
    {
        registry.follow_own(child.into_link(), (*task).clone());
        return (SettledSurvivors { released, denials, task: Some(*task), ..SettledSurvivors::default() }, exceeded);
    }
    (SettledSurvivors { released, denials, ..SettledSurvivors::default() }, exceeded)
}

// ---- the record

/// The record of a command whose shell has exited.
pub enum EndOfRecord {
    /// The command is not recorded.
    Off,
    /// No process of the command lives, and it has changed nothing.
    Read(Box<RunRecord>),
    /// No process of the command lives. Its record is being read.
    Reading(JoinHandle<RunRecord>),
    /// The surviving processes must be known first. Until then their changes are recorded.
    AwaitingSurvivors(RunRecording),
}

impl EndOfRecord {
    /// Begins to read the record if no process of the command lives.
    pub fn new(recording: Option<RunRecording>, exit: Option<&ShellExit>) -> Self {
        let Some(recording) = recording else { return Self::Off };
        let ended = exit.and_then(|exit| exit.as_ref().ok());
        let recorded = ended.map(|ended| ended.record.clone()).unwrap_or_default();
        match ended {
            Some(ShellExitReport { alive: false, record: ChangeJournalOutcome::Nothing, .. }) => {
                Self::Read(Box::new(recording.finish(&[], &recorded)))
            }
            Some(ShellExitReport { alive: false, .. }) => {
                Self::Reading(spawn_blocking(move || recording.finish(&[], &recorded)))
            }
            _ => Self::AwaitingSurvivors(recording),
        }
    }

    /// Returns until when the shim may end the record.
    pub fn bound(&self) -> Instant {
        let time = if matches!(self, Self::AwaitingSurvivors(_)) { RECORD_BOUND } else { Duration::ZERO };
        Instant::now() + time
    }

    /// Returns the record. `None`: nothing is recorded, or the command goes on as a task, which has the record from
    /// here on.
    pub async fn finish(
        self,
        (survivors, end): (&[SurvivingProcess], &ChangeJournalOutcome),
        task: Option<(&Arc<TaskRegistry>, &Task)>,
        is_moved: bool,
    ) -> Option<RunRecord> {
        let (recording, recorded) = match self {
            Self::Off => return None,
            Self::Read(record) => return Some(*record),
            Self::Reading(reading) => return reading.await.ok(),
            Self::AwaitingSurvivors(recording) => (recording, end.clone()),
        };
        let survivors = survivors.to_vec();
        let Some((registry, task)) = task else {
            return spawn_blocking(move || recording.finish(&survivors, &recorded)).await.ok();
        };
        if is_moved {
            registry.continue_recording(&task.id, recording);
            return None;
        }
        let handed_over = spawn_blocking(move || recording.hand_over(&survivors, &recorded));
        let (record, recording) = handed_over.await.ok()?;
        match recording {
            Some(recording) => registry.continue_recording(&task.id, recording),
            None => registry.set_record(&task.id, record.clone()),
        }
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    mod settle {
        use super::super::*;
        use crate::run::completion::ExitUnknown;
        use protocol::plan::ChangeJournalOutcome;
        use protocol::task::TaskSpec;
        use protocol::{LimitKind, ShellExitReport};
        use sys::{ChildExit, ResourceUsage};

        fn exit(alive: bool, last: bool) -> ShellExit {
            let (usage, duration, record) = (ResourceUsage::default(), Duration::ZERO, ChangeJournalOutcome::Off);
            Ok(ShellExitReport {
                end: ChildExit::Code(0),
                usage,
                duration,
                cause: TerminationCause::Itself,
                alive,
                last,
                record,
                unwritten: None,
            })
        }

        #[test]
        fn each_exit_leaves_the_shim_to_the_right_owner() {
            for (exit, early, expected) in [
                (exit(false, false), false, RemainingWork::FreeShim),
                (exit(false, true), false, RemainingWork::SpentShim),
                (exit(true, false), false, RemainingWork::Survivors),
                (exit(true, true), false, RemainingWork::Survivors),
                (exit(false, false), true, RemainingWork::SavingShell),
                (Err(ExitUnknown::ShimKilled), false, RemainingWork::Unknown),
                (Err(ExitUnknown::AliveAfterLimit), false, RemainingWork::Unknown),
            ] {
                assert_eq!(RemainingWork::of(&exit, None, early), expected, "{exit:?} {early}");
            }
        }

        #[tokio::test(start_paused = true)]
        async fn a_list_is_awaited_for_five_seconds_and_that_of_a_terminated_tree_until_its_bound() {
            // Each row: the bound, the times of the answer and of the result, s, and whether there is a list then.
            for (bound, answer, result, listed) in
                [(0, 4, 4, true), (0, 6, 5, false), (9, 8, 8, true), (9, 10, 9, false)]
            {
                let began = Instant::now();
                let answer = async {
                    tokio::time::sleep(Duration::from_secs(answer)).await;
                    Some((SettledSurvivors::default(), None))
                };
                let settled =
                    await_within(answer, began + Duration::from_secs(bound), &mut { TerminationCause::Itself }).await;
                assert_eq!((began.elapsed().as_secs(), settled.note.is_none()), (result, listed), "{bound}");
            }
        }

        #[tokio::test(start_paused = true)]
        async fn a_limit_that_survivors_exceed_is_the_cause_unless_the_command_was_terminated() {
            let exceeded = ExceededLimit { limit: LimitKind::Processes, used: 2, allowed: 1 };
            for (mut cause, expected) in [
                (TerminationCause::Itself, TerminationCause::LimitExceeded(exceeded)),
                (TerminationCause::Abort, TerminationCause::Abort),
                (TerminationCause::Limit, TerminationCause::Limit),
            ] {
                await_within(async { Some((SettledSurvivors::default(), Some(exceeded))) }, Instant::now(), &mut cause)
                    .await;
                assert_eq!(cause, expected);
            }
        }

        #[test]
        fn a_list_that_is_late_is_told_unless_the_command_was_terminated() {
            assert_eq!(unlisted_survivors(TerminationCause::Itself).note, Some(UNLISTED));
            assert_eq!(unlisted_survivors(TerminationCause::Abort).note, None);
        }

        #[test]
        fn a_task_keeps_its_shim_whatever_the_exit() {
            let spec = TaskSpec::sample("t1");
            let task = Task::begin(&spec, 7, 7, "mark", 0);
            for exit in [exit(false, false), Err(ExitUnknown::AliveAfterLimit)] {
                assert_eq!(RemainingWork::of(&exit, Some(&task), true), RemainingWork::Task(Box::new(task.clone())));
            }
        }
    }
}
