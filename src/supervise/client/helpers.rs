//! The addon's side of its helper processes: starts the supervisor, keeps a few shims at hand.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use tokio::io::Interest;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::idle::{Idle, KEEP, PAUSE, SWEEP, Shell, Shells, Shim};
use super::ready::Stale;
use crate::plan::Kind;
use crate::supervise::frames::{self, Fields, Read, Reader, Writer};
use crate::supervise::protocol;
use crate::sys;

/// Shims that are asked for at a time. In a burst the first ones are free again before more would be there.
const ASK_AT_ONCE: usize = 4;
/// A supervisor that does not answer for this long was perhaps stopped: it is continued.
const PATIENCE: Duration = Duration::from_secs(1);
/// When that did not help so many times, it is replaced.
const CONTINUED: u32 = 10;
/// The program beside the addon.
const SUPERVISOR: &str = "agent-bash-supervisor";

/// Why no helper process could be had.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HelperError {
    /// The program is not where it belongs.
    #[error("the agent-bash supervisor was not found; looked for {}", .0.display())]
    Missing(PathBuf),
    /// It could not be started, or could not fork.
    #[error("the agent-bash supervisor could not start a helper process: {}", io::Error::from_raw_os_error(*.0))]
    Spawn(i32),
    /// It was killed while it was asked.
    #[error("the agent-bash supervisor was killed")]
    Lost,
}

impl HelperError {
    /// The system's error number, where there is one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Missing(_) => Some(libc::ENOENT),
            Self::Spawn(errno) => Some(*errno),
            Self::Lost => None,
        }
    }

    pub(super) fn of(error: &io::Error) -> Self {
        Self::Spawn(error.raw_os_error().unwrap_or(libc::EIO))
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
    idle: Idle,
    waiting: VecDeque<oneshot::Sender<Result<Shim, HelperError>>>,
    asked: usize,
    /// To be taken away when this process has ended.
    folders: Vec<PathBuf>,
    /// Shells that have waited for too long are looked for.
    sweeps: bool,
}

struct Supervisor {
    pid: Pid,
    socket: OwnedFd,
}

