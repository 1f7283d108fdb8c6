//! When a listener is shown how a command looks now.

use std::time::Duration;

use tokio::time::Instant;

use crate::request::Request;

/// What was shown of a command, and when it is to be shown again.
pub struct Snapshots {
    every: Duration,
    next: Instant,
    in_flight: bool,
    changed: bool,
    /// What was shown last, of both streams.
    shown: Option<[String; 2]>,
}

impl Snapshots {
    /// `None` when nobody wants to see any.
    pub fn of(request: &Request, began: Instant) -> Option<Self> {
        let every = request.snapshots?;
        Some(Self { every, next: began + every, in_flight: false, changed: true, shown: None })
    }

    /// When to look next, if there may be something to show.
    pub fn wake_at(&self) -> Option<Instant> {
        (!self.in_flight && self.changed).then_some(self.next)
    }

    /// The command has written.
    pub fn touch(&mut self) {
        self.changed = true;
    }

    /// The listener has taken the last one.
    pub fn seen(&mut self) {
        self.in_flight = false;
    }

    /// What is to be shown now, if it is time and looks different from the last.
    pub fn next(&mut self, now: Instant, look: impl FnOnce() -> [String; 2]) -> Option<[String; 2]> {
        if now < self.next {
            return None;
        }
        self.next = now + self.every;
        if self.in_flight || !self.changed {
            return None;
        }
        // Perhaps it shows the same: the end of a stream was read, or a progress line drawn again.
        self.changed = false;
        let shown = look();
        if self.shown.as_ref() == Some(&shown) {
            return None;
        }
        self.shown = Some(shown.clone());
        self.in_flight = true;
        Some(shown)
    }
}
