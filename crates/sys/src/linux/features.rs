//! Kernel features, probed on each call without a lasting effect.

use std::io;

use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::landlock::landlock_version;
use super::pidfd::open_pid;
use crate::KernelFeatures;

/// Tries the features of the kernel.
pub fn kernel_features() -> KernelFeatures {
    KernelFeatures {
        pidfd: open_pid(Pid::this()).is_ok(),
        close_range: has_close_range(),
        landlock: landlock_version(),
        user_namespaces: makes_user_namespace(),
        notifications: has_notifications(),
    }
}

fn has_close_range() -> bool {
    // SAFETY: a plain system call; no descriptor has that number.
    unsafe { libc::syscall(libc::SYS_close_range, u32::MAX, u32::MAX, 0) == 0 }
}

fn has_notifications() -> bool {
    // SAFETY: zeroes are valid for this structure.
    let mut sizes = unsafe { std::mem::zeroed::<libc::seccomp_notif_sizes>() };
    // SAFETY: the kernel only writes the sizes, which outlive the call.
    unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_NOTIF_SIZES, 0, &raw mut sizes) == 0 }
}

/// Returns whether a child gets a user namespace. The child does nothing in it.
fn makes_user_namespace() -> bool {
    extern "C" fn child(_: *mut libc::c_void) -> libc::c_int {
        0
    }
    const STACK: usize = 16 * 1024;
    let mut stack = Vec::<u128>::with_capacity(STACK / 16);
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the end of the allocation.
    let top = unsafe { stack.as_mut_ptr().add(STACK / 16) };
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_NEWUSER | libc::SIGCHLD;
    // SAFETY: CLONE_VFORK suspends this thread, and so keeps the stack, until the child has exited. The child touches
    // nothing else.
    let pid = unsafe { libc::clone(child, top.cast(), flags, none) };
    if pid < 0 {
        return false;
    }
    while let Err(error) = waitpid(Pid::from_raw(pid), None) {
        if io::Error::from(error).kind() != io::ErrorKind::Interrupted {
            break;
        }
    }
    true
}
