//! Counts the bytes that are looked at, in tests alone: the work grows with the length of a command, and not faster.

/// Adds what was looked at.
#[cfg(not(test))]
pub fn add(_bytes: usize) {}

#[cfg(test)]
pub use counted::{add, of};

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    thread_local!(static STEPS: Cell<usize> = const { Cell::new(0) });

    /// Adds what was looked at.
    pub fn add(bytes: usize) {
        STEPS.set(STEPS.get() + bytes);
    }

    /// Returns what `act` looks at.
    pub fn of(act: impl FnOnce()) -> usize {
        STEPS.set(0);
        act();
        STEPS.get()
    }
}
