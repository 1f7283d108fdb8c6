//! Processes and their parents.

use nix::unistd::Pid;

pub(super) fn info(pid: i32) -> Option<libc::proc_bsdinfo> {
    let mut info = std::mem::MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    let size = i32::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    // SAFETY: the buffer has the given size.
    let got = unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, info.as_mut_ptr().cast(), size) };
    // SAFETY: zeroed before and filled in by the kernel.
    (got == size).then(|| unsafe { info.assume_init() })
}

pub(super) fn all_pids() -> Vec<i32> {
    let mut pids = vec![0_i32; 16_384];
    let size = i32::try_from(pids.len() * size_of::<i32>()).unwrap_or(i32::MAX);
    // SAFETY: the buffer has the given size.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    pids.truncate(usize::try_from(count).unwrap_or(0));
    pids
}

/// Returns the children of a process.
pub fn children(pid: Pid) -> Vec<Pid> {
    let parent = u32::try_from(pid.as_raw()).unwrap_or(0);
    all_pids()
        .into_iter()
        .filter(|child| info(*child).is_some_and(|info| info.pbi_ppid == parent))
        .map(Pid::from_raw)
        .collect()
}

/// Returns all processes.
pub fn every_process() -> Vec<Pid> {
    all_pids().into_iter().map(Pid::from_raw).collect()
}

/// Returns the children of a process.
pub fn first_children(pid: Pid) -> Vec<Pid> {
    children(pid)
}

/// Kills the children of a process and returns them.
pub fn kill_children(parent: Pid) -> Vec<Pid> {
    let children = children(parent);
    for child in &children {
        if identity(*child).is_some_and(|now| now.parent == parent) {
            crate::signal(*child, crate::Signal::SIGKILL);
        }
    }
    children
}

/// Distinguishes a process from a later process with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// The parent's pid.
    pub parent: Pid,
    /// The start time, in µs.
    pub started: u64,
    /// Whether the process has exited and was not reaped yet.
    pub zombie: bool,
    /// Whether a signal stopped the process.
    pub stopped: bool,
}

/// Returns the identity of the process with this pid, or `None` without one.
pub fn identity(pid: Pid) -> Option<ProcessIdentity> {
    const SSTOP: u32 = 4;
    const SZOMB: u32 = 5;
    let info = info(pid.as_raw())?;
    Some(ProcessIdentity {
        parent: Pid::from_raw(i32::try_from(info.pbi_ppid).ok()?),
        started: info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec,
        zombie: info.pbi_status == SZOMB,
        stopped: info.pbi_status == SSTOP,
    })
}

/// Returns whether a process must exit and cannot prevent it. On macOS this is known only after its exit.
pub fn is_dying(pid: Pid) -> bool {
    identity(pid).is_none_or(|identity| identity.zombie)
}
