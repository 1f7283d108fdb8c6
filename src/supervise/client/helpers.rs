//! The addon's side of its helper processes: starts the supervisor and keeps a few shims ready.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use nix::unistd::Pid;
use tokio::io::Interest;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::pool::{KEEP, PAUSE, PooledShell, SWEEP, ShimHandle, ShimPool, WarmShells};
use crate::plan::ShellKind;
use crate::supervise::group;
use crate::supervise::protocol::{self, FrameReader, FromSupervisor, Received, ToSupervisor};
use crate::supervise::warm::Stale;
use crate::sys::{self, Signal};

/// Shims that are requested at a time. In a burst the first ones are free again before more would be ready.
const ASK_AT_ONCE: usize = 4;
/// Time without an answer after which the supervisor is continued, in case it was stopped.
const PATIENCE: Duration = Duration::from_secs(1);
/// Attempts to continue it before it is replaced.
const CONTINUED: u32 = 10;
/// The supervisor's program, beside the addon.
pub const SUPERVISOR: &str = "agent-bash-supervisor";

/// The reason why no helper process is available.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HelperError {
    /// The program is missing.
    #[error("the agent-bash supervisor was not found; looked for {}", .0.display())]
    Missing(PathBuf),
    /// The supervisor could not be started, or could not fork.
    #[error("the agent-bash supervisor could not start a helper process: {0}")]
    Spawn(#[source] Arc<io::Error>),
    /// The supervisor was killed during a request.
    #[error("the agent-bash supervisor was killed")]
    Lost,
}

impl HelperError {
    /// Returns the system's error number, if there is one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Missing(_) => Some(libc::ENOENT),
            Self::Spawn(error) => Some(error.raw_os_error().unwrap_or(libc::EIO)),
            Self::Lost => None,
        }
    }

    /// Returns whether descriptors or processes are short, so that another attempt may succeed.
    pub(super) fn is_shortage(&self) -> bool {
        matches!(self.errno(), Some(libc::EMFILE | libc::ENFILE | libc::EAGAIN))
    }
}

impl From<io::Error> for HelperError {
    fn from(error: io::Error) -> Self {
        Self::Spawn(Arc::new(error))
    }
}

/// The supervisor and the shims of this process, shared by all its threads.
pub struct Helpers {
    runtime: Runtime,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    supervisor: Option<Arc<Supervisor>>,
    pool: ShimPool,
    waiting: VecDeque<oneshot::Sender<Result<ShimHandle, HelperError>>>,
    asked: usize,
    /// Directories to remove when this process has ended.
    folders: Vec<PathBuf>,
    /// Whether old warm shells are being looked for.
    sweeps: bool,
}

struct Supervisor {
    pid: Pid,
    socket: OwnedFd,
}

