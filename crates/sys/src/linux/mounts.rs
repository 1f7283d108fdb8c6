//! Mounts as descriptors: trees are cloned, changed and attached (Linux 5.2 and 5.12).

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, StatxAttributes, StatxFlags, makedev, statx};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, FsPickFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
    fsconfig_create, fsconfig_reconfigure, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, fspick, move_mount,
    open_tree, unmount,
};
use rustix::path::Arg;

use crate::{MountFlags, MountedFile};

/// The argument of mount_setattr (`struct mount_attr`).
#[repr(C)]
#[derive(Default)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
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

/// A copy of a tree of mounts. A symbolic link at the end of its path is not followed.
const COPY: OpenTreeFlags = OpenTreeFlags::OPEN_TREE_CLONE
    .union(OpenTreeFlags::OPEN_TREE_CLOEXEC)
    .union(OpenTreeFlags::AT_RECURSIVE)
    .union(OpenTreeFlags::AT_SYMLINK_NOFOLLOW);

/// Returns a detached copy of the mounts at and below a path. A symbolic link at its end is not followed.
pub fn copy_tree(path: &Path) -> io::Result<OwnedFd> {
    Ok(open_tree(CWD, path, COPY)?)
}

/// Returns the same as [`copy_tree`] for a file below an open directory or mount.
pub fn copy_tree_at(directory: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    Ok(open_tree(directory, path, COPY | OpenTreeFlags::AT_EMPTY_PATH)?)
}

/// Attaches a detached tree at a path. A symbolic link at its end is not followed but mounted over.
pub fn attach_tree(tree: &impl AsFd, at: &Path) -> io::Result<()> {
    Ok(move_mount(tree, c"", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Attaches a detached tree at a name in an open directory. A symbolic link is not followed but mounted over.
pub fn attach_tree_at(tree: &impl AsFd, directory: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    Ok(move_mount(tree, c"", directory, name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Changes the attributes of a mount, and if `recursive` those of all mounts below it.
fn set_mount_attributes(
    base: BorrowedFd<'_>,
    path: impl Arg,
    attributes: &MountAttr,
    recursive: bool,
) -> io::Result<()> {
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    let attributes: *const MountAttr = attributes;
    let (base, path, size) = (base.as_raw_fd(), path.into_c_str()?, size_of::<MountAttr>());
    // SAFETY: the path is a C string, and the structure has the given size.
    done(unsafe { libc::syscall(libc::SYS_mount_setattr, base, path.as_ptr(), flags, attributes, size) })
}

fn bits(flags: MountFlags) -> MountAttrFlags {
    let mut bits = MountAttrFlags::empty();
    bits.set(MountAttrFlags::MOUNT_ATTR_RDONLY, flags.read_only);
    bits.set(MountAttrFlags::MOUNT_ATTR_NOSUID, flags.no_suid);
    bits.set(MountAttrFlags::MOUNT_ATTR_NODEV, flags.no_dev);
    bits.set(MountAttrFlags::MOUNT_ATTR_NOEXEC, flags.no_exec);
    bits
}

/// Returns the attributes that add flags.
fn attributes_adding(flags: MountFlags) -> MountAttr {
    MountAttr { set: bits(flags).bits().into(), ..MountAttr::default() }
}

/// Adds flags to a tree and all mounts below it.
pub fn restrict_tree(tree: &impl AsFd, flags: MountFlags) -> io::Result<()> {
    set_mount_attributes(tree.as_fd(), c"", &attributes_adding(flags), true)
}

/// Adds flags to the mount at a path, and if `recursive` to all mounts below it.
pub fn restrict_path(path: &Path, flags: MountFlags, recursive: bool) -> io::Result<()> {
    set_mount_attributes(CWD, path, &attributes_adding(flags), recursive)
}

/// Permits or refuses changes through the mount at a path.
pub fn set_read_only(path: &Path, read_only: bool) -> io::Result<()> {
    let flag = MountAttrFlags::MOUNT_ATTR_RDONLY.bits().into();
    let (added, clear) = if read_only { (flag, 0) } else { (0, flag) };
    set_mount_attributes(CWD, path, &MountAttr { set: added, clear, ..MountAttr::default() }, false)
}

/// Cuts all mounts of this namespace off from other namespaces: neither sees new mounts of the other.
pub fn stop_propagation() -> io::Result<()> {
    set_mount_attributes(CWD, c"/", &MountAttr { propagation: libc::MS_PRIVATE, ..MountAttr::default() }, true)
}

/// Returns a detached mount of a new file system. An option without a value is a flag.
pub fn new_mount(kind: &CStr, options: &[(&CStr, Option<&CStr>)], flags: MountFlags) -> io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        match value {
            Some(value) => fsconfig_set_string(&context, *key, *value)?,
            None => fsconfig_set_flag(&context, *key)?,
        }
    }
    fsconfig_create(&context)?;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, bits(flags))?)
}

/// Returns the file system of a directory, which lives until this descriptor is closed.
pub fn file_system_of(directory: &impl AsFd) -> io::Result<OwnedFd> {
    Ok(fspick(directory, c"", FsPickFlags::FSPICK_CLOEXEC | FsPickFlags::FSPICK_EMPTY_PATH)?)
}

/// Makes the kernel forget the names that it has found in a file system, apart from those in use. `read_only`: the file
/// system itself is read-only, and not just its mount.
pub fn drop_found_names(file_system: &impl AsFd, read_only: bool) -> io::Result<()> {
    if read_only {
        fsconfig_set_flag(file_system.as_fd(), c"ro")?;
    }
    Ok(fsconfig_reconfigure(file_system.as_fd())?)
}

/// Detaches the mounts at and below a path.
pub fn detach_tree(path: &Path) -> io::Result<()> {
    Ok(unmount(path, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?)
}

/// Detaches the mount that begins at an open file.
pub fn detach_open(file: &impl AsFd) -> io::Result<()> {
    Ok(unmount(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()), UnmountFlags::DETACH)?)
}

/// Returns the number of the mount that a path leads to, which no other mount has at the same time, with the device and
/// the inode of the file. A symbolic link at its end is not followed.
pub fn mount_of(path: &Path) -> io::Result<MountedFile> {
    let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::MNT_ID;
    let data = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT, wanted)?;
    let kind = FileType::from_raw_mode(data.stx_mode.into());
    Ok(MountedFile {
        mount: data.stx_mnt_id,
        id: (makedev(data.stx_dev_major, data.stx_dev_minor), data.stx_ino),
        is_directory: kind.is_dir(),
        is_link: kind.is_symlink(),
        is_mount: data.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
    })
}

/// Opens a file or directory only to name it. A symbolic link at its end is followed.
pub fn open_unread(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_PATH).open(path)
}
