//! The files in which the shell of a session's command writes its state.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use nix::unistd::Pid;

use crate::shell_state::{SavedShellState, call_save, save_script};
use crate::supervise::InheritedStateFiles;
use protocol::plan::InheritedDescriptor;
use sys::{ProcessIdentity, SharedDescriptor};

/// The files of one shell.
pub(super) enum ShellStateFiles {
    /// Files of a shell that opens them by their paths in `/proc`.
    Named(UnnamedStateFiles),
    /// Files of a shell that is confined or recorded.
    Inherited(InheritedStateFiles),
}

/// What a shell has written of its state.
pub(super) enum WrittenState {
    /// All of it.
    All(Box<SavedShellState>),
    /// A part: it met a limit on files, or a full disk.
    Part,
    Nothing,
}

/// Files without names, which a shell opens by their paths in `/proc`.
pub(super) struct UnnamedStateFiles {
    state: SharedDescriptor,
    /// The script that reports the exit code, then writes the state.
    save: SharedDescriptor,
    report: OwnedFd,
    /// The other end of the report, kept open so that the report has no end of file.
    _code: SharedDescriptor,
}

/// Files that no running shell knows, for the next commands of any session.
static FREE: Mutex<Vec<UnnamedStateFiles>> = Mutex::new(Vec::new());
/// The most files that are kept free.
const MOST_FREE: usize = 2;
/// Files of shells that may go on without their session. No other shell must write to the same paths.
static HELD: Mutex<Vec<(Pid, ProcessIdentity, UnnamedStateFiles)>> = Mutex::new(Vec::new());

impl ShellStateFiles {
    /// Takes empty files.
    pub(super) fn take(inherits: bool) -> io::Result<Self> {
        if inherits {
            InheritedStateFiles::new().map(Self::Inherited)
        } else {
            UnnamedStateFiles::take().map(Self::Named)
        }
    }

    /// Returns the files that the shell inherits.
    pub(super) fn files(&self) -> io::Result<Vec<(InheritedDescriptor, Arc<OwnedFd>)>> {
        let Self::Inherited(files) = self else { return Ok(Vec::new()) };
        Ok(InheritedStateFiles::files().into_iter().zip(files.descriptors()?.into_iter().map(Arc::new)).collect())
    }

    /// Keeps the files until this shell, which may still run, has exited.
    pub(super) fn hold(self, shell: i32) {
        let shell = Pid::from_raw(shell);
        if let (Some(known), Self::Named(files)) = (sys::identity(shell), self) {
            HELD.lock().unwrap_or_else(PoisonError::into_inner).push((shell, known, files));
        }
    }

    /// Frees the files for another shell, once the shell has exited.
    pub(super) fn give_back(self) {
        let Self::Named(files) = self else { return };
        let Ok(cleared) = files.cleared() else { return };
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < MOST_FREE {
            free.push(cleared);
        }
    }

    /// Returns the code that writes the shell's state: for a trap, or with `tail` for a line of its own.
    pub(super) fn save_call(&self, tail: bool) -> String {
        match self {
            Self::Named(files) => {
                call_save(&files.save.path().to_string_lossy(), &files.state.path().to_string_lossy(), tail)
            }
            Self::Inherited(_) => InheritedStateFiles::save_call(tail),
        }
    }

    /// Returns the pipe that reports the exit code of the command.
    pub(super) fn report(&self) -> io::Result<OwnedFd> {
        match self {
            Self::Named(files) => files.report.try_clone(),
            Self::Inherited(files) => files.report().try_clone(),
        }
    }

    /// Returns the state. A program that has replaced the shell has written none.
    pub(super) fn state(&self) -> WrittenState {
        let bytes = match self {
            Self::Named(files) => files.state.read(),
            Self::Inherited(files) => files.state(),
        };
        match bytes {
            Ok(bytes) if bytes.is_empty() => WrittenState::Nothing,
            Ok(bytes) => {
                SavedShellState::parse(&bytes).map_or(WrittenState::Part, |state| WrittenState::All(Box::new(state)))
            }
            Err(_) => WrittenState::Part,
        }
    }
}

impl UnnamedStateFiles {
    fn take() -> io::Result<Self> {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).retain(|(shell, known, _)| is_there(*shell, *known));
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.map_or_else(Self::new, Self::cleared)
    }

    fn new() -> io::Result<Self> {
        let state = SharedDescriptor::file(b"")?;
        let (code, report) = SharedDescriptor::pipe()?;
        let path = |file: &SharedDescriptor| file.path().to_string_lossy().into_owned();
        let save = SharedDescriptor::file(save_script(&path(&state), &path(&code)).as_bytes())?;
        Ok(Self { state, save, report, _code: code })
    }

    /// Empties the files.
    fn cleared(self) -> io::Result<Self> {
        self.state.clear()?;
        let mut buffer = [0_u8; 4096];
        while nix::unistd::read(&self.report, &mut buffer).is_ok_and(|count| count > 0) {}
        Ok(self)
    }
}

fn is_there(shell: Pid, known: ProcessIdentity) -> bool {
    sys::living_identity(shell).is_some_and(|now| now.started == known.started)
}
