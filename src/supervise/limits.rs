//! The limits that hold over a whole tree: what it uses is looked at from time to time, and told when it is too much.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Pid, getpid};

use super::tree;
use crate::plan::{Limits, amount};
use crate::sys::{self, Reaped, Sample, Usage};

/// The first look: most commands have ended by then.
const FIRST: Duration = Duration::from_millis(10);
/// Between looks at memory and processes.
const USUAL: Duration = Duration::from_millis(20);
/// The same once half of what is allowed is used.
const NEAR: Duration = Duration::from_millis(5);
/// The longest pause between them, of a tree that does nothing.
const IDLE: Duration = Duration::from_millis(100);
/// A look takes at most this part of the time.
const SHARE: u32 = 10;
/// Between looks at the CPU time alone. The system counts it in steps of 10 ms.
const CPU: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];
/// After each look at memory that cannot be told from that of a parent: longer than a child takes from vfork to exec.
const UNTIL_EXEC: [Duration; 3] = [Duration::from_millis(5), Duration::from_millis(10), Duration::ZERO];
/// The most processes whose use is added up when a command has ended and they have not.
const ADDED_UP: usize = 200;
/// Where orphans do not come back, every how many looks they are searched for in the list of all processes.
const SEARCH: u32 = 16;

/// A limit over the whole tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// CPU time, ms.
    Cpu,
    /// Memory, bytes.
    Memory,
    /// Processes.
    Processes,
}

/// A limit that was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken {
    /// Which one.
    pub limit: Limited,
    /// What was used, in its unit.
    pub used: u64,
    /// What was allowed.
    pub allowed: u64,
}

impl Broken {
    /// Whether there is no time to ask first: memory and processes may go on growing faster than they are ended.
    pub fn at_once(&self) -> bool {
        self.limit != Limited::Cpu
    }

    /// The signal that it is answered with first.
    pub fn signal(&self) -> i32 {
        if self.at_once() { libc::SIGKILL } else { libc::SIGTERM }
    }

    /// What the caller is told.
    pub fn note(&self) -> String {
        let Self { limit, used, allowed } = *self;
        match limit {
            Limited::Cpu => format!(
                "limits.cpuSeconds: the command's processes used {} s of CPU time together, over the limit of {} s; \
                 they were ended",
                seconds(used),
                seconds(allowed),
            ),
            Limited::Memory => format!(
                "limits.memoryBytes: the command's processes held {} together, over the limit of {}; they were ended",
                amount(used),
                amount(allowed),
            ),
            // They were not counted any further.
            Limited::Processes => {
                format!("limits.processes: the command had more than {allowed} processes at once; they were ended")
            }
        }
    }
}

fn seconds(ms: u64) -> String {
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What a tree uses at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    /// Of living processes, and of what they have waited for, µs.
    cpu_us: u64,
    /// Pages that several processes share counted for each of them, bytes.
    resident: u64,
    processes: u64,
}

/// Watches over a tree.
pub struct Watch {
    limits: Limits,
    /// How much CPU time may pass in a moment.
    cores: u32,
    next: Instant,
    pause: Duration,
    last: Totals,
    /// The most CPU time that was seen: what nobody waits for is gone with its process.
    cpu_us: u64,
    looks: u32,
    /// Where orphans do not come back: those that were found.
    strays: Vec<Pid>,
}

