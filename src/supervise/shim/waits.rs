//! What a shim says of a command that waits for what nobody gives.

use std::time::{Duration, Instant};

use super::Shim;
use crate::supervise::protocol::{self, Cause};
use crate::supervise::running::Running;
use crate::supervise::waits;

/// The longest that the addon is waited for, to heed who waits, before those are signalled.
const HEEDED: Duration = Duration::from_millis(300);

impl Shim {
    /// Its time is up. Looked at before anything is signalled: afterwards nobody waits for anything any more. And where somebody
    /// does, nothing is signalled before the addon has answered: programs end their prompt with a line feed when they are
    /// signalled, and the addon is to have read it as it is.
    pub(super) fn end_at_limit(&self, running: &mut Running) {
        if running.ending.is_none() && !running.told && self.tell_waits(running, true) {
            running.told = true;
            running.limit = Some(Instant::now() + HEEDED);
        } else {
            running.end(Cause::Limit);
        }
    }

    /// The addon has heeded who waits.
    pub(super) fn heeded(running: &mut Running) {
        if running.told && running.ending.is_none() {
            running.end(Cause::Limit);
        }
    }

    /// Tells the addon who waits, if it still listens. Returns whether anybody does.
    pub(super) fn tell_waits(&self, running: &Running, at_limit: bool) -> bool {
        if self.socket.is_none() {
            return false;
        }
        let wait = waits::look(running.shell, &running.members());
        self.send(protocol::WAITS, &protocol::encode_waits(at_limit, wait.as_ref()));
        wait.is_some()
    }
}
