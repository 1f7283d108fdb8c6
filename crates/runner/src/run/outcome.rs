//! The outcome of a command: how it ended, and the kept part of its output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::completion::{CommandCompletion, ProducedOutput, UNKNOWN_END};
use super::exit_status::{conclude, ended_by};
use super::tapped_output::TappedOutput;
use super::view_maker::ViewDraft;
use crate::ledger_writes::unwritable_note;
use crate::proof::{CommandToProve, EvidenceRequest};
use crate::request::PlannedRun;
use capture::StreamTruncation;
use confine_policy::{CommandDenials, ConfinementReport, refused_reads};
use evidence::{CommandEvidence, EvidencePart};
use protocol::plan;
use protocol::task::{Task, TaskStore};
use protocol::{ABORTED, CommandConclusion, EndedBy, SurvivingProcess, TerminationCause};
use receipt::recording::{RunRecord, RunUndoCoverage};
use receipt::{ChangeAttribution, RunReceipt};
use reduce::ExitOutcome;
use sys::ResourceUsage;

pub use crate::reuse::ReusedRun;
pub use protocol::CommandStatus;

/// Number of replaced places from which on they deserve a note.
pub const FEW_REPLACED: u64 = 3;

/// Returns the hidden files that a command could not read, according to its output. A missing file was not refused.
fn unreadable_hidden_files(text: &str, cwd: &Path, hidden: &[PathBuf]) -> CommandDenials {
    let said = refused_reads(text, cwd, hidden);
    if said.total == 0 {
        return said;
    }
    let exists = |path: &&PathBuf| path.symlink_metadata().is_ok();
    refused_reads(text, cwd, &hidden.iter().filter(exists).cloned().collect::<Vec<_>>())
}

/// The note about repositories that were not looked at.
const UNSETTLED: &str = "what the command left in repositories was not looked at, because the process that does so has \
                         ended or waits for a file system: before you use git there, look for hooks and settings";

/// Returns the note about something in a repository that was put out of force.
fn set_aside_note(path: &str) -> String {
    format!(
        "git would have run programs that {path} names, so it was moved to {path}.agent-bash; settings without commands \
         stay in force"
    )
}

/// Returns the note about output that was not text, if it deserves one.
pub fn replaced_note(places: u64) -> Option<String> {
    (places > FEW_REPLACED)
        .then(|| format!("{places} places of the output were not text (invalid UTF-8 or NUL) and were replaced"))
}

/// The outcome of a command.
#[derive(Debug, Serialize, Deserialize)]
pub struct CommandOutcome {
    /// The kept part of standard output, with its notice.
    pub stdout: String,
    /// The kept part of standard error, with its notice.
    pub stderr: String,
    /// 0…255 by the contract of [`super::exit_status`]. `None`: the command goes on in the background.
    pub exit_code: Option<i32>,
    /// How the command ended.
    pub status: CommandStatus,
    /// The signal that ended the shell.
    pub signal: Option<String>,
    /// The cause of the end. `None`: the command exited, died of a signal from elsewhere, or goes on.
    pub ended_by: Option<EndedBy>,
    /// Pid of the shell. 0 if nothing was started.
    pub pid: i32,
    /// Time to the exit of the shell.
    pub duration: Duration,
    /// The time limit that was reached. If it was the limit on silence, the longest silence.
    pub limit: Option<Duration>,
    /// How stdout and stderr were cut.
    pub truncation: [Option<StreamTruncation>; 2],
    /// The task that the command has become, and the directory of its files.
    #[serde(with = "crate::as_json")]
    pub background: Option<(Task, TaskStore)>,
    /// Survivors, each with the id of its task.
    pub survivors: Vec<(SurvivingProcess, Option<String>)>,
    /// Resources that the command's processes have used.
    pub usage: ResourceUsage,
    /// Confinement of the command. `None`: it was not confined.
    pub confinement: Option<ConfinementReport>,
    /// The draft in which the command ran. `None`: it ran in none.
    pub draft: Option<String>,
    /// One fact per line.
    pub notes: Vec<String>,
    /// The value of `AGENT_BASH_ID`, which is never used again.
    pub run: String,
    /// The changes that the command made. `None`: no receipt was wanted, or the command goes on in the background.
    pub receipt: Option<RunReceipt>,
    /// The extent of an undo. `None`: the command cannot be undone, or goes on in the background.
    pub undo: Option<RunUndoCoverage>,
    /// What the parts of the command returned. `None`: that was not wanted, or the command goes on in the background.
    #[serde(with = "crate::as_json")]
    pub evidence: Option<CommandEvidence>,
    /// The run whose result was given again. `None`: the command ran.
    pub reused: Option<ReusedRun>,
    /// What is kept of the output of a pipeline's first program. `None`: nothing was worth keeping.
    pub tap: Option<TappedOutput>,
    /// The text that a model reads. `None`: no view was wanted, or the view is no gain.
    pub view: Option<ViewDraft>,
}

