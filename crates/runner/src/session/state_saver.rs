//! Takes over the state that a command's shell has written.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::shell_session::ShellSession;
use super::shell_state_files::{ShellStateFiles, WrittenState};
use crate::reuse::StorableRun;
use crate::shell_state::SavedShellState;
use crate::supervise::{AdmissionSlot, HelperProcesses, ShimCommand, ShimEvent};
use protocol::plan::{ShellBootCode, WarmShellKind};
use sys::ChildExit;

/// Time a shell may take to write its state and exit. A shell that takes longer is held up by its traps or its output.
const SAVED: Duration = Duration::from_secs(2);

/// Saves the state of one command. It holds the command's slot until then.
pub(super) struct SessionStateSaver {
    pub session: Arc<ShellSession>,
    pub exchange: ShellStateFiles,
    /// Variables that only the command has.
    pub env: Vec<(String, Option<String>)>,
    /// The state that the command began with.
    pub before: Option<Arc<SavedShellState>>,
    /// The kind of the command's shell, if such a shell can be warm.
    pub kind: Option<Arc<WarmShellKind>>,
    /// The run of the command, which is stored if it leaves the state as it was.
    pub storable: Option<StorableRun>,
    /// The command's slot, which is free again once this is dropped.
    pub _slot: AdmissionSlot,
}

impl SessionStateSaver {
    /// Waits until the shell has written its state and exited.
    pub async fn follow(self, mut child: ShimCommand) {
        let Ok(helpers) = HelperProcesses::shared() else { return };
        if let Some(kind) = self.kind.as_ref().filter(|_| !self.session.is_closed()) {
            // Most commands change nothing, so the shell for the next command can start now.
            helpers.prepare(kind);
        }
        let mut event = timeout(SAVED, child.next_event()).await;
        while let Ok(ShimEvent::Blocked(..) | ShimEvent::Denied(_)) = event {
            // The event is a late answer to a question about the command, or reports denials of the code that saves its
            // state.
            event = timeout(SAVED, child.next_event()).await;
        }
        let Ok(ShimEvent::Ended(ended)) = event else {
            self.session.on_state_lost();
            child.abandon(helpers);
            return;
        };
        if ended.alive {
            child.release(None);
            let _ = timeout(SAVED, child.next_event()).await;
            helpers.request_replacement(child.world());
        } else if ended.last {
            child.leave_shim(helpers);
        } else {
            child.give_back(helpers, None);
        }
        if matches!(ended.end, ChildExit::Code(_)) {
            self.save().await;
        }
    }

    /// Takes over the written state if it is complete, and starts a warm shell with it.
    pub async fn save(self) {
        let Self { session, exchange, env, before, kind, storable, .. } = self;
        match exchange.state() {
            WrittenState::All(mut state) => {
                state.forget_given(before.as_deref(), &env);
                if let Some(storable) = storable.filter(|_| before.as_deref() == Some(&*state)) {
                    let _ = spawn_blocking(move || storable.store()).await;
                }
                let next = kind.map(|kind| Arc::new(kind.in_directory(state.cwd(), |env| boot(&state, env))));
                let saved = session.save(*state, next.clone());
                if let (true, Some(next), Ok(helpers)) = (saved, next, HelperProcesses::shared()) {
                    helpers.prepare(&next);
                }
            }
            WrittenState::Part => session.on_state_lost(),
            WrittenState::Nothing => {}
        }
        exchange.give_back();
    }

    /// Drops the written state, because a signal terminated the shell, or gives back the files that nothing has used.
    pub fn discard(self) {
        self.exchange.give_back();
    }

    /// Keeps the files until the shell has exited, without reading them.
    pub fn hold(self, shell: i32) {
        self.exchange.hold(shell);
    }
}

/// Returns the code that restores a state.
pub(super) fn boot(state: &SavedShellState, env: &[u8]) -> ShellBootCode {
    ShellBootCode { early: state.restore_early(env).into(), late: state.restore_late().into() }
}
