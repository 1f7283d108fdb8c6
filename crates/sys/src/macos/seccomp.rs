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

pub fn install_filter(_: &SyscallFilter, _: Option<(RawFd, &[u8])>) -> Result<(), i32> {
    Err(libc::ENOSYS)
}

pub fn waits_killable() -> bool {
    false
}

pub fn set_no_new_privileges() -> Result<(), i32> {
    Err(libc::ENOSYS)
}

pub fn has_listeners() -> bool {
    false
}

pub fn answer_on_callers_cpu(_: BorrowedFd<'_>) {}

pub fn next_call(_: BorrowedFd<'_>) -> io::Result<Option<SyscallNotification>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn still_waits(_: BorrowedFd<'_>, _: u64) -> bool {
    false
}

pub fn respond(_: BorrowedFd<'_>, _: u64, _: NotificationResponse) {}

pub fn respond_with_file(_: BorrowedFd<'_>, _: &SyscallNotification, _: OwnedFd, _: bool) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn may_read_descendants() -> bool {
    false
}

pub fn read_foreign(_: i32, _: u64, _: &mut [u8]) -> nix::Result<usize> {
    Err(Errno::ENOSYS)
}

pub fn write_foreign(_: i32, _: u64, _: &[u8]) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub const SIGNAL_INFO: usize = size_of::<libc::siginfo_t>();

pub struct PidfdProcess;

impl PidfdProcess {
    pub fn open(_: i32) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn descriptor(&self, _: i32) -> nix::Result<OwnedFd> {
        Err(Errno::ENOSYS)
    }

    pub fn send_signal(&self, _: i32, _: Option<&[u8; SIGNAL_INFO]>) -> nix::Result<()> {
        Err(Errno::ENOSYS)
    }
}

pub fn signal_thread(_: i32, _: i32, _: i32) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn become_listener() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn use_tracing(_: bool) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn wake_thread<T>(_: &JoinHandle<T>) {}

pub fn let_threads_wake() {}

pub fn open_path(_: BorrowedFd<'_>, _: &CStr, _: i32, _: u32, _: LinkResolution) -> nix::Result<OwnedFd> {
    Err(Errno::ENOSYS)
}

pub fn open_place(_: BorrowedFd<'_>, _: &CStr, _: bool, _: LinkResolution) -> nix::Result<OwnedFd> {
    Err(Errno::ENOSYS)
}

pub fn open_directory(_: BorrowedFd<'_>, _: &CStr, _: LinkResolution) -> nix::Result<OwnedFd> {
    Err(Errno::ENOSYS)
}

pub fn take_own_directory() -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn work_in_directory(_: &Arc<OwnedFd>) -> bool {
    false
}

pub fn leave_own_directory() {}

pub fn existing_file(_: BorrowedFd<'_>, _: &CStr, _: bool) -> nix::Result<ExistingFile> {
    Err(Errno::ENOSYS)
}

pub fn birth_time(_: BorrowedFd<'_>) -> nix::Result<(i64, u32)> {
    Err(Errno::ENOSYS)
}

pub fn place_id(_: BorrowedFd<'_>, _: &CStr) -> nix::Result<PlaceId> {
    Err(Errno::ENOSYS)
}

pub fn file_status(_: BorrowedFd<'_>) -> nix::Result<FileStatus> {
    Err(Errno::ENOSYS)
}

pub fn is_read_only(_: BorrowedFd<'_>) -> nix::Result<bool> {
    Err(Errno::ENOSYS)
}

pub fn has_own_clock(_: &Path) -> bool {
    false
}

pub fn is_mount_point(_: BorrowedFd<'_>, _: &CStr) -> nix::Result<bool> {
    Err(Errno::ENOSYS)
}

pub fn mount_number(_: BorrowedFd<'_>) -> nix::Result<u64> {
    Err(Errno::ENOSYS)
}

pub fn mount_name(_: BorrowedFd<'_>) -> nix::Result<Option<u64>> {
    Err(Errno::ENOSYS)
}

pub fn is_of_proc(_: BorrowedFd<'_>) -> nix::Result<bool> {
    Err(Errno::ENOSYS)
}

pub fn make_directory(_: BorrowedFd<'_>, _: &CStr, _: u32) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn make_node(_: BorrowedFd<'_>, _: &CStr, _: u32, _: u64) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn make_symlink(_: &CStr, _: BorrowedFd<'_>, _: &CStr) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn make_link(_: (BorrowedFd<'_>, &CStr), _: (BorrowedFd<'_>, &CStr), _: i32) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn rename_file(_: (BorrowedFd<'_>, &CStr), _: (BorrowedFd<'_>, &CStr), _: u32) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn link_text(_: BorrowedFd<'_>, _: &CStr) -> nix::Result<CString> {
    Err(Errno::ENOSYS)
}

pub fn set_attribute_at(_: &CStr, _: &CStr, _: &[u8], _: i32) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn remove_attribute_at(_: &CStr, _: &CStr) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn add_watch(_: BorrowedFd<'_>, _: &CStr, _: u32) -> nix::Result<i32> {
    Err(Errno::ENOSYS)
}

pub fn connect_to(_: BorrowedFd<'_>, _: &[u8]) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn bind_to(_: BorrowedFd<'_>, _: &[u8]) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

pub fn family_of(_: BorrowedFd<'_>) -> nix::Result<i32> {
    Err(Errno::ENOSYS)
}

pub fn set_umask(_: u32) {}

pub fn is_nonblocking(_: BorrowedFd<'_>) -> bool {
    true
}

pub fn has_thread(_: BorrowedFd<'_>) -> bool {
    false
}

pub fn has_one_thread(_: BorrowedFd<'_>) -> bool {
    false
}
