//! Commands in which nothing was found, for when they come again: agents run the same tests many times, and after a pause the
//! engine's own code has left the processor's caches.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use crate::plan::Environment;
use crate::request::{Guard, Request};

/// How many are remembered a thread.
const MOST: usize = 16;
/// Longer ones are judged again, bytes.
const LONGEST: usize = 1024;

/// All that a verdict depends on.
struct Known {
    command: String,
    cwd: PathBuf,
    environment: Arc<Environment>,
    guard: Guard,
}

thread_local! {
    static KNOWN: RefCell<VecDeque<Known>> = const { RefCell::new(VecDeque::new()) };
}

/// Whether nothing was found in the very same command, in the same folder and environment, by the same rules.
pub(super) fn knows(request: &Request, guard: &Guard) -> bool {
    fits(request)
        && KNOWN.with_borrow(|known| {
            known.iter().any(|known| {
                known.command == request.command
                    && known.cwd == request.cwd
                    && Arc::ptr_eq(&known.environment, &request.environment)
                    && known.guard == *guard
            })
        })
}

/// Nothing was found in it.
pub(super) fn remember(request: &Request, guard: Guard) {
    if fits(request) {
        let (command, cwd) = (request.command.clone(), request.cwd.clone());
        let environment = Arc::clone(&request.environment);
        KNOWN.with_borrow_mut(|known| {
            known.truncate(MOST - 1);
            known.push_front(Known { command, cwd, environment, guard });
        });
    }
}

/// Whether it depends on nothing else.
fn fits(request: &Request) -> bool {
    request.startup.is_none() && request.args.is_empty() && request.stdin.is_none() && request.command.len() <= LONGEST
}
