//! Ends pipelines from their front: readers are signalled after the processes that they read from, so that no line is
//! lost that they hold back.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::pipeline::{self, PipelineProcess};
use super::process_control::{ProcessControl, TreeScope};
use sys::Signal;

/// Time by which deferred signals may delay the end of a tree in total. The same time applies again after SIGKILL.
pub const LATEST: Duration = Duration::from_millis(200);
/// Interval between two checks. A slow check is followed by a longer interval.
const CHECK: Duration = Duration::from_millis(10);
/// Length from which a delay of a check counts as a stall of the machine. Shorter delays would add up, check by check.
const STALL: Duration = Duration::from_millis(50);
/// Shortest interval between two checks, so that the shim does not spin.
const SHORTEST: Duration = Duration::from_millis(1);

/// Processes of a terminated tree whose SIGTERM waits for the end of their input.
pub struct ReaderDeferral {
    /// The processes that were signalled, and those that they have started since.
    front: HashSet<(Pid, u64)>,
    /// The processes that were not signalled.
    deferred: Vec<PipelineProcess>,
    /// When a signalled process was last seen to write to a pipe that a deferred process reads.
    fed: Instant,
    /// The part of [`LATEST`] that is left from `fed` on.
    left: Duration,
    next: Instant,
    /// When the readers with a handler of SIGTERM are signalled. The handler may take its time, which would add to the
    /// time of the processes before it, and it has to end before SIGKILL.
    handlers_at: Instant,
    /// Whether the processes in front have received SIGKILL.
    killed: bool,
}

impl ReaderDeferral {
    /// Sends SIGTERM to the tree, except for its readers of pipes, and continues those readers. `None` if the tree has
    /// no readers.
    pub fn begin(processes: &impl ProcessControl, scope: TreeScope<'_>, kill_at: Instant) -> Option<Self> {
        let begun = processes.now();
        let stages = processes.pipeline_processes(scope).unwrap_or_default();
        let readers = pipeline::readers(&stages);
        if readers.is_empty() && !stages.iter().any(|stage| stage.acts) {
            // A new list is needed, since processes may have been started meanwhile.
            processes.terminate(scope, &[Signal::SIGTERM]);
            return None;
        }
        let (deferred, front): (Vec<PipelineProcess>, Vec<PipelineProcess>) =
            stages.into_iter().partition(|stage| readers.contains(&stage.member.pid));
        // Stopped readers are continued first. If the last parent of their group is gone before that, the kernel ends
        // them with SIGHUP.
        deferred.iter().for_each(|stage| processes.signal(&stage.member, &[]));
        signal_all(processes, &front, Signal::SIGTERM);
        let front: HashSet<_> = front.iter().map(id).collect();
        if deferred.is_empty() {
            let mut started = processes.pipeline_processes(scope).unwrap_or_default();
            started.retain(|stage| !front.contains(&id(stage)));
            signal_all(processes, &started, Signal::SIGTERM);
            return None;
        }
        let handlers_at = begun + LATEST.min(kill_at.saturating_duration_since(begun) / 2);
        Some(Self {
            front,
            deferred,
            fed: begun,
            left: LATEST,
            next: handlers_at.min(begun + CHECK),
            handlers_at,
            killed: false,
        })
    }

    /// Returns when the next check is due.
    pub fn wake_at(&self) -> Instant {
        self.next
    }

    /// Sends SIGKILL to the processes in front, whose time is over, so that the readers find the end of their input.
    /// Returns whether readers are left that wait for their end of input. They have [`LATEST`] for that.
    pub fn kill_front(&mut self, processes: &impl ProcessControl, scope: TreeScope<'_>) -> bool {
        let now = processes.now();
        self.killed = true;
        (self.fed, self.left, self.next) = (now, LATEST, now + CHECK);
        processes.pipeline_processes(scope).is_some_and(|stages| self.follow(processes, &stages, now))
    }

