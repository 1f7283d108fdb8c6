//! Counts the bytes that are looked at, in tests alone: the work grows with the length of a command, and not faster.

/// Counts bytes that are read.
#[cfg(not(test))]
pub fn add(_bytes: usize) {}

#[cfg(test)]
pub use counted::{add, of};

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    thread_local!(static STEPS: Cell<usize> = const { Cell::new(0) });

    /// Counts bytes that are read.
    pub fn add(bytes: usize) {
        STEPS.set(STEPS.get() + bytes);
    }

    /// Returns the number of bytes that `act` reads.
    pub fn of(act: impl FnOnce()) -> usize {
        STEPS.set(0);
        act();
        STEPS.get()
    }
}
