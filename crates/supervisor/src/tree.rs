//! All processes that a command has started: how to find and terminate them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use nix::unistd::{Pid, getpgid, getpid};

use protocol::plan::MARK;
use sys::{ProcessIdentity, Signal};

/// Time limit of one strike against processes that start others.
const STRIKE: Duration = Duration::from_millis(50);

/// Number of visited processes after which a strike turns to the new children of this process.
const BETWEEN: usize = 16;

/// Number of visited processes after which a strike stops the whole world of a command. The processes may be a fork
/// bomb, which starts others faster than they are found, and in a world this process has no realtime priority.
const MANY: usize = 64;

/// Number of found processes after which a search among processes that may go on stops the whole world. Only a fork
/// bomb has as many, and without a pause the search would never end. Smaller trees are not paused, because a pause
/// interrupts the system calls of all processes.
const BOMB: usize = 1024;

/// A process below this process, with its identity, since another process may have its pid by now.
#[derive(Debug, Clone, Copy)]
pub struct TreeMember {
    /// The pid of the process.
    pub pid: Pid,
    identity: ProcessIdentity,
}

impl TreeMember {
    /// Returns the process with this pid if it is alive.
    pub fn of(pid: Pid) -> Option<Self> {
        sys::living_identity(pid).map(|identity| Self { pid, identity })
    }

    /// Returns the process group. `None` if the process is gone.
    pub fn group(&self) -> Option<Pid> {
        getpgid(Some(self.pid)).ok()
    }

    /// Returns the start time, which shows the older of two processes.
    pub fn started(&self) -> u64 {
        self.identity.started
    }

    /// Returns the pid of the parent.
    pub fn parent(&self) -> Pid {
        self.identity.parent
    }

    /// Returns whether this very process is alive.
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid).is_some_and(|now| now.started() == self.started())
    }

    /// Returns a process that does not exist.
    #[cfg(test)]
    pub fn imagined(pid: Pid, parent: Pid) -> Self {
        Self { pid, identity: ProcessIdentity { parent, started: 1, zombie: false, stopped: false } }
    }

    /// Signals the process, unless it has exited meanwhile.
    pub fn signal(&self, signal: Signal) {
        sys::signal_checked(self.pid, self.identity, signal);
    }
}

/// Returns the living descendants of this process, except for `spared` children and all below them. Includes processes
/// that left their session, and on systems without subreapers also processes with the mark.
pub fn members(mark: Option<&str>, spared: &[Pid]) -> Vec<TreeMember> {
    let mut found = descendants_of(getpid(), |child| !spared.contains(&child));
    if !sys::ORPHANS_COME_BACK {
        found.extend(mark.map(marked_members).unwrap_or_default());
    }
    found
}

/// Returns the same processes from two walks. A single walk can lack a process whose parent exits meanwhile: the
/// process moves to a place that the walk has passed, or its siblings move up in the list of children that the kernel
/// is just writing.
pub fn all_members(mark: Option<&str>, spared: &[Pid]) -> Vec<TreeMember> {
    let mut found = members(mark, spared);
    let known: HashSet<Pid> = found.iter().map(|member| member.pid).collect();
    found.extend(members(mark, spared).into_iter().filter(|member| !known.contains(&member.pid)));
    found
}

/// Returns the living descendants of `root` through its children that `wanted` accepts. While it lists the descendants
/// of a fork bomb in a world, all other processes of that world are stopped.
pub fn descendants_of(root: Pid, wanted: impl Fn(Pid) -> bool) -> Vec<TreeMember> {
    let mut found: Vec<TreeMember> = Vec::new();
    let mut parents = vec![root];
    let mut pause = None;
    while let Some(parent) = parents.pop() {
        if found.len() > BOMB && pause.is_none() {
            pause = sys::WorldPause::begin();
        }
        for child in sys::children(parent) {
            if parent == root && !wanted(child) {
                continue;
            }
            // A zombie may still have children of other threads, so the walk goes through it without counting it.
            parents.push(child);
            // The parent is read again after the list of children: a pid that was reused in between has another parent.
            found.extend(TreeMember::of(child).filter(|member| member.identity.parent == parent));
        }
    }
    found
}