    /// Signals the deferred processes whose time has come. Returns whether others are left.
    ///
    /// The first readers have half of the time that is left if others read from them, since those wait for their end
    /// next.
    pub fn check(&mut self, processes: &impl ProcessControl, scope: TreeScope<'_>) -> bool {
        let now = processes.now();
        // Time in which the machine stalled is not taken from the readers, which did not run either. It is taken from a
        // handler, since SIGKILL does not wait for the handler.
        let late = now.saturating_duration_since(self.next);
        if late >= STALL {
            self.fed += late;
        }
        if let Some(stages) = processes.pipeline_processes(scope) {
            self.follow(processes, &stages, now);
        }
        let seen = processes.now();
        let later = pipeline::readers(&self.deferred);
        let patience = if later.is_empty() { self.left } else { self.left / 2 };
        if now >= self.fed + patience {
            self.left = self.left.saturating_sub(now.saturating_duration_since(self.fed));
            self.fed = now;
            self.signal(processes, |stage| !later.contains(&stage.member.pid));
        }
        if now >= self.handlers_at {
            self.signal(processes, |stage| stage.handles_terminate);
        }
        let interval = CHECK.max(seen.saturating_duration_since(now) * 4);
        let steps = [Some(seen + interval), Some(self.fed + patience), self.pending_handlers_at(now)];
        self.next = steps.into_iter().flatten().min().unwrap_or(seen).max(seen + SHORTEST);
        !self.deferred.is_empty()
    }

    fn pending_handlers_at(&self, now: Instant) -> Option<Instant> {
        (now < self.handlers_at).then_some(self.handlers_at)
    }

    /// Signals every deferred process.
    pub fn give_up(mut self, processes: &impl ProcessControl) {
        self.signal(processes, |_| true);
    }

    fn signal(&mut self, processes: &impl ProcessControl, due: impl Fn(&PipelineProcess) -> bool) {
        for stage in self.deferred.extract_if(.., |stage| due(stage)) {
            processes.signal(&stage.member, &[Signal::SIGTERM]);
            self.front.insert(id(&stage));
        }
    }

    /// Updates the known processes, continues readers that were stopped meanwhile, and kills the processes in front if
    /// their time is over. Returns whether readers are left.
    fn follow(&mut self, processes: &impl ProcessControl, stages: &[PipelineProcess], now: Instant) -> bool {
        // A list can lack a living process, and a forgotten reader would never be signalled.
        let listed: HashSet<_> = stages.iter().map(id).collect();
        let lacking = self
            .deferred
            .iter()
            .filter(|stage| !listed.contains(&id(stage)) && processes.is_member_alive(&stage.member));
        let stages: Vec<PipelineProcess> = stages.iter().chain(lacking).cloned().collect();
        self.update(&stages, now);
        self.deferred.iter().for_each(|stage| processes.signal(&stage.member, &[]));
        if self.killed {
            let front: Vec<PipelineProcess> =
                stages.iter().filter(|stage| self.front.contains(&id(stage))).cloned().collect();
            signal_all(processes, &front, Signal::SIGKILL);
        }
        !self.deferred.is_empty()
    }

    /// Updates the known processes. A process that a signalled process started cleans up and is left alone. Any other
    /// new process is deferred.
    fn update(&mut self, stages: &[PipelineProcess], now: Instant) {
        let mut deferred: HashSet<(Pid, u64)> = self.deferred.iter().map(id).collect();
        let mut pids = HashSet::new();
        // A parent is listed before its children.
        for stage in stages {
            if !self.front.contains(&id(stage)) && !deferred.contains(&id(stage)) {
                let parent = stages.iter().find(|other| other.member.pid == stage.member.parent());
                let new = if parent.is_some_and(|parent| self.front.contains(&id(parent))) {
                    &mut self.front
                } else {
                    &mut deferred
                };
                new.insert(id(stage));
            }
            if deferred.contains(&id(stage)) {
                pids.insert(stage.member.pid);
            }
        }
        self.deferred = stages.iter().filter(|stage| pids.contains(&stage.member.pid)).cloned().collect();
        if pipeline::is_fed(stages, &pids) {
            self.fed = now;
        }
    }
}

/// Signals these processes. A reader that acts on its input must not find its end before its own signal.
fn signal_all(processes: &impl ProcessControl, stages: &[PipelineProcess], signal: Signal) {
    for acts in [true, false] {
        let due = stages.iter().filter(|stage| stage.acts == acts);
        due.for_each(|stage| processes.signal(&stage.member, &[signal]));
    }
}

/// Distinguishes a process from a later process with the same pid.
fn id(stage: &PipelineProcess) -> (Pid, u64) {
    (stage.member.pid, stage.member.started())
}
