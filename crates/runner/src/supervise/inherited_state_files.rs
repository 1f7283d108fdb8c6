//! The files by which a confined shell of a session gives its state back. The shell inherits them, and no other shell
//! gets the same files, because processes that the shell left may still write to them.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use nix::sys::resource::{Resource, getrlimit};

use crate::shell_state::{call_save, save_script};
use protocol::plan::InheritedDescriptor;
use sys::SharedDescriptor;

/// A limit of descriptors with room above the numbers of these files.
const HIGH_ENOUGH: i32 = 1024;

/// The files of one shell.
#[derive(Debug)]
pub struct InheritedStateFiles {
    state: SharedDescriptor,
    /// The script that reports the exit code, then writes the state.
    save: SharedDescriptor,
    code: SharedDescriptor,
    report: OwnedFd,
}

impl InheritedStateFiles {
    /// Returns the files, in the order of [`InheritedStateFiles::descriptors`]. They are the same for all shells of
    /// this process.
    pub fn files() -> [InheritedDescriptor; 3] {
        static FILES: OnceLock<[InheritedDescriptor; 3]> = OnceLock::new();
        *FILES.get_or_init(|| files_below(getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft)))
    }

    /// Creates empty files.
    ///
    /// # Errors
    /// If no descriptors are free.
    pub fn new() -> io::Result<Self> {
        let (code, report) = SharedDescriptor::pipe()?;
        let [state, _, pipe] = Self::files().map(target);
        let save = by_number(&save_script(&state, &pipe));
        let (state, save) = (SharedDescriptor::file(b"")?, SharedDescriptor::file(save.as_bytes())?);
        Ok(Self { state, save, code, report })
    }

    /// Returns descriptors for a shell.
    ///
    /// # Errors
    /// If no descriptors are free.
    pub fn descriptors(&self) -> io::Result<Vec<OwnedFd>> {
        [&self.state, &self.save, &self.code].into_iter().map(SharedDescriptor::descriptor).collect()
    }

    /// Returns the code that writes the shell's state: for a trap, or with `tail` for a line of its own. The code is
    /// the same for each shell.
    pub fn save_call(tail: bool) -> String {
        let [state, save, _] = Self::files();
        by_number(&call_save(&save.path().to_string_lossy(), &target(state), tail))
    }

    /// Returns the pipe that reports the exit code of the command.
    pub fn report(&self) -> &OwnedFd {
        &self.report
    }

    /// Returns the state that the shell has written.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn state(&self) -> io::Result<Vec<u8>> {
        self.state.read()
    }
}

/// Returns the files of shells that may open this many descriptors.
fn files_below(limit: u64) -> [InheritedDescriptor; 3] {
    match i32::try_from(limit) {
        Ok(limit) if limit < HIGH_ENOUGH => {
            [InheritedDescriptor::LowState, InheritedDescriptor::LowSave, InheritedDescriptor::LowCode]
        }
        _ => [InheritedDescriptor::State, InheritedDescriptor::Save, InheritedDescriptor::Code],
    }
}

/// Returns a descriptor of the shell, as the target of a redirection.
fn target(file: InheritedDescriptor) -> String {
    format!("&{}", file.number())
}

/// Returns the code with redirections to the descriptors, which are empty at first.
fn by_number(code: &str) -> String {
    code.replace(">|&", ">&").replace(">>&", ">&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_redirects_to_numbers() {
        assert!(!InheritedStateFiles::save_call(true).contains(">>"), "a descriptor is not a path");
    }

    #[test]
    fn the_numbers_are_below_the_limit() {
        for (limit, highest) in [(256, 68), (1023, 68), (1024, 502), (1 << 40, 502)] {
            assert_eq!(files_below(limit).map(InheritedDescriptor::number).into_iter().max(), Some(highest), "{limit}");
        }
    }
}
