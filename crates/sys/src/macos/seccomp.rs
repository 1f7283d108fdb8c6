//! macOS has no filters of system calls and no listeners: all of this fails, and nothing calls it.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use nix::errno::Errno;

use crate::{
    ExistingFile, FileStatus, LinkResolution, NotificationResponse, PlaceId, SyscallFilter, SyscallNotification,
};

/// Not supported.
pub fn install_filter(_: &SyscallFilter, _: Option<(RawFd, &[u8])>) -> Result<(), i32> {
    Err(libc::ENOSYS)
}

/// Returns false.
pub fn waits_killable() -> bool {
    false
}

/// Not supported.
pub fn set_no_new_privileges() -> Result<(), i32> {
    Err(libc::ENOSYS)
}

/// Returns false.
pub fn has_listeners() -> bool {
    false
}

/// Does nothing.
pub fn answer_on_callers_cpu(_: BorrowedFd<'_>) {}

/// Not supported.
pub fn next_call(_: BorrowedFd<'_>) -> io::Result<Option<SyscallNotification>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns false.
pub fn still_waits(_: BorrowedFd<'_>, _: u64) -> bool {
    false
}

/// Does nothing.
pub fn respond(_: BorrowedFd<'_>, _: u64, _: NotificationResponse) {}

/// Not supported.
pub fn respond_with_file(_: BorrowedFd<'_>, _: &SyscallNotification, _: OwnedFd, _: bool) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Returns false.
pub fn may_read_descendants() -> bool {
    false
}

/// Not supported.
pub fn read_foreign(_: i32, _: u64, _: &mut [u8]) -> nix::Result<usize> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn write_foreign(_: i32, _: u64, _: &[u8]) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// The size of a `siginfo_t`.
pub const SIGNAL_INFO: usize = size_of::<libc::siginfo_t>();

/// A placeholder: macOS has no pidfds.
pub struct PidfdProcess;

impl PidfdProcess {
    /// Not supported.
    pub fn open(_: i32) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Not supported.
    pub fn descriptor(&self, _: i32) -> nix::Result<OwnedFd> {
        Err(Errno::ENOSYS)
    }

    /// Not supported.
    pub fn send_signal(&self, _: i32, _: Option<&[u8; SIGNAL_INFO]>) -> nix::Result<()> {
        Err(Errno::ENOSYS)
    }
}

/// Not supported.
pub fn signal_thread(_: i32, _: i32, _: i32) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn become_listener() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not supported.
pub fn use_tracing(_: bool) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Does nothing.
pub fn wake_thread<T>(_: &JoinHandle<T>) {}

/// Does nothing.
pub fn let_threads_wake() {}

/// Not supported.
pub fn open_path(_: BorrowedFd<'_>, _: &CStr, _: i32, _: u32, _: LinkResolution) -> nix::Result<OwnedFd> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn open_place(_: BorrowedFd<'_>, _: &CStr, _: bool, _: LinkResolution) -> nix::Result<OwnedFd> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn open_directory(_: BorrowedFd<'_>, _: &CStr, _: LinkResolution) -> nix::Result<OwnedFd> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn take_own_directory() -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Returns false.
pub fn work_in_directory(_: &Arc<OwnedFd>) -> bool {
    false
}

/// Does nothing.
pub fn leave_own_directory() {}

/// Not supported.
pub fn existing_file(_: BorrowedFd<'_>, _: &CStr, _: bool) -> nix::Result<ExistingFile> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn birth_time(_: BorrowedFd<'_>) -> nix::Result<(i64, u32)> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn place_id(_: BorrowedFd<'_>, _: &CStr) -> nix::Result<PlaceId> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn file_status(_: BorrowedFd<'_>) -> nix::Result<FileStatus> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn is_read_only(_: BorrowedFd<'_>) -> nix::Result<bool> {
    Err(Errno::ENOSYS)
}

/// Returns false: changes are not told apart by their times on macOS.
pub fn has_own_clock(_: &Path) -> bool {
    false
}

/// Not supported.
pub fn is_mount_point(_: BorrowedFd<'_>, _: &CStr) -> nix::Result<bool> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn mount_number(_: BorrowedFd<'_>) -> nix::Result<u64> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn mount_name(_: BorrowedFd<'_>) -> nix::Result<Option<u64>> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn is_of_proc(_: BorrowedFd<'_>) -> nix::Result<bool> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn make_directory(_: BorrowedFd<'_>, _: &CStr, _: u32) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn make_node(_: BorrowedFd<'_>, _: &CStr, _: u32, _: u64) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn make_symlink(_: &CStr, _: BorrowedFd<'_>, _: &CStr) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn make_link(_: (BorrowedFd<'_>, &CStr), _: (BorrowedFd<'_>, &CStr), _: i32) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// The flag of a rename that replaces nothing, as of Linux.
pub const RENAME_NOREPLACE: u32 = 1;

/// Not supported.
pub fn rename_file(_: (BorrowedFd<'_>, &CStr), _: (BorrowedFd<'_>, &CStr), _: u32) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn link_text(_: BorrowedFd<'_>, _: &CStr) -> nix::Result<CString> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn set_attribute_at(_: &CStr, _: &CStr, _: &[u8], _: i32) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn remove_attribute_at(_: &CStr, _: &CStr) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn add_watch(_: BorrowedFd<'_>, _: &CStr, _: u32) -> nix::Result<i32> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn connect_to(_: BorrowedFd<'_>, _: &[u8]) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn bind_to(_: BorrowedFd<'_>, _: &[u8]) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// Not supported.
pub fn family_of(_: BorrowedFd<'_>) -> nix::Result<i32> {
    Err(Errno::ENOSYS)
}

/// Does nothing.
pub fn set_umask(_: u32) {}

/// Returns true.
pub fn is_nonblocking(_: BorrowedFd<'_>) -> bool {
    true
}

/// Returns false.
pub fn has_thread(_: BorrowedFd<'_>) -> bool {
    false
}

/// Returns false.
pub fn has_one_thread(_: BorrowedFd<'_>) -> bool {
    false
}
