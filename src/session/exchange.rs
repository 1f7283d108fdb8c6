//! Where the shells of a session write what is to last.

use std::io;
use std::os::fd::OwnedFd;

use super::state::{State, call_save, save_script};
use crate::sys::Shared;

/// Files that a shell opens by their paths.
pub(super) struct Exchange {
    state: Shared,
    /// The script that writes it, and before that says how the command has ended.
    save: Shared,
    report: OwnedFd,
    /// Its other end, open so that the report never ends.
    _code: Shared,
}

impl Exchange {
    pub(super) fn new() -> io::Result<Self> {
        let state = Shared::file(b"")?;
        let (code, report) = Shared::pipe()?;
        let path = |file: &Shared| file.path().to_string_lossy().into_owned();
        let save = Shared::file(save_script(&path(&state), &path(&code)).as_bytes())?;
        Ok(Self { state, save, report, _code: code })
    }

    /// Without what the last command has left.
    pub(super) fn cleared(self) -> io::Result<Self> {
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