impl Helpers {
    /// One for all threads of the process. Nothing is started before the first command.
    ///
    /// # Errors
    /// When the system gives no threads.
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
                    .map_err(|error| HelperError::of(&error))?;
                Ok(Self { runtime, state: Mutex::default() })
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Where commands are driven.
    pub fn runtime(&self) -> &Handle {
        self.runtime.handle()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A shim that waits already, if nobody else waits for one; best with a shell of this kind.
    pub fn take(&self, kind: Option<&Kind>) -> Option<Shim> {
        let mut state = self.state();
        if state.waiting.is_empty() { state.idle.take(kind) } else { None }
    }

    /// A shim below which a shell of this kind waits or is on its way.
    pub fn take_any(&self, kind: &Kind) -> Option<Shim> {
        self.state().idle.take_any(kind)
    }

    /// A shell that waited was given its command.
    pub fn used(&self) {
        self.state().idle.used();
    }

    /// A shell that waited could not be given its command.
    pub fn stale(&self, why: Stale) {
        self.state().idle.stale(why);
    }

    /// The shells that wait for a command of this process.
    pub fn shells(&self) -> Shells {
        self.state().idle.shells()
    }

    /// Whether a shell can wait here at all.
    pub fn shells_can_wait(&self) -> bool {
        self.state().idle.can_wait()
    }

    /// Has a shell of this kind wait, unless one does or no shim is free for it.
    pub fn prepare(&'static self, kind: &Arc<Kind>) {
        self.state().idle.prepare_any(kind);
        self.sweep();
    }

    /// No shell of this kind is needed any more.
    pub fn dismiss(&self, kind: &Kind) {
        self.state().idle.dismiss(|shell| *shell.kind == *kind);
    }

    /// Sees to it that no shell waits for too long: once for all that wait now.
    fn sweep(&'static self) {
        let mut state = self.state();
        if state.sweeps || state.idle.shells().waiting == 0 {
            return;
        }
        state.sweeps = true;
        drop(state);
        self.runtime.spawn(async move {
            sleep(SWEEP).await;
            let mut state = self.state();
            state.idle.dismiss(Shell::is_old);
            state.sweeps = false;
            drop(state);
            self.sweep();
        });
    }

    /// Takes a shim back, and has a shell wait below it for another command of this kind, if the pause lasts.
    pub fn give_back_for(&'static self, shim: Shim, kind: Arc<Kind>) {
        let pid = shim.pid;
        let mut state = self.state();
        let wanted = state.idle.saw(&kind);
        state.hand_out(shim);
        drop(state);
        if wanted {
            self.runtime.spawn(async move {
                sleep(PAUSE).await;
                self.state().idle.prepare(pid, kind);
                self.sweep();
            });
        }
    }

    /// A shim, made if need be.
    pub async fn shim(&'static self) -> Result<Shim, HelperError> {
        let receiver = {
            let mut state = self.state();
            if state.waiting.is_empty()
                && let Some(shim) = state.idle.take(None)
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

    /// Takes a shim back that is ready for the next command.
    pub fn give_back(&'static self, shim: Shim) {
        self.state().hand_out(shim);
        self.sweep();
    }

    /// Has a new shim made for one that will not come back.
    pub fn replace(&'static self) {
        let mut state = self.state();
        if state.supervisor.is_some() {
            let spare = KEEP.saturating_sub(state.idle.count());
            self.ask(&mut state, spare);
        }
    }

    /// Has a shim killed that does not answer; its command's processes go with it.
    pub fn end(&self, pid: i32) {
        let body = Writer::default().number(u64::from(pid.unsigned_abs())).finish();
        if let Some(supervisor) = &self.state().supervisor {
            let _ = frames::send(&supervisor.socket, protocol::END_SHIM, &body, &[]);
        }
    }

    /// Has a folder taken away when this process has ended, however that comes about.
    pub fn remove_at_end(&self, folder: &Path) {
        let mut state = self.state();
        state.folders.push(folder.to_owned());
        if let Some(supervisor) = &state.supervisor {
            let _ = frames::send(&supervisor.socket, protocol::REMOVE_AT_END, folder.as_os_str().as_bytes(), &[]);
        }
    }

    /// It is gone already.
    pub fn remove_no_more(&self, folder: &Path) {
        let mut state = self.state();
        state.folders.retain(|known| known != folder);
        if let Some(supervisor) = &state.supervisor {
            let _ = frames::send(&supervisor.socket, protocol::REMOVE_NO_MORE, folder.as_os_str().as_bytes(), &[]);
        }
    }

    /// Asks for as many shims as commands wait for, and `spare` ones; starts the supervisor if there is none.
    fn ask(&'static self, state: &mut State, spare: usize) {
        let supervisor = match &state.supervisor {
            Some(supervisor) => Arc::clone(supervisor),
            None => match self.start_supervisor() {
                Ok(supervisor) => {
                    state.asked = 0;
                    state.idle.clear();
                    for folder in &state.folders {
                        let path = folder.as_os_str().as_bytes();
                        let _ = frames::send(&supervisor.socket, protocol::REMOVE_AT_END, path, &[]);
                    }
                    state.supervisor = Some(Arc::clone(&supervisor));
                    return self.ask(state, KEEP - 1);
                }
                Err(error) => return state.fail(&error),
            },
        };
        while state.asked < (state.waiting.len() + spare).min(ASK_AT_ONCE) {
            if frames::send(&supervisor.socket, protocol::WANT_SHIM, &[], &[]).is_err() {
                // Its end is noticed by its listener, which asks again for those who wait.
                return;
            }
            state.asked += 1;
        }
    }

    fn start_supervisor(&'static self) -> Result<Arc<Supervisor>, HelperError> {
        let program = supervisor_path();
        let (ours, theirs) = sys::socket_pair().map_err(|error| HelperError::of(&error))?;
        sys::set_nonblocking(&ours).map_err(|error| HelperError::of(&error))?;
        // Plain descriptors and no hook between fork and exec: the standard library then uses posix_spawn, whose cost
        // does not grow with the host's memory.
        let process = Command::new(&program)
            .env_clear()
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => HelperError::Missing(program),
                _ => HelperError::of(&error),
            })?;
        let pid = Pid::from_raw(i32::try_from(process.id()).unwrap_or(0));
        let supervisor = Arc::new(Supervisor { pid, socket: ours });
        self.runtime.spawn(self.listen(Arc::clone(&supervisor), process));
        Ok(supervisor)
    }

    /// Hands out what the supervisor delivers, until it is gone.
    async fn listen(&'static self, supervisor: Arc<Supervisor>, mut process: Process) {
        let mut reader = Reader::default();
        let mut silent = 0;
        if let Ok(socket) = supervisor.socket.try_clone().and_then(|socket| sys::watch(socket, Interest::READABLE)) {
            loop {
                match reader.read(socket.get_ref()) {
                    Ok(Read::Frame(frame)) if frame.kind == protocol::SHIM => {
                        silent = 0;
                        self.arrived(frame);
                    }
                    Ok(Read::Frame(_)) => {}
                    Ok(Read::Pending) => match timeout(PATIENCE, socket.readable()).await {
                        Ok(Ok(mut guard)) => guard.clear_ready(),
                        Ok(Err(_)) => break,
                        // It may have been stopped all the same, and a shim with it, which nobody else continues.
                        Err(_) if self.state().asked == 0 => sys::signal(supervisor.pid, Signal::SIGCONT),
                        Err(_) => {
                            silent += 1;
                            let signal = if silent <= CONTINUED { Signal::SIGCONT } else { Signal::SIGKILL };
                            sys::signal(supervisor.pid, signal);
                        }
                    },
                    Ok(Read::Closed) | Err(_) => break,
                }
            }
        }
        {
            let mut state = self.state();
            state.supervisor = None;
            state.asked = 0;
            state.idle.clear();
            if !state.waiting.is_empty() {
                self.ask(&mut state, 0);
            }
        }
        // A closed socket means that it ends or has ended; it must not stay as a zombie.
        sys::signal(supervisor.pid, Signal::SIGKILL);
        let _ = self.runtime.spawn_blocking(move || process.wait()).await;
    }

    fn arrived(&'static self, mut frame: frames::Frame) {
        let mut fields = Fields(&frame.body);
        let pid = fields.number().and_then(|pid| i32::try_from(pid).ok()).unwrap_or(0);
        let errno = fields.number().and_then(|errno| i32::try_from(errno).ok()).unwrap_or(0);
        let mut state = self.state();
        state.asked = state.asked.saturating_sub(1);
        match frame.fds.pop() {
            Some(socket) if sys::set_nonblocking(&socket).is_ok() => state.hand_out(Shim::new(pid, socket)),
            _ => {
                // With no room for a process now, the next command that ends makes some; without any, nothing will.
                if let Some(waiting) = state.waiting.pop_front() {
                    let _ = waiting.send(Err(HelperError::Spawn(if errno == 0 { libc::EMFILE } else { errno })));
                }
            }
        }
        if !state.waiting.is_empty() {
            self.ask(&mut state, 0);
        }
    }
}

impl State {
    fn hand_out(&mut self, mut shim: Shim) {
        while let Some(waiting) = self.waiting.pop_front() {
            match waiting.send(Ok(shim)) {
                Ok(()) => return,
                Err(Ok(back)) => shim = back,
                Err(Err(_)) => return,
            }
        }
        self.idle.add(shim);
    }

    fn fail(&mut self, error: &HelperError) {
        for waiting in self.waiting.drain(..) {
            let _ = waiting.send(Err(error.clone()));
        }
    }
}

/// Beside the shared object that this code is in.
fn supervisor_path() -> PathBuf {
    let addon = sys::module_path().unwrap_or_else(|| PathBuf::from("."));
    addon.parent().unwrap_or(Path::new(".")).join(SUPERVISOR)
}
