//! Limits over a whole tree. The shim checks the usage of the tree from time to time, and that of its draft.

use std::collections::HashSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::unistd::{Pid, getpid};

use super::cgroup::ShimCgroup;
use super::draft_space::DraftSpace;
use super::tree;
use protocol::plan::CommandLimits;
use protocol::{ExceededLimit, LimitKind};
use sys::{ReapOutcome, ResourceUsage, UsageSample};

/// Time until the first check. Most commands have exited by then.
const FIRST: Duration = Duration::from_millis(10);
/// Usual pause between checks of memory and processes.
const USUAL: Duration = Duration::from_millis(20);
/// Pause once the tree has more than half of the processes that it may have.
const NEAR: Duration = Duration::from_millis(5);
/// Shortest pause.
pub const SHORTEST: Duration = Duration::from_millis(1);
/// Fastest growth of memory that the checks keep up with, bytes per second. One core fills new pages at half of it.
const FASTEST: u64 = 4 << 30;
/// Longest pause of a tree that sleeps.
pub const IDLE: Duration = Duration::from_millis(100);
/// Least ratio of a pause to the CPU time of the check before it.
pub const SHARE: u32 = 10;
/// Shortest and longest pause that a limit of CPU time asks for. The system counts CPU time in steps of 10 ms.
const CPU: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];
/// Pauses after measurements that may count the memory of a parent again for its child. A child takes less time from
/// vfork to exec.
const UNTIL_EXEC: [Duration; 3] = [Duration::from_millis(5), Duration::from_millis(10), Duration::ZERO];
/// The most processes whose usage is added up after the exit of the shell.
const ADDED_UP: usize = 200;
/// Number of checks of which one searches the list of all processes for orphans, on systems without subreapers.
const SEARCH: u32 = 16;

/// Usage of a tree at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TreeUsage {
    /// CPU time of the living processes, of the children that they have waited for, and of those that were reaped, µs.
    cpu_us: u64,
    /// Resident memory, bytes. A page that several processes share counts for each of them.
    resident: u64,
    processes: u64,
}

impl TreeUsage {
    /// Adds up the processes that are alive and those that have `ended`. The cgroup may have counted more CPU time.
    fn of(processes: usize, seen: &[(Pid, UsageSample)], ended: ResourceUsage, group: Option<ResourceUsage>) -> Self {
        let mut times = ended;
        let mut resident = 0;
        for (_, sample) in seen {
            times.user_us += sample.usage.user_us + sample.usage.system_us;
            resident += sample.resident;
        }
        times.take_times_of(group);
        Self { cpu_us: times.user_us + times.system_us, resident, processes: processes as u64 }
    }
}

/// Checks the limits over a tree.
pub struct LimitWatch {
    limits: CommandLimits,
    /// Number of processors, which bounds how fast CPU time passes. 1 without a limit of CPU time.
    cores: u32,
    /// When the next check of the tree is due. `None`: no limit applies to it.
    next: Option<Instant>,
    pause: Duration,
    last: TreeUsage,
    /// Highest CPU time measured so far. The CPU time of a process that no parent waits for is lost with it.
    cpu_us: u64,
    checks: u32,
    /// The orphans found, on systems without subreapers.
    strays: Vec<Pid>,
    /// The cgroup of the tree, which counts exactly.
    group: Option<Rc<ShimCgroup>>,
    /// The space of the draft in which the command runs.
    space: Option<DraftSpace>,
}

impl LimitWatch {
    /// Returns `None` if no limit applies to the whole tree, and it runs in no draft. Nothing is checked then.
    pub fn begin(
        limits: CommandLimits,
        started: Instant,
        group: Option<Rc<ShimCgroup>>,
        space: Option<DraftSpace>,
    ) -> Option<Self> {
        let first = || started + limits.memory.map_or(FIRST, |allowed| FIRST.min(until_over(0, allowed)));
        (limits.apply_to_tree() || space.is_some()).then(|| Self {
            limits,
            cores: if limits.cpu.is_some() { core_count() } else { 1 },
            next: limits.apply_to_tree().then(first),
            pause: USUAL,
            last: TreeUsage::default(),
            cpu_us: 0,
            checks: 0,
            strays: Vec::new(),
            group,
            space,
        })
    }

