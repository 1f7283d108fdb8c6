//! Translates a call into the change that it may make: the file, at the place that the caller means.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag};
use nix::sys::stat::{fstat, fstatat};

use super::caller::{Caller, Callers, read_bytes, read_text};
use super::directories::Known;
use super::journal::{Act, Change, Spot};
use super::links::{path_of, text};
use super::place::{Base, Place, last, parent};
use super::skip::{Skip, to_path};
use crate::filter::{Entry, Question};
use sys::{Call, Follow};

/// The most symbolic links that are followed in a row, as the kernel does.
const LINKS: usize = 40;
/// `O_TMPFILE` without `O_DIRECTORY`: a file without a name.
const NAMELESS: i32 = 0o20_000_000;
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

/// Returns whether a path lies in a file system of the kernel, which is on no disk.
fn is_of_kernel(path: &Path) -> bool {
    path.starts_with("/proc") || path.starts_with("/sys")
}

/// A call, and the known callers.
pub(super) struct Reading<'a> {
    pub call: Call,
    pub callers: &'a mut Callers,
}

impl Reading<'_> {
    /// Returns the change that a call may make.
    pub fn change(&mut self, entry: &Entry) -> Result<Change, Skip> {
        let call = self.call;
        let base = |at: usize| if at == 0 { libc::AT_FDCWD } else { call.int(0) };
        match entry.question {
            Question::Open => self.opened(libc::AT_FDCWD, 0, call.int(1)),
            Question::OpenAt => self.opened(call.int(0), 1, call.int(2)),
            Question::Creat => self.opened(libc::AT_FDCWD, 0, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC),
            Question::OpenAt2 => self.opened_as(call.args[2], call.args[3]),
            Question::Mkdir => self.named(libc::AT_FDCWD, 0, Act::MakeDirectory),
            Question::MkdirAt => self.named(call.int(0), 1, Act::MakeDirectory),
            Question::Mknod => self.named(libc::AT_FDCWD, 0, Act::Create),
            Question::MknodAt => self.named(call.int(0), 1, Act::Create),
            Question::Symlink => self.symlinked(libc::AT_FDCWD, 1),
            Question::SymlinkAt => self.symlinked(call.int(1), 2),
            Question::Link => self.linked((libc::AT_FDCWD, 0), (libc::AT_FDCWD, 1), 0),
            Question::LinkAt => self.linked((call.int(0), 1), (call.int(2), 3), call.int(4)),
            Question::Rename => self.renamed((libc::AT_FDCWD, 0), (libc::AT_FDCWD, 1), 0),
            Question::RenameAt => {
                let flags = if entry.name == "renameat2" { call.unsigned(4) } else { 0 };
                self.renamed((call.int(0), 1), (call.int(2), 3), flags)
            }
            Question::Bind => self.bound(),
            Question::Truncate => self.of_path(libc::AT_FDCWD, 0, 0, Act::Rewrite),
            Question::Chmod => self.of_path(libc::AT_FDCWD, 0, 0, Act::Meta),
            Question::ChmodAt => {
                let flags = if entry.name == "fchmodat2" { call.int(3) } else { 0 };
                self.of_path(call.int(0), 1, flags, Act::Meta)
            }
            Question::Fchmod | Question::Descriptor => self.of_descriptor(call.int(0), Act::Meta),
            Question::File(at) => self.of_path(base(at), at, 0, Act::Meta),
            Question::Itself(at) => self.of_path(base(at), at, NO_FOLLOW, Act::Meta),
            Question::FileAt(at, flags) => self.of_path(base(at), at, call.int(flags), Act::Meta),
            // Without a path, these calls change the file of the descriptor.
            Question::Times(at) | Question::TimesAt(at, _) if at == 1 && call.args[at] == 0 => {
                self.of_descriptor(call.int(0), Act::Times)
            }
            Question::Times(at) => self.of_path(base(at), at, 0, Act::Times),
            Question::TimesAt(at, flags) => self.of_path(base(at), at, call.int(flags), Act::Times),
            Question::Entry(at) => {
                let is_plain = entry.name == "unlink" || entry.name == "unlinkat" && call.args[2] == 0;
                self.removed(base(at), at, is_plain)
            }
            Question::Denied | Question::Connect | Question::SendTo | Question::Umask | Question::Watch => {
                Err(Skip::Nothing)
            }
        }
    }

    fn caller(&mut self) -> Result<&Caller, Skip> {
        let thread = self.call.thread;
        self.callers.get(thread).map_err(|errno| unreadable(thread, errno))
    }

    /// Reads a string of the caller.
    fn text(&self, at: usize) -> Result<CString, Skip> {
        read_text(self.call.thread, self.call.args[at]).map_err(|errno| unreadable(self.call.thread, errno))
    }

    fn opened(&mut self, descriptor: i32, at: usize, flags: i32) -> Result<Change, Skip> {
        let text = self.text(at)?;
        self.opened_text(descriptor, text, flags)
    }

    /// `openat2`
    fn opened_as(&mut self, how: u64, size: u64) -> Result<Change, Skip> {
        let thread = self.call.thread;
        // Flags, mode, and how the path is resolved.
        let bytes = read_bytes(thread, how, 24).map_err(|errno| unreadable(thread, errno))?;
        let word = |at: usize| bytes[at..at + 8].try_into().map_or(0, u64::from_ne_bytes);
        if size < 24 {
            return Err(Skip::Nothing);
        }
        let mut text = self.text(1)?;
        if word(16) & IN_ROOT != 0 {
            let below: Vec<u8> = text.to_bytes().iter().copied().skip_while(|byte| *byte == b'/').collect();
            text = CString::new(below).map_err(|_| Skip::Nothing)?;
        }
        self.opened_text(self.call.int(0), text, word(0) as i32)
    }

    fn opened_text(&mut self, descriptor: i32, text: CString, flags: i32) -> Result<Change, Skip> {
        let has = |flag: i32| flags & flag != 0;
        let writes = has(libc::O_ACCMODE | libc::O_TRUNC);
        if has(NAMELESS) || has(libc::O_PATH) || !(writes || has(libc::O_CREAT)) {
            return Err(Skip::Nothing);
        }
        let exclusive = has(libc::O_CREAT) && has(libc::O_EXCL);
        // Devices that nearly every command opens.
        if matches!(text.to_bytes(), b"/dev/null" | b"/dev/tty") {
            return Err(Skip::Nothing);
        }
        let spot = self.spot(descriptor, text, !has(libc::O_NOFOLLOW) && !exclusive)?;
        if spot.is_vacant {
            self.callers.creates(self.call.thread, &spot.directory, &spot.name);
        }
        let act = match (has(libc::O_CREAT), writes && !exclusive) {
            (true, true) => Act::Write,
            (true, false) => Act::Create,
            (false, _) => Act::Rewrite,
        };
        Ok(Change { spot, act })
    }

    /// Returns a change of a name, which is not followed.
    fn named(&mut self, descriptor: i32, at: usize, act: Act) -> Result<Change, Skip> {
        let text = self.text(at)?;
        Ok(Change { spot: self.spot(descriptor, text, false)?, act })
    }

    /// Returns the creation of a symbolic link.
    fn symlinked(&mut self, descriptor: i32, at: usize) -> Result<Change, Skip> {
        let text = self.text(at)?;
        let entry = self.remembered(descriptor, &text);
        if let Some((known, _)) = entry.as_ref().filter(|(known, _)| known.is_own) {
            self.callers.directories.link(known.id);
            return Err(Skip::Nothing);
        }
        let spot = self.spot_at(descriptor, text, false, entry)?;
        if let Ok(id) = sys::place_id(spot.directory.as_fd(), c"") {
            self.callers.directories.link(id);
        }
        Ok(Change { spot, act: Act::Create })
    }

    /// Returns the removal of a name. With `plain`, the name cannot be a directory's.
    fn removed(&mut self, descriptor: i32, at: usize, plain: bool) -> Result<Change, Skip> {
        let text = self.text(at)?;
        let is_plain = plain && !text.to_bytes().ends_with(b"/");
        let spot = self.spot(descriptor, text, false)?;
        Ok(Change { spot, act: if is_plain { Act::Unlink } else { Act::Remove } })
    }

    /// Returns a change of the file that a path leads to.
    fn of_path(&mut self, descriptor: i32, at: usize, flags: i32, act: Act) -> Result<Change, Skip> {
        let text = self.text(at)?;
        if text.is_empty() && flags & EMPTY_PATH != 0 && descriptor != libc::AT_FDCWD {
            return self.of_descriptor(descriptor, act);
        }
        Ok(Change { spot: self.spot(descriptor, text, flags & NO_FOLLOW == 0)?, act })
    }

    fn of_descriptor(&mut self, number: i32, act: Act) -> Result<Change, Skip> {
        if self.is_new(number) {
            return Err(Skip::Nothing);
        }
        if let Some(spot) = self.named_by(number) {
            return Ok(Change { spot: spot?, act });
        }
        let thread = self.call.thread;
        let file = self.caller()?.place_of_descriptor(number).map_err(|errno| unreadable(thread, errno))?;
        Ok(Change { spot: of_file(file)?, act })
    }

    /// Returns whether an open file of the caller is the file that it created last. The creation is recorded already,
    /// and nothing existed there before.
    fn is_new(&mut self, number: i32) -> bool {
        let Some((caller, open)) = self.callers.open_file(self.call.thread, number) else { return false };
        if caller.newest == Some(open) {
            return true;
        }
        let Some((directory, name)) = caller.created.take() else { return false };
        let is_named = sys::being(directory.as_fd(), &name, false) == Ok(open) && open.links == 1;
        caller.newest = Some(open).filter(|open| is_named && open.born.is_some());
        caller.created = Some((directory, name));
        is_named
    }

    /// Returns the name of an open file of the caller, if its directory is remembered. Skips a file in a directory of
    /// the run's own.
    fn named_by(&mut self, number: i32) -> Option<Result<Spot, Skip>> {
        let link = text(format!("fd/{number}")).ok()?;
        let caller = self.caller().ok()?.directory.as_fd();
        let path = sys::link_text(caller, &link).ok()?;
        let file = fstatat(caller, link.as_c_str(), AtFlags::empty()).ok()?;
        let (begin, name) = last(&path);
        let name = CString::new(name).ok().filter(|_| path.to_bytes().first() == Some(&b'/'))?;
        let known = self.callers.directory(self.call.thread, libc::AT_FDCWD, &path.to_bytes()[..begin])?;
        let found = fstatat(&*known.directory, name.as_c_str(), AtFlags::AT_SYMLINK_NOFOLLOW).ok()?;
        match (found.st_dev, found.st_ino) == (file.st_dev, file.st_ino) {
            true if known.is_own => Some(Err(Skip::Nothing)),
            true => Spot::new(known.directory, name).ok().map(Ok),
            false => None,
        }
    }

    fn linked(&mut self, from: (i32, usize), to: (i32, usize), flags: i32) -> Result<Change, Skip> {
        let old = self.text(from.1)?;
        let file = if old.is_empty() && flags & EMPTY_PATH != 0 && from.0 != libc::AT_FDCWD {
            self.of_descriptor(from.0, Act::Meta).map(|change| change.spot)
        } else {
            self.any_spot(from.0, old, flags & SYMLINK_FOLLOW != 0)
        };
        let new = self.text(to.1)?;
        let new = self.any_spot(to.0, new, false)?;
        match file {
            Ok(spot) => Ok(Change { spot, act: Act::Link(new) }),
            // A file without a name gets a name.
            Err(Skip::Nothing) => Ok(Change { spot: new, act: Act::Create }),
            Err(missed) => Err(missed),
        }
    }

    fn renamed(&mut self, from: (i32, usize), to: (i32, usize), flags: u32) -> Result<Change, Skip> {
        let (old, new) = (self.text(from.1)?, self.text(to.1)?);
        let (old, new) = (self.any_spot(from.0, old, false)?, self.any_spot(to.0, new, false)?);
        let act = if flags & EXCHANGE == 0 { Act::Rename(new) } else { Act::Swap(new) };
        Ok(Change { spot: old, act })
    }

    /// `bind`: a socket with a path is a file.
    fn bound(&mut self) -> Result<Change, Skip> {
        let thread = self.call.thread;
        let length = usize::try_from(self.call.unsigned(2)).unwrap_or(0).min(size_of::<libc::sockaddr_un>());
        let address = read_bytes(thread, self.call.args[1], length).map_err(|errno| unreadable(thread, errno))?;
        let Some((family, path)) = address.split_first_chunk::<2>() else { return Err(Skip::Nothing) };
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        if i32::from(u16::from_ne_bytes(*family)) != libc::AF_UNIX || path.is_empty() {
            return Err(Skip::Nothing);
        }
        let path = CString::new(path).map_err(|_| Skip::Nothing)?;
        Ok(Change { spot: self.spot(libc::AT_FDCWD, path, false)?, act: Act::Create })
    }

    /// Returns the directory and the name of a path, if the directory is remembered.
    fn remembered(&mut self, descriptor: i32, path: &CString) -> Option<(Known, CString)> {
        let (begin, name) = last(path);
        let (directory, ending) = path.to_bytes().split_at(begin);
        if matches!(name, b"" | b"." | b"..") || ending != name || may_jump(directory) {
            return None;
        }
        let directory = self.callers.directory(self.call.thread, descriptor, directory)?;
        Some((directory, CString::new(name).ok()?))
    }

    /// Skips a change in a directory of the run's own, unless a symbolic link leads it elsewhere.
    fn in_own(&mut self, known: &Known, name: &CStr, follow: bool) -> Result<(), Skip> {
        let leads_on = || sys::link_text(known.directory.as_fd(), name).is_ok();
        if follow && self.callers.directories.has_links(known.id) && leads_on() {
            return Ok(());
        }
        // Nothing of before has the name.
        self.callers.creates(self.call.thread, &known.directory, name);
        Err(Skip::Nothing)
    }

    /// Returns the place that a path names, with `follow` after a symbolic link at its end. Skips a place in a
    /// directory of the run's own.
    fn spot(&mut self, descriptor: i32, text: CString, follow: bool) -> Result<Spot, Skip> {
        let entry = self.remembered(descriptor, &text);
        if let Some((known, name)) = entry.as_ref().filter(|(known, _)| known.is_own) {
            self.in_own(known, name, follow)?;
        }
        self.spot_at(descriptor, text, follow, entry)
    }

    /// Returns the place that a path names, wherever it is.
    fn any_spot(&mut self, descriptor: i32, text: CString, follow: bool) -> Result<Spot, Skip> {
        let entry = self.remembered(descriptor, &text);
        self.spot_at(descriptor, text, follow, entry)
    }

    /// Returns the place that a path names. `entry` is its directory with its name, if the directory is remembered.
    fn spot_at(
        &mut self,
        descriptor: i32,
        text: CString,
        follow: bool,
        mut entry: Option<(Known, CString)>,
    ) -> Result<Spot, Skip> {
        let shown = text.clone().into_bytes();
        if shown.is_empty() {
            return Err(Skip::Nothing);
        }
        let thread = self.call.thread;
        let mut place = match &entry {
            Some(_) => Place::Path(Base::Root, text),
            None => Place::of(self.caller()?, descriptor, text).map_err(|errno| begins_badly(&shown, thread, errno))?,
        };
        for _ in 0..LINKS {
            let (base, path) = match place {
                Place::Path(base, path) => (base, path),
                Place::OwnProc(..) => return Err(Skip::Nothing),
                Place::Open(file) => return of_file(file),
            };
            let (directory, name) = match entry.take() {
                Some((known, name)) => (known.directory, name),
                None => {
                    let (directory, name) = entry_of(base, path).map_err(|errno| Skip::on_path(&shown, errno))?;
                    (self.callers.remember(directory), name)
                }
            };
            if matches!(name.to_bytes(), b"." | b"..") {
                let directory = sys::open_directory(directory.as_fd(), &name, Follow::Texts);
                return of_file(directory.map_err(|errno| Skip::on_path(&shown, errno))?);
            }
            let link = if follow { sys::link_text(directory.as_fd(), &name) } else { Err(Errno::EINVAL) };
            let mut spot = Spot::new(directory, name).map_err(|errno| Skip::on_path(&shown, errno))?;
            spot.is_vacant = link == Err(Errno::ENOENT);
            if is_of_kernel(&spot.parent) {
                return followed(spot, link.is_ok());
            }
            let Ok(link) = link else { return settled(spot) };
            let directory = spot.directory.try_clone().map_err(|_| Skip::on_path(&shown, Errno::EMFILE))?;
            place =
                Place::of_link(self.caller()?, directory, link).map_err(|errno| begins_badly(&shown, thread, errno))?;
        }
        Err(Skip::Nothing)
    }
}