impl Helpers {
    /// Returns the instance shared by all threads of the process. Nothing is started before the first command.
    ///
    /// # Errors
    /// If the system cannot create threads.
    pub fn shared() -> Result<&'static Self, HelperError> {
        static HELPERS: OnceLock<Result<Helpers, HelperError>> = OnceLock::new();
        HELPERS
            .get_or_init(|| {
                let runtime = Builder::new_multi_thread()
                    .worker_threads(2)
                    .thread_name("agent-bash")
                    .on_thread_start(sys::block_sigpipe)
                    .enable_all()
                    .build()
                    .map_err(HelperError::from)?;
                // Read on a thread of the host, which alone changes the environment.
                group::switch();
                Ok(Self { runtime, state: Mutex::default() })
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// The runtime that drives commands.
    pub fn runtime(&self) -> &Handle {
        self.runtime.handle()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a free shim if no caller is queued, preferably with a warm shell of this kind.
    pub fn take(&self, kind: Option<&ShellKind>) -> Option<ShimHandle> {
        let mut state = self.state();
        if state.waiting.is_empty() { state.pool.take(kind) } else { None }
    }

    /// Takes a shim with a warm shell of this kind, ready or being prepared.
    pub fn take_any(&self, kind: &ShellKind) -> Option<ShimHandle> {
        self.state().pool.take_any(kind)
    }

    /// Counts a warm shell that received its command.
    pub fn used(&self) {
        self.state().pool.used();
    }

    /// Counts a warm shell that could not receive its command.
    pub fn stale(&self, why: Stale) {
        self.state().pool.stale(why);
    }

    /// Returns the numbers of this process's warm shells.
    pub fn shells(&self) -> WarmShells {
        self.state().pool.shells()
    }

    /// Returns whether warm shells are possible here.
    pub fn can_warm_shells(&self) -> bool {
        self.state().pool.can_wait()
    }

    /// Prepares a warm shell of this kind, unless one exists or no shim is free.
    pub fn prepare(&'static self, kind: &Arc<ShellKind>) {
        self.state().pool.prepare_any(kind);
        self.sweep();
    }

    /// Ends the warm shells of this kind.
    pub fn dismiss(&self, kind: &ShellKind) {
        self.state().pool.dismiss(|shell| *shell.kind == *kind);
    }

    /// Ends shells that have been warm for too long, with one task for all of them.
    fn sweep(&'static self) {
        let mut state = self.state();
        if state.sweeps || state.pool.shells().waiting == 0 {
            return;
        }
        state.sweeps = true;
        drop(state);
        self.runtime.spawn(async move {
            sleep(SWEEP).await;
            let mut state = self.state();
            state.pool.dismiss(PooledShell::is_old);
            state.sweeps = false;
            drop(state);
            self.sweep();
        });
    }

    /// Takes a shim back and prepares a warm shell below it for another command of this kind, if the pause lasts.
    pub fn give_back_for(&'static self, shim: ShimHandle, kind: Arc<ShellKind>) {
        let pid = shim.pid;
        let mut state = self.state();
        let wanted = state.pool.saw(&kind);
        state.hand_out(shim);
        drop(state);
        if wanted {
            self.runtime.spawn(async move {
                sleep(PAUSE).await;
                self.state().pool.prepare(pid, kind);
                self.sweep();
            });
        }
    }

    /// Returns a shim, forked if necessary.
    pub async fn shim(&'static self) -> Result<ShimHandle, HelperError> {
        let receiver = {
            let mut state = self.state();
            if state.waiting.is_empty()
                && let Some(shim) = state.pool.take(None)
            {
                return Ok(shim);
            }
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back(sender);
            self.ask(&mut state, 0);
            receiver
        };
        receiver.await.unwrap_or(Err(HelperError::Lost))
    }

    /// Takes back a shim that is ready for the next command.
    pub fn give_back(&'static self, shim: ShimHandle) {
        self.state().hand_out(shim);
        self.sweep();
    }

    /// Requests a new shim for one that will not come back.
    pub fn replace(&'static self) {
        let mut state = self.state();
        if state.supervisor.is_some() {
            let spare = KEEP.saturating_sub(state.pool.count());
            self.ask(&mut state, spare);
        }
    }

    /// Requests that a shim that does not answer is killed, together with its command's processes.
    pub fn end(&self, pid: i32) {
        if let Some(supervisor) = &self.state().supervisor {
            let _ = protocol::send(&supervisor.socket, ToSupervisor::EndShim(pid));
        }
    }

    /// Registers a directory to be removed when this process has ended in any way.
    pub fn remove_at_end(&self, folder: &Path) {
        let mut state = self.state();
        state.folders.push(folder.to_owned());
        if let Some(supervisor) = &state.supervisor {
            let _ = protocol::send(&supervisor.socket, ToSupervisor::RemoveAtEnd(folder.to_owned()));
        }
    }

    /// Unregisters a directory that was removed already.
    pub fn remove_no_more(&self, folder: &Path) {
        let mut state = self.state();
        state.folders.retain(|known| known != folder);
        if let Some(supervisor) = &state.supervisor {
            let _ = protocol::send(&supervisor.socket, ToSupervisor::RemoveNoMore(folder.to_owned()));
        }
    }

    /// Requests as many shims as callers are queued, plus `spare`. Starts the supervisor if there is none.
    fn ask(&'static self, state: &mut State, spare: usize) {
        let supervisor = match &state.supervisor {
            Some(supervisor) => Arc::clone(supervisor),
            None => match self.start_supervisor() {
                Ok(supervisor) => {
                    state.asked = 0;
                    state.pool.clear();
                    for folder in &state.folders {
                        let _ = protocol::send(&supervisor.socket, ToSupervisor::RemoveAtEnd(folder.clone()));
                    }
                    state.supervisor = Some(Arc::clone(&supervisor));
                    return self.ask(state, KEEP - 1);
                }
                Err(error) => return state.fail(&error),
            },
        };
        while state.asked < (state.waiting.len() + spare).min(ASK_AT_ONCE) {
            if protocol::send(&supervisor.socket, ToSupervisor::WantShim).is_err() {
                // Its listener notices its end and requests again for queued callers.
                return;
            }
            state.asked += 1;
        }
    }

    fn start_supervisor(&'static self) -> Result<Arc<Supervisor>, HelperError> {
        let program = supervisor_path();
        let (ours, theirs) = sys::socket_pair().map_err(HelperError::from)?;
        sys::set_nonblocking(&ours).map_err(HelperError::from)?;
        // Without a hook this is posix_spawn, whose cost does not grow with the host's memory.
        let process = Command::new(&program)
            .env_clear()
            .envs(group::switch())
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => HelperError::Missing(program),
                _ => error.into(),
            })?;
        let pid = Pid::from_raw(i32::try_from(process.id()).unwrap_or(0));
        let supervisor = Arc::new(Supervisor { pid, socket: ours });
        self.runtime.spawn(self.listen(Arc::clone(&supervisor), process));
        Ok(supervisor)
    }

    /// Distributes the supervisor's shims until it is gone.
    async fn listen(&'static self, supervisor: Arc<Supervisor>, mut process: Process) {
        let mut reader = FrameReader::default();
        let mut silent = 0;
        if let Ok(socket) = supervisor.socket.try_clone().and_then(|socket| sys::watch(socket, Interest::READABLE)) {
            loop {
                match reader.receive(socket.get_ref()) {
                    Ok(Received::Message(message)) => {
                        silent = 0;
                        self.on_shim(message);
                    }
                    Ok(Received::Pending) => match timeout(PATIENCE, socket.readable()).await {
                        Ok(Ok(mut guard)) => guard.clear_ready(),
                        Ok(Err(_)) => break,
                        // The supervisor may have been stopped without a request, together with a shim that only it
                        // continues.
                        Err(_) if self.state().asked == 0 => sys::signal(supervisor.pid, Signal::SIGCONT),
                        Err(_) => {
                            silent += 1;
                            let signal = if silent <= CONTINUED { Signal::SIGCONT } else { Signal::SIGKILL };
                            sys::signal(supervisor.pid, signal);
                        }
                    },
                    Ok(Received::Closed) | Err(_) => break,
                }
            }
        }
        {
            let mut state = self.state();
            state.supervisor = None;
            state.asked = 0;
            state.pool.clear();
            if !state.waiting.is_empty() {
                self.ask(&mut state, 0);
            }
        }
        // A closed socket means that the supervisor is exiting or has exited. It must not remain a zombie.
        sys::signal(supervisor.pid, Signal::SIGKILL);
        let _ = self.runtime.spawn_blocking(move || process.wait()).await;
    }

    /// Handles a shim that was forked, or the failure to fork one.
    fn on_shim(&'static self, message: FromSupervisor) {
        let mut state = self.state();
        state.asked = state.asked.saturating_sub(1);
        let shim = match message {
            FromSupervisor::Shim { pid, group, socket: Some(socket) } => sys::set_nonblocking(&socket)
                .map(|()| ShimHandle::new(pid, socket).in_group(group))
                .map_err(HelperError::from),
            FromSupervisor::Shim { socket: None, .. } => Err(io::Error::from_raw_os_error(libc::EMFILE).into()),
            FromSupervisor::NoShim { errno } => Err(io::Error::from_raw_os_error(errno).into()),
        };
        match shim {
            Ok(shim) => state.hand_out(shim),
            // The next command that exits makes room for a process. Without a running command the request fails.
            Err(error) => {
                if let Some(waiting) = state.waiting.pop_front() {
                    let _ = waiting.send(Err(error));
                }
            }
        }
        if !state.waiting.is_empty() {
            self.ask(&mut state, 0);
        }
    }
}

impl State {
    fn hand_out(&mut self, mut shim: ShimHandle) {
        while let Some(waiting) = self.waiting.pop_front() {
            match waiting.send(Ok(shim)) {
                Ok(()) => return,
                Err(Ok(back)) => shim = back,
                Err(Err(_)) => return,
            }
        }
        self.pool.add(shim);
    }

    fn fail(&mut self, error: &HelperError) {
        for waiting in self.waiting.drain(..) {
            let _ = waiting.send(Err(error.clone()));
        }
    }
}

/// Beside the shared object that holds this code.
fn supervisor_path() -> PathBuf {
    let addon = sys::module_path().unwrap_or_else(|| PathBuf::from("."));
    addon.parent().unwrap_or(Path::new(".")).join(SUPERVISOR)
}

#[cfg(test)]
#[path = "helpers_tests.rs"]
mod tests;
