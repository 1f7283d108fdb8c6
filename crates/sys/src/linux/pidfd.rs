//! Signals that never reach any process but the intended one.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::unistd::Pid;
use rustix::process::{PidfdFlags, pidfd_open};

use super::proc::{ProcessIdentity, first_children, identity};
use crate::Signal;

/// Kills the children of a process that [`first_children`] returns, and returns them. Cheaper than checking each one.
pub fn kill_children(parent: Pid) -> Vec<Pid> {
    let children = first_children(parent);
    if children.is_empty() {
        return children;
    }
    let open: Vec<_> = children.iter().map(|child| open_pid(*child)).collect();
    // A child that is still listed was alive all the time, so its pid had no other owner when it was opened.
    let still = first_children(parent);
    for (child, process) in children.iter().zip(open) {
        match process {
            Ok(process) if still.contains(child) => signal_open(&process, Signal::SIGKILL),
            Err(error)
                if error.raw_os_error() != Some(libc::ESRCH)
                    && identity(*child).is_some_and(|now| now.parent == parent) =>
            {
                crate::signal(*child, Signal::SIGKILL);
            }
            _ => {}
        }
    }
    children
}

/// Signals a process, unless the pid belongs to another process than `expected`.
pub fn signal_checked(pid: Pid, expected: ProcessIdentity, signal: Signal) {
    let is_expected = || identity(pid).is_some_and(|now| now.started == expected.started);
    let fd = match open_pid(pid) {
        Ok(fd) => fd,
        Err(error) => {
            // Without pidfds (a kernel before 5.3, or a filter), the identity check is the only protection.
            if error.raw_os_error() != Some(libc::ESRCH) && is_expected() {
                crate::signal(pid, signal);
            }
            return;
        }
    };
    // From here on the pidfd names one process, and the start time confirms that it is the expected one.
    if is_expected() {
        signal_open(&fd, signal);
    }
}

/// Opens a pidfd of the process that has this pid now.
pub fn open_pid(pid: Pid) -> io::Result<OwnedFd> {
    let pid = rustix::process::Pid::from_raw(pid.as_raw()).ok_or(rustix::io::Errno::INVAL)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

fn signal_open(process: &OwnedFd, signal: Signal) {
    let none = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: a plain system call.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), signal.number(), none, 0) };
}
