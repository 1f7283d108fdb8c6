//! Memory and descriptors of another process, as the listener of its calls needs them.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::thread::JoinHandleExt;
use std::thread::JoinHandle;

use nix::errno::Errno;
use nix::unistd::Pid;
use rustix::process::{PidfdGetfdFlags, pidfd_getfd};

use super::errno::errno;
use super::pidfd::open_pid;

/// Reads memory of another process into `buffer`. Returns how many bytes could be read.
pub fn read_foreign(pid: i32, at: u64, buffer: &mut [u8]) -> nix::Result<usize> {
    let ours = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let at = usize::try_from(at).map_err(|_| Errno::EFAULT)?;
    let theirs = libc::iovec { iov_base: std::ptr::without_provenance_mut(at), iov_len: buffer.len() };
    // SAFETY: writes into our buffer only, no more than its length. The kernel checks the source.
    let read = unsafe { libc::process_vm_readv(pid, &raw const ours, 1, &raw const theirs, 1, 0) };
    Errno::result(read).map(isize::cast_unsigned)
}

/// Writes memory of another process.
///
/// # Errors
/// If not all of it can be written.
pub fn write_foreign(pid: i32, at: u64, bytes: &[u8]) -> nix::Result<()> {
    let ours = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let at = usize::try_from(at).map_err(|_| Errno::EFAULT)?;
    let theirs = libc::iovec { iov_base: std::ptr::without_provenance_mut(at), iov_len: bytes.len() };
    // SAFETY: reads our bytes only. The kernel checks the destination.
    let written = unsafe { libc::process_vm_writev(pid, &raw const ours, 1, &raw const theirs, 1, 0) };
    if Errno::result(written)?.cast_unsigned() < bytes.len() { Err(Errno::EFAULT) } else { Ok(()) }
}

/// Returns whether this process may read the memory of its descendants, which a system can forbid to all but a few.
pub fn may_read_descendants() -> bool {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok();
    is_readable(scope.as_deref(), nix::unistd::geteuid().is_root())
}

/// Decides [`may_read_descendants`] from Yama's setting, which some kernels do not have: 2 leaves the right to
/// administrators, and 3 forbids it to all.
fn is_readable(scope: Option<&str>, root: bool) -> bool {
    match scope.and_then(|scope| scope.trim().parse().ok()) {
        None | Some(0_u32 | 1) => true,
        Some(2) => root,
        Some(_) => false,
    }
}

/// The size of a `siginfo_t`.
pub const SIGNAL_INFO: usize = size_of::<libc::siginfo_t>();

/// A process that stays the same one, whatever becomes of its pid.
pub struct PidfdProcess(OwnedFd);

impl PidfdProcess {
    /// Opens the process that has this pid now.
    pub fn open(pid: i32) -> io::Result<Self> {
        open_pid(Pid::from_raw(pid)).map(Self)
    }

    /// Duplicates a descriptor of the process into this one.
    pub fn descriptor(&self, number: i32) -> nix::Result<OwnedFd> {
        pidfd_getfd(&self.0, number, PidfdGetfdFlags::empty()).map_err(errno)
    }

    /// Sends a signal by its number, with this `siginfo_t` if its sender has made one. Signal 0 only asks whether the
    /// process exists.
    pub fn send_signal(&self, number: i32, info: Option<&[u8; SIGNAL_INFO]>) -> nix::Result<()> {
        let info = info.map_or(std::ptr::null(), |info| info.as_ptr());
        // SAFETY: the kernel reads a structure of this length, or none.
        let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, self.0.as_raw_fd(), number, info, 0) };
        Errno::result(sent).map(drop)
    }
}

/// Sends a signal by its number to a thread of a process.
pub fn signal_thread(process: i32, thread: i32, number: i32) -> nix::Result<()> {
    // SAFETY: a plain system call.
    Errno::result(unsafe { libc::syscall(libc::SYS_tgkill, process, thread, number) }).map(drop)
}

/// Makes this process a listener of other processes' calls: it cannot be inspected or traced. Its only remaining
/// capability is to read the memory of processes of its own user namespace, if it had that capability.
pub fn become_listener() -> io::Result<()> {
    nix::sys::prctl::set_no_new_privs()?;
    keep_only_tracing()?;
    // Last, because a change of capabilities may make the process inspectable again.
    Ok(nix::sys::prctl::set_dumpable(false)?)
}

/// Drops all capabilities but `CAP_SYS_PTRACE`.
fn keep_only_tracing() -> nix::Result<()> {
    limit_capabilities(TRACING, TRACING)
}

/// Puts the capability of a listener aside or takes it up again, for this thread.
pub fn use_tracing(on: bool) -> nix::Result<()> {
    limit_capabilities(TRACING, if on { TRACING } else { 0 })
}

/// `CAP_SYS_PTRACE`
const TRACING: u32 = 1 << 19;

/// Keeps these capabilities of those that are permitted, and makes some of them effective.
fn limit_capabilities(permitted: u32, effective: u32) -> nix::Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    #[repr(C)]
    struct CapabilityHeader {
        version: u32,
        pid: i32,
    }
    #[derive(Clone, Copy, Default)]
    #[repr(C)]
    struct CapabilitySetHalf {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    let mut header = CapabilityHeader { version: VERSION_3, pid: 0 };
    let mut sets = [CapabilitySetHalf::default(); 2];
    // SAFETY: the kernel fills in both halves of the sets.
    Errno::result(unsafe { libc::syscall(libc::SYS_capget, &raw mut header, &raw mut sets) })?;
    let kept = sets[0].permitted & permitted;
    sets = [
        CapabilitySetHalf { effective: kept & effective, permitted: kept, inheritable: 0 },
        CapabilitySetHalf::default(),
    ];
    // SAFETY: the kernel reads both halves of the sets.
    Errno::result(unsafe { libc::syscall(libc::SYS_capset, &raw mut header, &raw const sets) }).map(drop)
}

/// Wakes a thread of this process that a system call blocks, so that the call fails with `EINTR`. [`let_threads_wake`]
/// was called before.
pub fn wake_thread<T>(thread: &JoinHandle<T>) {
    // A number in glibc, a pointer in musl.
    let thread = thread.as_pthread_t() as libc::pthread_t;
    // SAFETY: the caller has not joined the thread yet.
    unsafe { libc::pthread_kill(thread, libc::SIGUSR1) };
}

/// Prepares for [`wake_thread`].
pub fn let_threads_wake() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: zeroes are valid for this structure: no flags, so that calls are not restarted.
    let mut action = unsafe { std::mem::zeroed::<libc::sigaction>() };
    action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
    // SAFETY: the handler does nothing.
    unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_may_keep_the_memory_of_descendants_from_this_process() {
        for (scope, user, root) in [
            (None, true, true),
            (Some("0\n"), true, true),
            (Some("1\n"), true, true),
            (Some("2\n"), false, true),
            (Some("3\n"), false, false),
        ] {
            assert_eq!((is_readable(scope, false), is_readable(scope, true)), (user, root), "{scope:?}");
        }
        assert!(may_read_descendants());
    }
}
