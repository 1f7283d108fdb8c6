//! Answers the calls of commands that are recorded and not confined. It refuses nothing by itself. The kernel performs
//! each call, unless the journal forbids the call, or keeps a removed file by making the removal in place of its
//! caller.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ffi::CString;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;

use super::caller::CallerTable;
use super::entry_location::{SyscallReader, of_file};
use super::file_change_journal::{DirectoryEntryLocation, FileChangeJournal, PendingChangeKind, PendingFileChange};
use super::proc_links::link_of;
use super::remote_journal;
use super::rights::{OWN_RULES, ThreadRights};
use super::unrecorded_syscall::UnrecordedSyscall;
use confine_world::{filter, filter::SyscallEntry, filter::SyscallHandling};
use sys::{LinkResolution, NotificationResponse, SyscallArchitecture, SyscallNotification};

/// The listener of commands that are not confined.
pub struct UnconfinedListener {
    table: Vec<Option<&'static SyscallEntry>>,
    callers: CallerTable,
    /// Processes that may have another root, other mounts or other rights by now.
    movers: HashSet<i32>,
    /// The name of this process's mount namespace.
    mounts: CString,
    /// The rights of this process, with which it may act for callers. `None`: it does not act for them.
    rights: OnceCell<Option<ThreadRights>>,
}

impl Default for UnconfinedListener {
    fn default() -> Self {
        Self::new()
    }
}

impl UnconfinedListener {
    /// Returns a listener that has seen no call yet.
    pub fn new() -> Self {
        Self {
            table: SyscallArchitecture::HERE.map(filter::by_number).unwrap_or_default(),
            callers: CallerTable::of_host(),
            movers: HashSet::new(),
            mounts: sys::link_text(AT_FDCWD, c"/proc/self/ns/mnt").unwrap_or_default(),
            rights: OnceCell::new(),
        }
    }

    /// Answers the next call of a filter. A command without a journal has ended, and its remaining processes go on.
    pub fn answer(&mut self, listener: BorrowedFd<'_>, journal: Option<&dyn FileChangeJournal>) {
        let Ok(Some(call)) = sys::next_call(listener) else { return };
        self.callers.on_call();
        if let Some(journal) = journal {
            self.callers.directories.begin_run(journal.run_number());
        }
        let noted = journal.map_or(Ok(false), |journal| self.handle_call(listener, call, journal));
        let answer = match noted {
            Ok(true) => NotificationResponse::Value(0),
            Ok(false) => NotificationResponse::Continue,
            Err(errno) => NotificationResponse::Fail(errno),
        };
        sys::respond(listener, call.id, answer);
    }

    /// Answers the next message of a world's listener. Returns `false` once the listener is gone, or sends no message.
    pub fn answer_remote(&mut self, socket: BorrowedFd<'_>, journal: Option<&dyn FileChangeJournal>) -> bool {
        remote_journal::answer_message(socket, journal, &mut self.callers.directories)
    }

    /// Leaves and closes the directories of changes, in which another process may want to unmount a file system.
    /// Returns whether there were any.
    pub fn leave_directories(&mut self) -> bool {
        self.callers.leave_directories()
    }

