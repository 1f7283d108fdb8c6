//! The addon's view of a command: a plan on its way to a shim, and the shim's events.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::unistd::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::helpers::HelperProcesses;
use super::shim_pool::ShimHandle;
use super::task_link::TaskLink;
use crate::proof::{EvidenceRequest, TreeBeforeCommand};
use crate::supervise::evidence_watch::EvidenceWatch;
use crate::supervise::ready_shell::ReadyShell;
use confine_policy::CommandDenials;
use ledger::PendingLedgerRecord;
use protocol::BlockedProcess;
use protocol::ExceededLimit;
use protocol::plan::{WarmShellKind, WorldId};
use protocol::task::Task;
use protocol::{
    self, FrameReader, FromShim, FromShimOrTask, FromTask, PipelineTapEnds, ReceiveOutcome, ReleasedSurvivors,
    ShellExitReport, ShimOrder, TaskInput, TaskTransfer, ToShim,
};
use sys::{LaunchError, Signal};

/// An event of a shim about its command.
#[derive(Debug)]
pub enum ShimEvent {
    /// The program runs.
    Started(i32),
    /// The program could not be started.
    Failed(LaunchError),
    /// The confinement of the command has denied operations.
    Denied(CommandDenials),
    /// The shell has exited.
    Ended(ShellExitReport),
    /// The survivors exceeded a limit and were ended.
    LimitExceeded(ExceededLimit),
    /// A scan for a blocked process. `true` if it was made at the time limit.
    Blocked(bool, Option<BlockedProcess>),
    /// The survivors are on their own now.
    Released(ReleasedSurvivors),
    /// The command is a task now, and the shim belongs to it, see [`ShimCommand::into_link`].
    Task(Box<Task>),
    /// The command could not become a task.
    Refused(i32),
    /// The warm shell with this mark is ready, or `None` if it failed.
    Prepared(String, Option<ReadyShell>),
    /// The shim is gone.
    Lost {
        /// Whether the shim never read the plan, so that no process was started.
        untaken: bool,
    },
}

/// A plan that was sent to a shim.
pub struct SentPlan {
    shim: ShimHandle,
    rest: Vec<u8>,
    /// The command's ends of its pipes, kept until they have been sent with the first byte.
    fds: Vec<OwnedFd>,
    watched: Option<EvidenceWatch>,
}

impl SentPlan {
    /// Sends a plan and the command's ends of its pipes without blocking. The rest is sent later.
    pub fn send(shim: ShimHandle, run: ShimOrder) -> io::Result<Self> {
        let (bytes, fds) = protocol::encode(ToShim::Run(Box::new(run)))?;
        // An error shows again when the events of the shim are read.
        let sent = sys::send(shim.socket.as_fd(), &bytes, &protocol::raw_descriptors(&fds)).unwrap_or(0);
        let fds = if sent > 0 { Vec::new() } else { fds };
        Ok(Self { shim, rest: bytes[sent..].to_vec(), fds, watched: None })
    }

    /// Sends nothing and only receives events.
    pub fn nothing(shim: ShimHandle) -> Self {
        Self { shim, rest: Vec::new(), fds: Vec::new(), watched: None }
    }

    /// Records how the command is watched, if its evidence is wanted.
    #[must_use]
    pub fn watched(self, watched: Option<EvidenceWatch>) -> Self {
        Self { watched, ..self }
    }

    /// Continues in the runtime, where events can be awaited.
    pub fn follow(self) -> io::Result<ShimCommand> {
        let pid = self.shim.pid;
        let socket = sys::watch(self.shim.socket, Interest::READABLE | Interest::WRITABLE)?;
        Ok(ShimCommand {
            pid,
            socket,
            reader: FrameReader::default(),
            rest: self.rest,
            fds: self.fds,
            started: false,
            prepares: false,
            group: self.shim.group,
            world: self.shim.world,
            entry: None,
            watched: self.watched,
        })
    }
}

/// A command that a shim runs.
pub struct ShimCommand {
    pid: i32,
    socket: AsyncFd<OwnedFd>,
    reader: FrameReader,
    rest: Vec<u8>,
    fds: Vec<OwnedFd>,
    started: bool,
    /// Whether a warm shell is being prepared.
    prepares: bool,
    /// The cgroup of the command, if it has one.
    group: Option<PathBuf>,
    /// The world of the command, if it is confined.
    world: Option<WorldId>,
    /// The end of the command's entry, which the shim has still to write after the result.
    entry: Option<PendingLedgerRecord>,
    /// How the command is watched. `None`: its evidence is not wanted.
    watched: Option<EvidenceWatch>,
}