impl CommandOutcome {
    /// Returns the id of the task that the command or its survivors have become.
    pub fn task_id(&self) -> Option<&str> {
        let own = self.background.as_ref().map(|(task, _)| task.id.as_str());
        own.or_else(|| self.survivors.iter().find_map(|(_, task)| task.as_deref()))
    }

    /// Returns the files that the outcome names for the whole output.
    pub fn files(&self) -> Vec<PathBuf> {
        self.truncation.iter().flatten().filter_map(|cut| cut.path.clone()).collect()
    }

    /// Adds the record of the command.
    pub fn add_record(&mut self, recorded: Option<RunRecord>) {
        let Some(RunRecord { receipt, undo, notes }) = recorded else { return };
        self.receipt = receipt;
        self.undo = undo;
        self.notes.extend(notes);
    }

    /// Returns the outcome of a command that was aborted before it began.
    pub fn not_started(request: &PlannedRun) -> Self {
        let has_receipt = request.record.as_ref().is_some_and(|wanted| wanted.receipt.is_some());
        Self {
            stdout: String::new(),
            stderr: String::new(),
            exit_code: Some(ABORTED),
            status: CommandStatus::Aborted,
            signal: None,
            ended_by: Some(EndedBy::Abort),
            pid: 0,
            duration: Duration::ZERO,
            limit: request.limit,
            truncation: [None, None],
            background: None,
            survivors: Vec::new(),
            usage: ResourceUsage::default(),
            draft: request.draft_id(),
            confinement: confinement_of(request, CommandDenials::default()),
            notes: request.notes.clone(),
            run: request.mark.clone(),
            receipt: has_receipt.then(|| RunReceipt::new(ChangeAttribution::Command)),
            undo: None,
            evidence: request.evidence.as_ref().map(|wanted| unstarted_evidence(request, wanted)),
            reused: None,
            tap: None,
            view: None,
        }
    }

    /// Returns the outcome of a command that was started in the background.
    pub fn of_task(request: &PlannedRun, task: Task) -> Self {
        Self {
            exit_code: None,
            status: CommandStatus::Backgrounded,
            ended_by: None,
            pid: task.pid,
            background: in_registry(request, task),
            receipt: None,
            evidence: None,
            tap: None,
            ..Self::not_started(request)
        }
    }