impl Watch {
    /// `None` when nothing is to be watched: then nothing is done at all.
    pub fn begin(limits: Limits, started: Instant) -> Option<Self> {
        limits.over_tree().then(|| Self {
            limits,
            cores: std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1)),
            next: started + FIRST,
            pause: USUAL,
            last: Totals::default(),
            cpu_us: 0,
            looks: 0,
            strays: Vec::new(),
        })
    }

    /// When it wants to look next.
    pub fn wake_at(&self) -> Instant {
        self.next
    }

    /// Looks, if it is time to. `ended`: what those used that have ended and were reaped here.
    pub fn look(&mut self, now: Instant, ended: Usage, mark: Option<&str>) -> Option<Broken> {
        if now < self.next {
            return None;
        }
        let _hurry = sys::Hurry::begin();
        let before = worked();
        let (processes, seen) = self.visit(mark);
        let mut totals = Totals { processes: processes as u64, ..Totals::default() };
        for (_, sample) in &seen {
            totals.cpu_us += sample.usage.user_us + sample.usage.system_us;
            totals.resident += sample.resident;
        }
        totals.cpu_us += ended.user_us + ended.system_us;
        self.cpu_us = self.cpu_us.max(totals.cpu_us);
        let broken = self.judge(&totals, |allowed| proportional(&seen, allowed));
        self.pause = self.next_pause(&totals, worked().saturating_sub(before));
        self.next = Instant::now() + self.pause;
        self.last = totals;
        broken
    }

    /// Looks at what is left of a command that is over, and ends it without asking when it uses too much.
    pub fn hold(watch: &mut Option<Self>, ended: Usage, mark: Option<&str>) -> Option<Broken> {
        let broken = watch.as_mut()?.look(Instant::now(), ended, mark)?;
        tree::strike(mark, || while matches!(sys::reap(false), Reaped::Ended(..)) {});
        Some(broken)
    }

    /// Walks down from here, and no further than needed to see that there are too many.
    fn visit(&mut self, mark: Option<&str>) -> (usize, Vec<(Pid, Sample)>) {
        if !sys::ORPHANS_COME_BACK && self.looks.is_multiple_of(SEARCH) {
            self.strays = mark.map(tree::marked_pids).unwrap_or_default();
        }
        self.looks = self.looks.wrapping_add(1);
        let most = self.limits.processes.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        if self.limits.cpu.is_some() || self.limits.memory.is_some() {
            let seen = samples(&self.strays, most);
            return (seen.len(), seen);
        }
        (walk(&self.strays, most, |_| Some(())).len(), Vec::new())
    }

    /// `shared`: what they hold when pages that several share are counted once; asked for only when it matters, since
    /// it takes the kernel longer to say.
    fn judge(&self, totals: &Totals, shared: impl FnOnce(u64) -> u64) -> Option<Broken> {
        if let Some(allowed) = self.limits.processes
            && totals.processes > allowed
        {
            return Some(Broken { limit: Limited::Processes, used: totals.processes, allowed });
        }
        if let Some(allowed) = self.limits.memory
            && totals.resident > allowed
        {
            let used = shared(allowed);
            if used > allowed {
                return Some(Broken { limit: Limited::Memory, used, allowed });
            }
        }
        let used = self.cpu_us / 1000;
        let allowed = self.limits.cpu.filter(|allowed| used > *allowed)?;
        Some(Broken { limit: Limited::Cpu, used, allowed })
    }

    /// CPU time cannot pass faster than there are cores for it; memory and processes may grow at any moment.
    fn next_pause(&self, totals: &Totals, took: Duration) -> Duration {
        let mut pause = IDLE.max(CPU[1]);
        if let Some(allowed) = self.limits.cpu {
            let left = Duration::from_millis(allowed).saturating_sub(Duration::from_micros(self.cpu_us));
            pause = (left / self.cores).clamp(CPU[0], CPU[1]);
        }
        if self.limits.memory.is_some() || self.limits.processes.is_some() {
            let near = |used: u64, allowed: Option<u64>| allowed.is_some_and(|allowed| used > allowed / 2);
            let growth = if near(totals.resident, self.limits.memory) || near(totals.processes, self.limits.processes) {
                NEAR
            } else {
                USUAL
            };
            // A tree that sleeps is looked at less and less often.
            let asleep = if *totals == self.last { self.pause * 2 } else { Duration::ZERO };
            pause = pause.min(growth.max(asleep).min(IDLE));
        }
        pause.max(took * SHARE)
    }
}

/// CPU time of this process; how long it was kept from the processor says nothing of a look.
fn worked() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

/// What the living use now, and what they have waited for.
pub fn used_by_living(mark: Option<&str>) -> Usage {
    // What is left may be a fork bomb, which grows while it is counted.
    let _hurry = sys::Hurry::begin();
    let strays = if sys::ORPHANS_COME_BACK { Vec::new() } else { mark.map(tree::marked_pids).unwrap_or_default() };
    let mut usage = Usage::default();
    for (_, sample) in samples(&strays, ADDED_UP) {
        usage.add(sample.usage);
    }
    usage
}

