//! `open` for writing.
//!
//! Most files do not exist yet. So the first attempt creates the file, exclusively and without a link at the end, which
//! takes one call. An existing file is then opened without `O_CREAT`, so that nothing is created at the target of a
//! link, or in the place of a file that another thread has exchanged.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};

use super::caller_path::{CallerPath, PathStart, last_component, split_parent};
use super::pending_syscall::PendingSyscall;
use super::proc_links::{LINKS, path_of};
use super::repositories_left::RepositoriesLeft;
use super::syscall_reply::SyscallReply;
use confine_world::filter::PRIVILEGED;
use sys::{CHARACTERS, DIRECTORY, FIFO, LINK, LinkResolution, O_PATH, REGULAR};

/// The result of an attempt.
pub(super) enum OpenStep {
    /// An answer.
    Reply(SyscallReply),
    /// The path leads elsewhere, or has changed meanwhile.
    Again(CallerPath),
}

/// The flags and the mode of the caller.
#[derive(Clone, Copy)]
pub(super) struct OpenRequest {
    pub flags: OFlag,
    pub mode: u32,
}

impl OpenRequest {
    /// Returns a wish. The lower half of a mode may hold more bits than the kernel knows.
    pub fn new(flags: i32, mode: u32) -> Self {
        Self { flags: OFlag::from_bits_retain(flags), mode: mode & 0o7777 }
    }

    pub fn has(self, flags: OFlag) -> bool {
        self.flags.contains(flags)
    }

    pub fn writes(self) -> bool {
        self.flags & OFlag::O_ACCMODE != OFlag::O_RDONLY
    }

    /// Returns whether an existing file may change.
    pub fn changes(self) -> bool {
        self.writes() || self.has(OFlag::O_TRUNC)
    }

    /// Returns the flags for an existing file. Nothing here may block.
    pub fn flags_for_existing(self) -> OFlag {
        (self.flags - OFlag::O_CREAT - OFlag::O_EXCL) | OFlag::O_NONBLOCK | OFlag::O_NOCTTY
    }

    pub fn reply(self, file: OwnedFd) -> OpenStep {
        OpenStep::Reply(SyscallReply::File(file, self.has(OFlag::O_CLOEXEC)))
    }
}

/// Opens a file that may have to be created, or may change.
pub(super) fn open(
    asked: &mut PendingSyscall<'_>,
    descriptor: i32,
    at: usize,
    flags: i32,
    mode: u32,
) -> Result<SyscallReply, Errno> {
    let wish = OpenRequest::new(flags, mode);
    if wish.mode & PRIVILEGED != 0 {
        return Err(Errno::EPERM);
    }
    let mut place = asked.resolve_path(descriptor, at)?;
    asked.take_umask()?;
    asked.check_caller()?;
    for _ in 0..LINKS {
        let step = match place {
            CallerPath::Path(base, path) if wish.has(OFlag::O_CREAT) => create(asked, wish, base, path)?,
            CallerPath::Path(base, path) => open_existing(asked, wish, base, path)?,
            CallerPath::OwnProc(..) | CallerPath::Open(_) if wish.has(OFlag::O_EXCL) => return Err(Errno::EEXIST),
            CallerPath::OwnProc(directory, path) => {
                let flags = wish.flags_for_existing() | OFlag::O_NOFOLLOW;
                let file = sys::open_path(directory.as_fd(), &path, flags.bits(), 0, LinkResolution::Texts)?;
                OpenStep::Reply(finish_open(asked, wish, file)?)
            }
            CallerPath::Open(file) => OpenStep::Reply(reopen_for_caller(asked, wish, file)?),
        };
        match step {
            OpenStep::Reply(reply) => return Ok(reply),
            OpenStep::Again(next) => place = next,
        }
    }
    Err(Errno::ELOOP)
}

/// Creates a file, or opens the existing file.
fn create(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    base: PathStart,
    path: CString,
) -> Result<OpenStep, Errno> {
    let (_, bare) = last_component(&path);
    let matters = RepositoriesLeft::is_relevant_name(bare)
        || RepositoriesLeft::may_run_entry(bare)
        || asked.names.directories(bare).is_some();
    let (base, path) = if matters { asked.creation_target(base, &path)? } else { (base, path) };
    let flags = wish.flags | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW;
    match sys::open_path(base.descriptor(), &path, flags.bits(), wish.mode, LinkResolution::Texts) {
        Ok(file) => Ok(wish.reply(file)),
        Err(Errno::EEXIST) if !wish.has(OFlag::O_EXCL) => open_existing(asked, wish, base, path),
        Err(errno) => Err(asked.record_failed_change(&base, &path, errno)),
    }
}

