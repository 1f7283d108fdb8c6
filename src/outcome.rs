//! How a command ended and what was kept of it.

use std::time::Duration;

use crate::background::{Store, Task};
use crate::capture::Truncation;
use crate::plan;
use crate::request::Request;
use crate::run::{Driven, Unsettled};
use crate::supervise::{Cause, Survivor};
use crate::sys::{self, End, Usage};

/// More replaced bytes than these are worth a note.
const FEW_REPLACED: u64 = 3;

/// The note of output that was not text, where it is worth one.
pub fn replaced(places: u64) -> Option<String> {
    (places > FEW_REPLACED)
        .then(|| format!("{places} places of the output were not text (invalid UTF-8 or NUL) and were replaced"))
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// With an exit code of its own.
    Exited,
    /// By a signal.
    Signaled,
    /// At its time limit.
    TimedOut,
    /// By its caller.
    Aborted,
    /// It goes on in the background.
    Backgrounded,
}

/// What a command came to.
#[derive(Debug)]
pub struct Outcome {
    #[expect(missing_docs, reason = "what is kept of it, with its notice")]
    pub stdout: String,
    #[expect(missing_docs, reason = "what is kept of it, with its notice")]
    pub stderr: String,
    /// 0…255, see the contract for ends that are not by an exit code; `None` while it goes on.
    pub exit_code: Option<i32>,
    #[expect(missing_docs, reason = "see its type")]
    pub status: Status,
    /// What really ended the shell.
    pub signal: Option<String>,
    /// 0 if nothing was started.
    pub pid: i32,
    /// To the end of the shell.
    pub duration: Duration,
    /// The limit that held.
    pub limit: Option<Duration>,
    /// How stdout and stderr were cut.
    pub truncation: [Option<Truncation>; 2],
    /// The task that it has become, and the folder of its files.
    pub background: Option<(Task, Store)>,
    /// What is left running, each with the task that it belongs to.
    pub survivors: Vec<(Survivor, Option<String>)>,
    #[expect(missing_docs, reason = "see its type")]
    pub usage: Usage,
    /// One fact a line.
    pub notes: Vec<String>,
}

impl Outcome {
    /// Of a command that was given up before it began.
    pub fn not_started(request: &Request) -> Self {
        Self {
            stdout: String::new(),
            stderr: String::new(),
            exit_code: Some(130),
            status: Status::Aborted,
            signal: None,
            pid: 0,
            duration: Duration::ZERO,
            limit: request.limit,
            truncation: [None, None],
            background: None,
            survivors: Vec::new(),
            usage: Usage::default(),
            notes: request.notes.clone(),
        }
    }

    /// Of a command that was started in the background.
    pub fn started(request: &Request, task: Task) -> Self {
        Self {
            exit_code: None,
            status: Status::Backgrounded,
            pid: task.pid,
            background: in_registry(request, task),
            ..Self::not_started(request)
        }
    }

    /// Of a command that ran.
    pub fn of(request: &Request, driven: Driven) -> Self {
        if driven.moved {
            return Self::moved(request, driven);
        }
        let Driven { pid, end, stdout, stderr, survivors, task, elapsed, notes: driven_notes, .. } = driven;
        let mut notes = request.notes.clone();
        notes.extend(driven_notes);
        let really = end.ok().and_then(|ended| match ended.end {
            End::Signal(number) => Some(sys::signal_name(number)),
            End::Code(_) => None,
        });
        let (status, exit_code, signal) = match end.map(|ended| (ended.cause, ended.end)) {
            Ok((Cause::Itself, End::Code(code))) => (Status::Exited, code, really),
            Ok((Cause::Itself, End::Signal(number))) => (Status::Signaled, 128 + number, really),
            Ok((Cause::Broken(broken), end)) => {
                notes.push(broken.note());
                let number = if let End::Signal(number) = end { number } else { broken.signal() };
                (Status::Signaled, 128 + number, Some(sys::signal_name(number)))
            }
            Ok((Cause::Limit, _)) => (Status::TimedOut, 124, really),
            Ok((Cause::Abort | Cause::Host, _)) => (Status::Aborted, 130, really),
            Err(Unsettled::Limit) => {
                notes.push("the command did not end after SIGKILL; its processes may still be there".into());
                (Status::TimedOut, 124, None)
            }
            Err(Unsettled::Abort) => {
                if pid != 0 {
                    notes.push("the command did not end after SIGKILL; its processes may still be there".into());
                }
                (Status::Aborted, 130, None)
            }
            Ok((Cause::Supervisor, _)) | Err(Unsettled::Lost) => {
                notes.push("a helper process of agent-bash was killed; the command was ended with it".into());
                (Status::Signaled, 128 + libc::SIGKILL, Some("SIGKILL".to_owned()))
            }
        };
        let ended = end.is_ok_and(|ended| ended.cause != Cause::Itself);
        if ended && !survivors.is_empty() {
            let pids: Vec<String> = survivors.iter().map(|survivor| survivor.pid.to_string()).collect();
            notes.push(format!("could not be ended, perhaps because they run as another user: {}", pids.join(", ")));
        }
        notes.extend(replaced(stdout.replaced + stderr.as_ref().map_or(0, |captured| captured.replaced)));
        let (stdout_text, stdout_cut) = (stdout.text, stdout.truncation);
        let (stderr_text, stderr_cut) = stderr.map(|captured| (captured.text, captured.truncation)).unwrap_or_default();
        notes.extend(request.limits.refused(exit_code, [&stdout_text, &stderr_text]));
        if exit_code != 0 {
            let withheld = &request.environment.withheld;
            let wanted = plan::wanted(withheld, &request.command, &stdout_text, &stderr_text);
            if !wanted.is_empty() {
                notes.push(plan::note(&wanted));
            }
        }
        Self {
            stdout: stdout_text,
            stderr: stderr_text,
            exit_code: Some(exit_code),
            status,
            signal,
            pid,
            duration: end.map_or(elapsed, |ended| ended.duration),
            limit: request.limit,
            truncation: [stdout_cut, stderr_cut],
            background: None,
            survivors: survivors
                .into_iter()
                .map(|survivor| {
                    let id = task.as_ref().filter(|_| survivor.holds).map(|task| task.id.clone());
                    (survivor, id)
                })
                .collect(),
            usage: end.map(|ended| ended.usage).unwrap_or_default(),
            notes,
        }
    }

    /// Of a command that goes on as a task.
    fn moved(request: &Request, driven: Driven) -> Self {
        let Driven { pid, stdout, stderr, task, elapsed, notes, .. } = driven;
        let notes = request.notes.iter().cloned().chain(notes).collect();
        let background = task.and_then(|task| in_registry(request, task));
        let log = background.as_ref().map(|(task, store)| store.log_path(&task.id));
        let keep = request.truncate.keep();
        let stderr = stderr.unwrap_or_default();
        let truncation = [&stdout, &stderr].map(|captured| {
            Some(captured.truncation.clone().unwrap_or_else(|| Truncation::nothing_cut(keep, captured, log.clone())))
        });
        Self {
            stdout: stdout.text,
            stderr: stderr.text,
            exit_code: None,
            status: Status::Backgrounded,
            pid,
            duration: elapsed,
            truncation,
            background,
            notes,
            ..Self::not_started(request)
        }
    }
}

fn in_registry(request: &Request, task: Task) -> Option<(Task, Store)> {
    Some((task, request.registry.as_ref()?.store().clone()))
}
