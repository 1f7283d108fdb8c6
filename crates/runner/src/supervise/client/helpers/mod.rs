//! The addon's side of its helper processes: starts the supervisor and keeps a few shims ready.

mod supervisor_answers;
mod supervisor_copy;
mod work_queue;
mod world_requests;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use nix::unistd::Pid;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::time::sleep;

use self::work_queue::WorkQueue;
use super::error::HelperError;
use super::shim_pool::{KEEP, PAUSE, PooledShell, SWEEP, ShimHandle, WarmShellCounts};
use super::shim_pools::ShimPools;
use super::world_table::WorldTable;
use crate::supervise::ready_shell::StaleShellReason;
use protocol::ToSupervisor;
use protocol::plan::{WarmShellKind, WorldId};
use supervisor::cgroup;
use sys::FeatureSwitch;

/// Shims that are requested at a time. In a burst, the first shims are free again before more would be ready.
const ASK_AT_ONCE: usize = 4;
/// The supervisor's program, beside the addon.
pub const SUPERVISOR: &str = "agent-bash-supervisor";

/// The supervisor and the shims of this process, shared by all its threads.
pub struct HelperProcesses {
    runtime: Runtime,
    state: Mutex<HelperState>,
    /// The owners whose worlds are to be begun, one after another.
    begins: WorkQueue,
}

static HELPERS: OnceLock<Result<HelperProcesses, HelperError>> = OnceLock::new();

#[derive(Default)]
struct HelperState {
    supervisor: Option<Arc<SupervisorHandle>>,
    pools: ShimPools,
    worlds: WorldTable,
    /// Directories to remove when this process has ended.
    folders: Vec<PathBuf>,
    /// Whether a task is looking for old warm shells.
    sweeps: bool,
    /// Supervisors in a row that ended without an answer.
    unanswered: u32,
}

struct SupervisorHandle {
    pid: Pid,
    socket: OwnedFd,
}

