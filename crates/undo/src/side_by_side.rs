//! Work on several processors: reading a tree is hundreds of thousands of short system calls.

use std::panic::resume_unwind;
use std::thread::{self, Builder};

/// Items for which a thread is worth its start.
const WORTH: usize = 8;

/// Returns the results of this work for each item, in order. Where the system refuses threads, or there are few items,
/// one is worked on after the other.
pub fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len() / WORTH).max(1);
    let all = |part: &[T]| part.iter().map(&work).collect::<Vec<R>>();
    thread::scope(|scope| {
        let mut parts = items.chunks(items.len().div_ceil(threads).max(1));
        let own = parts.next().unwrap_or_default();
        let begun: Vec<_> = parts.map(|part| (part, Builder::new().spawn_scoped(scope, move || all(part)))).collect();
        let mut results = all(own);
        for (part, thread) in begun {
            results.extend(match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(_) => all(part),
            });
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_however_many_there_are() {
        for count in [0, 1, WORTH - 1, 2 * WORTH, 1000] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(side_by_side(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }
}
