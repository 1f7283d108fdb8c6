//! Remembers commands without findings, because agents run the same tests many times, and after a pause the engine's
//! code has left the processor's caches.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use crate::request::{PlannedRun, SafetyCriteria};
use protocol::plan::CommandEnvironment;

/// The most commands that are remembered per thread.
const MAX_COMMANDS: usize = 16;
/// Longest command that is remembered, bytes.
const MAX_LENGTH: usize = 1024;

/// A command with everything that its verdict depends on.
struct HarmlessCommand {
    command: String,
    cwd: PathBuf,
    environment: Arc<CommandEnvironment>,
    guard: SafetyCriteria,
}

thread_local! {
    static REMEMBERED: RefCell<VecDeque<HarmlessCommand>> = const { RefCell::new(VecDeque::new()) };
}

/// Returns whether an equal command had no findings, in the same directory and environment, by the same rules.
pub(super) fn is_known_harmless(request: &PlannedRun, guard: &SafetyCriteria) -> bool {
    can_remember(request)
        && REMEMBERED.with_borrow(|remembered| {
            remembered.iter().any(|harmless| {
                harmless.command == request.command
                    && harmless.cwd == request.cwd
                    && Arc::ptr_eq(&harmless.environment, &request.environment)
                    && harmless.guard == *guard
            })
        })
}

/// Remembers a command without findings.
pub(super) fn remember(request: &PlannedRun, guard: SafetyCriteria) {
    if can_remember(request) {
        let (command, cwd) = (request.command.clone(), request.cwd.clone());
        let environment = Arc::clone(&request.environment);
        REMEMBERED.with_borrow_mut(|remembered| {
            remembered.truncate(MAX_COMMANDS - 1);
            remembered.push_front(HarmlessCommand { command, cwd, environment, guard });
        });
    }
}

/// Returns whether the verdict of a command depends on nothing else.
fn can_remember(request: &PlannedRun) -> bool {
    let alone = request.startup.is_none() && request.args.is_empty() && request.stdin.is_none();
    alone && request.command.len() <= MAX_LENGTH
}
