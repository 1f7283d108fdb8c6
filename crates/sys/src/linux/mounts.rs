//! Mounts as descriptors: trees are cloned, changed and attached (Linux 5.2 and 5.12).

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::{MountFlags, MountedFile};

const OPEN_TREE_CLONE: libc::c_uint = 1;
const OPEN_TREE_CLOEXEC: libc::c_uint = libc::O_CLOEXEC as libc::c_uint;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
const FSOPEN_CLOEXEC: libc::c_uint = 1;
const FSMOUNT_CLOEXEC: libc::c_uint = 1;
const FSCONFIG_SET_FLAG: libc::c_uint = 0;
const FSCONFIG_SET_STRING: libc::c_uint = 1;
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
const RDONLY: u64 = 1;
const NOSUID: u64 = 2;
const NODEV: u64 = 4;
const NOEXEC: u64 = 8;

/// The argument of mount_setattr (`struct mount_attr`).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

fn text(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Turns the result of a system call into a descriptor.
pub(super) fn new_fd(result: libc::c_long) -> io::Result<OwnedFd> {
    let fd = i32::try_from(result).unwrap_or(-1);
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just created it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Turns the result of a system call without a value into a result.
pub(super) fn done(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns a detached copy of the mounts at and below a path. A symbolic link at its end is not followed.
pub fn copy_tree(path: &Path) -> io::Result<OwnedFd> {
    let path = text(path)?;
    let flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (libc::AT_RECURSIVE | libc::AT_SYMLINK_NOFOLLOW) as libc::c_uint;
    // SAFETY: the path is a C string.
    new_fd(unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) })
}

/// The same as [`copy_tree`] for a file below an open directory or mount.
pub fn copy_tree_at(directory: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    let path = text(path)?;
    let flags = OPEN_TREE_CLONE
        | OPEN_TREE_CLOEXEC
        | (libc::AT_RECURSIVE | libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) as libc::c_uint;
    // SAFETY: the path is a C string, and the directory is open.
    new_fd(unsafe { libc::syscall(libc::SYS_open_tree, directory.as_raw_fd(), path.as_ptr(), flags) })
}

/// Attaches a detached tree at a path. A symbolic link at its end is not followed but mounted over.
pub fn attach_tree(tree: &impl AsFd, at: &Path) -> io::Result<()> {
    let at = text(at)?;
    let tree = tree.as_fd().as_raw_fd();
    let (here, flags) = (libc::AT_FDCWD, MOVE_MOUNT_F_EMPTY_PATH);
    // SAFETY: both paths are C strings.
    done(unsafe { libc::syscall(libc::SYS_move_mount, tree, c"".as_ptr(), here, at.as_ptr(), flags) })
}

/// Attaches a detached tree at a name in an open directory. A symbolic link is not followed but mounted over.
pub fn attach_tree_at(tree: &impl AsFd, directory: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    let (tree, directory) = (tree.as_fd().as_raw_fd(), directory.as_raw_fd());
    let flags = MOVE_MOUNT_F_EMPTY_PATH;
    // SAFETY: both paths are C strings.
    done(unsafe { libc::syscall(libc::SYS_move_mount, tree, c"".as_ptr(), directory, name.as_ptr(), flags) })
}

fn set(fd: libc::c_int, path: &CStr, attributes: &Attributes, recursive: bool) -> io::Result<()> {
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    let attributes: *const Attributes = attributes;
    let size = size_of::<Attributes>();
    // SAFETY: the path is a C string, and the structure has the given size.
    done(unsafe { libc::syscall(libc::SYS_mount_setattr, fd, path.as_ptr(), flags, attributes, size) })
}

fn bits(flags: MountFlags) -> u64 {
    let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
    bit(flags.read_only, RDONLY) | bit(flags.no_suid, NOSUID) | bit(flags.no_dev, NODEV) | bit(flags.no_exec, NOEXEC)
}

/// Adds flags to a tree and all mounts below it.
pub fn restrict_tree(tree: &impl AsFd, flags: MountFlags) -> io::Result<()> {
    set(tree.as_fd().as_raw_fd(), c"", &Attributes { set: bits(flags), ..Attributes::default() }, true)
}

/// Adds flags to the mount at a path, and if `recursive` to all mounts below it.
pub fn restrict_path(path: &Path, flags: MountFlags, recursive: bool) -> io::Result<()> {
    set(libc::AT_FDCWD, &text(path)?, &Attributes { set: bits(flags), ..Attributes::default() }, recursive)
}

/// Permits or refuses changes through the mount at a path.
pub fn set_read_only(path: &Path, read_only: bool) -> io::Result<()> {
    let (set_bits, clear) = if read_only { (RDONLY, 0) } else { (0, RDONLY) };
    set(libc::AT_FDCWD, &text(path)?, &Attributes { set: set_bits, clear, ..Attributes::default() }, false)
}

/// Cuts all mounts of this namespace off from other namespaces: neither sees new mounts of the other.
pub fn stop_propagation() -> io::Result<()> {
    set(libc::AT_FDCWD, c"/", &Attributes { propagation: libc::MS_PRIVATE, ..Attributes::default() }, true)
}

/// Returns a detached mount of a new file system. An option without a value is a flag.
pub fn new_mount(kind: &CStr, options: &[(&CStr, Option<&CStr>)], flags: MountFlags) -> io::Result<OwnedFd> {
    // SAFETY: the name is a C string.
    let context = new_fd(unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), FSOPEN_CLOEXEC) })?;
    let context = context.as_raw_fd();
    let none = std::ptr::null::<libc::c_char>();
    for (key, value) in options {
        let (command, value) = value.map_or((FSCONFIG_SET_FLAG, none), |value| (FSCONFIG_SET_STRING, value.as_ptr()));
        // SAFETY: key and value are C strings.
        done(unsafe { libc::syscall(libc::SYS_fsconfig, context, command, key.as_ptr(), value, 0) })?;
    }
    // SAFETY: the command has no further arguments.
    done(unsafe { libc::syscall(libc::SYS_fsconfig, context, FSCONFIG_CMD_CREATE, none, none, 0) })?;
    // SAFETY: a plain system call.
    new_fd(unsafe { libc::syscall(libc::SYS_fsmount, context, FSMOUNT_CLOEXEC, bits(flags) as libc::c_uint) })
}

