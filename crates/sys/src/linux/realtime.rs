//! Priority over a tree that is watched.

use std::sync::atomic::{AtomicI32, Ordering};

/// The steps of nice by which this process is ahead of the commands that it starts.
const AHEAD: i32 = 20;

/// The nice value of the commands; [`NOT_AHEAD`] if this process has the same value.
static USUAL: AtomicI32 = AtomicI32::new(NOT_AHEAD);
const NOT_AHEAD: i32 = i32::MAX;

/// Puts the session of this process ahead of others, where the kernel shares the processors among sessions. There, each
/// exiting process of a fork bomb counts as much as a whole session. Without the privilege nothing changes.
pub fn put_session_ahead() {
    let _ = std::fs::write("/proc/self/autogroup", format!("-{AHEAD}"));
}

/// Puts this process and its later children ahead of others, for a user namespace: there, no process can have realtime
/// priority. Without the privilege nothing changes.
pub(super) fn raise_priority() {
    // SAFETY: a plain system call. It cannot fail for this process, so -1 is a priority.
    let usual = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    // SAFETY: a plain system call.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, usual - AHEAD) } == 0 {
        USUAL.store(usual, Ordering::Relaxed);
    }
}

/// Gives a child the usual priority again. Only system calls.
pub(super) fn restore_priority() -> Result<(), i32> {
    let usual = USUAL.load(Ordering::Relaxed);
    // SAFETY: a plain system call.
    if usual != NOT_AHEAD && unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, usual) } < 0 {
        return Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0));
    }
    Ok(())
}

/// Gives this process realtime priority, if permitted, until it is dropped. A tree that occupies every core could
/// otherwise keep this process from ending it. Children do not inherit the priority.
pub struct RealtimeGuard(bool);

impl RealtimeGuard {
    /// Raises the priority. Without the privilege nothing changes.
    pub fn begin() -> Self {
        // SAFETY: a plain system call. Not libc's function, because musl's only reports an error.
        let usual = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) } == libc::c_long::from(libc::SCHED_OTHER);
        Self(usual && set_scheduler(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1))
    }
}

impl Drop for RealtimeGuard {
    fn drop(&mut self) {
        if self.0 {
            // The reset flag may only be removed with the privilege. With or without it, this process is back to
            // normal.
            let _ =
                set_scheduler(libc::SCHED_OTHER, 0) || set_scheduler(libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0);
        }
    }
}

fn set_scheduler(policy: libc::c_int, priority: libc::c_int) -> bool {
    let priority: [libc::c_int; 1] = [priority];
    // SAFETY: the kernel reads one number.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, priority.as_ptr()) == 0 }
}
