//! CPU time and memory of a running process.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use nix::unistd::Pid;

use super::proc::{after_name, identity};
use super::proc_root::proc_of;
use crate::{ResourceUsage, UsageSample};

/// Returns whether processes can be sampled. A kernel may lack the lists of children, and `/proc` may be missing.
pub fn can_sample() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| Path::new("/proc/thread-self/children").exists())
}

fn system_value(name: libc::c_int, otherwise: u64) -> u64 {
    // SAFETY: a plain question to libc.
    u64::try_from(unsafe { libc::sysconf(name) }).ok().filter(|value| *value > 0).unwrap_or(otherwise)
}

/// Returns the length of a clock tick in µs, and the size of a page in bytes.
fn units() -> (u64, u64) {
    static UNITS: OnceLock<(u64, u64)> = OnceLock::new();
    *UNITS.get_or_init(|| (1_000_000 / system_value(libc::_SC_CLK_TCK, 100), system_value(libc::_SC_PAGESIZE, 4096)))
}

/// Returns a process's current usage, or `None` if it is gone.
pub fn sample(pid: Pid) -> Option<UsageSample> {
    let (tick_us, page) = units();
    let stat = fs::read(format!("{}/stat", proc_of(pid))).ok()?;
    let fields = after_name(&stat)?;
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let resident = number(21)? * page;
    Some(UsageSample {
        parent: Pid::from_raw(fields.get(1)?.parse().ok()?),
        usage: ResourceUsage {
            user_us: (number(11)? + number(13)?) * tick_us,
            system_us: (number(12)? + number(14)?) * tick_us,
            max_rss: resident,
        },
        // Page faults of children that it has reaped. Every child has some.
        waited: number(8)? > 0,
        resident,
    })
}

/// Returns a process's memory in bytes, with shared pages divided among their users. `None` if it cannot be read, as
/// for another user's process.
pub fn proportional_memory(pid: Pid) -> Option<u64> {
    let text = fs::read_to_string(format!("{}/smaps_rollup", proc_of(pid))).ok()?;
    let share = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(share.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

/// Returns whether two processes share one memory, as a parent and a child do between vfork and exec. `None` if the
/// kernel does not tell, as in a sandbox that forbids the question.
pub fn share_memory(one: Pid, other: Pid) -> Option<bool> {
    const KCMP_VM: libc::c_int = 1;
    // SAFETY: a plain system call.
    let order = unsafe { libc::syscall(libc::SYS_kcmp, one.as_raw(), other.as_raw(), KCMP_VM, 0_u64, 0_u64) };
    match order {
        0 => Some(true),
        1.. => Some(false),
        _ => (io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)).then_some(false),
    }
}

/// Returns how long ago a process started, or `None` if it is gone.
pub fn age(pid: Pid) -> Option<Duration> {
    let started = identity(pid)?.started;
    let up: f64 = fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
    Some(Duration::from_secs_f64(up).saturating_sub(Duration::from_micros(started * units().0)))
}