/// The processes below this one and below `strays`, ended ones that nobody has waited for included; at most one more
/// than `most`.
fn samples(strays: &[Pid], most: usize) -> Vec<(Pid, Sample)> {
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

/// Memory of processes, bytes: what n of them share counts an nth for each. A child between vfork and exec has that of
/// its parent and would count it again: where the system does not tell, what seems too much is looked at again.
fn proportional(seen: &[(Pid, Sample)], allowed: u64) -> u64 {
    let mut least = u64::MAX;
    for pause in UNTIL_EXEC {
        let mut sure = true;
        least = least.min(seen.iter().map(|process| held(process, &mut sure)).sum());
        if sure || least <= allowed {
            break;
        }
        std::thread::sleep(pause);
    }
    least
}

fn held((pid, sample): &(Pid, Sample), sure: &mut bool) -> u64 {
    match sys::share_memory(*pid, sample.parent) {
        Some(true) => return 0,
        Some(false) => {}
        None => *sure = false,
    }
    // What does not let itself be looked at is another user's.
    sys::memory(*pid).or_else(|| sys::sample(*pid).map(|sample| sample.resident)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;

    fn watch(limits: Limits) -> Watch {
        let mut watch = Watch::begin(limits, Instant::now()).expect("something to watch");
        watch.cores = 2;
        watch
    }

    #[test]
    fn nothing_is_watched_without_a_limit_over_the_tree() {
        let own = Limits { open_files: Some(9), file_bytes: Some(9), ..Limits::default() };
        assert!(Watch::begin(own, Instant::now()).is_none());
        assert!(Watch::begin(Limits { processes: Some(9), ..own }, Instant::now()).is_some());
    }

    #[test]
    fn shared_memory_is_asked_for_only_when_it_matters() {
        let watch = watch(Limits { memory: Some(100 * MIB), ..Limits::default() });
        let totals = Totals { resident: 100 * MIB, ..Totals::default() };
        assert_eq!(watch.judge(&totals, |_| unreachable!("within the limit whatever is shared")), None);
        let totals = Totals { resident: 150 * MIB, ..totals };
        assert_eq!(watch.judge(&totals, |_| 100 * MIB), None);
        let broken = Broken { limit: Limited::Memory, used: 101 * MIB, allowed: 100 * MIB };
        assert_eq!(watch.judge(&totals, |_| 101 * MIB), Some(broken));
    }

    #[test]
    fn cpu_time_that_was_seen_once_is_not_forgotten() {
        let mut watch = watch(Limits { cpu: Some(1000), ..Limits::default() });
        watch.cpu_us = 1_001_000;
        let broken = Broken { limit: Limited::Cpu, used: 1001, allowed: 1000 };
        assert_eq!(watch.judge(&Totals::default(), |_| 0), Some(broken));
    }

    #[test]
    fn notes_name_the_limit_and_both_figures() {
        let note = |limit, used, allowed| Broken { limit, used, allowed }.note();
        assert_eq!(
            note(Limited::Memory, 812 * MIB, 512 * MIB),
            "limits.memoryBytes: the command's processes held 812 MiB together, over the limit of 512 MiB; they were ended"
        );
        assert_eq!(
            note(Limited::Cpu, 2010, 2000),
            "limits.cpuSeconds: the command's processes used 2.01 s of CPU time together, over the limit of 2 s; they were \
             ended"
        );
        assert_eq!(
            note(Limited::Processes, 51, 50),
            "limits.processes: the command had more than 50 processes at once; they were ended"
        );
    }

    #[test]
    fn a_tree_that_sleeps_is_looked_at_less_and_less_often() {
        let mut watch = watch(Limits { memory: Some(100 * MIB), ..Limits::default() });
        let totals = Totals { resident: MIB, processes: 1, cpu_us: 10_000 };
        watch.pause = watch.next_pause(&totals, Duration::ZERO);
        assert_eq!(watch.pause, USUAL);
        watch.last = totals;
        let pauses = [(); 4].map(|()| {
            watch.pause = watch.next_pause(&totals, Duration::ZERO);
            watch.pause
        });
        assert_eq!(pauses, [USUAL * 2, USUAL * 4, IDLE, IDLE]);
        let grown = Totals { resident: 60 * MIB, ..totals };
        assert_eq!(watch.next_pause(&grown, Duration::ZERO), NEAR);
        assert_eq!(watch.next_pause(&grown, Duration::from_millis(3)), Duration::from_millis(30));
        assert_eq!(watch.next_pause(&grown, Duration::from_millis(30)), Duration::from_millis(300));
    }

    proptest! {
        #[test]
        fn a_limit_is_broken_by_more_than_it_allows_and_by_nothing_else(
            most in proptest::array::uniform3(proptest::option::of(1_u64..1000)),
            cpu in 0_u64..1000, resident in 0_u64..1000, part in 0_u64..=100, processes in 0_u64..1000,
        ) {
            let [cpu_most, memory, processes_most] = most;
            let limits = Limits { cpu: cpu_most, memory, processes: processes_most, ..Limits::default() };
            prop_assume!(limits.over_tree());
            let mut watch = watch(limits);
            watch.cpu_us = cpu * 1000;
            let held = resident * part / 100;
            let broken = watch.judge(&Totals { cpu_us: cpu * 1000, resident, processes }, |_| held);
            let over = |used: u64, most: Option<u64>| most.is_some_and(|most| used > most);
            let any = over(cpu, cpu_most) || over(held, memory) || over(processes, processes_most);
            prop_assert_eq!(broken.is_some(), any);
            if let Some(broken) = broken {
                prop_assert!(broken.used > broken.allowed);
            }
        }

        #[test]
        fn no_pause_is_long_enough_to_use_much_more_cpu_time_than_is_left(
            allowed in 1_u64..100_000, used in 0_u64..100_000, memory in proptest::option::of(1_u64..1000),
        ) {
            let mut watch = watch(Limits { cpu: Some(allowed), memory, ..Limits::default() });
            watch.cpu_us = used * 1000;
            let pause = watch.next_pause(&Totals::default(), Duration::ZERO);
            let left = Duration::from_millis(allowed.saturating_sub(used));
            prop_assert!(pause * watch.cores <= left.max(CPU[0] * watch.cores), "{pause:?} of {left:?}");
        }
    }
}
