//! Operations on paths and sockets that one process performs for another.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use nix::errno::Errno;
use nix::sys::statfs::{self, FsType};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Statx, StatxAttributes, StatxFlags, XattrFlags, linkat,
    mkdirat, mknodat, openat2, readlinkat, removexattr, renameat_with, setxattr, statx, symlinkat,
};

use super::errno::errno;
use crate::{ExistingFile, FileStatus, LinkResolution, PlaceId};

/// The flags that openat2 accepts. openat ignores all others.
const KNOWN: i32 = libc::O_ACCMODE
    | libc::O_CREAT
    | libc::O_EXCL
    | libc::O_NOCTTY
    | libc::O_TRUNC
    | libc::O_APPEND
    | libc::O_NONBLOCK
    | libc::O_SYNC
    | libc::O_ASYNC
    | libc::O_DIRECT
    | libc::O_DIRECTORY
    | libc::O_NOFOLLOW
    | libc::O_NOATIME
    | libc::O_TMPFILE
    | libc::O_PATH;

/// Opens a path below a directory with exactly these flags and this mode, and closed on exec.
pub fn open_path(
    base: BorrowedFd<'_>,
    path: &CStr,
    flags: i32,
    mode: u32,
    follow: LinkResolution,
) -> nix::Result<OwnedFd> {
    let flags = OFlags::from_bits_retain(((flags & KNOWN) | libc::O_CLOEXEC).cast_unsigned());
    let resolve = match follow {
        LinkResolution::Everything => ResolveFlags::empty(),
        LinkResolution::Texts => ResolveFlags::NO_MAGICLINKS,
        LinkResolution::Nothing => ResolveFlags::NO_SYMLINKS,
    };
    openat2(base, path, flags, Mode::from_bits_retain(mode), resolve).map_err(errno)
}

/// Opens a file as a place, without access to its content. With `last`, a symbolic link at the end is followed.
pub fn open_place(base: BorrowedFd<'_>, path: &CStr, last: bool, follow: LinkResolution) -> nix::Result<OwnedFd> {
    open_path(base, path, libc::O_PATH | if last { 0 } else { libc::O_NOFOLLOW }, 0, follow)
}

/// Opens a directory as a place.
pub fn open_directory(base: BorrowedFd<'_>, path: &CStr, follow: LinkResolution) -> nix::Result<OwnedFd> {
    open_path(base, path, libc::O_PATH | libc::O_DIRECTORY, 0, follow)
}

thread_local! {
    /// Whether this thread has a working directory of its own.
    static HAS_DIRECTORY: Cell<bool> = const { Cell::new(false) };
    /// The working directory of this thread, set by [`stand_in`].
    static STANDING: RefCell<Option<Arc<OwnedFd>>> = const { RefCell::new(None) };
}

/// Gives this thread a working directory of its own, for [`work_in_directory`].
pub fn take_own_directory() -> nix::Result<()> {
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_FS)?;
    HAS_DIRECTORY.set(true);
    Ok(())
}

/// Makes an open directory the working directory of this thread, if the thread has a working directory of its own.
/// Names in the directory are then short paths that cannot lead elsewhere. Returns whether it did.
pub fn work_in_directory(directory: &Arc<OwnedFd>) -> bool {
    let go = |standing: &mut Option<Arc<OwnedFd>>| {
        if standing.as_ref().is_some_and(|known| Arc::ptr_eq(known, directory)) {
            return true;
        }
        let stood = nix::unistd::fchdir(directory).is_ok();
        *standing = stood.then(|| Arc::clone(directory));
        stood
    };
    HAS_DIRECTORY.get() && STANDING.with_borrow_mut(go)
}

/// Leaves the directory of [`work_in_directory`], so that its file system can be unmounted.
pub fn leave_own_directory() {
    if HAS_DIRECTORY.get() && STANDING.take().is_some() {
        let _stays = nix::unistd::chdir(c"/");
    }
}

/// Returns the status of an open file or place.
pub fn file_status(file: BorrowedFd<'_>) -> nix::Result<FileStatus> {
    let status = nix::sys::stat::fstat(file)?;
    Ok(FileStatus {
        id: (status.st_dev, status.st_ino),
        mode: status.st_mode,
        device: status.st_rdev,
        #[cfg_attr(target_arch = "x86_64", expect(clippy::useless_conversion, reason = "of another size on aarch64"))]
        links: status.st_nlink.into(),
        changed: (status.st_ctime, status.st_ctime_nsec),
    })
}

/// Returns whether a file or place is on a mount that is read-only.
pub fn is_read_only(file: BorrowedFd<'_>) -> nix::Result<bool> {
    let status = nix::sys::statvfs::fstatvfs(file)?;
    Ok(status.flags().contains(nix::sys::statvfs::FsFlags::ST_RDONLY))
}

