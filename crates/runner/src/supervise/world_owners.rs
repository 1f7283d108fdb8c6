//! The numbers of owners of worlds, and the end of their worlds.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::client::HelperProcesses;

/// Number of the next owner in this process, over all threads. 0 is the host with its plain calls.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The time in which a world without commands ends. One that takes longer is not waited for.
const ENDING: Duration = Duration::from_secs(5);

/// Worlds that end as soon as no command or task runs in them.
#[derive(Default)]
pub struct EndingWorlds(Vec<OwnedFd>);

impl EndingWorlds {
    /// Waits until no process of the worlds is left. Worlds of other hosts, and without namespaces, are not waited for.
    pub fn wait(self) {
        let limit = Instant::now() + ENDING;
        for init in self.0 {
            let left =
                PollTimeout::try_from(limit.saturating_duration_since(Instant::now())).unwrap_or(PollTimeout::MAX);
            let _ = poll(&mut [PollFd::new(init.as_fd(), PollFlags::POLLIN)], left);
        }
    }
}

/// Returns a number that no other owner of this process has.
pub fn next_owner() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Ends the worlds of an owner, given by its number.
pub fn end_worlds(owner: u64) -> EndingWorlds {
    confine_policy::forget_owner(owner);
    EndingWorlds(HelperProcesses::if_made().map(|helpers| helpers.end_worlds(owner)).unwrap_or_default())
}