impl ShimCommand {
    /// Records which evidence of the command is wanted. `before`: the tree right before its start.
    pub fn set_evidence_request(&mut self, wanted: &Arc<EvidenceRequest>, before: Option<TreeBeforeCommand>) {
        if let Some(watched) = &mut self.watched {
            watched.set_request(Arc::clone(wanted), before);
        }
    }

    /// Takes the ends of the command's tap, if it has one.
    pub fn take_tap(&mut self) -> Option<PipelineTapEnds> {
        self.watched.as_mut()?.take_tap()
    }

    /// Takes what the evidence of the command is read from, unless a task reads it at its end.
    pub fn take_watched(&mut self) -> Option<EvidenceWatch> {
        self.watched.take()
    }

    /// Announces that the end of the command's entry follows its result.
    pub fn expect_ledger_entry(&mut self) {
        self.entry = Some(PendingLedgerRecord::begin());
    }

    /// Records that the shim prepares a warm shell and runs no command.
    pub fn set_prepares(&mut self) {
        self.prepares = true;
    }

    /// Records that the program already runs, in a warm shell.
    pub fn set_started(&mut self) {
        self.started = true;
    }

    /// Returns the next event. Cancel-safe: no event is lost.
    pub async fn next_event(&mut self) -> ShimEvent {
        loop {
            if !self.rest.is_empty() {
                if self.send_rest().await.is_err() {
                    return ShimEvent::Lost { untaken: !self.started };
                }
                continue;
            }
            if let Some(news) = self.try_next_event() {
                return news;
            }
            match self.socket.readable().await {
                Ok(mut guard) => guard.clear_ready(),
                Err(_) => return ShimEvent::Lost { untaken: false },
            }
        }
    }

    /// Returns the next event that has already arrived.
    pub fn try_next_event(&mut self) -> Option<ShimEvent> {
        loop {
            match self.reader.receive(self.socket.get_ref()) {
                Ok(ReceiveOutcome::Message(message)) => {
                    if let Some(event) = self.on_message(message) {
                        return Some(event);
                    }
                }
                Ok(ReceiveOutcome::Pending) => return None,
                Ok(ReceiveOutcome::Closed) => return Some(ShimEvent::Lost { untaken: false }),
                // A reset means that the shim exited with the plan still unread in its socket.
                Err(error) => {
                    let untaken = !self.started && error.kind() == io::ErrorKind::ConnectionReset;
                    return Some(ShimEvent::Lost { untaken });
                }
            }
        }
    }

    /// Returns the event for a message. `None` if the caller does not wait for it.
    fn on_message(&mut self, message: FromShimOrTask) -> Option<ShimEvent> {
        let message = match message {
            FromShimOrTask::Shim(message) => message,
            FromShimOrTask::Task(FromTask::Task(task)) => return Some(ShimEvent::Task(task)),
            FromShimOrTask::Task(FromTask::Ended(_) | FromTask::Grew { .. }) => return None,
        };
        match message {
            FromShim::Started(pid) => {
                self.started = true;
                Some(ShimEvent::Started(pid))
            }
            FromShim::Failed(failure) => Some(ShimEvent::Failed(failure)),
            FromShim::WorldGone => Some(ShimEvent::Lost { untaken: true }),
            FromShim::Denied(denials) => Some(ShimEvent::Denied(denials)),
            FromShim::Ended(ended) => {
                self.entry = None;
                Some(ShimEvent::Ended(ended))
            }
            FromShim::LimitExceeded(limit) => Some(ShimEvent::LimitExceeded(limit)),
            FromShim::Blocked { at_limit, process } => Some(ShimEvent::Blocked(at_limit, process)),
            FromShim::Released(released) => Some(ShimEvent::Released(released)),
            FromShim::Refused(errno) => Some(ShimEvent::Refused(errno)),
            // The message is a late answer to a question about a warm shell that was not used.
            FromShim::Protected(_) => None,
            // Without a request, the report is about a shell that was pre-started before this command.
            FromShim::Prepared(prepared) => self.prepares.then(|| {
                let (mark, ready) = ReadyShell::of(prepared);
                ShimEvent::Prepared(mark, ready)
            }),
        }
    }

