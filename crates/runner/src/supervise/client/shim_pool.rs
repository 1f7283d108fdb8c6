//! The free shims and their warm shells.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::Pid;

use crate::supervise::evidence_watch::EvidenceWatch;
use crate::supervise::inherited_state_files::InheritedStateFiles;
use crate::supervise::ready_shell::{ReadyShell, StaleShellReason};
use protocol::plan::{ChangeJournalPlan, WarmShellKind, WorldId};
use protocol::{FrameReader, FromShim, ReceiveOutcome, ToShim};

/// Shims kept while no command runs. Agents often call two tools at a time.
pub const KEEP: usize = 2;
/// Time after a command's exit before a shell is started for the next command. A command that follows at once is not
/// slowed down by the shell.
pub const PAUSE: Duration = Duration::from_millis(1);
/// Interval at which old warm shells are ended. No shell stays warm for more than twice that time, five minutes.
pub const SWEEP: Duration = Duration::from_secs(150);
/// Time a shim may take to protect the paths that are new in its world.
const PROTECTED: Duration = Duration::from_secs(2);
/// Kinds of commands that are remembered. A kind deserves a warm shell from its second command on.
const SEEN: usize = 8;

/// A free shim.
pub struct ShimHandle {
    /// Pid of the shim, a child of the supervisor.
    pub pid: i32,
    /// Socket to the shim, non-blocking.
    pub socket: OwnedFd,
    /// Warm shell of the shim, ready or being prepared.
    pub shell: Option<PooledShell>,
    /// The cgroup of the shim's commands, if they have one.
    pub group: Option<PathBuf>,
    /// The world of the shim's commands, if they are confined.
    pub world: Option<WorldId>,
    reader: FrameReader,
}

/// A warm shell.
pub struct PooledShell {
    /// The kind of commands that the shell can run.
    pub kind: Arc<WarmShellKind>,
    /// The mark with which the shell was started.
    pub mark: String,
    since: Instant,
    /// The ready shell, once the shell has reported that it is ready.
    ready: Option<ReadyShell>,
    /// The files that it inherits.
    own: WarmShellFiles,
}

/// The files that a warm shell inherits.
#[derive(Default)]
pub struct WarmShellFiles {
    /// Those for the shell's state, if it has any.
    pub state: Option<Box<InheritedStateFiles>>,
    /// The witness of the shell, if it has one.
    pub watched: EvidenceWatch,
}

impl WarmShellFiles {
    /// Makes the files of a shell of this kind. Returns them with their descriptors for the shell.
    fn of(kind: &WarmShellKind) -> io::Result<(Self, Vec<OwnedFd>)> {
        let (mut own, mut descriptors) = (Self::default(), Vec::new());
        if kind.plan.is_watched() {
            let (watched, shared) = EvidenceWatch::begin(&kind.plan)?;
            own.watched = watched;
            descriptors.extend(shared);
        }
        if kind.plan.files.len() > descriptors.len() {
            let state = InheritedStateFiles::new()?;
            descriptors.extend(state.descriptors()?);
            own.state = Some(Box::new(state));
        }
        Ok((own, descriptors))
    }
}

/// The numbers of warm shells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WarmShellCounts {
    /// Shells that are ready now.
    pub waiting: usize,
    /// Shells that received a command.
    pub used: u64,
    /// Shells that could not receive their command, which then started cold.
    pub stale: u64,
}

/// Free shims, the most recently used shim last.
#[derive(Default)]
pub struct ShimPool {
    shims: Vec<ShimHandle>,
    seen: VecDeque<Arc<WarmShellKind>>,
    shells: WarmShellCounts,
    /// Whether the system forbids writing to a child, so that warm shells are useless.
    refused: bool,
}

impl ShimHandle {
    /// Returns a shim that was just forked.
    pub fn new(pid: i32, socket: OwnedFd) -> Self {
        Self { pid, socket, shell: None, group: None, world: None, reader: FrameReader::default() }
    }

    /// Records the cgroup of the shim's commands.
    #[must_use]
    pub fn in_group(self, group: Option<PathBuf>) -> Self {
        Self { group, ..self }
    }

    /// Records the world of the shim's commands.
    #[must_use]
    pub fn in_world(self, world: Option<WorldId>) -> Self {
        Self { world, ..self }
    }

