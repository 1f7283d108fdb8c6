//! Where the shells of a session write what is to last.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use nix::unistd::Pid;

use super::state::{State, call_save, save_script};
use crate::sys::{self, Identity, Shared};

/// Files that a shell opens by their paths.
pub(super) struct Exchange {
    state: Shared,
    /// The script that writes it, and before that says how the command has ended.
    save: Shared,
    report: OwnedFd,
    /// Its other end, open so that the report never ends.
    _code: Shared,
}

/// Those that no shell knows any more which might still be there, for the next commands of any session.
static KEPT: Mutex<Vec<Exchange>> = Mutex::new(Vec::new());
const MOST_KEPT: usize = 2;
/// Those that a shell knows which goes on without its session: what it opens by their paths must not be another one's.
static HELD: Mutex<Vec<(Pid, Identity, Exchange)>> = Mutex::new(Vec::new());

impl Exchange {
    /// One in which nothing is written.
    pub(super) fn take() -> io::Result<Self> {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).retain(|(shell, known, _)| is_there(*shell, *known));
        let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.map_or_else(Self::new, Self::cleared)
    }

    /// The shell that knows it goes on, perhaps: it is not used again before that has ended.
    pub(super) fn hold(self, shell: i32) {
        let shell = Pid::from_raw(shell);
        if let Some(known) = sys::identity(shell) {
            HELD.lock().unwrap_or_else(PoisonError::into_inner).push((shell, known, self));
        }
    }

    /// The shell that knew it has ended: another one may have it, without what was written.
    pub(super) fn give_back(self) {
        let Ok(cleared) = self.cleared() else { return };
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST_KEPT {
            kept.push(cleared);
        }
    }

    fn new() -> io::Result<Self> {
        let state = Shared::file(b"")?;
        let (code, report) = Shared::pipe()?;
        let path = |file: &Shared| file.path().to_string_lossy().into_owned();
        let save = Shared::file(save_script(&path(&state), &path(&code)).as_bytes())?;
        Ok(Self { state, save, report, _code: code })
    }

    /// Without what the last command has left.
    fn cleared(self) -> io::Result<Self> {
        self.state.clear()?;
        let mut buffer = [0_u8; 4096];
        while nix::unistd::read(&self.report, &mut buffer).is_ok_and(|count| count > 0) {}
        Ok(self)
    }

    /// The code that a shell runs to write its state down: in a trap, or with `tail` as a line of its own.
    pub(super) fn call(&self, tail: bool) -> String {
        call_save(&self.save.path().to_string_lossy(), &self.state.path().to_string_lossy(), tail)
    }

    /// Where the end of a command is told.
    pub(super) fn report(&self) -> io::Result<OwnedFd> {
        self.report.try_clone()
    }

    /// What was written.
    pub(super) fn state(&self) -> Option<State> {
        State::parse(&self.state.read().ok()?)
    }
}

fn is_there(shell: Pid, known: Identity) -> bool {
    sys::identity(shell).is_some_and(|now| now.started == known.started && !now.zombie)
}
