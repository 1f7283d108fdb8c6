//! The record of the changes that a shim's commands make.
//!
//! | file | what |
//! |---|---|
//! | `mod` | the record of the running command: its begin and its end |
//! | `run_journal` | keeps each thing as it was before a change |
//! | `snapshot_comparison` | compares the tree instead, where the calls of a command do not come |
//! | `journal_thread` | the thread that answers the calls of commands |
//!
//! A thread answers, so that commands never wait for the shim itself. It is a thread of the shim because a system may
//! let only ancestors of a process read its memory. The filter of a command stays with all of its processes. Processes
//! that the command leaves running get their answers after the command, too, and the shim stays until no process has
//! such a filter.
//!
//! - **A removed file is kept by its removal:** the thread renames it into the store, and the call of the command
//!   returns. That takes one step where a link and an unlink take two. It happens only for a caller with the rights of
//!   the shim (`crates/confine-listener/src/rights.rs`): the filter passes on each call that changes those, and after
//!   rules of Landlock the kernel makes every removal again.
//! - **A record of a receipt begins with the first change,** and a command that changes nothing has none. That of a
//!   point begins while the program starts.
//! - **The changes of a warm shell's command wait for its record,** which comes with the report that the shell has its
//!   command. A record that is required begins before.
//! - **A record is read below an open directory,** never through a path that a command could lead elsewhere meanwhile.
//! - **A record ends when no process is left,** or when those that are left are listed, right after the list: whoever
//!   runs from then on is in it. They keep the filter, and the thread answers them as long as they live. If a record
//!   could not begin, the command is refused, or its result says so.

mod journal_thread;
mod run_journal;
mod snapshot_comparison;

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::Ordering;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::launch::mark_of;
use crate::warm_shell::WarmShell;
use confine_listener::{FileChangeJournal, PendingChangeKind, PendingFileChange, spot_of};
use confine_world::{filter, filter::SyscallFilterMode};
use journal_thread::{JournalThreadHandle, SyscallSource, SyscallSourceKind};
use protocol::RunDescriptors;
use protocol::plan::{ChangeJournalLimits, ChangeJournalOutcome, ChangeJournalPlan, ChangeJournalPurpose, ChildPlan};
use protocol::task::MachineIdentity as TaskMachine;
use run_journal::BegunJournal;
#[cfg(all(test, target_os = "linux"))]
pub use run_journal::SharedJournal;
pub use run_journal::{JournalSlot, PendingJournal, RunJournal};
use snapshot_comparison::{SnapshotComparison, TreeSnapshotError};
use sys::{ListenedFilter, SyscallArchitecture, SyscallFilter};
use undo::{ManifestHeader, ManifestPurpose, UndoLimits, UndoStore, UndoStoreError, VERSION};

