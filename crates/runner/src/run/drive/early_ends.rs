//! The ways in which a command leaves the loop: at a deadline, early because its shell has reported its exit code, or
//! as a task in the background.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

use crate::registry::{RegistryError, TaskRegistry, TaskReservation};
use crate::request::PlannedRun;
use protocol::task::{Task, TaskLog, TaskSpec};
use protocol::{OutputDrain, ShellExitReport, TaskTransfer};

/// Time a terminated command may take beyond its grace. After that, the command counts as over, whatever happens.
pub const HARD_BOUND: Duration = Duration::from_secs(1);
/// Time a shim may take to make a command its task.
const TAKE_OVER_BOUND: Duration = Duration::from_secs(10);
/// A terminal without a time limit may stay open this long: years.
const NO_LIMIT: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// The latest time at which a command is over, and the latest time at which its pipes are read.
pub struct CommandDeadlines {
    began: Instant,
    grace: Duration,
    /// Time at which the loop gives the command up.
    hard: Instant,
    /// The drain, from the exit of the shell on.
    drain: Option<OutputDrain>,
}

impl CommandDeadlines {
    /// `limit` is the time limit that the shim keeps.
    pub fn new(began: Instant, limit: Option<Duration>, grace: Duration) -> Self {
        let hard = began + limit.unwrap_or(NO_LIMIT) + grace + HARD_BOUND;
        Self { began, grace, hard, drain: None }
    }

    /// Returns when the command began.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// Returns when the command is given up.
    pub fn hard(&self) -> Instant {
        self.hard
    }

    /// Returns whether the command has to be given up.
    pub fn is_up(&self, now: Instant) -> bool {
        now >= self.hard
    }

    /// Records that the shim was asked to terminate the tree.
    pub fn on_terminate(&mut self, now: Instant) {
        self.hard = now + self.grace + HARD_BOUND;
    }

    /// Records that the shim has killed the tree because it exceeded a limit. No listener delays the result for longer.
    pub fn on_limit_exceeded(&mut self, now: Instant) {
        self.hard = self.hard.min(now + HARD_BOUND);
    }

    /// Records that the shim was asked to make the command a task.
    pub fn on_handed_over(&mut self, now: Instant) {
        self.hard = now + TAKE_OVER_BOUND;
    }

    /// Records that the shell has exited. The pipes are read as long as survivors keep writing, within bounds.
    pub fn on_exit(&mut self, now: Instant) {
        self.drain = Some(OutputDrain::begin(now.into_std()));
    }

    /// Records output of the command.
    pub fn on_output(&mut self, now: Instant) {
        if let Some(drain) = &mut self.drain {
            drain.on_output(now.into_std());
        }
    }

    /// Returns when the drain ends if no more output arrives.
    pub fn drained_at(&self) -> Option<Instant> {
        self.drain.map(|drain| Instant::from_std(drain.until()))
    }

    /// Returns whether the pipes have to be read once more, directly from the system, before the drain may end.
    pub fn is_drain_due(&self, now: Instant) -> bool {
        self.drain.is_some_and(|drain| now.into_std() >= drain.until())
    }

    /// Records that the pipes were read once more.
    pub fn on_read_again(&mut self, now: Instant) {
        if let Some(drain) = &mut self.drain {
            drain.on_emptied(now.into_std());
        }
    }

    /// Returns whether the drain has ended.
    pub fn is_drained(&self, now: Instant) -> bool {
        self.drain.is_some_and(|drain| drain.is_over(now.into_std()))
    }
}

// ---- the move to the background

/// The progress of a command's move to the background.
#[derive(Default)]
pub enum BackgroundMove {
    /// The command does not move: it has no registry, has exited, or was refused.
    #[default]
    Off,
    /// The command moves at its limit. Until then the journal collects its output.
    Planned {
        /// The limit.
        at: Instant,
        /// The beginning of the log.
        journal: TaskLogBeginning,
    },
    /// The shim was asked to take the command over. It reads the pipes from here on, unless the command has just
    /// exited.
    HandedOver {
        /// The beginning of the log.
        journal: TaskLogBeginning,
        /// Holds a place among the running tasks until the task counts itself.
        _reservation: TaskReservation,
    },
    /// The command has become this task.
    Done(Task),
}

