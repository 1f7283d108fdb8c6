//! The output or the screen of one run, on its way to one client.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::abort_on_drop::AbortOnDropTask;
use super::followed_screen::FollowedScreen;
use super::host_message::{HostMessage, RunOutputMessage};
use super::person_actions::readable_from;
use runner::live::{LiveRun, WatcherQueue, WatcherText, WatcherTextReader, follow_log, runs};

/// What a client follows.
pub struct FollowedRun {
    /// The key of the run.
    pub key: String,
    tap: Arc<WatcherQueue>,
    /// The command. `None` for a task.
    run: Option<Arc<LiveRun>>,
    shown: FollowedOutput,
    is_over: bool,
}

/// How a run is shown.
enum FollowedOutput {
    /// The text that a command writes.
    Text(Box<WatcherTextReader>),
    /// The log of a task.
    Log(Box<WatcherTextReader>, #[expect(dead_code, reason = "it ends with the follow")] AbortOnDropTask),
    /// The screen of a terminal.
    Screen(Box<FollowedScreen>),
}

impl FollowedRun {
    /// Follows the run with this key, which goes on or ended a moment ago, and notifies its client through `wake`.
    /// `None` if there is no such run.
    pub fn begin(key: &str, wake: &Arc<Notify>) -> Option<Self> {
        let tap = WatcherQueue::new(Arc::clone(wake));
        let run = runs().find(key).or_else(|| runs().find_recent(key));
        let shown = match &run {
            Some(run) => {
                run.follow(Arc::clone(&tap));
                match run.terminal() {
                    Some(terminal) => FollowedOutput::Screen(Box::new(FollowedScreen::new(terminal, wake))),
                    None => FollowedOutput::Text(Box::new(WatcherTextReader::new())),
                }
            }
            None => {
                let source = Arc::downgrade(&readable_from(key)?);
                let reads = follow_log(source, key.to_owned(), Arc::downgrade(&tap));
                FollowedOutput::Log(Box::new(WatcherTextReader::new()), AbortOnDropTask::spawn(reads))
            }
        };
        Some(Self { key: key.to_owned(), tap, run, shown, is_over: false })
    }

    /// Returns the next message, with about as many bytes as asked for. `None` if there is none yet.
    pub fn next(&mut self, most: usize, now: Instant) -> Option<HostMessage> {
        if self.is_over {
            return None;
        }
        match &mut self.shown {
            FollowedOutput::Text(reader) | FollowedOutput::Log(reader, _) => {
                let WatcherText { at, text, gap, end } = reader.read(&self.tap, most, now)?;
                self.is_over = end;
                Some(HostMessage::Output(RunOutputMessage { run: self.key.clone(), at, text, gap, end }))
            }
            FollowedOutput::Screen(screens) => {
                self.is_over = self.tap.is_over();
                screens.next(&self.key, self.is_over).map(HostMessage::Screen)
            }
        }
    }

    /// Returns whether the run has ended, and the client was sent everything.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns when there is something to send without a notification.
    pub fn due_at(&self) -> Option<Instant> {
        match &self.shown {
            FollowedOutput::Text(reader) | FollowedOutput::Log(reader, _) => reader.due_at(),
            FollowedOutput::Screen(_) => None,
        }
    }

    /// Returns whether something waits to be sent.
    pub fn has_more(&self) -> bool {
        !self.is_over && (!self.tap.is_empty() || self.tap.is_over())
    }
}

impl Drop for FollowedRun {
    fn drop(&mut self) {
        if let Some(run) = &self.run {
            run.unfollow(&self.tap);
        }
    }
}
