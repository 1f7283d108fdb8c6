//! A session: its state between two commands, and the queue of its commands.

use std::collections::VecDeque;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::drafts::DraftName;
use crate::error::RunError;
use crate::shell_state::SavedShellState;
use crate::supervise::HelperProcesses;
use protocol::plan::WarmShellKind;

/// The note of a command that begins without what the command before has left.
const STALE: &str = "what the command before has changed in the shell could not be kept: its shell did not write all of its \
    variables and functions, or not within 2 s";

/// A sequence of shells, each of which starts with the state of the shell before.
pub struct ShellSession {
    /// The directory in which the session began.
    first: PathBuf,
    inner: Mutex<SessionState>,
}

struct SessionState {
    directory: PathBuf,
    /// The state after the last command that exited by itself. `None` before the first command.
    state: Option<Arc<SavedShellState>>,
    /// Whether the last command has left more than this state, which could not be kept.
    is_stale: bool,
    /// The kind of warm shells that hold this state.
    next: Option<Arc<WarmShellKind>>,
    closed: bool,
    busy: bool,
    queue: VecDeque<oneshot::Sender<()>>,
}

/// A place in the queue of a session. The next command gets its turn when this is dropped.
pub struct SessionTurn {
    session: Arc<ShellSession>,
    /// Resolves when the turn comes. `None` once it has come.
    comes: Option<oneshot::Receiver<()>>,
}

impl ShellSession {
    /// Returns a session without a command.
    pub fn new(first: PathBuf) -> Arc<Self> {
        let inner = SessionState {
            directory: first.clone(),
            state: None,
            is_stale: false,
            next: None,
            closed: false,
            busy: false,
            queue: VecDeque::new(),
        };
        Arc::new(Self { first, inner: Mutex::new(inner) })
    }

    fn inner(&self) -> MutexGuard<'_, SessionState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the directory in which the last command has left the session.
    pub fn directory(&self) -> PathBuf {
        self.inner().directory.clone()
    }

    /// Returns the directory for the next command, with a note if the last command's directory is gone.
    pub(super) fn directory_for_next(&self, draft: Option<&DraftName>) -> (PathBuf, Option<String>) {
        let directory = self.directory();
        let is_there = draft.map_or_else(|| directory.is_dir(), |draft| draft.shows_directory(&directory));
        if is_there || directory == self.first {
            return (directory, None);
        }
        let first = self.first.clone();
        let note = format!(
            "the session's working directory {} does not exist any more; the command ran in {}",
            directory.display(),
            first.display()
        );
        self.inner().directory.clone_from(&first);
        (first, Some(note))
    }

    pub(super) fn state(&self) -> Option<Arc<SavedShellState>> {
        self.inner().state.clone()
    }

    /// Sets the directory in which a command has exited, before its state is saved.
    pub(super) fn set_directory(&self, directory: &Path) {
        directory.clone_into(&mut self.inner().directory);
    }

    /// Saves the state of a command, and the kind of warm shells that hold it. Returns `false` after the close.
    pub(super) fn save(&self, state: SavedShellState, next: Option<Arc<WarmShellKind>>) -> bool {
        let mut inner = self.inner();
        if inner.closed {
            return false;
        }
        inner.directory = std::ffi::OsStr::from_bytes(state.cwd()).into();
        inner.state = Some(Arc::new(state));
        inner.next = next;
        true
    }

    /// The state of the last command could not be kept. The next one begins with that of the command before.
    pub(super) fn on_state_lost(&self) {
        self.inner().is_stale = true;
    }

    /// Returns the note of the command that first begins with a state that is not the last one.
    pub(super) fn stale_note(&self) -> Option<String> {
        std::mem::take(&mut self.inner().is_stale).then(|| STALE.to_owned())
    }

    pub(super) fn is_closed(&self) -> bool {
        self.inner().closed
    }

    /// Dismisses the warm shells that hold the session's state.
    fn dismiss_warm(&self) {
        let next = self.inner().next.take();
        if let (Some(next), Ok(helpers)) = (next, HelperProcesses::shared()) {
            helpers.dismiss(&next);
        }
    }

    /// Forgets the state, and returns to the first directory.
    pub fn reset(&self) {
        let mut inner = self.inner();
        inner.state = None;
        inner.directory.clone_from(&self.first);
        drop(inner);
        self.dismiss_warm();
    }