/// `STATX_MNT_ID_UNIQUE`
const UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// Asks for facts about a name below a directory, or with an empty name about the open file itself. A symbolic link at
/// the end is not followed.
fn name_status(base: BorrowedFd<'_>, name: &CStr, wanted: StatxFlags) -> nix::Result<Statx> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::EMPTY_PATH;
    statx(base, name, flags, wanted).map_err(errno)
}

/// Returns the identity of the file or directory that a path leads to, through all links. With an empty path, returns
/// the identity of the open file itself.
pub fn place_id(base: BorrowedFd<'_>, path: &CStr) -> nix::Result<PlaceId> {
    let flags = AtFlags::NO_AUTOMOUNT | AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let data = statx(base, path, flags, StatxFlags::INO | StatxFlags::MNT_ID).map_err(errno)?;
    let device = (data.stx_dev_major, data.stx_dev_minor);
    Ok(PlaceId { mount: data.stx_mnt_id, device, inode: data.stx_ino })
}

/// Returns the file that a path leads to, with `last` through a link at its end.
pub fn existing_file(base: BorrowedFd<'_>, path: &CStr, last: bool) -> nix::Result<ExistingFile> {
    let follow = if last { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
    let flags = AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC | follow;
    let data = statx(base, path, flags, StatxFlags::INO | StatxFlags::NLINK | StatxFlags::BTIME).map_err(errno)?;
    let has_birth = data.stx_mask & StatxFlags::BTIME.bits() != 0;
    let born = has_birth.then_some((data.stx_btime.tv_sec, data.stx_btime.tv_nsec));
    let device = (data.stx_dev_major, data.stx_dev_minor);
    Ok(ExistingFile { device, inode: data.stx_ino, born, links: data.stx_nlink })
}

/// Returns whether the clock of this machine dates the files at a path, and not that of a server.
pub fn has_own_clock(path: &Path) -> bool {
    const XFS: FsType = FsType(0x5846_5342);
    const ZFS: FsType = FsType(0x2fc1_2fc1);
    const BCACHEFS: FsType = FsType(0xca45_1a4e);
    const LOCAL: [FsType; 8] = [
        statfs::EXT4_SUPER_MAGIC,
        XFS,
        statfs::BTRFS_SUPER_MAGIC,
        statfs::TMPFS_MAGIC,
        statfs::OVERLAYFS_SUPER_MAGIC,
        statfs::F2FS_SUPER_MAGIC,
        ZFS,
        BCACHEFS,
    ];
    path.parent().is_some_and(|above| statfs::statfs(above).is_ok_and(|about| LOCAL.contains(&about.filesystem_type())))
}

/// Returns when an open file or place was born, as seconds and nanoseconds. On a file system that has no such time, it
/// is that of the last change of the inode.
pub fn birth_time(file: BorrowedFd<'_>) -> nix::Result<(i64, u32)> {
    let data = name_status(file, c"", StatxFlags::BTIME | StatxFlags::CTIME)?;
    let has_birth = data.stx_mask & StatxFlags::BTIME.bits() != 0;
    let time = if has_birth { data.stx_btime } else { data.stx_ctime };
    Ok((time.tv_sec, time.tv_nsec))
}

/// Returns whether a mount begins at a name below a directory. A symbolic link at the end is not followed.
pub fn is_mount_point(base: BorrowedFd<'_>, name: &CStr) -> nix::Result<bool> {
    Ok(name_status(base, name, StatxFlags::TYPE)?.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Returns the number of the mount that a file or place is in, as `/proc/self/mountinfo` shows it. Another mount may
/// get it later.
pub fn mount_number(file: BorrowedFd<'_>) -> nix::Result<u64> {
    name_status(file, c"", StatxFlags::MNT_ID).map(|data| data.stx_mnt_id)
}

/// Returns a number of the same mount that no other mount ever gets. `None` before Linux 6.8.
pub fn mount_name(file: BorrowedFd<'_>) -> nix::Result<Option<u64>> {
    let data = name_status(file, c"", UNIQUE)?;
    Ok((data.stx_mask & UNIQUE.bits() != 0).then_some(data.stx_mnt_id))
}

/// Returns whether a file or place belongs to a procfs.
pub fn is_of_proc(file: BorrowedFd<'_>) -> nix::Result<bool> {
    Ok(nix::sys::statfs::fstatfs(file)?.filesystem_type() == nix::sys::statfs::PROC_SUPER_MAGIC)
}

/// Creates a directory.
pub fn make_directory(base: BorrowedFd<'_>, name: &CStr, mode: u32) -> nix::Result<()> {
    mkdirat(base, name, Mode::from_bits_retain(mode)).map_err(errno)
}

/// Creates a file that is no directory. A mode without a type means a regular file.
pub fn make_node(base: BorrowedFd<'_>, name: &CStr, mode: u32, device: u64) -> nix::Result<()> {
    let kind = if mode & libc::S_IFMT == 0 { FileType::RegularFile } else { FileType::from_raw_mode(mode) };
    mknodat(base, name, kind, Mode::from_raw_mode(mode), device).map_err(errno)
}

/// Creates a symbolic link.
pub fn make_symlink(text: &CStr, base: BorrowedFd<'_>, name: &CStr) -> nix::Result<()> {
    symlinkat(text, base, name).map_err(errno)
}

/// Creates another name of a file, with the flags of `linkat`.
pub fn make_link(from: (BorrowedFd<'_>, &CStr), to: (BorrowedFd<'_>, &CStr), flags: i32) -> nix::Result<()> {
    let flags = AtFlags::from_bits_retain(flags.cast_unsigned());
    linkat(from.0, from.1, to.0, to.1, flags).map_err(errno)
}

/// Renames a file, with the flags of `renameat2`.
pub fn rename_file(from: (BorrowedFd<'_>, &CStr), to: (BorrowedFd<'_>, &CStr), flags: u32) -> nix::Result<()> {
    renameat_with(from.0, from.1, to.0, to.1, RenameFlags::from_bits_retain(flags)).map_err(errno)
}

/// Returns the text of a symbolic link, or of the link in `/proc` that shows the path of a file.
pub fn link_text(base: BorrowedFd<'_>, name: &CStr) -> nix::Result<CString> {
    readlinkat(base, name, Vec::with_capacity(4096)).map_err(errno)
}

/// Sets an extended attribute of the file that a path leads to, with the flags of `setxattr`.
pub fn set_attribute_at(path: &CStr, name: &CStr, value: &[u8], flags: i32) -> nix::Result<()> {
    setxattr(path, name, value, XattrFlags::from_bits_retain(flags.cast_unsigned())).map_err(errno)
}

/// Removes an extended attribute of the file that a path leads to.
pub fn remove_attribute_at(path: &CStr, name: &CStr) -> nix::Result<()> {
    removexattr(path, name).map_err(errno)
}

/// Adds a watch for the file that a path leads to. Returns the number of the watch.
pub fn add_watch(watches: BorrowedFd<'_>, path: &CStr, mask: u32) -> nix::Result<i32> {
    // SAFETY: the kernel reads the path, which ends with a NUL.
    Errno::result(unsafe { libc::inotify_add_watch(watches.as_raw_fd(), path.as_ptr(), mask) })
}

/// Connects a socket to an address of any family.
pub fn connect_to(socket: BorrowedFd<'_>, address: &[u8]) -> nix::Result<()> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| Errno::EINVAL)?;
    // SAFETY: the kernel copies the address with its length, whatever its alignment.
    Errno::result(unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) }).map(drop)
}

/// Binds a socket to an address of any family.
pub fn bind_to(socket: BorrowedFd<'_>, address: &[u8]) -> nix::Result<()> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| Errno::EINVAL)?;
    // SAFETY: the kernel copies the address with its length, whatever its alignment.
    Errno::result(unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), length) }).map(drop)
}