    /// Handles a call, and returns whether its change is made.
    fn handle_call(
        &mut self,
        listener: BorrowedFd<'_>,
        call: SyscallNotification,
        journal: &dyn FileChangeJournal,
    ) -> Result<bool, Errno> {
        if !SyscallArchitecture::HERE.is_some_and(|machine| filter::is_known(machine, call.machine, call.number)) {
            return journal
                .record_unfollowed(&self.program(call), "a program for another kind of machine")
                .map(|()| false);
        }
        let Some(entry) = self.table.get(call.number as usize).copied().flatten() else { return Ok(false) };
        if entry.handling == SyscallHandling::Denied {
            return self.on_rare(call, entry, journal).map(|()| false);
        }
        // Identifying a program that asks for the first time takes several calls.
        if !self.callers.is_known(call.thread) && opens_device(call, entry) {
            return Ok(false);
        }
        // A path that begins at the caller's directory in `/proc` shows that the caller is still the same thread.
        let early = self.callers.saw_same(call.thread).then(|| self.read(call, entry));
        let is_proven = early.is_some() && self.callers.is_same(call.thread);
        // An error means that the caller is gone or cannot be read, which shows again below.
        if let Ok(false) = self.callers.sees_same(call.thread, &self.mounts) {
            return journal
                .record_unfollowed(&self.program(call), "a program with other mounts or another root")
                .map(|()| false);
        }
        let change = early.unwrap_or_else(|| self.read(call, entry));
        let names = self.callers.directories.take_names();
        if !names.is_empty() {
            journal.record_own_names(names);
        }
        let may_make = change.as_ref().is_ok_and(|change| self.may_make(call, change));
        if self.callers.pid(call.thread).is_some_and(|pid| self.movers.contains(&pid)) {
            self.callers.forget_one(call.thread);
        }
        match change {
            // If the caller is gone, the path may be another process's. Keeping an unchanged file does no harm.
            Ok(change) if !may_make || is_proven || sys::still_waits(listener, call.id) => {
                let noted = if may_make { journal.record_or_make(&change) } else { journal.record_before(&change) }?;
                self.callers.directories.note_change(&change, noted.own);
                Ok(noted.made)
            }
            Err(UnrecordedSyscall::Missed(path, why)) if sys::still_waits(listener, call.id) => {
                journal.record_unfollowed(&path, why).map(|()| false)
            }
            Ok(_) | Err(_) => Ok(false),
        }
    }

    fn read(
        &mut self,
        call: SyscallNotification,
        entry: &SyscallEntry,
    ) -> Result<PendingFileChange, UnrecordedSyscall> {
        SyscallReader { call, callers: &mut self.callers }.change_of_syscall(entry)
    }

    /// Returns whether this process may make a change in the place of its caller.
    fn may_make(&mut self, call: SyscallNotification, change: &PendingFileChange) -> bool {
        if !matches!(change.act, PendingChangeKind::Unlink) {
            return false;
        }
        let own = || ThreadRights::of_this_thread().ok().filter(|_| sys::waits_killable());
        let rights = self.rights.get_or_init(own).as_ref();
        rights.is_some_and(|rights| self.callers.is_equal(call.thread, rights))
    }

    /// Handles a call that opens a file without a path, or after which its process has other rights, or paths have
    /// another meaning for the process.
    fn on_rare(
        &mut self,
        call: SyscallNotification,
        entry: &SyscallEntry,
        journal: &dyn FileChangeJournal,
    ) -> Result<(), Errno> {
        if entry.name == "open_by_handle_at" {
            return journal.record_unfollowed(&self.program(call), "a file was opened without a path");
        }
        if entry.name == "umount2" {
            self.callers.leave_directories();
            return Ok(());
        }
        if entry.name == OWN_RULES {
            self.rights = OnceCell::from(None);
            return Ok(());
        }
        // The call takes effect later than this.
        self.movers.extend(self.callers.forget_process(call.thread));
        Ok(())
    }

    /// Returns the program of a caller, as far as it is known.
    fn program(&mut self, call: SyscallNotification) -> PathBuf {
        let name = self.callers.get(call.thread).map(super::caller::CallerThread::program).unwrap_or_default();
        if name.is_empty() { format!("/proc/{}", call.thread).into() } else { name.into() }
    }
}

/// Returns whether a call opens a device that nearly every command opens, by its usual path.
fn opens_device(call: SyscallNotification, entry: &SyscallEntry) -> bool {
    let path = match entry.handling {
        SyscallHandling::Open => call.args[0],
        SyscallHandling::OpenAt => call.args[1],
        _ => return false,
    };
    // The path need not be read in full.
    let mut text = [0; 10];
    let length = sys::read_foreign(call.thread, path, &mut text).unwrap_or(0);
    text[..length].starts_with(b"/dev/null\0") || text[..length].starts_with(b"/dev/tty\0")
}

/// Returns the name of a file that this process has open, if the file has a name.
pub fn spot_of(file: BorrowedFd<'_>) -> Option<DirectoryEntryLocation> {
    let place = sys::open_place(AT_FDCWD, &link_of(file).ok()?, true, LinkResolution::Everything).ok()?;
    of_file(place).ok()
}
