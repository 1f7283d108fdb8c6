//! Counts work of this thread, for tests of how cost grows.

use std::cell::Cell;

/// A piece of work whose number matters.
#[derive(Debug, Clone, Copy)]
pub enum Work {
    /// A manifest is opened.
    Manifest,
    /// A line of an index is read.
    Line,
}

/// Numbers of pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    pub manifests: usize,
    pub lines: usize,
}

thread_local!(static DONE: Cell<Done> = Cell::default());

/// Counts a piece.
pub fn add(work: Work) {
    let mut done = DONE.get();
    match work {
        Work::Manifest => done.manifests += 1,
        Work::Line => done.lines += 1,
    }
    DONE.set(done);
}

/// Returns the work of a function, and its result.
pub fn work_of<T>(function: impl FnOnce() -> T) -> (Done, T) {
    DONE.set(Done::default());
    let result = function();
    (DONE.get(), result)
}
