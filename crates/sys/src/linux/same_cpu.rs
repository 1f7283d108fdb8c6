//! A listener and its caller on one processor.
//!
//! Handing in a descriptor wakes the caller, which wakes the listener again. The kernel may send such a wake to an idle
//! processor. In a virtual machine this takes some 25 µs, several times as long as all the rest of an answer.

use std::sync::LazyLock;

use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;

/// This thread, for the kernel.
const SELF: Pid = Pid::from_raw(0);

/// All processors that there may ever be. A thread with this set runs wherever its control group may.
static ALL: LazyLock<CpuSet> = LazyLock::new(|| {
    let mut all = CpuSet::new();
    (0..CpuSet::count()).for_each(|processor| all.set(processor).unwrap_or(()));
    all
});

/// The processors of a thread of this control group that has no set of its own.
static WIDEST: LazyLock<nix::Result<CpuSet>> = LazyLock::new(|| {
    let own = sched_getaffinity(SELF)?;
    sched_setaffinity(SELF, &ALL)?;
    let widest = sched_getaffinity(SELF)?;
    sched_setaffinity(SELF, if own == widest { &ALL } else { &own })?;
    Ok(widest)
});

/// Keeps a thread that waits in a call, and this thread, on the processor of this thread until it is dropped.
pub(super) struct SameCpuGuard(Vec<(Pid, CpuSet)>);

impl SameCpuGuard {
    /// Begins with a thread. `None`: both threads stay as they are.
    pub fn with(thread: i32) -> Option<Self> {
        let thread = Pid::from_raw(thread);
        let here = sched_getcpu().ok()?;
        let mut only = CpuSet::new();
        only.set(here).ok()?;
        let before = [sched_getaffinity(thread).ok()?, sched_getaffinity(SELF).ok()?];
        // The number of the thread is that of this thread if it is unknown.
        if thread == SELF || before.contains(&only) || !before[0].is_set(here).ok()? {
            return None;
        }
        let mut together = Self(Vec::with_capacity(before.len()));
        for (thread, set) in [thread, SELF].into_iter().zip(before) {
            // The thread may have another user.
            sched_setaffinity(thread, &only).ok()?;
            together.0.push((thread, set));
        }
        Some(together)
    }
}

impl Drop for SameCpuGuard {
    fn drop(&mut self) {
        for (thread, set) in &self.0 {
            // A thread without a set of its own must not get one: its control group may get more processors later.
            let set = if WIDEST.as_ref() == Ok(set) { &ALL } else { set };
            // The thread may be gone.
            let _ = sched_setaffinity(*thread, set);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn both_threads_are_on_one_processor_and_get_back_what_they_had() {
        let before = sched_getaffinity(SELF).expect("a set");
        let (send, receive) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            send.send(nix::unistd::gettid()).expect("sent");
            let _ = ended.recv();
        });
        let thread = receive.recv().expect("a number");
        let sets = || [thread, SELF].map(|thread| sched_getaffinity(thread).expect("a set"));
        let count = |set: &CpuSet| (0..CpuSet::count()).filter(|at| set.is_set(*at) == Ok(true)).count();
        let together = SameCpuGuard::with(thread.as_raw());
        assert_eq!(together.is_some(), count(&before) > 1);
        let [theirs, ours] = sets();
        assert!(theirs == ours && count(&ours) == 1);
        drop(together);
        assert!(sets() == [before; 2]);
        assert!(SameCpuGuard::with(0).is_none());
        drop(end);
        other.join().expect("joined");
    }
}
