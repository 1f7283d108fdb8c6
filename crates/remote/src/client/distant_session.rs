//! A session on a target.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::connect::TargetRunHandle;
use super::distant_run::DistantRunEnd;
use super::remote_target::RemoteTarget;
use super::target_requests::UnansweredRequest;
use super::target_run_updates::TargetRunUpdate;
use crate::messages::{TargetCommandPlace, TargetRequest, TargetSessionRequest};
use runner::error::RunError;
use runner::run::outcome::CommandStatus;

/// The number of the last session of this process.
static LAST: AtomicU64 = AtomicU64::new(0);

/// The note of the first command after a loss.
const STATE_LOST_NOTE: &str = "the state of the session is gone with the program of its target; its directory is kept";

/// A session on a target. In each new program there it begins again, in its last directory.
pub struct DistantSession {
    target: Arc<RemoteTarget>,
    number: u64,
    /// The run of the question that begins it.
    run: u64,
    first: String,
    known: Mutex<KnownSessionState>,
    /// Notified when the session is closed.
    closed: Notify,
}

/// What is known of a session.
struct KnownSessionState {
    /// The directory that the last command has left.
    cwd: String,
    /// Whether a command may have left more than a directory.
    has_state: bool,
    /// Whether that was lost, and no command has told so.
    is_lost: bool,
}

impl DistantSession {
    /// Begins a session in this directory there. `runtime` drives what happens to it.
    ///
    /// # Errors
    /// If the target was closed.
    pub fn begin(target: &Arc<RemoteTarget>, cwd: String, runtime: &Handle) -> Result<Arc<Self>, RunError> {
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let begun =
            target.begin_standing_request(TargetRequest::Session(number, TargetSessionRequest::Begin(cwd.clone())))?;
        let known = KnownSessionState { cwd: cwd.clone(), has_state: false, is_lost: false };
        let session = Arc::new(Self {
            target: Arc::clone(target),
            number,
            run: begun.run,
            first: cwd,
            known: Mutex::new(known),
            closed: Notify::new(),
        });
        runtime.spawn(Arc::clone(&session).follow(begun));
        Ok(session)
    }

    /// Returns the place of its commands.
    pub fn place(&self) -> TargetCommandPlace {
        self.known().has_state = true;
        TargetCommandPlace::Session(self.number)
    }

    /// Returns the directory that the last command has left.
    pub fn cwd(&self) -> String {
        self.known().cwd.clone()
    }

    /// Takes over what a command has left, and adds a note to it if what earlier ones have left is gone.
    pub fn on_command_end(&self, ended: &mut DistantRunEnd) {
        let DistantRunEnd::Outcome(outcome, cwd) = ended else { return };
        if let Some(cwd) = cwd {
            self.set_restart_directory(cwd.clone());
        }
        let mut known = self.known();
        if known.is_lost && outcome.status != CommandStatus::Lost {
            known.is_lost = false;
            outcome.notes.push(STATE_LOST_NOTE.to_owned());
        }
    }

    /// Forgets all state when its turn comes.
    ///
    /// # Errors
    /// If there is no answer.
    pub fn reset(self: &Arc<Self>) -> impl Future<Output = Result<(), UnansweredRequest>> + Send + 'static {
        let (asked, this) =
            (self.target.request(TargetRequest::Session(self.number, TargetSessionRequest::Reset)), Arc::clone(self));
        async move {
            asked.await?;
            this.set_restart_directory(this.first.clone());
            let mut known = this.known();
            (known.has_state, known.is_lost) = (false, false);
            Ok(())
        }
    }

    /// Refuses further commands. May be called again.
    pub fn close(self: &Arc<Self>, runtime: &Handle) {
        self.target.tell(TargetRequest::Session(self.number, TargetSessionRequest::Close), runtime);
        self.closed.notify_one();
    }

    fn known(&self) -> MutexGuard<'_, KnownSessionState> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the directory in which it begins again.
    fn set_restart_directory(&self, cwd: String) {
        self.target
            .outbox
            .replace_standing(self.run, TargetRequest::Session(self.number, TargetSessionRequest::Begin(cwd.clone())));
        self.known().cwd = cwd;
    }

    /// Follows what happens to it until it is closed, and begins again in later programs as long.
    async fn follow(self: Arc<Self>, mut begun: TargetRunHandle) {
        loop {
            let happened = tokio::select! {
                happened = begun.happened.recv() => happened,
                () = self.closed.notified() => None,
            };
            match happened {
                Some(TargetRunUpdate::Lost(_)) => {
                    let mut known = self.known();
                    known.is_lost |= known.has_state;
                }
                Some(TargetRunUpdate::Event(_) | TargetRunUpdate::Unreachable(_)) => {}
                None => return,
            }
        }
    }
}
