//! The memory that bodies may take in a gate, all together.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most bytes that all bodies of a world take.
const MOST: usize = 256 * 1024 * 1024;

/// The bytes that are in use.
#[derive(Debug, Default)]
pub(crate) struct MemoryBudget {
    used: AtomicUsize,
}

impl MemoryBudget {
    /// Returns a share that has no bytes yet.
    pub fn share(self: &Arc<Self>) -> BudgetShare {
        BudgetShare { budget: Arc::clone(self), taken: 0 }
    }
}

/// The bytes of one body, which are given back at its end.
#[derive(Debug)]
pub(crate) struct BudgetShare {
    budget: Arc<MemoryBudget>,
    taken: usize,
}

impl BudgetShare {
    /// Takes bytes until the share has this many.
    ///
    /// # Errors
    /// If the bodies of the world would take too many.
    pub fn grow_to(&mut self, bytes: usize) -> io::Result<()> {
        let more = bytes.saturating_sub(self.taken);
        if self.budget.used.fetch_add(more, Ordering::Relaxed).saturating_add(more) > MOST {
            self.budget.used.fetch_sub(more, Ordering::Relaxed);
            return Err(io::Error::other("too many large bodies are open at once"));
        }
        self.taken += more;
        Ok(())
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_share_what_there_is() {
        let budget = Arc::<MemoryBudget>::default();
        let (mut one, mut other) = (budget.share(), budget.share());
        one.grow_to(MOST - 10).expect("room");
        one.grow_to(5).expect("no more than it has");
        other.grow_to(10).expect("room");
        assert!(other.grow_to(11).is_err() && one.grow_to(MOST).is_err());
        drop(one);
        other.grow_to(MOST).expect("room again");
    }
}
