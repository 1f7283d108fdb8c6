//! The answers of the supervisor, and its end.

use std::io;
use std::process::Child as Process;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::Interest;
use tokio::time::timeout;

use super::{HelperProcesses, HelperState, SupervisorHandle, supervisor_program};
use crate::supervise::client::error::HelperError;
use crate::supervise::client::shim_pool::ShimHandle;
use protocol::plan::WorldId;
use protocol::{FrameReader, FromSupervisor, ReceiveOutcome, WORLD_LOST};
use sys::Signal;

/// Time without an answer after which the supervisor is continued, in case it was stopped.
const PATIENCE: Duration = Duration::from_secs(1);
/// Attempts to continue the supervisor before it is replaced.
const CONTINUED: u32 = 10;
/// Supervisors in a row that may end without an answer. A supervisor that is killed meanwhile is replaced. A supervisor
/// of another version ends at once, and so would all that follow.
const UNANSWERED: u32 = 10;

impl HelperProcesses {
    /// Distributes the supervisor's shims until it is gone.
    pub(super) async fn listen(&'static self, supervisor: Arc<SupervisorHandle>, mut process: Process) {
        let mut reader = FrameReader::default();
        let (mut silent, mut answered) = (0, false);
        if let Ok(socket) = supervisor.socket.try_clone().and_then(|socket| sys::watch(socket, Interest::READABLE)) {
            loop {
                match reader.receive(socket.get_ref()) {
                    Ok(ReceiveOutcome::Message(message)) => {
                        (silent, answered) = (0, true);
                        self.on_message(message);
                    }
                    Ok(ReceiveOutcome::Pending) => match timeout(PATIENCE, socket.readable()).await {
                        Ok(Ok(mut guard)) => guard.clear_ready(),
                        Ok(Err(_)) => break,
                        // The supervisor may have been stopped without a request, together with a shim that only the
                        // supervisor continues.
                        Err(_) if self.state().pools.asked() == 0 => sys::signal(supervisor.pid, Signal::SIGCONT),
                        Err(_) => {
                            silent += 1;
                            let signal = if silent <= CONTINUED { Signal::SIGCONT } else { Signal::SIGKILL };
                            sys::signal(supervisor.pid, signal);
                        }
                    },
                    Ok(ReceiveOutcome::Closed) | Err(_) => break,
                }
            }
        }
        self.on_loss(answered);
        // A closed socket means that the supervisor is exiting or has exited. It must not remain a zombie.
        sys::signal(supervisor.pid, Signal::SIGKILL);
        let _ = self.runtime.spawn_blocking(move || process.wait()).await;
    }

    /// Requests from another supervisor what callers wait for, unless several supervisors in a row have not answered.
    fn on_loss(&'static self, answered: bool) {
        let mut state = self.state();
        state.supervisor = None;
        state.pools.lose_supervisor();
        let worlds = state.worlds.lose_supervisor();
        state.unanswered = if answered { 0 } else { state.unanswered + 1 };
        if state.unanswered == UNANSWERED {
            state.unanswered = 0;
            let error = HelperError::Silent(supervisor_program().0);
            state.pools.all().for_each(|(_, shims)| shims.fail(&error));
            worlds.into_iter().for_each(|id| state.worlds.fail(id, &error));
            return;
        }
        for id in worlds {
            self.ask_for_world(&mut state, id);
        }
        self.ask_for_queued(&mut state);
    }

    /// Requests shims for all callers without a shim.
    fn ask_for_queued(&'static self, state: &mut HelperState) {
        let queued: Vec<_> =
            state.pools.all().filter(|(_, shims)| !shims.waiting.is_empty()).map(|(world, _)| world).collect();
        for world in queued {
            self.request_shims(state, world, 0);
        }
    }

    /// Handles a message of the supervisor.
    fn on_message(&'static self, message: FromSupervisor) {
        match message {
            FromSupervisor::Shim { pid, world, group, socket: Some(socket) } => {
                let shim = sys::set_nonblocking(&socket)
                    .map(|()| ShimHandle::new(pid, socket).in_group(group).in_world(world))
                    .map_err(HelperError::from);
                self.on_shim(world, shim);
            }
            FromSupervisor::Shim { socket: None, world, .. } => {
                self.on_shim(world, Err(io::Error::from_raw_os_error(libc::EMFILE).into()));
            }
            FromSupervisor::NoShim { world, errno } => {
                self.on_shim(world, Err(io::Error::from_raw_os_error(errno).into()))
            }
            FromSupervisor::World { id, made, ways, .. } => self.on_world(id, made, ways),
        }
    }

    /// Handles a forked shim, or the failure to fork one.
    fn on_shim(&'static self, world: Option<WorldId>, shim: Result<ShimHandle, HelperError>) {
        let mut state = self.state();
        let again = world.is_some_and(|world| state.worlds.is_replaced(world));
        // The world may have ended meanwhile.
        let Some(shims) = state.pools.shims_of(world) else { return };
        shims.asked = shims.asked.saturating_sub(1);
        match shim {
            Ok(shim) => shims.hand_out(shim),
            Err(error) if again && error.errno() == Some(WORLD_LOST) => {}
            // The next command that exits makes room for a process. Without a running command the request fails.
            Err(error) => {
                if let Some(waiting) = shims.waiting.pop_front() {
                    let _ = waiting.send(Err(error));
                }
            }
        }
        if !shims.waiting.is_empty() {
            self.request_shims(&mut state, world, 0);
        }
    }
}
