//! The memory of all programs that are built for musl.
//!
//! Its lock is not safe in a child that a program with threads has forked, so such a child must not allocate. Ours does
//! not: [`fork`](crate::fork) is for programs with one thread, and a launch allocates before it clones.

use dlmalloc::GlobalDlmalloc;

#[global_allocator]
static ALLOCATOR: GlobalDlmalloc = GlobalDlmalloc;