    /// Prepares a warm shell below the shim. The shim reports when the shell is ready.
    pub fn prepare(&mut self, kind: Arc<WarmShellKind>) {
        self.drain_reports();
        let mark = protocol::plan::next_mark();
        let mut with_mark = (*kind).clone();
        with_mark.plan.add_mark(&mark);
        let Ok((own, files)) = WarmShellFiles::of(&with_mark) else { return };
        if protocol::send(&self.socket, ToShim::Prepare { kind: Box::new(with_mark), files }).is_ok() {
            self.shell = Some(PooledShell { kind, mark, since: Instant::now(), ready: None, own });
        }
    }

    /// Reads the reports about shells that were never used. If they stayed unread, some hundred of them would fill the
    /// socket, and the shim could neither send nor receive.
    fn drain_reports(&mut self) {
        self.shell = None;
        while let Ok(ReceiveOutcome::Message::<FromShim>(_)) = self.reader.receive(&self.socket) {}
    }

    /// Returns whether the shim is being killed or was killed.
    pub fn is_gone(&self) -> bool {
        sys::is_dying(Pid::from_raw(self.pid))
    }

    /// Returns whether the shim has a shell of this kind, ready or being prepared.
    pub fn has_shell_of(&self, kind: &WarmShellKind) -> bool {
        self.shell.as_ref().is_some_and(|shell| *shell.kind == *kind)
    }

    /// Reads reports about the shell without blocking. A dead shell is forgotten.
    pub fn on_readable(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        while let Ok(ReceiveOutcome::Message(message)) = self.reader.receive(&self.socket) {
            let FromShim::Prepared(prepared) = message else { continue };
            // Reports about an earlier shell may still arrive.
            let (mark, ready) = ReadyShell::of(prepared);
            if mark == shell.mark {
                shell.ready = ready;
                if shell.ready.is_none() {
                    self.shell = None;
                    return;
                }
            }
        }
    }

    /// Returns whether a shell of this kind is ready.
    pub fn is_ready(&self, kind: &WarmShellKind) -> bool {
        self.shell.as_ref().is_some_and(|shell| shell.ready.is_some() && *shell.kind == *kind)
    }

    /// Asks to protect the paths that are new in the shim's world, and to begin a record for the warm shell's command,
    /// and waits for the answer. Returns whether the command may start.
    pub fn protect(&mut self, record: Option<&ChangeJournalPlan>) -> bool {
        if protocol::send(&self.socket, ToShim::Protect(record.cloned().map(Box::new))).is_err() {
            return false;
        }
        let until = Instant::now() + PROTECTED;
        loop {
            match self.reader.receive(&self.socket) {
                Ok(ReceiveOutcome::Message(FromShim::Protected(may))) => return may,
                // The report is about an earlier shell.
                Ok(ReceiveOutcome::Message(_)) => {}
                Ok(ReceiveOutcome::Pending) => {
                    let left = PollTimeout::try_from(until.saturating_duration_since(Instant::now()));
                    let mut fds = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
                    if matches!(poll(&mut fds, left.unwrap_or(PollTimeout::MAX)), Ok(0)) {
                        return false;
                    }
                }
                Ok(ReceiveOutcome::Closed) | Err(_) => return false,
            }
        }
    }

    /// Takes the ready shell if it is of this kind. Any other shell is forgotten.
    pub fn take_ready(&mut self, kind: &WarmShellKind) -> Option<(ReadyShell, String, WarmShellFiles)> {
        let shell = self.shell.take().filter(|shell| *shell.kind == *kind)?;
        Some((shell.ready?, shell.mark, shell.own))
    }
}

impl PooledShell {
    /// Returns whether the shell has been warm for too long.
    pub fn is_old(&self) -> bool {
        self.since.elapsed() >= SWEEP
    }

    /// Returns the shell as ready.
    #[must_use]
    pub fn into_ready(self, ready: ReadyShell) -> Self {
        Self { ready: Some(ready), ..self }
    }
}

impl ShimPool {
    /// Returns the number of free shims.
    pub fn count(&self) -> usize {
        self.shims.len()
    }

