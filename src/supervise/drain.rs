//! When reading the pipes of an ended command is over, while something it left behind still holds them.

use std::time::{Duration, Instant};

/// Output this long after the last is not waited for.
const IDLE: Duration = Duration::from_millis(250);
/// However much still comes: the shell has ended.
const WHOLE: Duration = Duration::from_secs(2);

/// The time after a shell's end.
#[derive(Debug, Clone, Copy)]
pub struct Drain {
    ended: Instant,
    heard: Instant,
    looked: Option<Instant>,
}

impl Drain {
    /// Begins at the end of the shell.
    pub fn begin(now: Instant) -> Self {
        Self { ended: now, heard: now, looked: None }
    }

    /// When the shell ended.
    pub fn began(&self) -> Instant {
        self.ended
    }

    /// Output came: more may.
    pub fn heard(&mut self, now: Instant) {
        self.heard = now;
    }

    /// The pipes were looked at once more, and nothing was there or it was taken.
    pub fn looked(&mut self, now: Instant) {
        self.looked = Some(now);
    }

    /// Whether it is over: the time is up, and the pipes were looked at after that. A reader that was kept from the
    /// processor must not take its own silence for that of the command.
    pub fn is_over(&self, now: Instant) -> bool {
        now >= self.until() && self.looked.is_some_and(|looked| looked >= self.until())
    }

    /// When to stop, should nothing more come.
    pub fn until(&self) -> Instant {
        (self.heard + IDLE).min(self.ended + WHOLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_over_before_the_pipes_were_looked_at_again() {
        let start = Instant::now();
        let mut drain = Drain::begin(start);
        let late = start + Duration::from_secs(1);
        assert!(!drain.is_over(late));
        drain.looked(late);
        assert!(drain.is_over(late));
        drain.heard(late);
        assert!(!drain.is_over(late));
    }

    #[test]
    fn output_rearms_it_up_to_the_whole_limit() {
        let start = Instant::now();
        let mut drain = Drain::begin(start);
        assert_eq!(drain.until(), start + IDLE);
        drain.heard(start + Duration::from_millis(150));
        assert_eq!(drain.until(), start + Duration::from_millis(400));
        drain.heard(start + Duration::from_millis(1990));
        assert_eq!(drain.until(), start + WHOLE);
    }
}
