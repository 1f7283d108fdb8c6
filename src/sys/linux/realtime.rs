//! Realtime priority while a tree is watched.

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