/// Returns every process with this mark. Reads the environment of all processes, so it is only for a tree that cannot
/// be walked, such as when the helpers that knew it were killed.
pub fn marked_members(mark: &str) -> Vec<TreeMember> {
    marked_pids(mark).into_iter().filter_map(TreeMember::of).collect()
}

/// Returns the pids of all processes with this mark, including processes that have exited.
pub fn marked_pids(mark: &str) -> Vec<Pid> {
    sys::processes_with(&format!("{MARK}={mark}")).into_iter().filter(|pid| *pid != getpid()).collect()
}

/// Sends these signals, and continues stopped processes, which would never receive them.
pub fn signal_and_continue(members: &[TreeMember], signals: &[Signal]) {
    for member in members {
        signals.iter().for_each(|signal| member.signal(*signal));
        if member.identity.stopped {
            member.signal(Signal::SIGCONT);
        }
    }
}

/// Sends SIGKILL. The caller repeats this until no process is left, since a process may have forked meanwhile.
pub fn kill_members(members: &[TreeMember]) {
    for member in members {
        member.signal(Signal::SIGKILL);
    }
}

/// Kills all processes below this process, and on systems without subreapers all processes with the mark, even if they
/// start others faster than a check of each could follow. `reap` reaps children that have exited. The caller repeats
/// this until no process is left. If a world has many of these processes, all others of that world are stopped for the
/// moment.
pub fn kill_tree(mark: Option<&str>, mut reap: impl FnMut()) {
    let _realtime = sys::RealtimeGuard::begin();
    let until = Instant::now() + STRIKE;
    let mut struck = HashSet::new();
    let mut pause = None;
    loop {
        let mut waiting = strike_children(&mut pause);
        if !sys::ORPHANS_COME_BACK {
            let strays = mark.map(marked_members).unwrap_or_default();
            kill_members(&strays);
            waiting.extend(strays.iter().map(|stray| stray.pid));
        }
        let before = struck.len();
        struck.extend(waiting.iter().copied());
        let mut visited = HashSet::from([getpid()]);
        while let Some(pid) = waiting.pop() {
            if visited.len() == MANY && pause.is_none() {
                pause = sys::WorldPause::begin();
            }
            if visited.len().is_multiple_of(BETWEEN) {
                reap();
                strike_children(&mut pause);
            }
            if visited.insert(pid) {
                let killed = sys::kill_children(pid);
                struck.extend(killed.iter().copied());
                waiting.extend(killed);
            }
        }
        reap();
        // The next round finds processes that were started in between. Killed processes stay visible for a moment, so
        // the round ends the strike if it has found no new pid.
        let is_over = pause.is_none() && Instant::now() >= until;
        if struck.len() == before || is_over {
            return;
        }
    }
}

/// Kills the children of this process without a check of their identity. No other process reaps them, so their pids
/// cannot have been reused. A killed process leaves its children to this process, and every moment counts among
/// hundreds of processes that fork. So many are stopped before the first of them is killed.
fn strike_children(pause: &mut Option<sys::WorldPause>) -> Vec<Pid> {
    let mut children = sys::first_children(getpid());
    if children.len() > MANY && pause.is_none() {
        *pause = sys::WorldPause::begin();
        children = sys::first_children(getpid());
    }
    let mut groups = HashSet::new();
    for child in &children {
        // The signal reaches the whole group at once, so none of its members starts another process that escapes.
        if let Ok(group) = getpgid(Some(*child))
            && groups.insert(group)
        {
            sys::signal_group(group, Signal::SIGKILL);
        }
        sys::signal(*child, Signal::SIGKILL);
    }
    children
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
