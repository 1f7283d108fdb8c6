//! Files that are opened or made.
//!
//! An existing file is opened as a place, judged, and opened again through its link in `/proc`, so that the judged file
//! and the opened file are one. A new file is made exclusively, in a directory that was judged.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag};
use nix::unistd::Pid;

use super::super::caller_path::{CallerPath, PathStart, split_parent};
use super::super::open::{
    OpenRequest, OpenStep, finish_open, follow_last_link, open_terminal, own_terminal, wait_for_fifo,
};
use super::super::pending_syscall::PendingSyscall;
use super::super::proc_links::{LINKS, c_string, path_of_open};
use super::super::syscall_reply::SyscallReply;
use super::bounds::{is_device, is_nameless, process_of};
use super::path_lookup::{has_master, in_the_place_of};
use super::permission::path_of_name;
use confine_world::filter::PRIVILEGED;
use sys::{BLOCKS, CHARACTERS, DIRECTORY, FIFO, LinkResolution, NAMELESS, O_PATH};

/// The flags that count beside `O_PATH`. No such descriptor can be handed in, and Landlock keeps the caller from places
/// of processes outside. Without Landlock the caller gets a descriptor for reading.
const OF_PLACE: i32 = libc::O_CLOEXEC | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_NONBLOCK;

/// `open`
pub(super) fn open(
    asked: &mut PendingSyscall<'_>,
    descriptor: i32,
    at: usize,
    flags: i32,
    mode: u32,
) -> Result<SyscallReply, Errno> {
    if flags & O_PATH != 0 && asked.shared.settings.landlock {
        return Ok(SyscallReply::CONTINUE);
    }
    let wish = OpenRequest::new(if flags & O_PATH == 0 { flags } else { flags & OF_PLACE }, mode);
    if may_create(wish) && wish.mode & PRIVILEGED != 0 {
        return Err(Errno::EPERM);
    }
    let path = asked.copy_string(at)?;
    let mut place = asked.place_of(descriptor, path)?;
    asked.take_umask()?;
    asked.check_caller()?;
    for _ in 0..LINKS {
        let step = match place {
            CallerPath::Path(base, path) if is_nameless_wish(wish) => {
                OpenStep::Reply(create_unnamed(asked, wish, &base, &path)?)
            }
            CallerPath::Path(base, path) if wish.has(OFlag::O_CREAT) => create(asked, wish, base, path)?,
            CallerPath::Path(base, path) => open_existing(asked, wish, base, path)?,
            CallerPath::OwnProc(..) | CallerPath::Open(_) if wish.has(OFlag::O_CREAT | OFlag::O_EXCL) => {
                return Err(Errno::EEXIST);
            }
            CallerPath::OwnProc(directory, path) => OpenStep::Reply(of_process(asked, wish, &directory, &path)?),
            CallerPath::Open(thing) => OpenStep::Reply(reopen_for_caller(asked, wish, thing, true)?),
        };
        match step {
            OpenStep::Reply(reply) => return Ok(reply),
            OpenStep::Again(next) => place = next,
        }
    }
    Err(Errno::ELOOP)
}

fn may_create(wish: OpenRequest) -> bool {
    wish.has(OFlag::O_CREAT) || is_nameless_wish(wish)
}

fn is_nameless_wish(wish: OpenRequest) -> bool {
    wish.flags.bits() & NAMELESS != 0
}

/// Makes a file without a name in a directory.
fn create_unnamed(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    base: &PathStart,
    path: &CStr,
) -> Result<SyscallReply, Errno> {
    let directory = sys::open_directory(base.descriptor(), path, LinkResolution::Texts)?;
    asked.judge_change(directory.as_fd())?;
    let file = sys::open_path(directory.as_fd(), c".", wish.flags.bits(), wish.mode, LinkResolution::Texts)?;
    Ok(SyscallReply::File(file, wish.has(OFlag::O_CLOEXEC)))
}

