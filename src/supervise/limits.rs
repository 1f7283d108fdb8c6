//! The limits that hold over a whole tree: what it uses is looked at from time to time, and told when it is too much.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use nix::unistd::{Pid, getpid};

use super::tree;
use crate::plan::{Limits, amount};
use crate::sys::{self, Memory, Sample, Usage};

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
/// The most processes whose use is added up when a command has ended and they have not.
const ADDED_UP: usize = 1000;
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
        let seen = self.visit(mark);
        let mut totals = Totals { processes: seen.len() as u64, ..Totals::default() };
        for (_, sample) in &seen {
            totals.cpu_us += sample.usage.user_us + sample.usage.system_us;
            totals.resident += sample.resident;
        }
        totals.cpu_us += ended.user_us + ended.system_us;
        self.cpu_us = self.cpu_us.max(totals.cpu_us);
        let broken = self.judge(&totals, || proportional(&seen));
        let after = Instant::now();
        self.pause = self.next_pause(&totals, after.saturating_duration_since(now));
        self.next = after + self.pause;
        self.last = totals;
        broken
    }

    /// Walks down from here, and no further than needed to see that there are too many.
    fn visit(&mut self, mark: Option<&str>) -> Vec<(Pid, Sample)> {
        if !sys::ORPHANS_COME_BACK && self.looks.is_multiple_of(SEARCH) {
            self.strays = mark.map(tree::marked_pids).unwrap_or_default();
        }
        self.looks = self.looks.wrapping_add(1);
        samples(
            &self.strays,
            self.limits.processes.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX)),
        )
    }

    /// `shared`: what they hold when pages that several share are counted once; asked for only when it matters, since
    /// it takes the kernel longer to say.
    fn judge(&self, totals: &Totals, shared: impl FnOnce() -> u64) -> Option<Broken> {
        if let Some(allowed) = self.limits.processes
            && totals.processes > allowed
        {
            return Some(Broken { limit: Limited::Processes, used: totals.processes, allowed });
        }
        if let Some(allowed) = self.limits.memory
            && totals.resident > allowed
        {
            let used = shared();
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
            // A tree that sleeps is looked at less and less often, one that needs a long look too.
            let asleep = if *totals == self.last { self.pause * 2 } else { Duration::ZERO };
            pause = pause.min(growth.max(asleep).max(took * SHARE).min(IDLE));
        }
        pause
    }
}

/// What the living use now, and what they have waited for.
pub fn used_by_living(mark: Option<&str>) -> Usage {
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
    let mut found = Vec::new();
    let mut known = HashSet::from([getpid()]);
    let mut waiting = strays.to_vec();
    let mut parent = Some(getpid());
    loop {
        waiting.extend(parent.map(sys::children).unwrap_or_default());
        let Some(pid) = waiting.pop() else { return found };
        parent = None;
        if known.insert(pid)
            && let Some(sample) = sys::sample(pid)
        {
            found.push((pid, sample));
            if found.len() > most {
                return found;
            }
            parent = Some(pid);
        }
    }
}

/// Memory of processes, bytes: what n of them share counts an nth for each.
fn proportional(seen: &[(Pid, Sample)]) -> u64 {
    let held: HashMap<Pid, Memory> = seen.iter().filter_map(|(pid, _)| Some((*pid, sys::memory(*pid)?))).collect();
    let count = |(pid, sample): &(Pid, Sample)| match (held.get(pid), held.get(&sample.parent)) {
        // A child between vfork and exec is its parent, memory and all.
        (Some(memory), Some(parents)) if memory.is_same(parents) || sys::share_memory(*pid, sample.parent) => 0,
        (Some(memory), _) => memory.proportional,
        // It does not let itself be looked at: another user's.
        (None, _) => sample.resident,
    };
    seen.iter().map(count).sum()
}
