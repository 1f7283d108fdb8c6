//! Every process that a command has started: finding them and ending them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpgid, getpid};

use crate::plan::MARK;
use crate::sys::{self, Identity};

/// For how long one strike goes on catching up with processes that start others.
const STRIKE: Duration = Duration::from_millis(50);

/// After how many steps further down a strike turns to what has come to this process meanwhile.
const BETWEEN: usize = 16;

/// A process below this one, and who it is: a pid alone may have another owner by now.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Its pid.
    pub pid: Pid,
    identity: Identity,
}

impl Member {
    fn of(pid: Pid) -> Option<Self> {
        let identity = sys::identity(pid)?;
        (!identity.zombie).then_some(Self { pid, identity })
    }

    /// Its group of processes; `None` when it is gone.
    pub fn group(&self) -> Option<Pid> {
        getpgid(Some(self.pid)).ok()
    }

    /// Tells the older of two.
    pub fn started(&self) -> u64 {
        self.identity.started
    }

    /// Signals it, unless it has ended meanwhile.
    pub fn signal(&self, signal: Signal) {
        sys::signal_checked(self.pid, self.identity, signal);
    }
}

/// The living descendants of this process but for some children, those that left their session included, and where
/// orphans do not come back those with the mark.
pub fn members(mark: Option<&str>, spared: &[Pid]) -> Vec<Member> {
    let mut found = below(getpid(), |child| !spared.contains(&child));
    if !sys::ORPHANS_COME_BACK {
        found.extend(mark.map(marked).unwrap_or_default());
    }
    found
}

/// The living descendants of `root` by way of those of its children that are wanted.
pub fn below(root: Pid, wanted: impl Fn(Pid) -> bool) -> Vec<Member> {
    let mut found: Vec<Member> = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for child in sys::children(parent) {
            if parent == root && !wanted(child) {
                continue;
            }
            // A zombie may still have threads' children in between, so it is walked through but not counted.
            parents.push(child);
            // Asked for again after the list was read: a pid that changed hands in between has another parent.
            found.extend(Member::of(child).filter(|member| member.identity.parent == parent));
        }
    }
    found
}

/// Every process that carries this mark. Reads the environment of all processes: for the rare case that the helpers
/// which knew the tree were killed.
pub fn marked(mark: &str) -> Vec<Member> {
    marked_pids(mark).into_iter().filter_map(Member::of).collect()
}

/// The pids of the same, ended ones included.
pub fn marked_pids(mark: &str) -> Vec<Pid> {
    sys::processes_with(&format!("{MARK}={mark}")).into_iter().filter(|pid| *pid != getpid()).collect()
}

/// Asks for an end. A stopped process is continued, or it would never hear of it.
pub fn ask_to_end(members: &[Member], signals: &[Signal]) {
    for member in members {
        signals.iter().for_each(|signal| member.signal(*signal));
        if member.identity.stopped {
            member.signal(Signal::SIGCONT);
        }
    }
}

/// Ends what is there now. To be repeated until nothing is: a process may have forked meanwhile.
pub fn kill(members: &[Member]) {
    for member in members {
        member.signal(Signal::SIGKILL);
    }
}

/// Ends everything below this process, and where orphans do not come back what has the mark, though it starts others
/// faster than they could be looked at one by one. `reap` takes what has ended. To be repeated until nothing is left.
pub fn strike(mark: Option<&str>, mut reap: impl FnMut()) {
    let _hurry = sys::Hurry::begin();
    let until = Instant::now() + STRIKE;
    let mut struck = HashSet::new();
    loop {
        let mut waiting = strike_children();
        if !sys::ORPHANS_COME_BACK {
            let strays = mark.map(marked).unwrap_or_default();
            kill(&strays);
            waiting.extend(strays.iter().map(|stray| stray.pid));
        }
        let before = struck.len();
        struck.extend(waiting.iter().copied());
        let mut visited = HashSet::from([getpid()]);
        while let Some(pid) = waiting.pop() {
            if visited.len().is_multiple_of(BETWEEN) {
                reap();
                strike_children();
            }
            if visited.insert(pid) {
                let killed = sys::kill_children(pid);
                struck.extend(killed.iter().copied());
                waiting.extend(killed);
            }
        }
        reap();
        // What was started in between is found now; those that were killed go on being there for a moment.
        if struck.len() == before || Instant::now() >= until {
            return;
        }
    }
}

/// Without a question: nobody else reaps the children of this process, so that their pids cannot have changed hands. A
/// process that is killed leaves its own to this one, and among hundreds that fork every moment counts.
fn strike_children() -> Vec<Pid> {
    let children = sys::first_children(getpid());
    let mut groups = HashSet::new();
    for child in &children {
        // A group hears of it as a whole: none of it starts another one that escapes.
        if let Ok(group) = getpgid(Some(*child))
            && groups.insert(group)
        {
            sys::signal_group(group, Signal::SIGKILL);
        }
        sys::signal(*child, Signal::SIGKILL);
    }
    children
}