    /// Returns when the next check is due.
    pub fn wake_at(&self) -> Option<Instant> {
        [self.next, self.space.as_ref().map(DraftSpace::wake_at)].into_iter().flatten().min()
    }

    /// Checks the limits if a check is due. `ended` is the usage of the processes that this process has reaped.
    pub fn check(&mut self, now: Instant, ended: ResourceUsage, mark: Option<&str>) -> Option<ExceededLimit> {
        let space = self.space.as_mut().and_then(|space| space.check(now));
        if space.is_some() || self.next.is_none_or(|next| now < next) {
            return space;
        }
        let _realtime = sys::RealtimeGuard::begin();
        let before = sys::cpu_time_used();
        let (processes, seen) = self.sample_tree(mark);
        let totals = TreeUsage::of(processes, &seen, ended, self.group.as_deref().and_then(ShimCgroup::usage));
        self.cpu_us = self.cpu_us.max(totals.cpu_us);
        let broken = self
            .killed_by_kernel()
            .or_else(|| self.find_exceeded(&totals, |allowed| proportional_memory(&seen, allowed)));
        self.pause = self.next_pause(&totals, sys::cpu_time_used().saturating_sub(before));
        self.next = Some(Instant::now() + self.pause);
        self.last = totals;
        broken
    }

    /// Returns the limit for which the kernel has killed the tree.
    pub fn killed_by_kernel(&self) -> Option<ExceededLimit> {
        let allowed = self.limits.memory?;
        let used = self.group.as_ref()?.exceeded_memory()?.max(allowed);
        Some(ExceededLimit { limit: LimitKind::Memory, used, allowed })
    }

    /// Returns whether the kernel bounds the memory, so that it need not be measured.
    fn kernel_bounds_memory(&self) -> bool {
        self.group.as_ref().is_some_and(|group| group.bounds_memory())
    }

    /// Checks the survivors of a command, and kills them at once if they exceed a limit.
    pub fn enforce_on_survivors(
        watch: &mut Option<Self>,
        ended: ResourceUsage,
        mark: Option<&str>,
    ) -> Option<ExceededLimit> {
        let broken = watch.as_mut()?.check(Instant::now(), ended, mark)?;
        watch.iter().filter_map(|watch| watch.group.as_ref()).for_each(|group| group.kill());
        tree::kill_tree(mark, || while matches!(sys::reap(false), ReapOutcome::Ended(..)) {});
        Some(broken)
    }

    /// Visits the processes below this process, and stops as soon as there are too many.
    fn sample_tree(&mut self, mark: Option<&str>) -> (usize, Vec<(Pid, UsageSample)>) {
        if !sys::ORPHANS_COME_BACK && self.checks.is_multiple_of(SEARCH) {
            self.strays = mark.map(tree::marked_pids).unwrap_or_default();
        }
        self.checks = self.checks.wrapping_add(1);
        let most = self.limits.processes.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let measures_cpu = self.limits.cpu.is_some() && self.group.is_none();
        let measures_memory = self.limits.memory.is_some() && !self.kernel_bounds_memory();
        if measures_cpu || measures_memory {
            let seen = samples(&self.strays, most);
            return (seen.len(), seen);
        }
        let count = if self.limits.processes.is_some() { walk(&self.strays, most, |_| Some(())).len() } else { 0 };
        (count, Vec::new())
    }

    /// Compares the totals with the limits. `shared` measures the memory with shared pages counted once. The kernel
    /// takes longer for that, so it is called only if the plain sum exceeds the limit.
    fn find_exceeded(&self, totals: &TreeUsage, shared: impl FnOnce(u64) -> u64) -> Option<ExceededLimit> {
        if let Some(allowed) = self.limits.processes
            && totals.processes > allowed
        {
            return Some(ExceededLimit { limit: LimitKind::Processes, used: totals.processes, allowed });
        }
        if let Some(allowed) = self.limits.memory
            && totals.resident > allowed
        {
            let used = shared(allowed);
            if used > allowed {
                return Some(ExceededLimit { limit: LimitKind::Memory, used, allowed });
            }
        }
        let used = self.cpu_us / 1000;
        let allowed = self.limits.cpu.filter(|allowed| used > *allowed)?;
        Some(ExceededLimit { limit: LimitKind::Cpu, used, allowed })
    }

