//! Waits for a terminal: for the exit of its program, for quiet, or for a pattern.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::terminal::{CommandTerminal, TerminalError, TerminalProgram};
use crate::pattern::JsPattern;

/// The longest distance that a match may reach back when more text has arrived, bytes.
const WINDOW: u64 = 64 * 1024;

/// The conditions that end a wait besides the exit of the program.
#[derive(Debug, Default)]
pub struct TerminalWaitOptions {
    /// The time limit.
    pub timeout: Option<Duration>,
    /// Time without output, from now on.
    pub idle: Option<Duration>,
    /// A pattern in the text since the start or the last match.
    pub pattern: Option<JsPattern>,
}

/// Why a wait is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalWaitEnd {
    /// The program has exited.
    Exit,
    /// No output came for the given time.
    Idle,
    /// The pattern matches.
    Pattern,
    /// The time limit is reached.
    Timeout,
}

/// The result of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalWaitResult {
    /// The condition that came first. Of several at once, the first of pattern, exit, idle and timeout.
    pub why: TerminalWaitEnd,
    /// The exit code, once the program has ended.
    pub exit_code: Option<i32>,
}

impl CommandTerminal {
    /// Waits for the exit of the program, or for the first of the conditions.
    ///
    /// # Errors
    /// [`TerminalError::NotStarted`]
    pub async fn wait(self: &Arc<Self>, until: TerminalWaitOptions) -> Result<TerminalWaitResult, TerminalError> {
        if matches!(self.check_running(), Err(TerminalError::NotStarted)) {
            return Err(TerminalError::NotStarted);
        }
        let began = Instant::now();
        let mut moment = self.subscribe_activity();
        let mut pattern = until.pattern.map(|pattern| TerminalSearch { pattern: Arc::new(pattern), at: 0 });
        let time_is_up = until.timeout.map(|timeout| began + timeout);
        loop {
            let now = *moment.borrow_and_update();
            let (ended, exit_code) = match now.program {
                TerminalProgram::Running => (false, None),
                TerminalProgram::Ended { exit_code } => (true, exit_code),
            };
            let over = |why| Ok(TerminalWaitResult { why, exit_code });
            if let Some(search) = &mut pattern {
                tokio::select! {
                    biased;
                    found = search.matches_now(self) => if found {
                        return over(TerminalWaitEnd::Pattern);
                    },
                    // The search with some patterns takes forever.
                    () = sleep_until_time(time_is_up.map(|at| at.max(began + Duration::from_millis(100)))) => return over(TerminalWaitEnd::Timeout),
                }
            }
            if ended {
                return over(TerminalWaitEnd::Exit);
            }
            let quiet_at = until.idle.map(|idle| now.last.max(began) + idle);
            tokio::select! {
                biased;
                _ = moment.changed() => {}
                () = sleep_until_time(quiet_at) => return over(TerminalWaitEnd::Idle),
                () = sleep_until_time(time_is_up) => return over(TerminalWaitEnd::Timeout),
            }
        }
    }
}

/// A pattern, and the offset up to which it was searched.
struct TerminalSearch {
    pattern: Arc<JsPattern>,
    at: u64,
}

impl TerminalSearch {
    /// Returns whether the pattern matches now. Matching may take long, and runs on a thread of its own.
    async fn matches_now(&mut self, terminal: &Arc<CommandTerminal>) -> bool {
        loop {
            let (start, text) = terminal.with_text(|text| {
                let (start, text) = text.text_since(self.at.saturating_sub(WINDOW));
                (start, text.to_owned())
            });
            self.at = start + text.len() as u64;
            let pattern = Arc::clone(&self.pattern);
            let found = tokio::task::spawn_blocking(move || pattern.find(&text)).await.ok().flatten();
            let Some(Range { start: from, end }) = found else { return false };
            if terminal.with_text(|text| text.take_match(&(start + from as u64..start + end as u64))) {
                return true;
            }
            // Another wait has found the same text first.
            self.at = 0;
        }
    }
}

async fn sleep_until_time(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