    /// Returns the outcome of a command that ran.
    pub fn of(request: &PlannedRun, completion: CommandCompletion<'_>) -> Self {
        if completion.moved {
            return Self::of_moved(request, completion);
        }
        let CommandCompletion { pid, exit, silent, output, survivors, task, elapsed, notes: seen, mut denials, .. } =
            completion;
        let ProducedOutput { mut stdout, mut stderr, view, .. } = output;
        let (CommandConclusion { status, exit_code, signal }, note) = conclude(&exit, pid != 0);
        let ended_by = ended_by(&exit, silent.is_some());
        let mut notes = request.notes.clone();
        notes.extend(seen);
        notes.extend(note);
        notes.extend(exit.as_ref().ok().and_then(|ended| unwritable_note(ended.unwritten.as_ref()?)));
        let end = if exit_code == 0 { ExitOutcome::Succeeded } else { ExitOutcome::Failed };
        let view = view.draft(end, &mut stdout, &mut stderr);
        let exit = exit.as_ref();
        if exit.is_ok_and(|ended| ended.cause != TerminationCause::Itself) {
            notes.extend(survivors_note(&survivors));
        }
        notes.extend(replaced_note(stdout.replaced + stderr.replaced));
        notes.extend(denials.aside.iter().map(|path| set_aside_note(path)));
        notes.extend(denials.unsettled.then(|| UNSETTLED.to_owned()));
        let (stdout_text, stdout_cut) = (stdout.text, stdout.truncation);
        let (stderr_text, stderr_cut) = (stderr.text, stderr.truncation);
        notes.extend(request.limits.notes_on_refusals(exit_code, [&stdout_text, &stderr_text]));
        if exit_code != 0 {
            notes.extend(withheld_note(request, &stdout_text, &stderr_text));
        }
        if let Some(confine) = &request.confine {
            for text in [&stdout_text, &stderr_text] {
                denials.merge(unreadable_hidden_files(text, &request.cwd, &confine.policy.hide));
            }
        }
        Self {
            stdout: stdout_text,
            stderr: stderr_text,
            exit_code: Some(exit_code),
            status,
            signal: signal.map(sys::signal_name),
            ended_by,
            pid,
            duration: exit.map_or(elapsed, |ended| ended.duration),
            limit: silent.map(|silent| silent.most).or(request.limit),
            truncation: [stdout_cut, stderr_cut],
            background: None,
            survivors: with_task(survivors, task.as_ref()),
            usage: exit.map(|ended| ended.usage).unwrap_or_default(),
            draft: request.draft_id(),
            confinement: confinement_of(request, denials),
            notes,
            run: request.mark.clone(),
            receipt: None,
            undo: None,
            evidence: None,
            reused: None,
            tap: None,
            view,
        }
    }

    /// Returns the outcome of a command that goes on as a task.
    fn of_moved(request: &PlannedRun, completion: CommandCompletion<'_>) -> Self {
        let CommandCompletion {
            pid,
            silent,
            output: ProducedOutput { stdout, stderr, .. },
            task,
            elapsed,
            notes,
            denials,
            ..
        } = completion;
        let notes = request.notes.iter().cloned().chain(notes).collect();
        let background = task.and_then(|task| in_registry(request, task));
        let log = background.as_ref().map(|(task, store)| store.log_path(&task.id));
        let keep = request.truncate.keep();
        let truncation = [&stdout, &stderr].map(|captured| {
            Some(
                captured
                    .truncation
                    .clone()
                    .unwrap_or_else(|| StreamTruncation::nothing_cut(keep, captured, log.clone())),
            )
        });
        Self {
            stdout: stdout.text,
            stderr: stderr.text,
            exit_code: None,
            status: CommandStatus::Backgrounded,
            ended_by: None,
            pid,
            duration: elapsed,
            limit: silent.map(|silent| silent.most).or(request.limit),
            truncation,
            background,
            notes,
            draft: request.draft_id(),
            confinement: confinement_of(request, denials),
            receipt: None,
            evidence: None,
            tap: None,
            ..Self::not_started(request)
        }
    }
}

/// Returns the evidence of a command that was not started.
fn unstarted_evidence(request: &PlannedRun, wanted: &EvidenceRequest) -> CommandEvidence {
    let (run, command) = (request.mark.as_str(), request.command.as_str());
    wanted.prove(CommandToProve {
        run,
        command,
        trace: None,
        end: UNKNOWN_END,
        tests: |_: &[EvidencePart]| Vec::new(),
        before: None,
    })
}

/// Returns the confinement of a command, as far as it is known.
fn confinement_of(request: &PlannedRun, denials: CommandDenials) -> Option<ConfinementReport> {
    request.confinement().map(|confinement| ConfinementReport { denials, ..confinement })
}

fn in_registry(request: &PlannedRun, task: Task) -> Option<(Task, TaskStore)> {
    Some((task, request.registry.as_ref()?.store().clone()))
}