/// Returns whether links of `/proc` may lead a path elsewhere for this process than for its caller.
fn may_jump(path: &[u8]) -> bool {
    path.starts_with(b"//") || memchr::memmem::find(path, b"/proc").is_some() || path.starts_with(b"/dev")
}

/// Returns the directory of the last component of a path, and that component without slashes after it.
fn entry_of(base: Base, path: CString) -> Result<(OwnedFd, CString), Errno> {
    let (base, name) = parent(base, &path)?;
    let Base::Directory(directory) = base else { return Err(Errno::EINVAL) };
    let bytes = name.to_bytes();
    let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    let name = if end == bytes.len() { name } else { CString::new(&bytes[..end]).map_err(|_| Errno::EINVAL)? };
    Ok((directory, name))
}

/// Accepts or skips a file in `/proc`: a link there leads to a file of a process, and other files there are the
/// kernel's.
fn followed(spot: Spot, is_link: bool) -> Result<Spot, Skip> {
    if !is_link {
        return Err(Skip::Nothing);
    }
    let file = sys::open_place(spot.directory.as_fd(), &spot.name, true, Follow::Everything);
    of_file(file.map_err(|_| Skip::Missed(spot.path(), "its path leads through another process"))?)
}

/// Skips a name in a removed directory, which has no entries left.
fn settled(spot: Spot) -> Result<Spot, Skip> {
    let is_gone = spot.parent.as_os_str().as_bytes().ends_with(b" (deleted)")
        && fstat(&spot.directory).is_ok_and(|status| status.st_nlink == 0);
    if is_gone || !spot.parent.is_absolute() { Err(Skip::Nothing) } else { Ok(spot) }
}