    async fn send_rest(&mut self) -> io::Result<()> {
        let mut guard = self.socket.writable().await?;
        match sys::send(self.socket.get_ref().as_fd(), &self.rest, &protocol::raw_descriptors(&self.fds)) {
            Ok(count) => {
                self.rest.drain(..count);
                self.fds.clear();
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                guard.clear_ready();
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns whether no process runs below the shim except this shell, which runs nothing itself.
    pub fn runs_only(&self, shell: Pid) -> bool {
        sys::first_children(shell).is_empty() && sys::first_children(Pid::from_raw(self.pid)) == [shell]
    }

    /// Returns the cgroup of the command, if it has one.
    pub fn cgroup(&self) -> Option<&Path> {
        self.group.as_deref()
    }

    /// Returns the world of the command, if it is confined.
    pub fn world(&self) -> Option<WorldId> {
        self.world
    }

    /// Signals the group of the shell, and the foreground process group of its terminal.
    pub fn signal(&self, signal: Signal, foreground: Option<i32>) {
        self.send(ToShim::Signal { signal, foreground });
    }

    /// Asks the shim to scan for a blocked process. Answered by [`ShimEvent::Blocked`], unless the command has just
    /// exited.
    pub fn request_scan(&self) {
        self.send(ToShim::Scan);
    }

    /// Asks for the denials so far. Answered by [`ShimEvent::Denied`], unless the command has just exited.
    pub fn ask_for_denials(&self) {
        self.send(ToShim::Denials);
    }

    /// Acknowledges the report of the process that was blocked at the limit. The process may be signalled now.
    pub fn acknowledge_blocked(&self) {
        self.send(ToShim::Acknowledged);
    }

    /// Terminates the tree: SIGTERM, grace, SIGKILL.
    pub fn terminate_tree(&self) {
        self.send(ToShim::End { at_limit: false });
    }

    /// Terminates the tree because its time is up.
    pub fn terminate_tree_at_limit(&self) {
        self.send(ToShim::End { at_limit: true });
    }

    /// Leaves the survivors to themselves: the shim reads their output from now on. Answered by
    /// [`ShimEvent::Released`]; with a transfer and a survivor that holds the pipes, then by [`ShimEvent::Task`]. If
    /// the survivors cannot become a task, answered by [`ShimEvent::Refused`], and they are the host's until they are
    /// released without a task.
    pub fn release(&self, transfer: Option<&TaskTransfer>) {
        self.send(ToShim::Release(transfer.cloned()));
    }

    /// Leaves the command's tap to the shim, before a move or a release.
    pub fn leave_tap(&self, ends: PipelineTapEnds) {
        self.send(ToShim::Tap { ends: Some(ends) });
    }

    /// Moves the command to a task, with the write end of its input and a file with the rest of the input. Answered by
    /// [`ShimEvent::Task`] or [`ShimEvent::Refused`], unless the command has just exited.
    pub fn hand_over(&self, transfer: &TaskTransfer, input: Vec<OwnedFd>) {
        self.send(ToShim::HandOver { transfer: transfer.clone(), input: TaskInput::of(input) });
    }

    /// Sends a message. A shim that is gone shows as the end of its socket.
    fn send(&self, message: ToShim) {
        let _ = protocol::send(self.socket.get_ref(), message);
    }

    /// Turns this into a link to a task.
    pub fn into_link(self) -> TaskLink {
        TaskLink::new(self.socket, self.reader).watched(self.watched)
    }

    /// Returns the socket to the shim.
    pub fn socket(&self) -> &OwnedFd {
        self.socket.get_ref()
    }

    /// Returns the shim, which has no process below it.
    pub fn into_shim(self) -> ShimHandle {
        ShimHandle::new(self.pid, self.socket.into_inner()).in_group(self.group).in_world(self.world)
    }

    /// Returns the shim for the next command, which may well be of this kind.
    pub fn give_back(self, helpers: &'static HelperProcesses, kind: Option<&Arc<WarmShellKind>>) {
        let shim = self.into_shim();
        match kind {
            Some(kind) => helpers.give_back_for(shim, Arc::clone(kind)),
            None => helpers.give_back(shim),
        }
    }

    /// Leaves a shim that takes no further command.
    pub fn leave_shim(self, helpers: &'static HelperProcesses) {
        drop(self.socket);
        helpers.request_replacement(self.world);
    }

    /// Gives up the shim. The supervisor kills it if it is still there.
    pub fn abandon(self, helpers: &'static HelperProcesses) {
        helpers.request_kill(self.pid);
        helpers.request_replacement(self.world);
    }
}

#[cfg(test)]
#[path = "child_tests.rs"]
mod tests;
