//! What driving a command came to, and what becomes of the processes that it left.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::capture::Captured;
use crate::supervise::{self, Child, Ended, Helpers, News, Survivor};

/// For the shim to say what is left.
const RELEASE_BOUND: Duration = Duration::from_secs(2);
/// For the processes of a tree whose helpers were all killed.
const SWEEP_BOUND: Duration = Duration::from_secs(2);

/// What driving a command came to.
#[derive(Debug)]
pub struct Driven {
    /// 0 if it is not known.
    pub pid: i32,
    /// How it ended; `None` when no helper was left to say it.
    pub end: Result<Ended, Unsettled>,
    #[expect(missing_docs, reason = "what is kept")]
    pub stdout: Captured,
    #[expect(missing_docs, reason = "what is kept; None when merged")]
    pub stderr: Option<Captured>,
    #[expect(missing_docs, reason = "what is left")]
    pub survivors: Vec<Survivor>,
    #[expect(missing_docs, reason = "as far as the addon saw it")]
    pub elapsed: Duration,
    #[expect(missing_docs, reason = "facts for the caller")]
    pub notes: Vec<String>,
}

/// Why nobody said how a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsettled {
    /// Its shim was killed.
    Lost,
    /// It did not end within the hard bound after its limit.
    Limit,
    /// The same after an abort.
    Abort,
}

/// Leaves what is left to itself and to its shim, which goes on reading its output. What is being ended has until
/// `bound` to go.
pub async fn release(mut child: Child, helpers: &'static Helpers, bound: Instant) -> Vec<Survivor> {
    child.release();
    match timeout_at(bound.max(Instant::now() + RELEASE_BOUND), child.news()).await {
        // A shim that stays with something after all has closed its socket, and is not taken for the next command.
        Ok(News::Released(survivors)) if survivors.is_empty() => {
            child.give_back(helpers);
            survivors
        }
        Ok(News::Released(survivors)) => {
            helpers.replace();
            survivors
        }
        _ => {
            helpers.replace();
            Vec::new()
        }
    }
}

/// The shim is gone, and perhaps the supervisor too, which would have cleaned up: what carries the mark is ended.
pub async fn sweep(mark: &str) {
    let mark = mark.to_owned();
    let swept = tokio::task::spawn_blocking(move || {
        let until = std::time::Instant::now() + SWEEP_BOUND;
        loop {
            let members = supervise::marked(&mark);
            supervise::kill(&members);
            if members.is_empty() || std::time::Instant::now() >= until {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let _ = swept.await;
}
