//! Translates a call into the change that it may make: the file, at the place that the caller means.

use std::ffi::CString;
use std::os::fd::AsFd;

use nix::fcntl::AtFlags;
use nix::sys::stat::fstatat;

use super::caller_path::last_component;
use super::entry_location::{SyscallReader, of_file, skip_unreadable_caller};
use super::file_change_journal::{DirectoryEntryLocation, PendingChangeKind, PendingFileChange};
use super::proc_links::c_string;
use super::unrecorded_syscall::{UnrecordedSyscall, to_path};
use confine_world::{filter::SyscallEntry, filter::SyscallHandling};
use sys::{NAMELESS, O_PATH};

/// `RESOLVE_IN_ROOT`
const IN_ROOT: u64 = 0x10;
/// `AT_SYMLINK_NOFOLLOW`
const NO_FOLLOW: i32 = 0x100;
/// `AT_SYMLINK_FOLLOW`
const SYMLINK_FOLLOW: i32 = 0x400;
/// `AT_EMPTY_PATH`
const EMPTY_PATH: i32 = 0x1000;
/// `RENAME_EXCHANGE`
const EXCHANGE: u32 = 2;
/// `RENAME_WHITEOUT`
const WHITEOUT: u32 = 4;

impl SyscallReader<'_> {
    /// Returns the change that a call may make.
    pub fn change_of_syscall(&mut self, entry: &SyscallEntry) -> Result<PendingFileChange, UnrecordedSyscall> {
        let call = self.call;
        let base = |at: usize| if at == 0 { libc::AT_FDCWD } else { call.int(0) };
        match entry.handling {
            SyscallHandling::Open => self.open_change(libc::AT_FDCWD, 0, call.int(1)),
            SyscallHandling::OpenAt => self.open_change(call.int(0), 1, call.int(2)),
            SyscallHandling::Creat => {
                self.open_change(libc::AT_FDCWD, 0, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC)
            }
            SyscallHandling::OpenAt2 => self.opened_as(call.args[2], call.args[3]),
            SyscallHandling::Mkdir => self.change_of_name(libc::AT_FDCWD, 0, PendingChangeKind::MakeDirectory),
            SyscallHandling::MkdirAt => self.change_of_name(call.int(0), 1, PendingChangeKind::MakeDirectory),
            SyscallHandling::Mknod => self.change_of_name(libc::AT_FDCWD, 0, PendingChangeKind::Create),
            SyscallHandling::MknodAt => self.change_of_name(call.int(0), 1, PendingChangeKind::Create),
            SyscallHandling::Symlink => self.symlink_change(libc::AT_FDCWD, 1),
            SyscallHandling::SymlinkAt => self.symlink_change(call.int(1), 2),
            SyscallHandling::Link => self.link_change((libc::AT_FDCWD, 0), (libc::AT_FDCWD, 1), 0),
            SyscallHandling::LinkAt => self.link_change((call.int(0), 1), (call.int(2), 3), call.int(4)),
            SyscallHandling::Rename => self.rename_change((libc::AT_FDCWD, 0), (libc::AT_FDCWD, 1), 0),
            SyscallHandling::RenameAt => {
                self.rename_change((call.int(0), 1), (call.int(2), 3), entry.rename_flags(&call))
            }
            SyscallHandling::Bind => self.bind_change(),
            SyscallHandling::Truncate => self.of_path(libc::AT_FDCWD, 0, 0, PendingChangeKind::Rewrite),
            SyscallHandling::Chmod => self.of_path(libc::AT_FDCWD, 0, 0, PendingChangeKind::Meta),
            SyscallHandling::ChmodAt => {
                let flags = if entry.name == "fchmodat2" { call.int(3) } else { 0 };
                self.of_path(call.int(0), 1, flags, PendingChangeKind::Meta)
            }
            SyscallHandling::Fchmod | SyscallHandling::Descriptor => {
                self.of_descriptor(call.int(0), PendingChangeKind::Meta)
            }
            SyscallHandling::File(at) => self.of_path(base(at), at, 0, PendingChangeKind::Meta),
            SyscallHandling::Itself(at) => self.of_path(base(at), at, NO_FOLLOW, PendingChangeKind::Meta),
            SyscallHandling::FileAt(at, flags) => self.of_path(base(at), at, call.int(flags), PendingChangeKind::Meta),
            // Without a path, these calls change the file of the descriptor.
            SyscallHandling::Times(at) | SyscallHandling::TimesAt(at, _) if at == 1 && call.args[at] == 0 => {
                self.of_descriptor(call.int(0), PendingChangeKind::Times)
            }
            SyscallHandling::Times(at) => self.of_path(base(at), at, 0, PendingChangeKind::Times),
            SyscallHandling::TimesAt(at, flags) => {
                self.of_path(base(at), at, call.int(flags), PendingChangeKind::Times)
            }
            SyscallHandling::Entry(at) => {
                let is_plain = entry.name == "unlink" || entry.name == "unlinkat" && call.args[2] == 0;
                self.removal_change(base(at), at, is_plain)
            }
            SyscallHandling::Denied
            | SyscallHandling::Connect
            | SyscallHandling::SendTo
            | SyscallHandling::Umask
            | SyscallHandling::Watch
            | SyscallHandling::Process
            | SyscallHandling::Socket
            | SyscallHandling::Listen
            | SyscallHandling::Name => Err(UnrecordedSyscall::Nothing),
        }
    }

    fn open_change(&mut self, descriptor: i32, at: usize, flags: i32) -> Result<PendingFileChange, UnrecordedSyscall> {
        let text = self.copy_string(at)?;
        self.opened_text(descriptor, text, flags)
    }

    /// `openat2`
    fn opened_as(&mut self, how: u64, size: u64) -> Result<PendingFileChange, UnrecordedSyscall> {
        let thread = self.call.thread;
        // Flags, mode, and how the path is resolved.
        let bytes = self.callers.copy_bytes(thread, how, 24).map_err(|errno| skip_unreadable_caller(thread, errno))?;
        let word = |at: usize| bytes[at..at + 8].try_into().map_or(0, u64::from_ne_bytes);
        if size < 24 {
            return Err(UnrecordedSyscall::Nothing);
        }
        let text = self.copy_string(1)?;
        let flags = word(0) as i32;
        if word(16) & IN_ROOT != 0 && may_change(flags) {
            return Err(UnrecordedSyscall::Missed(to_path(text.to_bytes()), "its path begins at another root"));
        }
        self.opened_text(self.call.int(0), text, flags)
    }

    fn opened_text(
        &mut self,
        descriptor: i32,
        text: CString,
        flags: i32,
    ) -> Result<PendingFileChange, UnrecordedSyscall> {
        if !may_change(flags) {
            return Err(UnrecordedSyscall::Nothing);
        }
        let has = |flag: i32| flags & flag != 0;
        let writes = has(libc::O_ACCMODE | libc::O_TRUNC);
        let exclusive = has(libc::O_CREAT) && has(libc::O_EXCL);
        // Devices that nearly every command opens.
        if matches!(text.to_bytes(), b"/dev/null" | b"/dev/tty") {
            return Err(UnrecordedSyscall::Nothing);
        }
        let spot = self.locate_entry(descriptor, text, !has(libc::O_NOFOLLOW) && !exclusive)?;
        if spot.is_vacant {
            self.callers.note_creation(self.call.thread, &spot.directory, &spot.name);
        }
        let act = match (has(libc::O_CREAT), writes && !exclusive) {
            (true, true) => PendingChangeKind::Write,
            (true, false) => PendingChangeKind::Create,
            (false, _) => PendingChangeKind::Rewrite,
        };
        Ok(PendingFileChange { spot, act })
    }

    /// Returns a change of a name, which is not followed.
    fn change_of_name(
        &mut self,
        descriptor: i32,
        at: usize,
        act: PendingChangeKind,
    ) -> Result<PendingFileChange, UnrecordedSyscall> {
        let text = self.copy_string(at)?;
        Ok(PendingFileChange { spot: self.locate_entry(descriptor, text, false)?, act })
    }

    /// Returns the creation of a symbolic link.
    fn symlink_change(&mut self, descriptor: i32, at: usize) -> Result<PendingFileChange, UnrecordedSyscall> {
        let text = self.copy_string(at)?;
        let entry = self.remembered_directory(descriptor, &text);
        if let Some((known, name)) = entry.as_ref().filter(|(known, _)| known.is_own) {
            self.callers.directories.mark_linked(known.id);
            self.callers.directories.note_new_name(known.id, name);
            return Err(UnrecordedSyscall::Nothing);
        }
        let spot = self.spot_at(descriptor, text, false, entry)?;
        if let Ok(id) = sys::place_id(spot.directory.as_fd(), c"") {
            self.callers.directories.mark_linked(id);
        }
        Ok(PendingFileChange { spot, act: PendingChangeKind::Create })
    }

    /// Returns the removal of a name. With `plain`, the name cannot be a directory's.
    fn removal_change(
        &mut self,
        descriptor: i32,
        at: usize,
        plain: bool,
    ) -> Result<PendingFileChange, UnrecordedSyscall> {
        let text = self.copy_string(at)?;
        let is_plain = plain && !text.to_bytes().ends_with(b"/");
        let spot = self.locate_entry(descriptor, text, false)?;
        Ok(PendingFileChange {
            spot,
            act: if is_plain { PendingChangeKind::Unlink } else { PendingChangeKind::Remove },
        })
    }

    /// Returns a change of the file that a path leads to.
    fn of_path(
        &mut self,
        descriptor: i32,
        at: usize,
        flags: i32,
        act: PendingChangeKind,
    ) -> Result<PendingFileChange, UnrecordedSyscall> {
        let text = self.copy_string(at)?;
        if text.is_empty() && flags & EMPTY_PATH != 0 && descriptor != libc::AT_FDCWD {
            return self.of_descriptor(descriptor, act);
        }
        Ok(PendingFileChange { spot: self.locate_entry(descriptor, text, flags & NO_FOLLOW == 0)?, act })
    }

    fn of_descriptor(&mut self, number: i32, act: PendingChangeKind) -> Result<PendingFileChange, UnrecordedSyscall> {
        if self.is_new(number) {
            return Err(UnrecordedSyscall::Nothing);
        }
        if let Some(spot) = self.named_by(number) {
            return Ok(PendingFileChange { spot: spot?, act });
        }
        let thread = self.call.thread;
        let file = self.caller()?.place_of_descriptor(number).map_err(|errno| skip_unreadable_caller(thread, errno))?;
        Ok(PendingFileChange { spot: of_file(file)?, act })
    }

    /// Returns whether an open file of the caller is the file that it created last. The creation is recorded already,
    /// and nothing existed there before.
    fn is_new(&mut self, number: i32) -> bool {
        let Some((caller, open)) = self.callers.open_file(self.call.thread, number) else { return false };
        if caller.newest == Some(open) {
            return true;
        }
        let Some((directory, name)) = caller.created.take() else { return false };
        let is_named = sys::existing_file(directory.as_fd(), &name, false) == Ok(open) && open.links == 1;
        caller.newest = Some(open).filter(|open| is_named && open.born.is_some());
        caller.created = Some((directory, name));
        is_named
    }

    /// Returns the name of an open file of the caller, if its directory is remembered. Skips a file in a directory of
    /// the run's own.
    fn named_by(&mut self, number: i32) -> Option<Result<DirectoryEntryLocation, UnrecordedSyscall>> {
        let link = c_string(format!("fd/{number}")).ok()?;
        let caller = self.caller().ok()?.directory.as_fd();
        let path = sys::link_text(caller, &link).ok()?;
        let file = fstatat(caller, link.as_c_str(), AtFlags::empty()).ok()?;
        let (begin, name) = last_component(&path);
        let name = CString::new(name).ok().filter(|_| path.to_bytes().first() == Some(&b'/'))?;
        let known = self.callers.remembered_directory(self.call.thread, libc::AT_FDCWD, &path.to_bytes()[..begin])?;
        let found = fstatat(&*known.directory, name.as_c_str(), AtFlags::AT_SYMLINK_NOFOLLOW).ok()?;
        match (found.st_dev, found.st_ino) == (file.st_dev, file.st_ino) {
            true if known.is_own => Some(Err(UnrecordedSyscall::Nothing)),
            true => DirectoryEntryLocation::new(known.directory, name).ok().map(Ok),
            false => None,
        }
    }

    fn link_change(
        &mut self,
        from: (i32, usize),
        to: (i32, usize),
        flags: i32,
    ) -> Result<PendingFileChange, UnrecordedSyscall> {
        let old = self.copy_string(from.1)?;
        let file = if old.is_empty() && flags & EMPTY_PATH != 0 && from.0 != libc::AT_FDCWD {
            self.of_descriptor(from.0, PendingChangeKind::Meta).map(|change| change.spot)
        } else {
            self.any_spot(from.0, old, flags & SYMLINK_FOLLOW != 0)
        };
        let new = self.copy_string(to.1)?;
        let new = self.any_spot(to.0, new, false)?;
        match file {
            Ok(spot) => Ok(PendingFileChange { spot, act: PendingChangeKind::Link(new) }),
            // A file without a name gets a name.
            Err(UnrecordedSyscall::Nothing) => Ok(PendingFileChange { spot: new, act: PendingChangeKind::Create }),
            Err(missed) => Err(missed),
        }
    }

    fn rename_change(
        &mut self,
        from: (i32, usize),
        to: (i32, usize),
        flags: u32,
    ) -> Result<PendingFileChange, UnrecordedSyscall> {
        let (old, new) = (self.copy_string(from.1)?, self.copy_string(to.1)?);
        if flags & WHITEOUT != 0 {
            return Err(UnrecordedSyscall::Missed(to_path(old.to_bytes()), "a whiteout took its name"));
        }
        let (old, new) = (self.any_spot(from.0, old, false)?, self.any_spot(to.0, new, false)?);
        let act = if flags & EXCHANGE == 0 { PendingChangeKind::Rename(new) } else { PendingChangeKind::Swap(new) };
        Ok(PendingFileChange { spot: old, act })
    }

    /// `bind`: a socket with a path is a file.
    fn bind_change(&mut self) -> Result<PendingFileChange, UnrecordedSyscall> {
        let thread = self.call.thread;
        let length = usize::try_from(self.call.unsigned(2)).unwrap_or(0).min(size_of::<libc::sockaddr_un>());
        let address = self
            .callers
            .copy_bytes(thread, self.call.args[1], length)
            .map_err(|errno| skip_unreadable_caller(thread, errno))?;
        let Some((family, path)) = address.split_first_chunk::<2>() else { return Err(UnrecordedSyscall::Nothing) };
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        if i32::from(u16::from_ne_bytes(*family)) != libc::AF_UNIX || path.is_empty() {
            return Err(UnrecordedSyscall::Nothing);
        }
        let path = CString::new(path).map_err(|_| UnrecordedSyscall::Nothing)?;
        Ok(PendingFileChange { spot: self.locate_entry(libc::AT_FDCWD, path, false)?, act: PendingChangeKind::Create })
    }
}

/// Returns whether an open with these flags can change a file or a name.
fn may_change(flags: i32) -> bool {
    let has = |flag: i32| flags & flag != 0;
    !has(NAMELESS) && !has(O_PATH) && has(libc::O_ACCMODE | libc::O_TRUNC | libc::O_CREAT)
}
