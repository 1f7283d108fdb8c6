//! Waiting for a terminal: for its program to end, to be quiet, to say something.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{Terminal, TerminalError};
use crate::background::Pattern;

/// What a match may reach back over, when more has come, bytes.
const WINDOW: u64 = 64 * 1024;

/// What is waited for besides the end; nothing else where all are `None`.
#[derive(Debug, Default)]
pub struct Until {
    /// No longer than this.
    pub timeout: Option<Duration>,
    /// Nothing came for this long, from now on.
    pub idle: Option<Duration>,
    /// Text since the start or the last match.
    pub pattern: Option<Pattern>,
}

/// Why a wait is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    #[expect(missing_docs, reason = "see `Until`")]
    Exit,
    #[expect(missing_docs, reason = "see `Until`")]
    Idle,
    #[expect(missing_docs, reason = "see `Until`")]
    Pattern,
    #[expect(missing_docs, reason = "see `Until`")]
    Timeout,
}

/// What a wait has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waited {
    /// What came first; of several at once the first of pattern, exit, idle, timeout.
    pub why: Why,
    /// Once the program has ended.
    pub exit_code: Option<i32>,
}

impl Terminal {
    /// Waits for the end of its program, or for what comes first of what is wanted.
    ///
    /// # Errors
    /// [`TerminalError::NotStarted`]
    pub async fn wait(self: &Arc<Self>, until: Until) -> Result<Waited, TerminalError> {
        if matches!(self.running(), Err(TerminalError::NotStarted)) {
            return Err(TerminalError::NotStarted);
        }
        let began = Instant::now();
        let mut moment = self.moment();
        let mut pattern = until.pattern.map(|pattern| Search { pattern: Arc::new(pattern), at: 0 });
        let time_is_up = until.timeout.map(|timeout| began + timeout);
        loop {
            let now = *moment.borrow_and_update();
            let over = |why| Ok(Waited { why, exit_code: now.ended.flatten() });
            if let Some(search) = &mut pattern {
                tokio::select! {
                    biased;
                    found = search.look(self) => if found {
                        return over(Why::Pattern);
                    },
                    // It may take for ever with some patterns.
                    () = at(time_is_up.map(|at| at.max(began + Duration::from_millis(100)))) => return over(Why::Timeout),
                }
            }
            if now.ended.is_some() {
                return over(Why::Exit);
            }
            let quiet_at = until.idle.map(|idle| now.last.max(began) + idle);
            tokio::select! {
                biased;
                _ = moment.changed() => {}
                () = at(quiet_at) => return over(Why::Idle),
                () = at(time_is_up) => return over(Why::Timeout),
            }
        }
    }
}

/// A pattern, and up to where it was looked for.
struct Search {
    pattern: Arc<Pattern>,
    at: u64,
}

impl Search {
    /// Whether it is there now. A thread of its own looks: matching may take long.
    async fn look(&mut self, terminal: &Arc<Terminal>) -> bool {
        loop {
            let (start, text) = terminal.with_text(|text| {
                let (start, text) = text.since(self.at.saturating_sub(WINDOW));
                (start, text.to_owned())
            });
            self.at = start + text.len() as u64;
            let pattern = Arc::clone(&self.pattern);
            let found = tokio::task::spawn_blocking(move || pattern.find(&text)).await.ok().flatten();
            let Some(Range { start: from, end }) = found else { return false };
            if terminal.with_text(|text| text.take(&(start + from as u64..start + end as u64))) {
                return true;
            }
            // Another wait has found the same text first.
            self.at = 0;
        }
    }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