/// A command that cannot be moved.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// The registry takes no more tasks.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The log, or the rest of the standard input, could not be written.
    #[error(transparent)]
    Files(#[from] io::Error),
}

impl BackgroundMove {
    pub fn of(request: &PlannedRun, began: Instant) -> Self {
        let at = request.limit.filter(|_| request.may_move()).map(|limit| began + limit);
        match at.zip(TaskLogBeginning::of(request)) {
            Some((at, journal)) => Self::Planned { at, journal },
            None => Self::Off,
        }
    }

    /// Returns when the command has to be handed over.
    pub fn due_at(&self) -> Option<Instant> {
        match self {
            Self::Planned { at, .. } => Some(*at),
            Self::Off | Self::HandedOver { .. } | Self::Done(_) => None,
        }
    }

    /// Returns whether the shim was asked to take the command over and has not answered.
    pub fn is_under_way(&self) -> bool {
        matches!(self, Self::HandedOver { .. })
    }

    /// Returns the task that the command has become.
    pub fn task(&self) -> Option<&Task> {
        match self {
            Self::Done(task) => Some(task),
            Self::Off | Self::Planned { .. } | Self::HandedOver { .. } => None,
        }
    }

    /// Records output of the command.
    pub fn on_output(&mut self, text: &str) {
        if let Self::Planned { journal, .. } = self {
            journal.push(text);
        }
    }

    /// Prepares the order for the shim, with the state of the readers and the rest of standard input. After an error
    /// the command does not move.
    pub fn begin(
        &mut self,
        request: &PlannedRun,
        resume: Vec<Vec<u8>>,
        input: io::Result<Vec<OwnedFd>>,
    ) -> Option<Result<(TaskTransfer, Vec<OwnedFd>), MoveError>> {
        let Self::Planned { mut journal, .. } = std::mem::take(self) else { return None };
        let registry = request.registry.as_ref()?;
        let transfer = || -> Result<_, MoveError> {
            let reservation = registry.reserve(journal.id())?;
            Ok((journal.finish()?, input?, reservation))
        };
        Some(transfer().map(|(spec, input, reservation)| {
            *self = Self::HandedOver { journal, _reservation: reservation };
            (TaskTransfer { spec, resume }, input)
        }))
    }

    /// Records that the shim has made the command this task.
    pub fn on_task(&mut self, task: Task) {
        if let Self::HandedOver { journal, .. } | Self::Planned { journal, .. } = self {
            journal.on_taken();
        }
        *self = Self::Done(task);
    }

    /// Cancels the move. The beginning of the log is removed.
    pub fn cancel(&mut self) {
        if self.task().is_none() {
            *self = Self::Off;
        }
    }
}

// ---- the log so far

/// Size up to which the journal is kept in memory, bytes. After that, it is kept in the file that may become the log.
const IN_MEMORY: usize = 1024 * 1024;

/// The beginning of a log.
pub struct TaskLogBeginning {
    registry: Arc<TaskRegistry>,
    spec: TaskSpec,
    text: String,
    log: Option<TaskLog>,
    /// Whether the file exists and belongs to no task yet.
    owns_file: bool,
    /// Why the beginning is incomplete. Nothing more is collected then.
    failure: Option<io::Error>,
}

impl TaskLogBeginning {
    /// Returns the journal of a command that may move to the background.
    pub fn of(request: &PlannedRun) -> Option<Self> {
        let registry = request.registry.clone().filter(|_| request.may_move())?;
        let spec = request.later_task()?;
        Some(Self { registry, spec, text: String::new(), log: None, owns_file: false, failure: None })
    }

    /// Returns the id of the task that the command may become.
    pub fn id(&self) -> &str {
        &self.spec.id
    }

