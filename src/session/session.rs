//! A session: its state between two commands, and whose turn it is.

use std::collections::VecDeque;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::state::State;
use crate::error::Error;
use crate::plan::Kind;
use crate::supervise::Helpers;

/// Shells that follow one another: each starts with the state that the one before it has left.
pub struct Session {
    /// The folder that it began in.
    first: PathBuf,
    inner: Mutex<Inner>,
}

struct Inner {
    folder: PathBuf,
    /// After the last command that ended by itself; `None` before there was one.
    state: Option<Arc<State>>,
    /// The shells that can go on from there.
    next: Option<Arc<Kind>>,
    closed: bool,
    busy: bool,
    waiting: VecDeque<oneshot::Sender<()>>,
}

/// The right to run a command in a session, or to wait for it. Given on when dropped.
pub struct Turn {
    session: Arc<Session>,
    comes: Option<oneshot::Receiver<()>>,
}

impl Session {
    /// One that has run nothing yet.
    pub fn new(first: PathBuf) -> Arc<Self> {
        let inner = Inner {
            folder: first.clone(),
            state: None,
            next: None,
            closed: false,
            busy: false,
            waiting: VecDeque::new(),
        };
        Arc::new(Self { first, inner: Mutex::new(inner) })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the last command has left it.
    pub fn folder(&self) -> PathBuf {
        self.inner().folder.clone()
    }

    /// The folder for the next command, and why it is another one than the last command's.
    pub(super) fn place(&self) -> (PathBuf, Option<String>) {
        let folder = self.folder();
        if folder.is_dir() || folder == self.first {
            return (folder, None);
        }
        let first = self.first.clone();
        let note = format!(
            "the session's working directory {} does not exist any more; the command ran in {}",
            folder.display(),
            first.display()
        );
        self.inner().folder.clone_from(&first);
        (first, Some(note))
    }

    pub(super) fn state(&self) -> Option<Arc<State>> {
        self.inner().state.clone()
    }

    /// Takes the folder over that a command has ended in, as soon as that is known.
    pub(super) fn moved_to(&self, folder: &Path) {
        folder.clone_into(&mut self.inner().folder);
    }

    /// Takes over what a command has left, and which shells can go on from there. Not once it is closed.
    pub(super) fn left(&self, state: State, next: Option<Arc<Kind>>) -> bool {
        let mut inner = self.inner();
        if inner.closed {
            return false;
        }
        inner.folder = std::ffi::OsStr::from_bytes(state.cwd()).into();
        inner.state = Some(Arc::new(state));
        inner.next = next;
        true
    }

    pub(super) fn is_closed(&self) -> bool {
        self.inner().closed
    }

    /// No shell waits any more that holds its state.
    fn forget(&self) {
        let next = self.inner().next.take();
        if let (Some(next), Ok(helpers)) = (next, Helpers::shared()) {
            helpers.dismiss(&next);
        }
    }

    /// Back to the beginning.
    pub fn reset(&self) {
        let mut inner = self.inner();
        inner.state = None;
        inner.folder.clone_from(&self.first);
        drop(inner);
        self.forget();
    }

    /// Nothing runs in it from here on; what runs goes on.
    pub fn close(&self) {
        let mut inner = self.inner();
        inner.closed = true;
        inner.state = None;
        drop(inner);
        self.forget();
    }

    /// Gets in line. Those who come later wait for this one.
    ///
    /// # Errors
    /// [`Error::SessionClosed`]
    pub fn enter(self: &Arc<Self>) -> Result<Turn, Error> {
        let mut inner = self.inner();
        if inner.closed {
            return Err(Error::SessionClosed);
        }
        let comes = if inner.busy {
            let (sender, receiver) = oneshot::channel();
            inner.waiting.push_back(sender);
            Some(receiver)
        } else {
            inner.busy = true;
            None
        };
        Ok(Turn { session: Arc::clone(self), comes })
    }
}

impl Turn {
    /// Whether it has come.
    pub fn is_here(&self) -> bool {
        self.comes.is_none()
    }

    /// Until it has come.
    ///
    /// # Errors
    /// [`Error::SessionClosed`] when the session was closed meanwhile.
    pub async fn come(&mut self) -> Result<(), Error> {
        if let Some(comes) = &mut self.comes {
            let _ = comes.await;
            self.comes = None;
        }
        if self.session.inner().closed { Err(Error::SessionClosed) } else { Ok(()) }
    }

    /// Whose it is.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut inner = self.session.inner();
        // One that gave up while it waited has nothing to give on, unless its turn has just come.
        if let Some(comes) = &mut self.comes
            && comes.try_recv().is_err()
        {
            return;
        }
        while let Some(next) = inner.waiting.pop_front() {
            if next.send(()).is_ok() {
                return;
            }
        }
        inner.busy = false;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.forget();
    }
}