/// Returns the name of an open file, if it has one.
pub(super) fn of_file(file: OwnedFd) -> Result<Spot, Skip> {
    let path = path_of(file.as_fd()).map_err(|_| Skip::Nothing)?;
    let path = to_path(path.to_bytes());
    let status = fstat(&file).map_err(|_| Skip::Nothing)?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Spot::new(file, c".".to_owned()).map_err(|_| Skip::Nothing);
    };
    // The file is a pipe, a socket, or a file without a name.
    if !path.is_absolute() || status.st_nlink == 0 || is_of_kernel(&path) {
        return Err(Skip::Nothing);
    }
    let lost = || Skip::Missed(path.clone(), "its name is not known");
    let name = CString::new(name.as_bytes()).map_err(|_| lost())?;
    let text = CString::new(parent.as_os_str().as_bytes()).map_err(|_| lost())?;
    let flags = OFlag::from_bits_retain(libc::O_PATH) | OFlag::O_DIRECTORY;
    let directory = sys::open_path(AT_FDCWD, &text, flags.bits(), 0, Follow::Nothing).map_err(|_| lost())?;
    let found = fstatat(&directory, name.as_c_str(), AtFlags::AT_SYMLINK_NOFOLLOW).map_err(|_| lost())?;
    if (found.st_dev, found.st_ino) != (status.st_dev, status.st_ino) {
        return Err(lost());
    }
    Spot::new(directory, name).map_err(|_| lost())
}

/// Handles a caller whose memory or descriptors cannot be read.
fn unreadable(thread: i32, errno: Errno) -> Skip {
    match errno {
        Errno::EPERM | Errno::EACCES | Errno::ESRCH | Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM => {
            Skip::Missed(format!("/proc/{thread}").into(), "a program that cannot be read")
        }
        _ => Skip::Nothing,
    }
}

/// Handles a path whose beginning cannot be found.
fn begins_badly(path: &[u8], thread: i32, errno: Errno) -> Skip {
    if path.first() != Some(&b'/') {
        return unreadable(thread, errno);
    }
    let mut parts = path.split(|byte| *byte == b'/');
    let leads_on = parts.any(|part| matches!(part, b"fd" | b"cwd" | b"root" | b"map_files"));
    if leads_on { Skip::Missed(to_path(path), "its path leads through another process") } else { Skip::Nothing }
}
