//! The scheduler: going before others while a tree is watched.

/// While it lives this process goes before all others, if it may: a tree that fills every core could keep it from
/// ending it. Its children do not inherit that.
pub struct Hurry(bool);

impl Hurry {
    /// From now on. Only a wish: it takes a privilege.
    pub fn begin() -> Self {
        // SAFETY: a plain system call. Not libc's function, which musl has only to say that there is none.
        let usual = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) } == libc::c_long::from(libc::SCHED_OTHER);
        Self(usual && set_scheduler(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1))
    }
}

impl Drop for Hurry {
    fn drop(&mut self) {
        if self.0 {
            // The flag goes only where that is allowed; without it or with it, this process is as others again.
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