impl HelperProcesses {
    /// Returns the instance shared by all threads of the process. Nothing is started before the first command.
    ///
    /// # Errors
    /// If the system cannot create threads.
    pub fn shared() -> Result<&'static Self, HelperError> {
        HELPERS
            .get_or_init(|| {
                let runtime = Builder::new_multi_thread()
                    .worker_threads(2)
                    .thread_name("agent-bash")
                    .on_thread_start(sys::block_sigpipe)
                    .enable_all()
                    .build()
                    .map_err(HelperError::from)?;
                // The variables are read on a thread of the host, because only the host changes the environment.
                switches();
                let begins = WorkQueue::new(&runtime);
                Ok(Self { runtime, state: Mutex::default(), begins })
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Returns the shared instance if a command has made it.
    pub fn if_made() -> Option<&'static Self> {
        HELPERS.get()?.as_ref().ok()
    }

    /// Returns the runtime that drives commands.
    pub fn runtime(&self) -> &Handle {
        self.runtime.handle()
    }

    fn state(&self) -> MutexGuard<'_, HelperState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a free shim of a world if no caller is queued, preferably with a warm shell of this kind.
    pub fn take(&self, world: Option<WorldId>, kind: Option<&WarmShellKind>) -> Option<ShimHandle> {
        let mut state = self.state();
        let shims = state.pools.shims_of(world)?;
        if shims.waiting.is_empty() { shims.pool.take(kind) } else { None }
    }

    /// Takes a shim with a warm shell of this kind, ready or being prepared.
    pub fn take_any(&self, kind: &WarmShellKind) -> Option<ShimHandle> {
        self.state().pools.shims_of(kind.plan.world)?.pool.take_any(kind)
    }

    /// Counts a warm shell that received its command.
    pub fn count_used_shell(&self, world: Option<WorldId>) {
        if let Some(shims) = self.state().pools.shims_of(world) {
            shims.pool.count_used_shell();
        }
    }

    /// Counts a warm shell that could not receive its command.
    pub fn count_stale_shell(&self, world: Option<WorldId>, why: StaleShellReason) {
        if let Some(shims) = self.state().pools.shims_of(world) {
            shims.pool.count_stale_shell(why);
        }
    }

    /// Returns the numbers of this process's warm shells.
    pub fn warm_shell_counts(&self) -> WarmShellCounts {
        self.state().pools.shells()
    }

    /// Returns whether warm shells are possible in a world.
    pub fn can_warm_shells(&self, world: Option<WorldId>) -> bool {
        self.state().pools.shims_of(world).is_none_or(|shims| shims.pool.can_warm_shells())
    }

    /// Prepares a warm shell of this kind, unless one exists or no shim is free.
    pub fn prepare(&'static self, kind: &Arc<WarmShellKind>) {
        if let Some(shims) = self.state().pools.shims_of(kind.plan.world) {
            shims.pool.prepare_any(kind);
        }
        self.sweep();
    }

    /// Ends the warm shells of this kind.
    pub fn dismiss(&self, kind: &WarmShellKind) {
        if let Some(shims) = self.state().pools.shims_of(kind.plan.world) {
            shims.pool.dismiss(|shell| *shell.kind == *kind);
        }
    }

    /// Ends shells that have been warm for too long, with one task for all of them.
    fn sweep(&'static self) {
        let mut state = self.state();
        if state.sweeps || state.pools.shells().waiting == 0 {
            return;
        }
        state.sweeps = true;
        drop(state);
        self.runtime.spawn(async move {
            sleep(SWEEP).await;
            let mut state = self.state();
            state.pools.all().for_each(|(_, shims)| shims.pool.dismiss(PooledShell::is_old));
            state.sweeps = false;
            drop(state);
            self.sweep();
        });
    }

    /// Takes a shim back and prepares a warm shell below it for another command of this kind, if the pause lasts.
    pub fn give_back_for(&'static self, shim: ShimHandle, kind: Arc<WarmShellKind>) {
        let (pid, world) = (shim.pid, shim.world);
        let mut state = self.state();
        let wanted = state.pools.shims_of(world).is_some_and(|shims| shims.pool.on_command_of(&kind));
        state.pools.hand_out(shim);
        drop(state);
        if wanted {
            self.runtime.spawn(async move {
                sleep(PAUSE).await;
                if let Some(shims) = self.state().pools.shims_of(world) {
                    shims.pool.prepare(pid, kind);
                }
                self.sweep();
            });
        }
    }

    /// Returns a shim of a world, forked if necessary.
    pub async fn shim(&'static self, world: Option<WorldId>) -> Result<ShimHandle, HelperError> {
        let receiver = {
            let mut state = self.state();
            let shims = state.pools.shims_of(world).ok_or(HelperError::Lost)?;
            if shims.waiting.is_empty()
                && let Some(shim) = shims.pool.take(None)
            {
                return Ok(shim);
            }
            let (sender, receiver) = oneshot::channel();
            shims.waiting.push_back(sender);
            self.request_shims(&mut state, world, 0);
            receiver
        };
        receiver.await.unwrap_or(Err(HelperError::Lost))
    }

    /// Takes back a shim that is ready for the next command.
    pub fn give_back(&'static self, shim: ShimHandle) {
        self.state().pools.hand_out(shim);
        self.sweep();
    }

    /// Requests a new shim in the place of a shim of this world that will not come back.
    pub fn request_replacement(&'static self, world: Option<WorldId>) {
        let mut state = self.state();
        if state.supervisor.is_some()
            && let Some(shims) = state.pools.shims_of(world)
        {
            let spare = KEEP.saturating_sub(shims.pool.count());
            self.request_shims(&mut state, world, spare);
        }
    }

    /// Requests that a shim that does not answer is killed, together with its command's processes.
    pub fn request_kill(&self, pid: i32) {
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
            let _ = protocol::send(&supervisor.socket, ToSupervisor::AlreadyRemoved(folder.to_owned()));
        }
    }