/// Returns whether calls on a socket or file return at once instead of waiting.
pub fn is_nonblocking(file: BorrowedFd<'_>) -> bool {
    nix::fcntl::fcntl(file, nix::fcntl::FcntlArg::F_GETFL).is_ok_and(|flags| flags & libc::O_NONBLOCK != 0)
}

/// Returns whether the thread of a directory in `/proc` exists. Its number has no other owner then.
pub fn has_thread(directory: BorrowedFd<'_>) -> bool {
    let (existence, no_flags) = (nix::unistd::AccessFlags::F_OK, nix::fcntl::AtFlags::empty());
    nix::unistd::faccessat(directory, c"comm", existence, no_flags).is_ok()
}

/// Returns whether a process, by its directory in `/proc`, has one thread.
pub fn has_one_thread(process: BorrowedFd<'_>) -> bool {
    // The directory has a link for each thread, besides its own two.
    let status = nix::sys::stat::fstatat(process, c"task", nix::fcntl::AtFlags::empty());
    status.is_ok_and(|status| status.st_nlink == 3)
}

/// Returns the family of a socket.
pub fn family_of(socket: BorrowedFd<'_>) -> nix::Result<i32> {
    let mut family: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    let (socket, value) = (socket.as_raw_fd(), (&raw mut family).cast());
    // SAFETY: the kernel writes one number.
    let got = unsafe { libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_DOMAIN, value, &raw mut length) };
    Errno::result(got).map(|_| family)
}

/// Sets the mask of this process for new files.
pub fn set_umask(mask: u32) {
    rustix::process::umask(Mode::from_bits_retain(mask));
}

/// The flag of a rename that replaces nothing.
pub const RENAME_NOREPLACE: u32 = 1;
