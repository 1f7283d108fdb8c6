//! Counts work of this thread, for tests of how cost grows.

use std::cell::Cell;

/// A piece of work whose number matters.
#[derive(Debug, Clone, Copy)]
pub enum WorkKind {
    /// A manifest is opened.
    Manifest,
    /// A line of an index is read.
    Line,
}

/// Numbers of pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkCounts {
    pub manifests: usize,
    pub lines: usize,
}

thread_local!(static DONE: Cell<WorkCounts> = Cell::default());

/// Counts a piece.
pub fn add(work: WorkKind) {
    let mut done = DONE.get();
    match work {
        WorkKind::Manifest => done.manifests += 1,
        WorkKind::Line => done.lines += 1,
    }
    DONE.set(done);
}

/// Returns the work of a function, and its result.
pub fn work_of<T>(function: impl FnOnce() -> T) -> (WorkCounts, T) {
    DONE.set(WorkCounts::default());
    let result = function();
    (DONE.get(), result)
}
