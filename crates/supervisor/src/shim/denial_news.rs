//! News of denials while a task runs.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use confine_gate::{WorldStatusBoard, WorldStatusSlot};

/// Time between an announcement of denials and their collection, in which the gate learns of them, too.
const GATHERED: Duration = Duration::from_millis(100);

/// Time between two looks at the board of the gate, which announces nothing.
const LOOK: Duration = Duration::from_secs(1);

/// The news for one task.
#[derive(Default)]
pub struct DenialNews {
    /// A descriptor that becomes readable with the listener's next announcement. `None`: the task is not confined, or
    /// the kernel cannot report denials.
    announced: Option<OwnedFd>,
    due: Option<Instant>,
    gate: Option<GateNews>,
}

/// The gate's part of the news.
struct GateNews {
    board: WorldStatusBoard,
    /// The number on the board at the last look.
    seen: u64,
    look_at: Instant,
}

impl GateNews {
    /// Returns whether the gate has recorded anything since the last look. Looks at most once in [`LOOK`].
    fn look(&mut self, now: Instant) -> bool {
        if now < self.look_at {
            return false;
        }
        self.look_at = now + LOOK;
        let posted = self.board.read(WorldStatusSlot::Refusals).unwrap_or(self.seen);
        std::mem::replace(&mut self.seen, posted) != posted
    }
}

impl DenialNews {
    /// Listens to this descriptor for announcements, and looks at the board of a gate.
    pub fn new(announced: Option<OwnedFd>, board: Option<WorldStatusBoard>, now: Instant) -> Self {
        Self { announced, due: None, gate: board.map(|board| GateNews { board, seen: 0, look_at: now + LOOK }) }
    }

    /// Stops listening for announcements.
    pub fn end_announcements(&mut self) {
        (self.announced, self.due) = (None, None);
    }

    /// Returns the descriptor to poll. `None` while denials gather.
    pub fn awaited(&self) -> Option<BorrowedFd<'_>> {
        self.announced.as_ref().filter(|_| self.due.is_none()).map(AsFd::as_fd)
    }

    /// Returns when [`DenialNews::is_due`] has to be called.
    pub fn due(&self) -> Option<Instant> {
        self.due.into_iter().chain(self.gate.as_ref().map(|gate| gate.look_at)).min()
    }

    /// Handles an announcement, or its absence. Returns whether denials have to be collected now.
    pub fn is_due(&mut self, announced: bool, now: Instant) -> bool {
        if announced {
            self.due = Some(now + GATHERED);
        }
        let posted = self.gate.as_mut().is_some_and(|gate| gate.look(now));
        self.due.take_if(|due| now >= *due).is_some() || posted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announced_denials_are_collected_once_after_a_while() {
        let now = Instant::now();
        let mut news = DenialNews::default();
        assert!(news.awaited().is_none() && !news.is_due(false, now));
        news = DenialNews::new(Some(sys::pipe().expect("a pipe").0), None, now);
        assert!(news.awaited().is_some());
        assert!(!news.is_due(true, now) && news.awaited().is_none());
        assert_eq!(news.due(), Some(now + GATHERED));
        assert!(news.is_due(false, now + GATHERED) && !news.is_due(false, now + GATHERED));
        assert!(news.awaited().is_some());
    }

    #[test]
    fn what_the_gate_posts_is_collected_once_at_the_next_look() {
        let now = Instant::now();
        let board = WorldStatusBoard::new().expect("a board");
        let mut news = DenialNews::new(None, Some(board.try_clone().expect("the same")), now);
        assert!(!news.is_due(false, now + LOOK));
        board.post(WorldStatusSlot::Refusals, 3).expect("room");
        assert!(!news.is_due(false, now + LOOK + GATHERED));
        assert_eq!(news.due(), Some(now + LOOK * 2));
        assert!(news.is_due(false, now + LOOK * 2) && !news.is_due(false, now + LOOK * 3));
    }
}
