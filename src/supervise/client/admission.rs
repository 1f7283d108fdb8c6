//! How many commands run at once: as many as there are descriptors for. The others wait their turn.

use std::sync::OnceLock;

use nix::sys::resource::{Resource, getrlimit};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::sys;

/// What one command needs in this process: two pipes, a socket, for a moment their other ends, perhaps two files.
const PER_COMMAND: u64 = 7;
/// Left for the host itself.
const RESERVE: u64 = 48;
/// Above this more commands at once only take turns on the processors.
const MOST: u64 = 1024;

/// A place among the running commands; given back when dropped.
pub type Slot = SemaphorePermit<'static>;

/// The places of this process.
pub struct Admission(Semaphore);

impl Admission {
    /// One for all threads of the process.
    pub fn shared() -> &'static Self {
        static ADMISSION: OnceLock<Admission> = OnceLock::new();
        ADMISSION.get_or_init(|| {
            let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(256, |(soft, _)| soft);
            let places = places(limit, sys::open_descriptors() as u64);
            Self(Semaphore::new(usize::try_from(places).unwrap_or(1)))
        })
    }

    /// A place, if one is free and nobody waits for it.
    pub fn try_enter(&'static self) -> Option<Slot> {
        self.0.try_acquire().ok()
    }

    /// A place, in the order of asking.
    pub async fn enter(&'static self) -> Option<Slot> {
        self.0.acquire().await.ok()
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
        assert_eq!(places(512, 30), 62);
        assert_eq!(places(u64::MAX, 30), 1024);
    }
}
