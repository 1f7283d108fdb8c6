//! The memory that a thread of a test holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The allocator of the system, which counts for each thread.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// Bytes that this thread has allocated and not freed, and the most that they were.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // A thread that is ending has no counter any more.
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + bytes;
        held.set((now, held.get().1.max(now)));
    });
}

const fn signed(bytes: usize) -> isize {
    bytes.cast_signed()
}

// SAFETY: every call goes to the allocator of the system, with the arguments as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        // SAFETY: the caller keeps the contract of `dealloc`, and `at` is from `System`.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(signed(size) - signed(layout.size()));
        // SAFETY: the caller keeps the contract of `realloc`, and `at` is from `System`.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Returns the most bytes that this thread held during a call, beyond those before.
pub fn most_during(call: impl FnOnce()) -> usize {
    let before = HELD.with(|held| {
        let (now, _) = held.get();
        held.set((now, now));
        now
    });
    call();
    HELD.with(|held| (held.get().1 - before).unsigned_abs())
}