/// Why the changes of a command cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum ChangeJournalError {
    /// The kernel passes no calls on.
    #[error("this system does not report changes of files before they are made")]
    NoListener,
    /// The memory of other processes is out of reach, and with it the path of a call.
    #[error("this system lets no process read the memory of its children (kernel.yama.ptrace_scope)")]
    Unreadable,
    /// The world of the command has no listener.
    #[error("the confinement of this command reports no changes of files")]
    Unheard,
    /// The command has no mark, which names the run.
    #[error("the command has no id")]
    NoMark,
    /// A filter with a listener cannot be installed, as in a command that has one already.
    #[error("the calls of the command cannot be watched: {0}")]
    Filter(io::Error),
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] UndoStoreError),
    /// A snapshot could not be taken either.
    #[error(transparent)]
    Snapshot(#[from] TreeSnapshotError),
    /// A socket or a thread could not be made.
    #[error("its changes cannot be recorded: {0}")]
    System(#[from] io::Error),
}

impl ChangeJournalError {
    /// Returns the most telling error number.
    pub fn errno(&self) -> i32 {
        let number = match self {
            Self::NoListener | Self::Unreadable | Self::Unheard | Self::NoMark => None,
            Self::Filter(error) | Self::System(error) => error.raw_os_error(),
            Self::Store(UndoStoreError::System { source, .. }) => source.raw_os_error(),
            Self::Store(_) | Self::Snapshot(_) => None,
        };
        number.unwrap_or(libc::ENOTSUP)
    }
}

/// The channel by which the calls of a command reach their answers.
pub enum AnswerChannel {
    /// A filter for a command without confinement, and the child's end of its socket.
    Filter(ListenedFilter, OwnedFd),
    /// The listener's end of a socket, for a command in a world.
    World(OwnedFd),
}

impl AnswerChannel {
    /// Returns the filter with the child's end of its socket, or the listener's end of the world's socket.
    pub fn parts(self) -> (Option<ListenedFilter>, Option<OwnedFd>, Option<OwnedFd>) {
        match self {
            Self::Filter(filter, socket) => (Some(filter), Some(socket), None),
            Self::World(socket) => (None, None, Some(socket)),
        }
    }
}

/// The records of a shim, one after another.
#[derive(Default)]
pub struct ChangeJournals {
    answers: Option<JournalThreadHandle>,
    filter: Option<Rc<SyscallFilter>>,
    /// Counts runs, to distinguish calls of an ended command from calls of the current command.
    run: u64,
    /// The snapshot of the tree, if it replaces a record of each change.
    compared: Option<SnapshotComparison>,
    /// The store of the current record, and the record's purpose.
    store: Option<(PathBuf, ChangeJournalPurpose)>,
    /// Why there is no record although a record was wanted.
    failure: Option<String>,
}

impl ChangeJournals {
    /// Begins the record of a command, if its plan wants one. Files that the command inherits open for writing are
    /// recorded at once. Returns the way of the command's calls.
    ///
    /// # Errors
    /// If the record cannot begin.
    pub fn begin(
        &mut self,
        plan: &ChildPlan,
        descriptors: &RunDescriptors,
        world: Option<bool>,
    ) -> Result<Option<AnswerChannel>, ChangeJournalError> {
        self.discard();
        self.failure = None;
        let Some(record) = &plan.record else { return Ok(None) };
        match obstacle(record, world) {
            Some(_) if SnapshotComparison::is_wanted(record) => {
                self.compared = Some(SnapshotComparison::begin(record, header(record, plan)?, limits(record.limits))?);
                self.store = Some((record.store.clone(), record.purpose));
                Ok(None)
            }
            Some(obstacle) => Err(obstacle),
            None => self.begin_wanted(record, plan, descriptors, world).map(Some),
        }
    }

    fn begin_wanted(
        &mut self,
        record: &ChangeJournalPlan,
        plan: &ChildPlan,
        descriptors: &RunDescriptors,
        world: Option<bool>,
    ) -> Result<AnswerChannel, ChangeJournalError> {
        self.run += 1;
        let run = self.run;
        let answers = self.hand_to_thread(record, plan)?;
        touch_inherited(&RunJournal { shared: &answers.shared, run }, descriptors);
        // Otherwise it begins while the program of the command starts.
        if record.require && !answers.shared.begin_point() {
            return Err(self.take_failure());
        }
        self.channel(world)
    }

    /// Returns the way of the calls of a warm shell. They are let go on until [`Records::expect`].
    ///
    /// # Errors
    /// If the changes of its command could not be recorded.
    pub fn prepare(&mut self, world: Option<bool>) -> Result<AnswerChannel, ChangeJournalError> {
        if let Some(obstacle) = obstacle_here(world) {
            return Err(obstacle);
        }
        self.run += 1;
        self.channel(world)
    }

    /// From here on the shell of [`Records::prepare`] may have its command. Its changes wait for
    /// [`Records::begin_warm`].
    pub fn expect(&self) {
        if let Some(answers) = &self.answers {
            answers.shared.expect(self.run);
        }
    }

    /// Begins the record of the command of a warm shell, that of [`Records::prepare`].
    ///
    /// # Errors
    /// If the record cannot begin.
    pub fn begin_warm(&mut self, record: &ChangeJournalPlan, warm: &WarmShell) -> Result<(), ChangeJournalError> {
        self.failure = None;
        if !warm.recorded {
            return Err(ChangeJournalError::NoListener);
        }
        let answers = self.hand_to_thread(record, &warm.plan)?;
        if record.require && !answers.shared.begin_point() {
            return Err(self.take_failure());
        }
        if record.purpose == ChangeJournalPurpose::Undo {
            answers.wake();
        }
        Ok(())
    }

    /// Gives the record of the current run to the thread that answers.
    fn hand_to_thread(
        &mut self,
        record: &ChangeJournalPlan,
        plan: &ChildPlan,
    ) -> Result<&JournalThreadHandle, ChangeJournalError> {
        let pending = PendingJournal {
            run: self.run,
            store: record.store.clone(),
            header: header(record, plan)?,
            limits: limits(record.limits),
            beyond: record.beyond.clone(),
            require: record.require,
        };
        self.store = Some((record.store.clone(), record.purpose));
        let answers = JournalThreadHandle::get_or_start(&mut self.answers)?;
        answers.shared.set_pending(pending);
        Ok(answers)
    }

    /// Makes the way of the calls of the current run.
    fn channel(&mut self, world: Option<bool>) -> Result<AnswerChannel, ChangeJournalError> {
        let machine = SyscallArchitecture::HERE.ok_or(ChangeJournalError::NoListener)?;
        let (ours, theirs) = sys::message_pair()?;
        let kind = if world.is_some() { SyscallSourceKind::World(ours) } else { SyscallSourceKind::Arrival(ours) };
        let answers = JournalThreadHandle::get_or_start(&mut self.answers)?;
        answers.shared.is_busy.store(world.is_some(), Ordering::Relaxed);
        answers.add(SyscallSource { run: self.run, kind });
        if world.is_some() {
            return Ok(AnswerChannel::World(theirs));
        }
        let theirs = sys::above_inherited(&theirs)?;
        let filter = self.filter.get_or_insert_with(|| Rc::new(filter::program(machine, SyscallFilterMode::Recorded)));
        let listener = (theirs.as_raw_fd(), vec![0]);
        Ok(AnswerChannel::Filter(ListenedFilter { filter: Rc::clone(filter), listener }, theirs))
    }

    /// Notes why the current command has no record, and removes any part of it.
    pub fn note_failure(&mut self, error: &ChangeJournalError) {
        self.discard();
        self.failure = Some(error.to_string());
    }

    /// Removes the record of a command that was not started.
    pub fn discard(&mut self) {
        self.store = None;
        if let Some(compared) = self.compared.take() {
            return compared.discard();
        }
        if let JournalSlot::Current(current) = self.take_slot() {
            snapshot_comparison::discard(current.recorder);
        }
    }

    /// Returns the store of the record that is written now.
    pub fn store(&self) -> Option<&Path> {
        self.store.as_ref().map(|(store, _)| store.as_path())
    }

    /// Returns the purpose of the current record.
    pub fn purpose(&self) -> Option<ChangeJournalPurpose> {
        self.store.as_ref().map(|(_, purpose)| *purpose)
    }

    /// Begins the record of the current command, before any change.
    pub fn settle(&self) {
        if let Some(answers) = &self.answers {
            answers.shared.settle();
        }
    }

    /// Ends the record of the current command. Processes that are left go on without one. Does nothing the second time.
    pub fn end(&mut self) -> ChangeJournalOutcome {
        self.store = None;
        if let Some(compared) = self.compared.take() {
            return compared.end();
        }
        if let Some(answers) = &self.answers {
            answers.shared.begin_point();
        }
        match self.take_slot() {
            JournalSlot::Current(current) => match *current {
                BegunJournal { broken: Some(why), .. } => ChangeJournalOutcome::Failed(why),
                BegunJournal { recorder, beyond, .. } => match recorder.finish(beyond) {
                    Ok(_) => ChangeJournalOutcome::Done,
                    Err(error) => ChangeJournalOutcome::Failed(error.to_string()),
                },
            },
            JournalSlot::Failed(error) => ChangeJournalOutcome::Failed(error.to_string()),
            JournalSlot::Pending(_) => ChangeJournalOutcome::Nothing,
            JournalSlot::Empty | JournalSlot::Awaited(_) => {
                self.failure.take().map_or(ChangeJournalOutcome::Off, ChangeJournalOutcome::Failed)
            }
        }
    }

    /// Records that names may be missing which the command has made in directories of its own.
    pub fn lose_names(&self) {
        if let Some(answers) = &self.answers {
            answers.shared.lose_names();
        }
    }

    fn take_slot(&self) -> JournalSlot {
        self.answers.as_ref().map(|answers| answers.shared.take_slot()).unwrap_or_default()
    }

    fn take_failure(&mut self) -> ChangeJournalError {
        self.store = None;
        match self.take_slot() {
            JournalSlot::Failed(error) => error.into(),
            _ => ChangeJournalError::NoListener,
        }
    }

    /// Removes the record of a command that only wanted a receipt and whose host is gone: no process will read it.
    pub fn forget_unread(store: &Path, run: &str) {
        if let Ok(store) = UndoStore::open(store) {
            let _left = store.remove(run);
        }
    }

    /// Waits until no process has the filter of a command any more.
    pub fn wait(&mut self) {
        if let Some(answers) = self.answers.take() {
            answers.wait();
        }
    }
}

/// Returns why the changes of a command cannot be recorded as it makes them.
fn obstacle(record: &ChangeJournalPlan, world: Option<bool>) -> Option<ChangeJournalError> {
    if record.only_tree { Some(ChangeJournalError::NoListener) } else { obstacle_here(world) }
}

/// Returns why the changes of no command can be recorded as it makes them.
fn obstacle_here(world: Option<bool>) -> Option<ChangeJournalError> {
    if SyscallArchitecture::HERE.is_none() || !sys::has_listeners() {
        return Some(ChangeJournalError::NoListener);
    }
    // The listener of a world has a right of its own.
    if world.is_none() && !sys::may_read_descendants() {
        return Some(ChangeJournalError::Unreadable);
    }
    (world == Some(false)).then_some(ChangeJournalError::Unheard)
}

fn limits(limits: ChangeJournalLimits) -> UndoLimits {
    let ChangeJournalLimits { file_bytes, run_bytes, store_bytes } = limits;
    UndoLimits { file_bytes, run_bytes, store_bytes }
}

fn header(record: &ChangeJournalPlan, plan: &ChildPlan) -> Result<ManifestHeader, ChangeJournalError> {
    Ok(ManifestHeader {
        version: VERSION,
        run: mark_of(&plan.env).ok_or(ChangeJournalError::NoMark)?,
        command: record.command.clone(),
        cwd: Path::new(OsStr::from_bytes(&plan.cwd)).to_owned(),
        at: record.at,
        machine: TaskMachine::here().clone(),
        purpose: match record.purpose {
            ChangeJournalPurpose::Undo => ManifestPurpose::Undo,
            ChangeJournalPurpose::Receipt => ManifestPurpose::Receipt,
        },
        tree: PathBuf::new(),
    })
}

/// Records the files that a command inherits open for writing, which it can change without another call.
fn touch_inherited(journal: &RunJournal<'_>, descriptors: &RunDescriptors) {
    for file in descriptors.files.iter().chain(&descriptors.stdin).chain(&descriptors.terminal) {
        let flags = fcntl(file, FcntlArg::F_GETFL).map(OFlag::from_bits_retain);
        let writes = flags.is_ok_and(|flags| flags & OFlag::O_ACCMODE != OFlag::O_RDONLY);
        if writes && let Some(spot) = spot_of(file.as_fd()) {
            // It is too late to refuse the change. The record says that the file is not kept.
            let _told = journal.record_before(&PendingFileChange { spot, act: PendingChangeKind::Rewrite });
        }
    }
}