    /// Appends output.
    pub fn push(&mut self, text: &str) {
        if self.failure.is_some() {
            return;
        }
        self.text.push_str(text);
        if self.text.len() >= IN_MEMORY
            && let Err(error) = self.write_down()
        {
            // The failure is reported to the caller at the limit.
            self.text = String::new();
            self.failure = Some(error);
        }
    }

    fn write_down(&mut self) -> io::Result<()> {
        if self.log.is_none() {
            let file = self.registry.store().create_log(&self.spec.id)?;
            self.owns_file = true;
            self.log = Some(TaskLog::lock_and_continue(file, self.spec.max_log_bytes)?);
        }
        if let Some(log) = &mut self.log {
            log.write(&self.text);
            self.text.clear();
            if let Some(failure) = log.failure() {
                return Err(io::Error::other(failure.to_owned()));
            }
        }
        Ok(())
    }

    /// Writes everything to the file and closes it, for the shim to open.
    pub fn finish(&mut self) -> io::Result<TaskSpec> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.write_down()?;
        // The lock goes with the journal. After a long silence the command has an old file, which another process would
        // sweep before the shim has the lock.
        if let Some(log) = self.log.take() {
            log.renew()?;
        }
        Ok(self.spec.clone())
    }

    /// Records that the file is the log of a task now.
    pub fn on_taken(&mut self) {
        self.owns_file = false;
    }
}

impl Drop for TaskLogBeginning {
    fn drop(&mut self) {
        if self.owns_file {
            self.registry.store().remove(&self.spec.id);
        }
    }
}

// ---- an end before the exit of the shell

/// Time before its limit from which a command may have been terminated already.
const TERMINATION_MARGIN: Duration = Duration::from_millis(20);

/// The pipe on which a shell reports the exit code of its command, and the report.
#[derive(Default)]
pub struct EarlyExitPipe {
    /// The pipe. `None` if no shell reports, and after the report.
    pipe: Option<AsyncFd<OwnedFd>>,
    bytes: Vec<u8>,
    directory: Option<PathBuf>,
    /// The end of a confined command, whose denials are not known yet.
    held: Option<ShellExitReport>,
    ended: bool,
}

/// The report of a shell.
#[derive(Debug, PartialEq, Eq)]
struct EarlyExitReport {
    exit_code: i32,
    directory: PathBuf,
}

impl EarlyExitPipe {
    /// `pipe` is the read end, if the shell reports.
    pub fn new(pipe: Option<&OwnedFd>) -> io::Result<Self> {
        let watch = |pipe: &OwnedFd| sys::watch(pipe.try_clone()?, Interest::READABLE);
        Ok(Self { pipe: pipe.map(watch).transpose()?, ..Self::default() })
    }

    /// Waits until the report can be read. Waits forever if no shell reports.
    pub async fn readable(&self) {
        match &self.pipe {
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    /// Reads more of the report. Returns the exit code once the report is whole.
    pub fn read(&mut self) -> Option<i32> {
        let mut buffer = [0_u8; 8 * 1024];
        let pipe = self.pipe.as_ref()?;
        let read = pipe.try_io(Interest::READABLE, |pipe| Ok(nix::unistd::read(pipe, &mut buffer)?));
        self.bytes.extend_from_slice(&buffer[..read.unwrap_or(0)]);
        let EarlyExitReport { exit_code, directory } = EarlyExitReport::parse(&self.bytes)?;
        self.pipe = None;
        self.directory = Some(directory);
        Some(exit_code)
    }

    /// Keeps the exit of the command until its denials are known.
    pub fn hold_exit(&mut self, ended: ShellExitReport) {
        self.held = Some(ended);
    }

    /// Returns the exit that was kept.
    pub fn take_held(&mut self) -> Option<ShellExitReport> {
        self.held.take()
    }

    /// Records that the command has ended as reported.
    pub fn confirm(&mut self) {
        self.ended = true;
    }

    /// Returns whether the command has ended and its shell has not exited yet.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns the directory that the shell reported.
    pub fn into_directory(self) -> Option<PathBuf> {
        self.directory
    }
}

impl EarlyExitReport {
    /// Parses the exit code and the directory, each ended by a NUL. `None` before both are there.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.split_inclusive(|byte| *byte == 0).map(|field| field.strip_suffix(&[0]));
        let exit_code = std::str::from_utf8(fields.next()??).ok()?.parse().ok()?;
        let directory = OsString::from_vec(fields.next()??.to_vec()).into();
        Some(Self { exit_code, directory })
    }
}

/// Returns whether a report can be trusted before the shell exits. A shell that is being terminated runs its EXIT trap,
/// too, and the trap reports the exit code of an earlier command.
pub fn is_believable(now: Instant, limit_at: Option<Instant>, limits_over_tree: bool) -> bool {
    !limits_over_tree && limit_at.is_none_or(|at| now + TERMINATION_MARGIN < at)
}

#[cfg(test)]
mod tests {
    mod deadlines {
        use super::super::*;