    /// Requests as many shims of a world as callers are queued, plus `spare`. Starts the supervisor if there is none.
    fn request_shims(&'static self, state: &mut HelperState, world: Option<WorldId>, spare: usize) {
        let spare = if state.supervisor.is_none() { KEEP - 1 } else { spare };
        let supervisor = self.supervisor(state);
        if let Some(world) = world {
            // The messages arrive in this order.
            self.ask_for_world(state, world);
        }
        let Some(shims) = state.pools.shims_of(world) else { return };
        let Ok(supervisor) = supervisor.map_err(|error| shims.fail(&error)) else { return };
        while shims.asked < (shims.waiting.len() + spare).min(ASK_AT_ONCE) {
            if protocol::send(&supervisor.socket, ToSupervisor::WantShim { world }).is_err() {
                // The supervisor's listener notices its end and requests again for queued callers.
                return;
            }
            shims.asked += 1;
        }
    }

    /// Returns the supervisor, started if there is none.
    fn supervisor(&'static self, state: &mut HelperState) -> Result<Arc<SupervisorHandle>, HelperError> {
        if let Some(supervisor) = &state.supervisor {
            return Ok(Arc::clone(supervisor));
        }
        let supervisor = self.start_supervisor()?;
        state.pools.lose_supervisor();
        for folder in &state.folders {
            let _ = protocol::send(&supervisor.socket, ToSupervisor::RemoveAtEnd(folder.clone()));
        }
        state.supervisor = Some(Arc::clone(&supervisor));
        Ok(supervisor)
    }

    fn start_supervisor(&'static self) -> Result<Arc<SupervisorHandle>, HelperError> {
        let (program, argument) = supervisor_program();
        let (ours, theirs) = sys::socket_pair().map_err(HelperError::from)?;
        sys::set_nonblocking(&ours).map_err(HelperError::from)?;
        // Without a hook, this call is posix_spawn, whose cost does not grow with the host's memory.
        let process = Command::new(&program)
            .args(argument)
            .env_clear()
            .envs(switches())
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => HelperError::Missing(program),
                io::ErrorKind::PermissionDenied => HelperError::NotExecutable(program),
                _ => error.into(),
            })?;
        let pid = Pid::from_raw(i32::try_from(process.id()).unwrap_or(0));
        let started = Arc::new(SupervisorHandle { pid, socket: ours });
        self.runtime.spawn(self.listen(Arc::clone(&started), process));
        Ok(started)
    }
}

/// Returns the variables that turn features off, if the user had set them at the first call.
fn switches() -> Vec<(&'static str, &'static str)> {
    [&cgroup::SWITCH, &confine_world::NAMESPACES].into_iter().filter_map(FeatureSwitch::variable).collect()
}

/// The program that is the supervisor with this argument, in place of the file beside the addon.
static OWN: OnceLock<(PathBuf, &'static str)> = OnceLock::new();

/// Lets this program be the supervisor, with this argument. Called before the first command.
pub fn use_own_program(program: PathBuf, argument: &'static str) {
    // The first call counts.
    let _ = OWN.set((program, argument));
}

/// Returns the path of the supervisor, and its argument. It lies beside the shared object that contains this code, or
/// is a copy of that file.
fn supervisor_program() -> (PathBuf, Option<&'static str>) {
    if let Some((program, argument)) = OWN.get() {
        return (program.clone(), Some(argument));
    }
    let addon = sys::module_path().unwrap_or_else(|| PathBuf::from("."));
    let own = addon.parent().unwrap_or(Path::new(".")).join(SUPERVISOR);
    (supervisor_copy::trusted_copy_of(&own).unwrap_or(own), None)
}

/// Returns a command that holds this transport to another machine, as `supervisor::carry` does.
pub fn carrier(transport: &[String]) -> Command {
    let mut command = Command::new(supervisor_program().0);
    command.arg(supervisor::CARRY).args(transport);
    command
}

#[cfg(test)]
mod tests;