/// Makes a file, or opens the existing file.
fn create(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    base: PathStart,
    path: CString,
) -> Result<OpenStep, Errno> {
    let (base, name) = split_parent(base, &path)?;
    let Some(shown) = path_of_name(&base, &name)? else { return Err(Errno::EISDIR) };
    if asked.world_bounds()?.may_change(&shown) {
        asked.guard_git(&shown)?;
        asked.left.note_appearance(&base, &name);
        let flags = wish.flags | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW;
        match sys::open_path(base.descriptor(), &name, flags.bits(), wish.mode, LinkResolution::Texts) {
            Err(Errno::EEXIST) if !wish.has(OFlag::O_EXCL) => {}
            made => return Ok(wish.reply(made?)),
        }
    } else if sys::open_place(base.descriptor(), &name, false, LinkResolution::Texts).is_err() {
        return Err(asked.record_change_outside(&shown));
    } else if wish.has(OFlag::O_EXCL) {
        return Err(Errno::EEXIST);
    }
    open_existing(asked, wish, base, name)
}

/// Opens an existing file.
fn open_existing(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    base: PathStart,
    path: CString,
) -> Result<OpenStep, Errno> {
    match sys::open_place(base.descriptor(), &path, !wish.has(OFlag::O_NOFOLLOW), LinkResolution::Texts) {
        Ok(thing) => {
            let path = path_of_open(thing.as_fd())?;
            match in_the_place_of(asked.caller()?, &path)? {
                Some(place) => Ok(OpenStep::Again(place)),
                None => reopen_for_caller(asked, wish, thing, false).map(OpenStep::Reply),
            }
        }
        // A link leads to a file that the caller has open, or to a name that does not exist.
        Err(Errno::ELOOP) if !wish.has(OFlag::O_NOFOLLOW) => follow_last_link(asked, base, path),
        Err(Errno::ENOENT) if wish.has(OFlag::O_CREAT) => follow_last_link(asked, base, path),
        Err(Errno::ENOENT) => open_missing(asked, wish, base, path).map(OpenStep::Reply),
        Err(errno) => Err(errno),
    }
}

/// Opens the file of the world in the place of one that the machine does not have.
fn open_missing(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    base: PathStart,
    path: CString,
) -> Result<SyscallReply, Errno> {
    let (base, name) = split_parent(base, &path)?;
    let shown = path_of_name(&base, &name)?.ok_or(Errno::ENOENT)?;
    open_cover(asked, wish, &shown, None).unwrap_or(Err(Errno::ENOENT))
}

/// Opens the file of the world in the place of one of the machine. `None`: nothing is in its place.
fn open_cover(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    shown: &Path,
    id: Option<(u64, u64)>,
) -> Option<Result<SyscallReply, Errno>> {
    let cover = asked.world_bounds().ok()?.held_world().covers().of(shown, id)?.to_owned();
    if wish.changes() {
        return Some(Err(asked.record_change_outside(shown)));
    }
    let opened = c_string(cover.as_os_str().as_bytes()).and_then(|cover| {
        let flags = blocking_flags(wish, wish.flags_for_existing() - OFlag::O_NOFOLLOW);
        sys::open_path(AT_FDCWD, &cover, flags.bits(), 0, LinkResolution::Texts)
    });
    Some(opened.map(|file| SyscallReply::File(file, wish.has(OFlag::O_CLOEXEC))))
}

/// Opens a file of the caller's own directory in `/proc`.
fn of_process(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    directory: &OwnedFd,
    path: &CStr,
) -> Result<SyscallReply, Errno> {
    let last = !wish.has(OFlag::O_NOFOLLOW);
    let thing = match sys::open_place(directory.as_fd(), path, last, LinkResolution::Texts) {
        // A link of the kernel, such as that to the caller's program.
        Err(Errno::ELOOP) => sys::open_place(directory.as_fd(), path, last, LinkResolution::Everything)?,
        thing => thing?,
    };
    reopen_for_caller(asked, wish, thing, false)
}