    /// Returns the numbers of warm shells.
    pub fn shells(&self) -> WarmShellCounts {
        WarmShellCounts { waiting: self.shims.iter().filter(|shim| shim.shell.is_some()).count(), ..self.shells }
    }

    /// Forgets all shims, after the supervisor's death.
    pub fn clear(&mut self) {
        self.shims.clear();
    }

    /// Adds a shim. If there are enough, drops another shim: one without a shell, or else the oldest.
    pub fn add(&mut self, shim: ShimHandle) {
        self.shims.push(shim);
        if self.shims.len() > KEEP {
            self.shims.remove(self.shims.iter().position(|shim| shim.shell.is_none()).unwrap_or(0));
        }
    }

    /// Takes a shim with a ready shell of this kind, or else a shim without a shell, or else any. A shell of another
    /// kind is ended.
    pub fn take(&mut self, kind: Option<&WarmShellKind>) -> Option<ShimHandle> {
        if let Some(shim) = kind.and_then(|kind| self.take_waiting(kind)) {
            return Some(shim);
        }
        self.shims.retain(|shim| sys::peer_alive(shim.socket.as_fd()));
        let plain = self.shims.iter().rposition(|shim| shim.shell.is_none());
        let mut shim = self.shims.remove(plain.or_else(|| self.shims.len().checked_sub(1))?);
        shim.shell = None;
        Some(shim)
    }

    /// Takes a shim with a ready shell of this kind.
    fn take_waiting(&mut self, kind: &WarmShellKind) -> Option<ShimHandle> {
        let at = self.shims.iter_mut().rposition(|shim| {
            // Reports about other kinds are not read, so the ends of their pipes take no descriptors of this process.
            let has = shim.has_shell_of(kind);
            if has {
                shim.on_readable();
            }
            has && shim.is_ready(kind)
        })?;
        Some(self.shims.remove(at))
    }

    /// Takes a shim with a shell of this kind, ready or being prepared.
    pub fn take_any(&mut self, kind: &WarmShellKind) -> Option<ShimHandle> {
        let at = self.shims.iter().rposition(|shim| shim.has_shell_of(kind))?;
        Some(self.shims.remove(at))
    }

    /// Counts a warm shell that received its command.
    pub fn count_used_shell(&mut self) {
        self.shells.used += 1;
    }

    /// Counts a warm shell that could not receive its command.
    pub fn count_stale_shell(&mut self, why: StaleShellReason) {
        self.shells.stale += 1;
        self.refused |= why == StaleShellReason::Refused;
    }

    /// Returns whether warm shells are possible here.
    pub fn can_warm_shells(&self) -> bool {
        sys::HAS_WARM_SHELLS && !self.refused
    }

    /// Records a command of this kind. Returns whether the next such command deserves a warm shell.
    pub fn on_command_of(&mut self, kind: &Arc<WarmShellKind>) -> bool {
        let known = self.seen.iter().any(|seen| **seen == **kind);
        if !known {
            self.seen.truncate(SEEN - 1);
            self.seen.push_front(Arc::clone(kind));
        }
        known && self.can_warm_shells()
    }

    /// Prepares a warm shell below this shim, if it is still here.
    pub fn prepare(&mut self, pid: i32, kind: Arc<WarmShellKind>) {
        if let Some(shim) = self.shims.iter_mut().find(|shim| shim.pid == pid && shim.shell.is_none()) {
            shim.prepare(kind);
        }
    }

    /// Prepares a warm shell of this kind, unless one exists: below a shim without a shell, or else in place of the
    /// oldest shell.
    pub fn prepare_any(&mut self, kind: &Arc<WarmShellKind>) {
        if !self.can_warm_shells() || self.shims.iter().any(|shim| shim.has_shell_of(kind)) {
            return;
        }
        let plain = self.shims.iter().position(|shim| shim.shell.is_none()).unwrap_or(0);
        if let Some(shim) = self.shims.get_mut(plain) {
            shim.prepare(Arc::clone(kind));
        }
    }

    /// Ends the selected warm shells.
    pub fn dismiss(&mut self, which: impl Fn(&PooledShell) -> bool) {
        for shim in &mut self.shims {
            if shim.shell.take_if(|shell| which(shell)).is_some() {
                let _ = protocol::send(&shim.socket, ToShim::Dismiss);
            }
        }
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