        const LIMIT: Duration = Duration::from_secs(30);
        const GRACE: Duration = Duration::from_secs(2);

        #[test]
        fn a_command_is_given_up_a_second_after_its_limit_and_its_grace() {
            let began = Instant::now();
            let deadlines = CommandDeadlines::new(began, Some(LIMIT), GRACE);
            assert!(!deadlines.is_up(began + Duration::from_millis(32_999)));
            assert!(deadlines.is_up(began + Duration::from_secs(33)));
        }

        #[test]
        fn without_a_limit_a_terminal_stays_open_for_years() {
            let began = Instant::now();
            assert!(!CommandDeadlines::new(began, None, GRACE).is_up(began + 365 * Duration::from_secs(24 * 60 * 60)));
        }

        #[test]
        fn a_termination_moves_the_end_to_grace_and_a_second_from_then() {
            let began = Instant::now();
            let mut deadlines = CommandDeadlines::new(began, Some(LIMIT), GRACE);
            deadlines.on_terminate(began + Duration::from_secs(10));
            assert_eq!(deadlines.hard(), began + Duration::from_secs(13));
            deadlines.on_terminate(began + Duration::from_secs(40));
            assert_eq!(deadlines.hard(), began + Duration::from_secs(43), "later than the first end, too");
        }

        #[test]
        fn a_broken_limit_only_brings_the_end_nearer() {
            let began = Instant::now();
            let mut deadlines = CommandDeadlines::new(began, Some(LIMIT), GRACE);
            deadlines.on_limit_exceeded(began + Duration::from_secs(5));
            assert_eq!(deadlines.hard(), began + Duration::from_secs(6));
            deadlines.on_limit_exceeded(began + Duration::from_secs(20));
            assert_eq!(deadlines.hard(), began + Duration::from_secs(6));
        }

        #[test]
        fn a_shim_has_ten_seconds_to_take_a_command_over() {
            let began = Instant::now();
            let mut deadlines = CommandDeadlines::new(began, Some(LIMIT), GRACE);
            deadlines.on_handed_over(began + LIMIT);
            assert_eq!(deadlines.hard(), began + Duration::from_secs(40));
        }

        #[test]
        fn a_drain_ends_after_quiet_and_one_more_read() {
            let began = Instant::now();
            let at = |ms| began + Duration::from_millis(ms);
            let mut deadlines = CommandDeadlines::new(began, Some(LIMIT), GRACE);
            deadlines.on_output(at(1));
            assert!(!deadlines.is_drain_due(at(5_000)), "no drain before the exit");
            deadlines.on_exit(at(100));
            assert_eq!(deadlines.drained_at(), Some(at(350)));
            deadlines.on_output(at(300));
            assert_eq!(deadlines.drained_at(), Some(at(550)));
            assert!(!deadlines.is_drain_due(at(549)) && deadlines.is_drain_due(at(550)));
            assert!(!deadlines.is_drained(at(550)), "the pipes are read once more first");
            deadlines.on_read_again(at(550));
            assert!(deadlines.is_drained(at(550)));
        }

