//! A call that waits for its answer.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::errno::Errno;

use super::answer_threads::AnswerThreads;
use super::caller::{CallerTable, CallerThread};
use super::caller_path::{CallerPath, PathStart, last_component, split_parent};
use super::denial_log::{DenialLog, PolicyPaths};
use super::guarded_names::GuardedNames;
use super::host_network_fallback::HostNetworkFallback;
use super::linked_directories::LinkedDirectories;
use super::perform::{self, WorldBounds};
use super::proc_links::{link_of, path_of, path_of_open};
use super::repositories_left::RepositoriesLeft;
use super::settings::ListenerSettings;
use sys::{LinkResolution, SyscallNotification};

/// The state that all answers share.
pub(super) struct ListenerState {
    pub settings: ListenerSettings,
    pub paths: PolicyPaths,
    /// The bounds of a world without mounts whose listener performs what opens, changes or names a file.
    pub bounds: Option<WorldBounds>,
    /// The network of a world without namespaces, unless it is that of this machine.
    pub beside: Option<HostNetworkFallback>,
    pub callers: CallerTable,
    pub threads: AnswerThreads,
    pub elsewhere: LinkedDirectories,
    /// The umask that this process has now.
    pub umask: u32,
}

/// A call, with the state that its answer needs.
pub(super) struct PendingSyscall<'a> {
    pub call: SyscallNotification,
    pub listener: &'a Arc<OwnedFd>,
    pub names: &'a GuardedNames,
    pub record: &'a mut DenialLog,
    pub left: &'a mut RepositoriesLeft,
    pub shared: &'a mut ListenerState,
}