/// Opens a thing for its caller, who may have it open.
fn reopen_for_caller(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    thing: OwnedFd,
    is_open: bool,
) -> Result<SyscallReply, Errno> {
    let path = &*path_of_open(thing.as_fd())?;
    let status = sys::file_status(thing.as_fd())?;
    if status.has_kind(CHARACTERS) {
        return open_device(asked, wish, (&thing, path, status.device), is_open);
    }
    if status.has_kind(BLOCKS) {
        return Err(Errno::EACCES);
    }
    if status.has_kind(DIRECTORY) && (wish.changes() || wish.has(OFlag::O_CREAT)) {
        return Err(Errno::EISDIR);
    }
    if path == Path::new("/proc") {
        return open_process_list(asked, wish);
    }
    if let Some(opened) = open_cover(asked, wish, path, Some(status.id)) {
        return opened;
    }
    if !path.starts_with("/proc") && sys::is_of_proc(thing.as_fd())? {
        // Another mount of it shows all processes.
        return Err(Errno::EACCES);
    }
    if is_open && !is_nameless(path) {
        asked.caller()?.check_mount(thing.as_fd())?;
    }
    check_open(asked, wish, path)?;
    let thing = if wish.changes() { asked.may_be_written(thing)? } else { thing };
    let flags = wish.flags_for_existing() - OFlag::O_NOFOLLOW;
    let flags = if status.has_kind(FIFO) { flags } else { blocking_flags(wish, flags) };
    match PendingSyscall::reopen(thing.as_fd(), flags.bits()) {
        Ok(file) if status.has_kind(FIFO) => finish_open(asked, wish, file),
        Ok(file) => Ok(SyscallReply::File(file, wish.has(OFlag::O_CLOEXEC))),
        Err(Errno::ENXIO) if status.has_kind(FIFO) && !wish.has(OFlag::O_NONBLOCK) => {
            wait_for_fifo(asked, wish, &thing)
        }
        Err(errno) => Err(errno),
    }
}

/// Opens the list of the world's processes, in the place of that of the machine's.
fn open_process_list(asked: &mut PendingSyscall<'_>, wish: OpenRequest) -> Result<SyscallReply, Errno> {
    let roster = asked.world_bounds()?.held_world().roster();
    roster.update().map_err(|_| Errno::EIO)?;
    let path = c_string(roster.list_directory().as_os_str().as_bytes())?;
    let flags = wish.flags_for_existing() - OFlag::O_NOFOLLOW;
    let directory = sys::open_path(AT_FDCWD, &path, flags.bits(), 0, LinkResolution::Texts)?;
    Ok(SyscallReply::File(directory, wish.has(OFlag::O_CLOEXEC)))
}

/// Returns flags that block as the caller wishes.
fn blocking_flags(wish: OpenRequest, flags: OFlag) -> OFlag {
    (flags - OFlag::O_NONBLOCK) | (wish.flags & OFlag::O_NONBLOCK)
}

/// Fails unless the thing at a path may be opened.
fn check_open(asked: &mut PendingSyscall<'_>, wish: OpenRequest, path: &Path) -> Result<(), Errno> {
    if is_nameless(path) {
        return Ok(());
    }
    if let Some(pid) = process_of(path) {
        let is_own = pid == asked.call.thread || pid == asked.caller()?.pid;
        let may = is_own || asked.world_bounds()?.held_world().roster().has(Pid::from_raw(pid));
        return if may { Ok(()) } else { Err(Errno::ENOENT) };
    }
    if wish.changes() && !asked.world_bounds()?.may_change(path) {
        return Err(asked.record_change_outside(path));
    }
    let reads = wish.flags & OFlag::O_ACCMODE != OFlag::O_WRONLY;
    if reads && !asked.world_bounds()?.may_read(path) { Err(Errno::EACCES) } else { Ok(()) }
}

/// Opens a device for everyone, or a terminal that the caller has.
fn open_device(
    asked: &mut PendingSyscall<'_>,
    wish: OpenRequest,
    (thing, path, number): (&OwnedFd, &Path, u64),
    is_open: bool,
) -> Result<SyscallReply, Errno> {
    if path == Path::new("/dev/tty") {
        return open_terminal(asked, wish);
    }
    let thread = asked.call.thread;
    let may_open = is_open
        || is_device(path)
        || path == Path::new("/dev/ptmx")
        || path == Path::new("/dev/pts/ptmx")
        || (path.starts_with("/dev/pts") && (own_terminal(asked)? == Some(number) || has_master(thread, number)));
    if !may_open {
        return Err(if wish.changes() { asked.record_change_outside(path) } else { Errno::EACCES });
    }
    let flags = blocking_flags(wish, wish.flags_for_existing() - OFlag::O_NOFOLLOW);
    Ok(SyscallReply::File(PendingSyscall::reopen(thing.as_fd(), flags.bits())?, wish.has(OFlag::O_CLOEXEC)))
}