    /// Refuses further commands. A running command goes on.
    pub fn close(&self) {
        let mut inner = self.inner();
        inner.closed = true;
        inner.state = None;
        drop(inner);
        self.dismiss_warm();
    }

    /// Enters the queue.
    ///
    /// # Errors
    /// [`RunError::SessionClosed`]
    pub fn enter_queue(self: &Arc<Self>) -> Result<SessionTurn, RunError> {
        let mut inner = self.inner();
        if inner.closed {
            return Err(RunError::SessionClosed);
        }
        let comes = if inner.busy {
            let (sender, receiver) = oneshot::channel();
            inner.queue.push_back(sender);
            Some(receiver)
        } else {
            inner.busy = true;
            None
        };
        Ok(SessionTurn { session: Arc::clone(self), comes })
    }
}

impl SessionTurn {
    /// Returns whether the turn has come.
    pub fn has_come(&self) -> bool {
        self.comes.is_none()
    }

    /// Resolves when the turn has come.
    ///
    /// # Errors
    /// [`RunError::SessionClosed`] if the session was closed meanwhile.
    pub async fn wait_for_turn(&mut self) -> Result<(), RunError> {
        if let Some(comes) = &mut self.comes {
            let _ = comes.await;
            self.comes = None;
        }
        if self.session.inner().closed { Err(RunError::SessionClosed) } else { Ok(()) }
    }

    /// Returns the session of the queue.
    pub fn session(&self) -> &Arc<ShellSession> {
        &self.session
    }
}

impl Drop for SessionTurn {
    fn drop(&mut self) {
        let mut inner = self.session.inner();
        // A command that was aborted in the queue has no turn to pass on, unless its turn has just come.
        if let Some(comes) = &mut self.comes
            && comes.try_recv().is_err()
        {
            return;
        }
        while let Some(next) = inner.queue.pop_front() {
            if next.send(()).is_ok() {
                return;
            }
        }
        inner.busy = false;
    }
}

impl Drop for ShellSession {
    fn drop(&mut self) {
        self.dismiss_warm();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Arc<ShellSession> {
        ShellSession::new("/".into())
    }

    #[tokio::test]
    async fn turns_come_in_the_order_of_the_queue() {
        let session = session();
        let first = session.enter_queue().expect("open");
        let mut others = [session.enter_queue().expect("open"), session.enter_queue().expect("open")];
        assert!(first.has_come() && others.iter().all(|turn| !turn.has_come()));
        drop(first);
        let [second, third] = &mut others;
        second.wait_for_turn().await.expect("open");
        assert!(second.has_come() && !third.has_come());
    }

    #[tokio::test]
    async fn an_aborted_command_is_skipped() {
        let session = session();
        let first = session.enter_queue().expect("open");
        let (second, mut third) = (session.enter_queue().expect("open"), session.enter_queue().expect("open"));
        drop(second);
        drop(first);
        third.wait_for_turn().await.expect("open");
    }

    #[tokio::test]
    async fn a_turn_that_comes_to_an_aborted_command_is_passed_on() {
        let session = session();
        let first = session.enter_queue().expect("open");
        let (second, mut third) = (session.enter_queue().expect("open"), session.enter_queue().expect("open"));
        drop(first);
        drop(second);
        third.wait_for_turn().await.expect("open");
        drop(third);
        assert!(session.enter_queue().expect("open").has_come(), "the queue is empty");
    }

    #[tokio::test]
    async fn a_close_refuses_queued_and_later_commands() {
        let session = session();
        let first = session.enter_queue().expect("open");
        let mut second = session.enter_queue().expect("open");
        session.close();
        drop(first);
        assert!(matches!(second.wait_for_turn().await, Err(RunError::SessionClosed)));
        assert!(matches!(session.enter_queue(), Err(RunError::SessionClosed)));
    }

    #[test]
    fn a_directory_that_is_gone_gives_way_to_the_first() {
        let session = session();
        session.set_directory(Path::new("/no/such/directory"));
        let (directory, note) = session.directory_for_next(None);
        assert_eq!(directory, Path::new("/"));
        assert!(note.expect("a note").contains("/no/such/directory does not exist any more; the command ran in /"));
        assert_eq!(session.directory_for_next(None), ("/".into(), None), "it is reported once");
    }
}