/// Returns the note about survivors of a termination.
fn survivors_note(survivors: &[SurvivingProcess]) -> Option<String> {
    let pids: Vec<String> = survivors.iter().map(|survivor| survivor.pid.to_string()).collect();
    (!pids.is_empty())
        .then(|| format!("could not be ended, perhaps because they run as another user: {}", pids.join(", ")))
}

/// Returns the note about withheld variables that a failed command may have wanted.
fn withheld_note(request: &PlannedRun, stdout: &str, stderr: &str) -> Option<String> {
    let wanted = plan::find_wanted_names(&request.environment.withheld, &request.command, stdout, stderr);
    (!wanted.is_empty()).then(|| plan::note_of_withheld(&wanted))
}

/// Returns each survivor with the task that reads its output.
fn with_task(survivors: Vec<SurvivingProcess>, task: Option<&Task>) -> Vec<(SurvivingProcess, Option<String>)> {
    let id = |survivor: &SurvivingProcess| task.filter(|_| survivor.holds).map(|task| task.id.clone());
    survivors.into_iter().map(|survivor| (id(&survivor), survivor)).map(|(id, survivor)| (survivor, id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::TestCounter;
    use crate::request::RawOptions;
    use crate::run::completion::{EndSeenByShim, ExitUnknown, ShellAfter, ShellExit, SilenceLimit};
    use crate::run::view_maker::ViewMaker;
    use capture::CapturedStream;
    use protocol::ShellExitReport as ShimEnded;
    use protocol::plan::ChangeJournalOutcome;
    use sys::ChildExit;

    const MS: Duration = Duration::from_millis(1);

    /// Whether the command has moved, its exit, the silence that was its limit, and the expected duration and limit.
    type Row = (bool, ShellExit, Option<Duration>, Duration, Duration);

    #[test]
    fn a_result_has_the_time_of_the_shell_and_the_limit_that_held() {
        let exit = |cause| {
            let (usage, duration, record) = (ResourceUsage::default(), 100 * MS, ChangeJournalOutcome::Off);
            Ok(ShimEnded {
                end: ChildExit::Code(0),
                usage,
                duration,
                cause,
                alive: true,
                last: false,
                record,
                unwritten: None,
            })
        };
        let silent = Some(1_500 * MS);
        let rows: [Row; 5] = [
            (false, exit(TerminationCause::Itself), None, 100 * MS, 5_000 * MS),
            (false, exit(TerminationCause::Limit), silent, 100 * MS, 1_500 * MS),
            (false, Err(ExitUnknown::AliveAfterLimit), None, 2_100 * MS, 5_000 * MS),
            (true, Err(ExitUnknown::AliveAfterLimit), None, 2_100 * MS, 5_000 * MS),
            (true, Err(ExitUnknown::AliveAfterLimit), silent, 2_100 * MS, 1_500 * MS),
        ];
        for (moved, exit, silent, duration, limit) in rows {
            let host_env = "PATH=/bin\0".into();
            let raw = RawOptions { command: "x".into(), cwd: "/".into(), host_env, ..RawOptions::default() };
            let request = PlannedRun::check(RawOptions { timeout_ms: Some(5_000.0), ..raw }).expect("valid");
            let (stdout, stderr) = (CapturedStream::default(), CapturedStream::default());
            let completion = CommandCompletion {
                pid: 7,
                exit,
                seen: EndSeenByShim::Same,
                silent: silent.map(|most| SilenceLimit { most, waited_for: None }),
                output: ProducedOutput {
                    stdout,
                    stderr,
                    view: ViewMaker::new(&request),
                    counter: TestCounter::Off,
                    tapped: TestCounter::Off,
                },
                survivors: Vec::new(),
                task: None,
                moved,
                // With a drain of two seconds.
                elapsed: 2_100 * MS,
                notes: Vec::new(),
                denials: CommandDenials::default(),
                shell: ShellAfter::default(),
            };
            let outcome = CommandOutcome::of(&request, completion);
            assert_eq!((outcome.duration, outcome.limit), (duration, Some(limit)), "{moved} {silent:?}");
        }
    }
}