impl PendingSyscall<'_> {
    pub fn caller(&mut self) -> Result<&CallerThread, Errno> {
        self.shared.callers.get(self.call.thread)
    }

    /// Returns the socket of the first argument, which stays the same socket whatever happens to its descriptor.
    pub fn socket(&mut self) -> Result<OwnedFd, Errno> {
        let number = self.int(0);
        self.caller()?.process.descriptor(number)
    }

    /// Returns an argument that the kernel reads as `int`.
    pub fn int(&self, at: usize) -> i32 {
        self.call.int(at)
    }

    /// Returns an argument that the kernel reads as `unsigned int`.
    pub fn unsigned(&self, at: usize) -> u32 {
        self.call.unsigned(at)
    }

    /// Copies a string of the caller. Checks and later steps must use this same copy.
    pub fn copy_string(&mut self, at: usize) -> Result<CString, Errno> {
        self.shared.callers.copy_string(self.call.thread, self.call.args[at])
    }

    /// Copies this many bytes of the caller, as [`Self::copy_string`] does.
    pub fn copy_bytes(&mut self, at: usize, count: usize) -> Result<Vec<u8>, Errno> {
        self.shared.callers.copy_bytes(self.call.thread, self.call.args[at], count)
    }

    /// Returns the place of a path in argument `at`, relative to a descriptor of the caller.
    pub fn resolve_path(&mut self, descriptor: i32, at: usize) -> Result<CallerPath, Errno> {
        let path = self.copy_string(at)?;
        self.place_of(descriptor, path)
    }

    /// Returns the place of a path that was copied.
    pub fn place_of(&mut self, descriptor: i32, path: CString) -> Result<CallerPath, Errno> {
        let ListenerState { bounds, callers, .. } = &mut *self.shared;
        let thread = self.call.thread;
        let is_relative = !matches!(path.to_bytes(), [] | [b'/', ..]);
        if is_relative && let Some(base) = callers.remembered_path_start(thread, descriptor) {
            return Ok(CallerPath::Path(PathStart::Directory(base), path));
        }
        match bounds {
            Some(bounds) => perform::resolve_path(callers, thread, (descriptor, path), bounds.held_world()),
            None if is_relative => {
                let base = callers.get(thread)?.open_path_start(descriptor)?;
                Ok(CallerPath::Path(PathStart::Directory(callers.remember_base(base)), path))
            }
            None => CallerPath::of(callers.get(thread)?, descriptor, path),
        }
    }

    /// Makes sure that everything read from the caller is the caller's: its pid has not got another owner meanwhile. No
    /// change is made before this check.
    pub fn check_caller(&self) -> Result<(), Errno> {
        let is_there = self.shared.callers.is_proven() || sys::still_waits(self.listener.as_fd(), self.call.id);
        if is_there { Ok(()) } else { Err(Errno::ESRCH) }
    }

    /// Sets the umask of this process to the caller's.
    pub fn take_umask(&mut self) -> Result<(), Errno> {
        let umask = self.caller()?.umask;
        if self.shared.umask != umask {
            sys::set_umask(umask);
            self.shared.umask = umask;
        }
        Ok(())
    }

    /// Returns the directory and the name of the file that a call creates. Fails if the name is guarded there.
    pub fn creation_target(&mut self, base: PathStart, path: &CStr) -> Result<(PathStart, CString), Errno> {
        let (directory, name) = split_parent(base, path)?;
        if self.shared.bounds.is_some() {
            self.judge_new(&directory, &name)?;
        }
        self.check_guards(&directory, &name)?;
        self.left.note_appearance(&directory, &name);
        Ok((directory, name))
    }

    /// Fails if git runs something by a file, in a repository that another process has made since the command began.
    pub fn guard_git(&mut self, path: &Path) -> Result<(), Errno> {
        let protects = |name: &str| self.shared.settings.policy.protect.iter().any(|one| one == Path::new(name));
        let is_guarded = RepositoriesLeft::may_run_entry(path.file_name().unwrap_or_default().as_bytes())
            && protects(".git/config")
            && protects(".git/hooks")
            && self.left.is_foreign_entry(path);
        if !is_guarded {
            return Ok(());
        }
        // A path that was protected when the command started is refused by its mount.
        let is_protected = match &self.shared.bounds {
            Some(bounds) => !bounds.may_change(path),
            None => super::proc_links::c_string(path.as_os_str().as_bytes())
                .and_then(|path| sys::open_place(nix::fcntl::AT_FDCWD, &path, false, LinkResolution::Nothing))
                .is_ok_and(|place| sys::is_read_only(place.as_fd()) == Ok(true)),
        };
        if is_protected {
            return Ok(());
        }
        self.count_refused_change(path);
        Err(Errno::EACCES)
    }

    /// Fails if a name is guarded in a directory.
    pub fn check_guards(&mut self, directory: &PathStart, name: &CStr) -> Result<(), Errno> {
        let (_, bare) = last_component(name);
        if RepositoriesLeft::may_run_entry(bare) {
            let path = path_of_open(directory.descriptor())?.join(OsStr::from_bytes(bare));
            self.guard_git(&path)?;
        }
        let Some(guarded) = self.names.directories(bare) else { return Ok(()) };
        let id = match directory {
            PathStart::Directory(directory) => sys::file_status(directory.as_fd())?.id,
            PathStart::Root => {
                sys::file_status(sys::open_directory(directory.descriptor(), c"/", LinkResolution::Texts)?.as_fd())?.id
            }
        };
        if !guarded.contains(&id) {
            return Ok(());
        }
        let path = self.absolute_path(directory, name);
        let program = self.program();
        self.record.write(&path, &program, None);
        Err(Errno::EACCES)
    }

    /// Records that a change failed with this error, if confinement is the reason, and returns the error.
    pub fn record_failed_change(&mut self, base: &PathStart, path: &CStr, errno: Errno) -> Errno {
        if matches!(errno, Errno::EROFS | Errno::EACCES | Errno::EPERM) {
            let path = self.absolute_path(base, path);
            if errno == Errno::EROFS || !self.shared.paths.may_change(&path) {
                self.count_refused_change(&path);
            }
        }
        errno
    }

    /// Counts a refused change.
    pub fn count_refused_change(&mut self, path: &Path) {
        let grant = self.shared.paths.grant_for_change(path, path.symlink_metadata().is_ok());
        let program = self.program();
        self.record.write(path, &program, grant);
    }

    /// Returns the basename of the caller's executable.
    pub fn program(&mut self) -> String {
        self.caller().map(CallerThread::program).unwrap_or_default()
    }

    /// Returns the absolute path of a file, as far as its directories exist.
    pub fn absolute_path(&self, base: &PathStart, path: &CStr) -> PathBuf {
        let (begin, name) = last_component(path);
        let name = OsStr::from_bytes(name);
        let beginning = &path.to_bytes()[..begin];
        let directory = if beginning.is_empty() { Ok(c".".to_owned()) } else { super::proc_links::c_string(beginning) };
        let found = directory
            .and_then(|directory| sys::open_directory(base.descriptor(), &directory, LinkResolution::Texts))
            .and_then(|directory| path_of(directory.as_fd()));
        match found {
            Ok(directory) => Path::new(OsStr::from_bytes(directory.to_bytes())).join(name),
            Err(_) => match base {
                PathStart::Root => PathBuf::from(OsStr::from_bytes(path.to_bytes())),
                PathStart::Directory(base) => {
                    let base = path_of(base.as_fd()).unwrap_or_default();
                    Path::new(OsStr::from_bytes(base.to_bytes())).join(OsStr::from_bytes(path.to_bytes()))
                }
            },
        }
    }

    /// Opens a file of this process again, with other flags.
    pub fn reopen(file: BorrowedFd<'_>, flags: i32) -> Result<OwnedFd, Errno> {
        sys::open_path(nix::fcntl::AT_FDCWD, &link_of(file)?, flags, 0, LinkResolution::Everything)
    }
}
