//! Every process that a command has started: finding them and ending them.

use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpid};

use crate::sys::{self, Identity};

/// The variable that tells programs, and the search for them, which command they belong to.
pub const MARK: &str = "AGENT_BASH_ID";

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
    sys::processes_with(&format!("{MARK}={mark}"))
        .into_iter()
        .filter(|pid| *pid != getpid())
        .filter_map(Member::of)
        .collect()
}

/// Asks for an end. A stopped process is continued, or it would never hear of it.
pub fn ask_to_end(members: &[Member]) {
    for member in members {
        member.signal(Signal::SIGTERM);
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
