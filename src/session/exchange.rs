//! The files in which the shell of a session's command writes its state.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use nix::unistd::Pid;

use crate::shell_state::{State, call_save, save_script};
use crate::sys::{self, Identity, Shared};

/// Files without names, which a shell opens by their paths in `/proc`.
pub(super) struct Exchange {
    state: Shared,
    /// The script that reports the exit code, then writes the state.
    save: Shared,
    report: OwnedFd,
    /// The other end of the report, open so that the report has no end of file.
    _code: Shared,
}

/// Files that no running shell knows, for the next commands of any session.
static FREE: Mutex<Vec<Exchange>> = Mutex::new(Vec::new());
/// The most of them.
const MOST_FREE: usize = 2;
/// Files of shells that may go on without their session. No other shell must write to the same paths.
static HELD: Mutex<Vec<(Pid, Identity, Exchange)>> = Mutex::new(Vec::new());

impl Exchange {
    /// Takes empty files.
    pub(super) fn take() -> io::Result<Self> {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).retain(|(shell, known, _)| is_there(*shell, *known));
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.map_or_else(Self::new, Self::cleared)
    }

    /// Keeps the files until this shell, which may still run, has exited.
    pub(super) fn hold(self, shell: i32) {
        let shell = Pid::from_raw(shell);
        if let Some(known) = sys::identity(shell) {
            HELD.lock().unwrap_or_else(PoisonError::into_inner).push((shell, known, self));
        }
    }

    /// Frees the files for another shell, once theirs has exited.
    pub(super) fn give_back(self) {
        let Ok(cleared) = self.cleared() else { return };
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < MOST_FREE {
            free.push(cleared);
        }
    }

    fn new() -> io::Result<Self> {
        let state = Shared::file(b"")?;
        let (code, report) = Shared::pipe()?;
        let path = |file: &Shared| file.path().to_string_lossy().into_owned();
        let save = Shared::file(save_script(&path(&state), &path(&code)).as_bytes())?;
        Ok(Self { state, save, report, _code: code })
    }

    /// Empties the files.
    fn cleared(self) -> io::Result<Self> {
        self.state.clear()?;
        let mut buffer = [0_u8; 4096];
        while nix::unistd::read(&self.report, &mut buffer).is_ok_and(|count| count > 0) {}
        Ok(self)
    }

    /// The code that writes the shell's state: for a trap, or with `tail` for a line of its own.
    pub(super) fn call(&self, tail: bool) -> String {
        call_save(&self.save.path().to_string_lossy(), &self.state.path().to_string_lossy(), tail)
    }

    /// The pipe that reports the exit code of the command.
    pub(super) fn report(&self) -> io::Result<OwnedFd> {
        self.report.try_clone()
    }

    /// The state, if it was written whole.
    pub(super) fn state(&self) -> Option<State> {
        State::parse(&self.state.read().ok()?)
    }
}

fn is_there(shell: Pid, known: Identity) -> bool {
    sys::living(shell).is_some_and(|now| now.started == known.started)
}
