//! Filters of system calls (seccomp), and the answers to calls that wait.
//!
//! The descriptor of a listener exists first in the process that installs the filter, which is the child between clone
//! and exec. It shares no descriptor table with its suspended parent. So it sends the descriptor over a socket to the
//! listening process, with a call that no filter passes on, and closes its own. A call that waits before the listening
//! process has the descriptor waits until then; the kernel keeps a descriptor that is under way.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::errno::Errno;

use super::same_cpu::SameCpuGuard;
use crate::{NotificationResponse, SyscallFilter, SyscallNotification};

/// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`: the listener runs on the processor of the caller, and back.
const SYNC_WAKE_UP: libc::c_ulong = 1;
/// Room for one descriptor in a control message.
// SAFETY: computes a size.
const ROOM: usize = unsafe { libc::CMSG_SPACE(size_of::<RawFd>() as u32) } as usize;

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Installs a filter in this process for good, and sends the descriptor of its listener with the message to the
/// listening process, if it has one. The process has set no_new_privs. Makes system calls only, so that it can run
/// between clone and exec.
pub fn install_filter(filter: &SyscallFilter, to: Option<(RawFd, &[u8])>) -> Result<(), i32> {
    let length = u16::try_from(filter.program.len()).map_err(|_| libc::E2BIG)?;
    // An `Instruction` has the layout of a `sock_filter`, and the kernel only reads it.
    let program = libc::sock_fprog { len: length, filter: filter.program.as_ptr().cast_mut().cast() };
    if !filter.listener {
        return set_filter(0, &program).map(drop);
    }
    let (to, message) = to.ok_or(libc::EBADF)?;
    let killable = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    let listener = match set_filter(killable, &program) {
        // A kernel before 5.19.
        Err(libc::EINVAL) => set_filter(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER, &program)?,
        installed => installed?,
    };
    let sent = send_one(to, message, listener);
    // SAFETY: the descriptor that the kernel has just created.
    unsafe { libc::close(listener) };
    sent
}

/// Returns whether a call that was received waits for its answer through all signals but fatal ones (since Linux 5.19),
/// so that it is not made twice.
pub fn waits_killable() -> bool {
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    let none = std::ptr::null::<libc::sock_fprog>();
    // SAFETY: there is no program, so that the kernel refuses: it knows the flags if it looked for the program.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, none) };
    result < 0 && errno() == libc::EFAULT
}

fn set_filter(flags: libc::c_ulong, program: &libc::sock_fprog) -> Result<RawFd, i32> {
    let program = std::ptr::from_ref(program);
    // SAFETY: the kernel only reads the program, which outlives the call.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, program) };
    if result < 0 { Err(errno()) } else { i32::try_from(result).map_err(|_| libc::EINVAL) }
}

/// Sends a descriptor with a message, without an allocation.
fn send_one(to: RawFd, bytes: &[u8], descriptor: RawFd) -> Result<(), i32> {
    #[repr(align(8))]
    struct AlignedControlBuffer([u8; ROOM]);
    let mut control = AlignedControlBuffer([0; ROOM]);
    let mut piece = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: zeroes are valid for this structure.
    let mut message = unsafe { std::mem::zeroed::<libc::msghdr>() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = ROOM as _;
    // SAFETY: the message has room for one header.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    // SAFETY: aligned, within `control`, and not otherwise borrowed.
    let header = unsafe { &mut *header };
    header.cmsg_level = libc::SOL_SOCKET;
    header.cmsg_type = libc::SCM_RIGHTS;
    // SAFETY: computes a size.
    header.cmsg_len = unsafe { libc::CMSG_LEN(size_of::<RawFd>() as u32) } as _;
    // SAFETY: the data of the header, within `control`.
    let data = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: there is room for one descriptor, and the write needs no alignment.
    unsafe { data.cast::<RawFd>().write_unaligned(descriptor) };
    // SAFETY: everything that the message points to lives until the call returns.
    let sent = unsafe { libc::sendmsg(to, &raw const message, libc::MSG_NOSIGNAL) };
    if usize::try_from(sent) == Ok(bytes.len()) { Ok(()) } else { Err(errno()) }
}

/// Sets no_new_privs for this thread and its future children: no program that it executes gains privileges.
pub fn set_no_new_privileges() -> Result<(), i32> {
    // SAFETY: a plain system call.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0 { Ok(()) } else { Err(errno()) }
}

/// Asks for answers on the processor of the caller, which saves most of the time of a question (since Linux 6.6).
pub fn answer_on_callers_cpu(listener: BorrowedFd<'_>) {
    // SAFETY: passes a number. An older kernel refuses, and answers slower.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS as _, SYNC_WAKE_UP) };
}

/// Receives the next call that waits. `None`: its caller is gone meanwhile.
pub fn next_call(listener: BorrowedFd<'_>) -> io::Result<Option<SyscallNotification>> {
    // SAFETY: zeroes are valid for this structure of numbers, and the kernel demands them.
    let mut got = unsafe { std::mem::zeroed::<libc::seccomp_notif>() };
    // SAFETY: the kernel fills in the structure.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV as _, &raw mut got) };
    if result < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::ENOENT | libc::EINTR) => Ok(None),
            _ => Err(error),
        };
    }
    let thread = i32::try_from(got.pid).unwrap_or(0);
    let (machine, number) = (got.data.arch, got.data.nr.cast_unsigned());
    Ok(Some(SyscallNotification { id: got.id, thread, machine, number, args: got.data.args }))
}

/// Returns whether a call still waits. If it does, data read earlier by the pid of its thread belongs to its caller.
pub fn still_waits(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the kernel reads one number.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID as _, &raw const id) == 0 }
}

/// Answers a call. A caller that is gone is not an error.
pub fn respond(listener: BorrowedFd<'_>, id: u64, answer: NotificationResponse) {
    let (val, error, flags) = match answer {
        NotificationResponse::Value(value) => (value, 0, 0),
        NotificationResponse::Fail(errno) => (0, -(errno as i32), 0),
        NotificationResponse::Continue => (0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
    };
    let response = libc::seccomp_notif_resp { id, val, error, flags };
    // SAFETY: the kernel reads the structure.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND as _, &raw const response) };
}

/// Answers a call with a new descriptor of its caller for a file of ours. The file is closed here before the answer,
/// because the caller may execute it next, which fails as long as any process can write it. An error means that the
/// call still waits.
pub fn respond_with_file(
    listener: BorrowedFd<'_>,
    call: &SyscallNotification,
    file: OwnedFd,
    cloexec: bool,
) -> nix::Result<()> {
    let new = libc::seccomp_notif_addfd {
        id: call.id,
        flags: 0,
        srcfd: file.as_raw_fd().cast_unsigned(),
        newfd: 0,
        newfd_flags: if cloexec { libc::O_CLOEXEC.cast_unsigned() } else { 0 },
    };
    let together = SameCpuGuard::with(call.thread);
    // SAFETY: the kernel reads the structure.
    let number = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD as _, &raw const new) };
    let number = Errno::result(number);
    drop((file, together));
    respond(listener, call.id, NotificationResponse::Value(i64::from(number?)));
    Ok(())
}

/// Returns whether the kernel can pass calls on to a listener.
pub fn has_listeners() -> bool {
    let action = libc::SECCOMP_RET_USER_NOTIF;
    // SAFETY: the kernel reads one number.
    unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}