/// Opens an existing file. One that may change is opened as a place first, because the other end of a FIFO would notice
/// the opening, and other names of a file the change.
fn open_existing(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    base: PathStart,
    path: CString,
) -> Result<OpenStep, Errno> {
    let opened = sys::open_place(base.descriptor(), &path, false, LinkResolution::Texts);
    let place = match opened {
        Ok(place) => place,
        // The file is gone again.
        Err(Errno::ENOENT) if wish.has(OFlag::O_CREAT) => return Ok(OpenStep::Again(CallerPath::Path(base, path))),
        Err(errno) => return Err(asked.record_failed_change(&base, &path, errno)),
    };
    if sys::file_status(place.as_fd())?.has_kind(LINK) {
        return if wish.has(OFlag::O_NOFOLLOW) { Err(Errno::ELOOP) } else { follow_last_link(asked, base, path) };
    }
    if sys::is_of_proc(place.as_fd())? && is_of_process(&place) {
        return Err(Errno::EACCES);
    }
    match reopen_for_caller(asked, wish, place) {
        Err(errno) => Err(asked.record_failed_change(&base, &path, errno)),
        reply => reply.map(OpenStep::Reply),
    }
}

/// Follows a symbolic link at the end of a path.
pub(super) fn follow_last_link(
    asked: &mut PendingSyscall<'_>,
    base: PathStart,
    path: CString,
) -> Result<OpenStep, Errno> {
    let (directory, name) = split_parent(base, &path)?;
    let PathStart::Directory(directory) = directory else { return Err(Errno::ELOOP) };
    // Links of a procfs have no text, or their text names files of the listener.
    if sys::is_of_proc(directory.as_fd())? {
        return Err(Errno::EACCES);
    }
    match sys::link_text(directory.as_fd(), &name) {
        Ok(link) => Ok(OpenStep::Again(CallerPath::of_link(asked.caller()?, directory, link)?)),
        // Another file has taken the place of the link.
        Err(Errno::EINVAL | Errno::ENOENT) => {
            Ok(OpenStep::Again(CallerPath::Path(PathStart::Directory(directory), name)))
        }
        Err(errno) => Err(errno),
    }
}

/// Refuses to write to a FIFO that may not be changed. The kernel writes to a FIFO even where the mount is read-only,
/// and the listener has no Landlock.
fn stay_inside(asked: &mut PendingSyscall<'_>, wish: OpenRequest, file: &OwnedFd) -> Result<(), Errno> {
    if !wish.writes() || !sys::file_status(file.as_fd())?.has_kind(FIFO) || !sys::is_read_only(file.as_fd())? {
        return Ok(());
    }
    let path = path_of(file.as_fd())?;
    asked.count_refused_change(Path::new(OsStr::from_bytes(path.to_bytes())));
    Err(Errno::EACCES)
}

/// Returns whether a file of a procfs is about a process, which the listener may see with other rights than its caller.
fn is_of_process(file: &OwnedFd) -> bool {
    let path = path_of(file.as_fd()).unwrap_or_default();
    let mut words = path.to_bytes().split(|byte| *byte == b'/').filter(|word| !word.is_empty()).skip(1);
    words.next().is_none_or(|word| word.iter().all(u8::is_ascii_digit))
}

/// Opens a file again that the caller or the listener has open, or has as a place.
fn reopen_for_caller(asked: &mut PendingSyscall<'_>, wish: OpenRequest, file: OwnedFd) -> Result<SyscallReply, Errno> {
    let status = sys::file_status(file.as_fd())?;
    if status.has_kind(DIRECTORY) {
        return Err(Errno::EISDIR);
    }
    if status.has_kind(CHARACTERS) && status.device == TERMINAL {
        return open_terminal(asked, wish);
    }
    stay_inside(asked, wish, &file)?;
    let flags = wish.flags_for_existing() - OFlag::O_NOFOLLOW;
    // An open file may come from outside of the world's mounts. It must not become writable here.
    let has = OFlag::from_bits_retain(fcntl(file.as_fd(), FcntlArg::F_GETFL)?);
    let access = |flags: OFlag| flags & OFlag::O_ACCMODE;
    let enough = access(has) == OFlag::O_RDWR || access(has) == access(wish.flags);
    if status.has_kind(REGULAR) && !has.contains(OFlag::from_bits_retain(O_PATH)) && !enough {
        return Err(Errno::EACCES);
    }
    let file = if wish.changes() { asked.may_be_written(file)? } else { file };
    match PendingSyscall::reopen(file.as_fd(), flags.bits()) {
        Ok(opened) => finish_open(asked, wish, opened),
        Err(Errno::ENXIO) if status.has_kind(FIFO) && !wish.has(OFlag::O_NONBLOCK) => wait_for_fifo(asked, wish, &file),
        Err(errno) => Err(errno),
    }
}

