//! Kernel features, probed on each call without a lasting effect.

use std::io;
use std::path::Path;

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
        gvisor: is_gvisor(),
    }
}

/// Returns whether gVisor runs this process, and is its kernel.
pub fn is_gvisor() -> bool {
    is_gvisor_at(Path::new("/proc"))
}

/// Decides [`is_gvisor`] from a procfs. Each version of gVisor names the same build, with the kernel 4.4.0 in older and
/// 4.19.0-gvisor in newer ones.
fn is_gvisor_at(proc: &Path) -> bool {
    let version = std::fs::read_to_string(proc.join("version")).unwrap_or_default();
    version.contains("-gvisor ") || version.contains("#1 SMP Sun Jan 10 15:06:54 PST 2016")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gvisor_is_known_by_the_build_that_it_names() {
        let proc = tempfile::tempdir().expect("a directory");
        assert!(!is_gvisor_at(proc.path()));
        for (version, is) in [
            ("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n", true),
            ("Linux version 4.19.0-gvisor #1 SMP Sun Jan 10 15:06:54 PST 2016\n", true),
            ("Linux version 4.4.0-21-generic (buildd@lgw01-21) #37-Ubuntu SMP Mon Apr 18 18:33:37 UTC 2016\n", false),
            ("Linux version 6.8.0-45-generic (buildd@lcy02) #45-Ubuntu SMP PREEMPT_DYNAMIC\n", false),
        ] {
            std::fs::write(proc.path().join("version"), version).expect("written");
            assert_eq!(is_gvisor_at(proc.path()), is, "{version}");
        }
    }
}
