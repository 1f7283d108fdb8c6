//! When reading the pipes of an ended command is over, while something it left behind still holds them.

use std::time::Duration;

use tokio::time::Instant;

/// Output this long after the last is not waited for.
const IDLE: Duration = Duration::from_millis(250);
/// However much still comes: the shell has ended.
const WHOLE: Duration = Duration::from_secs(2);

/// The time after a shell's end.
#[derive(Debug, Clone, Copy)]
pub struct Drain {
    ended: Instant,
    heard: Instant,
}

impl Drain {
    /// Begins at the end of the shell.
    pub fn begin(now: Instant) -> Self {
        Self { ended: now, heard: now }
    }

    /// Output came: more may.
    pub fn heard(&mut self, now: Instant) {
        self.heard = now;
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
