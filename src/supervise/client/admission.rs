//! How many commands run at once: as many as there are descriptors for. The others wait their turn.

use std::sync::OnceLock;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::sys;

/// What one command needs in this process: two pipes, a socket, for a moment their other ends, perhaps two files; up to three
/// more where its shell is more than a plain one; and its part of what sessions need besides.
const PER_COMMAND: u64 = 11;
/// A session that runs a command needs this many more: every so many-th command may be one's.
const PER_SESSION: usize = 5;
/// A terminal may stay open for hours: every so many-th command may have one.
const PER_TERMINAL: usize = 2;
/// Left for the host itself.
const RESERVE: u64 = 48;
/// Above this more commands at once only take turns on the processors.
const MOST: u64 = 1024;

/// A place among the running commands; given back when dropped.
pub type Slot = SemaphorePermit<'static>;

/// The places of this process.
pub struct Admission {
    commands: Semaphore,
    sessions: Semaphore,
    terminals: Semaphore,
}

impl Admission {
    /// One for all threads of the process.
    pub fn shared() -> &'static Self {
        static ADMISSION: OnceLock<Admission> = OnceLock::new();
        ADMISSION.get_or_init(|| {
            let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(256, |(soft, _)| soft);
            let places = usize::try_from(places(limit, sys::open_descriptors() as u64)).unwrap_or(1);
            Self {
                commands: Semaphore::new(places),
                sessions: Semaphore::new((places / PER_SESSION).max(1)),
                terminals: Semaphore::new((places / PER_TERMINAL).max(1)),
            }
        })
    }

    /// A place, if one is free and nobody waits for it.
    pub fn try_enter(&'static self) -> Option<Slot> {
        self.commands.try_acquire().ok()
    }

    /// A place among the sessions that run a command, if one is free and nobody waits for it. It is asked for before the
    /// command's own.
    pub fn try_enter_session(&'static self) -> Option<Slot> {
        self.sessions.try_acquire().ok()
    }

    /// The same, in the order of asking.
    pub async fn enter_session(&'static self) -> Option<Slot> {
        self.sessions.acquire().await.ok()
    }

    /// A place among the terminals, in the order of asking; `None` when none has become free in this time. It is asked for
    /// before the command's own.
    pub async fn enter_terminal(&'static self, patience: Duration) -> Option<Slot> {
        tokio::time::timeout(patience, self.terminals.acquire()).await.ok()?.ok()
    }

    /// A place, in the order of asking.
    pub async fn enter(&'static self) -> Option<Slot> {
        self.commands.acquire().await.ok()
    }
}

fn places(limit: u64, open: u64) -> u64 {
    (limit.saturating_sub(open + RESERVE) / PER_COMMAND).clamp(1, MOST)
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn a_low_limit_still_lets_one_command_run() {
        assert_eq!(places(64, 30), 1);
        assert_eq!(places(512, 30), 39);
        assert_eq!(places(u64::MAX, 30), 1024);
    }
}