/// The number of `/dev/tty`.
const TERMINAL: u64 = 5 << 8;

/// Opens the controlling terminal of the caller. The listener has none.
pub(super) fn open_terminal(asked: &mut PendingSyscall<'_>, wish: OpenRequest) -> Result<SyscallReply, Errno> {
    let (major, minor) = device_number_parts(own_terminal(asked)?.unwrap_or_default());
    if !(136..=143).contains(&major) {
        return Err(Errno::ENXIO);
    }
    let path = super::proc_links::c_string(format!("/dev/pts/{}", minor + ((major - 136) << 20)))?;
    let flags = wish.flags_for_existing() - OFlag::O_NOFOLLOW;
    let opened = sys::open_path(nix::fcntl::AT_FDCWD, &path, flags.bits(), 0, LinkResolution::Texts)?;
    finish_open(asked, wish, opened)
}

/// Returns the number of the caller's controlling terminal.
pub(super) fn own_terminal(asked: &mut PendingSyscall<'_>) -> Result<Option<u64>, Errno> {
    let caller = asked.caller()?;
    let file = sys::open_path(caller.directory.as_fd(), c"stat", OFlag::O_RDONLY.bits(), 0, LinkResolution::Texts)?;
    let mut stat = [0_u8; 1024];
    let length = nix::unistd::read(&file, &mut stat)?;
    let stat = String::from_utf8_lossy(&stat[..length]);
    // After the name: state, parent, group, session, terminal.
    let number = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(4)?.parse().ok());
    Ok(number.filter(|number| *number != 0))
}

/// Returns the parts of a device number: bits 8 to 19 and the rest. Pseudo-terminals have 136 to 143.
fn device_number_parts(number: u64) -> (u64, u64) {
    (number >> 8 & 0xfff, number & 0xff | number >> 12 & 0xf_ff00)
}

/// Returns a file that was opened without blocking, as if it had been opened with the caller's flags.
pub(super) fn finish_open(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    file: OwnedFd,
) -> Result<SyscallReply, Errno> {
    stay_inside(asked, wish, &file)?;
    let status = sys::file_status(file.as_fd())?;
    if status.has_kind(DIRECTORY) {
        return Err(Errno::EISDIR);
    }
    if wish.has(OFlag::O_NONBLOCK) {
        return Ok(SyscallReply::File(file, wish.has(OFlag::O_CLOEXEC)));
    }
    if status.has_kind(FIFO) && wish.flags & OFlag::O_ACCMODE == OFlag::O_RDONLY {
        return wait_for_fifo(asked, wish, &file);
    }
    let flags = OFlag::from_bits_retain(fcntl(file.as_fd(), FcntlArg::F_GETFL)?);
    fcntl(file.as_fd(), FcntlArg::F_SETFL(flags - OFlag::O_NONBLOCK))?;
    Ok(SyscallReply::File(file, wish.has(OFlag::O_CLOEXEC)))
}

/// Opens a FIFO, and waits for its other end.
pub(super) fn wait_for_fifo(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    file: &OwnedFd,
) -> Result<SyscallReply, Errno> {
    let file = sys::open_place(
        nix::fcntl::AT_FDCWD,
        &super::proc_links::link_of(file.as_fd())?,
        true,
        LinkResolution::Everything,
    )?;
    let flags = wish.flags_for_existing() - OFlag::O_NONBLOCK - OFlag::O_NOFOLLOW;
    let work =
        move || Ok(SyscallReply::File(PendingSyscall::reopen(file.as_fd(), flags.bits())?, wish.has(OFlag::O_CLOEXEC)));
    asked.shared.threads.answer_in_thread(asked.listener, asked.call, work)
}