        #[test]
        fn a_drain_ends_after_two_seconds_however_much_comes() {
            let began = Instant::now();
            let mut deadlines = CommandDeadlines::new(began, Some(LIMIT), GRACE);
            deadlines.on_exit(began);
            deadlines.on_output(began + Duration::from_millis(1_990));
            assert_eq!(deadlines.drained_at(), Some(began + Duration::from_secs(2)));
        }
    }

    mod journal {
        use std::path::Path;
        use std::time::{Duration, SystemTime};

        use super::super::*;
        use crate::registry::RegistryOptions;
        use crate::request::RawOptions;

        fn age(log: &Path) {
            let long_ago = SystemTime::now() - Duration::from_secs(3600);
            let file = std::fs::File::options().append(true).open(log).expect("a log");
            file.set_modified(long_ago).expect("an older file");
        }

        #[test]
        fn the_file_of_a_command_that_was_silent_for_long_is_not_swept_before_its_shim_has_it() {
            let directory = tempfile::tempdir().expect("a directory");
            let options = RegistryOptions {
                dir: Some(directory.path().to_owned()),
                temp: directory.path().to_owned(),
                max_tasks: 1,
                max_log_bytes: 1 << 30,
                retention: Duration::from_secs(60),
            };
            let registry = Some(TaskRegistry::open(options).expect("opened"));
            let raw = RawOptions {
                command: "x".into(),
                cwd: "/".into(),
                host_env: "PATH=/bin\0".into(),
                registry,
                timeout_ms: Some(5_000.0),
                ..RawOptions::default()
            };
            let mut journal = TaskLogBeginning::of(&PlannedRun::check(raw).expect("valid")).expect("a journal");
            let store = journal.registry.store().clone();
            let log = store.log_path(journal.id());
            journal.push(&"x\n".repeat(IN_MEMORY));
            age(&log);
            store.remove_unstarted();
            let spec = journal.finish().expect("written");
            store.remove_unstarted();
            let shims =
                store.append_log(&spec.id).and_then(|file| TaskLog::lock_and_continue(file, spec.max_log_bytes));
            assert_eq!(shims.expect("a log").written(), 2 * IN_MEMORY as u64);
        }
    }

    mod early_end {
        use super::super::*;
        use std::io::Write;

        #[test]
        fn a_report_counts_once_it_is_whole() {
            let whole = EarlyExitReport { exit_code: 3, directory: "/tmp".into() };
            assert_eq!(EarlyExitReport::parse(b"3\0/tmp\0"), Some(whole));
            for part in [&b""[..], b"3", b"3\0", b"3\0/tmp", b"x\0/tmp\0"] {
                assert_eq!(EarlyExitReport::parse(part), None, "{}", String::from_utf8_lossy(part));
            }
        }

        #[test]
        fn a_report_close_to_the_limit_is_not_believed() {
            let now = Instant::now();
            assert!(is_believable(now, None, false));
            assert!(is_believable(now, Some(now + TERMINATION_MARGIN * 2), false));
            assert!(!is_believable(now, Some(now + TERMINATION_MARGIN), false));
            assert!(!is_believable(now, Some(now), false));
            assert!(!is_believable(now, None, true), "the tree may have used too much");
        }

        #[tokio::test]
        async fn a_report_is_read_in_pieces() {
            let (read, write) = sys::pipe().expect("a pipe");
            sys::set_nonblocking(&read).expect("set");
            let mut early = EarlyExitPipe::new(Some(&read)).expect("watched");
            let mut write = std::fs::File::from(write);
            write.write_all(b"7\0/h").expect("written");
            early.readable().await;
            assert_eq!(early.read(), None);
            write.write_all(b"ome\0").expect("written");
            early.readable().await;
            assert_eq!(early.read(), Some(7));
            assert!(!early.has_ended(), "not before it is confirmed");
            early.confirm();
            assert!(early.has_ended());
            assert_eq!(early.into_directory(), Some("/home".into()));
        }
    }
}
