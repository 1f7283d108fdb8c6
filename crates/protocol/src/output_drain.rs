//! Decides when to stop reading the pipes of an exited command whose survivors hold them.

use std::time::{Duration, Instant};

/// Silence that ends the drain.
pub const IDLE: Duration = Duration::from_millis(250);
/// Time that ends the drain even while output arrives: the shell has exited.
pub const WHOLE: Duration = Duration::from_secs(2);

/// The time since a shell's exit.
#[derive(Debug, Clone, Copy)]
pub struct OutputDrain {
    exited: Instant,
    last_output: Instant,
    emptied: Option<Instant>,
}

impl OutputDrain {
    /// Starts at the exit of the shell.
    pub fn begin(now: Instant) -> Self {
        Self { exited: now, last_output: now, emptied: None }
    }

    /// Returns when the shell exited.
    pub fn began(&self) -> Instant {
        self.exited
    }

    /// Records output, which may be followed by more.
    pub fn on_output(&mut self, now: Instant) {
        self.last_output = now;
    }

    /// Records that the pipes were read once more until they were empty.
    pub fn on_emptied(&mut self, now: Instant) {
        self.emptied = Some(now);
    }

    /// Returns whether the drain is over: the time is up, and the pipes were read after that. A reader without
    /// processor time must not take its own silence for the command's.
    pub fn is_over(&self, now: Instant) -> bool {
        now >= self.until() && self.emptied.is_some_and(|emptied| emptied >= self.until())
    }

    /// Returns when to stop if no more output arrives.
    pub fn until(&self) -> Instant {
        (self.last_output + IDLE).min(self.exited + WHOLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_over_before_the_pipes_were_read_again() {
        let start = Instant::now();
        let mut drain = OutputDrain::begin(start);
        let late = start + Duration::from_secs(1);
        assert!(!drain.is_over(late));
        drain.on_emptied(late);
        assert!(drain.is_over(late));
        drain.on_output(late);
        assert!(!drain.is_over(late));
    }

    #[test]
    fn output_rearms_it_up_to_the_whole_limit() {
        let start = Instant::now();
        let mut drain = OutputDrain::begin(start);
        assert_eq!(drain.until(), start + IDLE);
        drain.on_output(start + Duration::from_millis(150));
        assert_eq!(drain.until(), start + Duration::from_millis(400));
        drain.on_output(start + Duration::from_millis(1990));
        assert_eq!(drain.until(), start + WHOLE);
    }
}