/// Detaches the mounts at and below a path.
pub fn detach_tree(path: &Path) -> io::Result<()> {
    let path = text(path)?;
    let flags = libc::MNT_DETACH | libc::UMOUNT_NOFOLLOW;
    // SAFETY: the path is a C string.
    done(libc::c_long::from(unsafe { libc::umount2(path.as_ptr(), flags) }))
}

/// Detaches the mount that begins at an open file.
pub fn detach_open(file: &impl AsFd) -> io::Result<()> {
    let path = CString::new(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()))?;
    // SAFETY: the path is a C string.
    done(libc::c_long::from(unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) }))
}

/// Returns the number of the mount that a path leads to, which no other mount has at the same time, with the device and
/// the inode of the file. A symbolic link at its end is not followed.
pub fn mount_of(path: &Path) -> io::Result<MountedFile> {
    let path = text(path)?;
    let mut data = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let flags = libc::AT_SYMLINK_NOFOLLOW | libc::AT_NO_AUTOMOUNT;
    let wanted = libc::STATX_TYPE | libc::STATX_INO | libc::STATX_MNT_ID;
    // SAFETY: the path is a C string, and the structure has room for the answer.
    done(libc::c_long::from(unsafe { libc::statx(libc::AT_FDCWD, path.as_ptr(), flags, wanted, data.as_mut_ptr()) }))?;
    // SAFETY: every bit pattern is valid, and it was zeroed.
    let data = unsafe { data.assume_init() };
    let device = libc::makedev(data.stx_dev_major, data.stx_dev_minor);
    let kind = libc::mode_t::from(data.stx_mode) & libc::S_IFMT;
    let (is_directory, is_link) = (kind == libc::S_IFDIR, kind == libc::S_IFLNK);
    let is_mount = data.stx_attributes & libc::STATX_ATTR_MOUNT_ROOT as u64 != 0;
    Ok(MountedFile { mount: data.stx_mnt_id, id: (device, data.stx_ino), is_directory, is_link, is_mount })
}

/// Opens a file or directory only to name it. A symbolic link at its end is followed.
pub fn open_unread(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_PATH).open(path)
}
