//! Announcements of denials while a task runs.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Time between an announcement of denials and their collection, in which the gate learns of them, too.
const GATHERED: Duration = Duration::from_millis(100);

/// The announcements for one task.
#[derive(Default)]
pub struct DenialNews {
    /// A descriptor that becomes readable with the next announcement. `None`: the task is not confined, or the kernel
    /// cannot report denials.
    announced: Option<OwnedFd>,
    due: Option<Instant>,
}

impl DenialNews {
    /// Listens to this descriptor for announcements.
    pub fn listen(&mut self, announced: Option<OwnedFd>) {
        *self = Self { announced, due: None };
    }

    /// Returns the descriptor to poll. `None` while denials gather.
    pub fn awaited(&self) -> Option<BorrowedFd<'_>> {
        self.announced.as_ref().filter(|_| self.due.is_none()).map(AsFd::as_fd)
    }

    /// Returns when announced denials are collected.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Handles an announcement, or its absence. Returns whether denials have to be collected now.
    pub fn is_due(&mut self, announced: bool, now: Instant) -> bool {
        if announced {
            self.due = Some(now + GATHERED);
        }
        self.due.take_if(|due| now >= *due).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announced_denials_are_collected_once_after_a_while() {
        let (mut news, now) = (DenialNews::default(), Instant::now());
        assert!(news.awaited().is_none() && !news.is_due(false, now));
        news.listen(Some(sys::pipe().expect("a pipe").0));
        assert!(news.awaited().is_some());
        assert!(!news.is_due(true, now) && news.awaited().is_none());
        assert_eq!(news.due(), Some(now + GATHERED));
        assert!(news.is_due(false, now + GATHERED) && !news.is_due(false, now + GATHERED));
        assert!(news.awaited().is_some());
    }
}