    /// Returns the pause before the next check. CPU time passes no faster than the number of processors allows, but
    /// memory and processes may grow at any moment.
    fn next_pause(&self, totals: &TreeUsage, took: Duration) -> Duration {
        let mut pause = IDLE.max(CPU[1]);
        if let Some(allowed) = self.limits.cpu {
            let left = Duration::from_millis(allowed).saturating_sub(Duration::from_micros(self.cpu_us));
            pause = (left / self.cores).clamp(CPU[0], CPU[1]);
        }
        if self.limits.memory.is_some() || self.limits.processes.is_some() {
            let near = self.limits.processes.is_some_and(|allowed| totals.processes > allowed / 2);
            let growth = if near { NEAR } else { USUAL };
            // A sleeping tree is checked less and less often.
            let asleep = if *totals == self.last { self.pause * 2 } else { Duration::ZERO };
            pause = pause.min(growth.max(asleep).min(IDLE));
        }
        if let Some(allowed) = self.limits.memory.filter(|_| !self.kernel_bounds_memory()) {
            pause = pause.min(until_over(totals.resident, allowed));
        }
        pause.max(took * SHARE)
    }
}

/// Returns the number of processors that this process may use. Reads many files.
fn core_count() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1))
}

/// Returns the time in which the fastest growth takes memory a little over its limit.
fn until_over(used: u64, allowed: u64) -> Duration {
    let left = (allowed + allowed / 20).saturating_sub(used);
    Duration::from_secs_f64(left as f64 / FASTEST as f64).max(SHORTEST)
}

/// Returns the usage of the living processes of a tree, and of the children that they have waited for.
pub fn used_by_living(mark: Option<&str>) -> ResourceUsage {
    // The survivors may be a fork bomb, which grows while it is counted.
    let _realtime = sys::RealtimeGuard::begin();
    let strays = if sys::ORPHANS_COME_BACK { Vec::new() } else { mark.map(tree::marked_pids).unwrap_or_default() };
    let mut usage = ResourceUsage::default();
    for (_, sample) in samples(&strays, ADDED_UP) {
        usage.add(sample.usage);
    }
    usage
}

/// Samples the processes below this process and below `strays`, zombies included. Returns at most one more than `most`.
fn samples(strays: &[Pid], most: usize) -> Vec<(Pid, UsageSample)> {
    walk(strays, most, sys::sample)
}

fn walk<T>(strays: &[Pid], most: usize, ask: impl Fn(Pid) -> Option<T>) -> Vec<(Pid, T)> {
    let mut found = Vec::new();
    let mut known = HashSet::from([getpid()]);
    let mut waiting = strays.to_vec();
    let mut parent = Some(getpid());
    loop {
        waiting.extend(parent.map(sys::children).unwrap_or_default());
        let Some(pid) = waiting.pop() else { return found };
        parent = None;
        if known.insert(pid)
            && let Some(answer) = ask(pid)
        {
            found.push((pid, answer));
            if found.len() > most {
                return found;
            }
            parent = Some(pid);
        }
    }
}

/// Returns the memory of processes, bytes. If n processes share a page, each counts an nth of it. A child between vfork
/// and exec shares all memory of its parent and would count it again. If the system does not report that sharing, a sum
/// over the limit is measured again.
fn proportional_memory(seen: &[(Pid, UsageSample)], allowed: u64) -> u64 {
    let mut least = u64::MAX;
    for pause in UNTIL_EXEC {
        let mut sure = true;
        least = least.min(seen.iter().map(|process| exact_memory(process, &mut sure)).sum());
        if sure || least <= allowed {
            break;
        }
        std::thread::sleep(pause);
    }
    least
}

fn exact_memory((pid, sample): &(Pid, UsageSample), sure: &mut bool) -> u64 {
    match sys::share_memory(*pid, sample.parent) {
        Some(true) => return 0,
        Some(false) => {}
        None => *sure = false,
    }
    // The exact memory of another user's process cannot be read. Its resident memory counts instead.
    sys::proportional_memory(*pid).or_else(|| sys::sample(*pid).map(|sample| sample.resident)).unwrap_or(0)
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
