//! What is new in a task's log.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::log::Text;
use super::registry::Registry;
use super::task::Task;
use crate::capture::{Capture, Sanitize, Truncate, Truncation};
use crate::error::Error;

/// What is read where it is asked for; more is read where it may take its time.
const AT_ONCE: u64 = 256 * 1024;
/// For a shim to write the closing line.
const CLOSED: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// A look at a task.
#[derive(Debug)]
pub struct Check {
    #[expect(missing_docs, reason = "as it was at that time")]
    pub task: Task,
    /// What is new, cut like a result.
    pub output: String,
    /// Lines of it before the cut.
    pub new_lines: u64,
    /// Up to where the log was read, bytes.
    pub cursor: u64,
    /// How it was cut.
    pub truncation: Option<Truncation>,
    /// What was waited for has come.
    pub matched: bool,
}

impl Registry {
    /// What is new since the last look, or since a cursor, which then leaves the shared one alone.
    ///
    /// # Errors
    /// [`Error::UnknownTask`], [`Error::Closed`], [`Error::Store`]
    pub async fn check(self: &Arc<Self>, named: &str, cursor: Option<u64>) -> Result<Check, Error> {
        let id = self.find(named)?.id;
        self.read(&id, cursor, false).await
    }

    /// The same for a task that is known.
    pub(super) async fn read(self: &Arc<Self>, id: &str, cursor: Option<u64>, matched: bool) -> Result<Check, Error> {
        self.until_closed(id).await;
        let (task, file, start, end) = self.take_range(id, cursor)?;
        let log = self.store.log_path(id);
        let read = move || -> std::io::Result<Check> {
            let captured = capture(file, start, end, log)?;
            let (output, new_lines, truncation) = (captured.text, captured.total_lines, captured.truncation);
            Ok(Check { task, output, new_lines, cursor: end, truncation, matched })
        };
        let read = if end - start <= AT_ONCE {
            read()
        } else {
            tokio::task::spawn_blocking(read).await.unwrap_or_else(|error| Err(std::io::Error::other(error)))
        };
        read.map_err(|source| Error::Store(super::StoreError::Folder { path: self.store.log_path(id), source }))
    }

    /// The end of a task is told when its log says it too.
    async fn until_closed(&self, id: &str) {
        let until = Instant::now() + CLOSED;
        while self.store.read(id).is_ok_and(|task| task.is_some_and(|task| self.is_closing(&task))) {
            if Instant::now() >= until {
                return;
            }
            sleep(LOOK_AGAIN).await;
        }
    }

    /// What is to be read; nobody else is given the same part of it.
    fn take_range(&self, id: &str, cursor: Option<u64>) -> Result<(Task, File, u64, u64), Error> {
        let unknown = || Error::UnknownTask { task: id.to_owned(), folder: self.store.path().to_owned() };
        let mut inner = self.open_inner()?;
        let (task, file, end) = self.store.readable(id)?.ok_or_else(unknown)?;
        self.take_in(&mut inner, task, None);
        let entry = inner.entries.get_mut(id).ok_or_else(unknown)?;
        let start = match cursor {
            Some(cursor) => cursor.min(end),
            None => std::mem::replace(&mut entry.cursor, end).min(end),
        };
        Ok((entry.task.clone(), file, start, end))
    }

    /// Has a task's whole tree ended, and waits for that. One that has ended is left alone.
    pub(super) async fn end(self: &Arc<Self>, id: &str) {
        let Some(mut progress) = self.inner().entries.get(id).map(|entry| entry.progress.subscribe()) else { return };
        match self.link(id) {
            Some(speaker) => speaker.end(),
            // Its shim does not answer: what carries its mark is ended, and the shim sees that.
            None => {
                let task = self.inner().entries.get(id).map(|entry| entry.task.clone());
                if let Some(task) = task.filter(|task| task.is_running() && self.store.is_kept(id)) {
                    super::end_marked(&task.mark).await;
                }
            }
        }
        let until = Instant::now() + super::wait::KILL_BOUND;
        while !progress.borrow_and_update().ended {
            let woken = tokio::time::timeout(super::wait::LOOK, progress.changed()).await;
            if Instant::now() >= until {
                return;
            }
            if woken.is_err() {
                self.look(&mut self.inner());
            }
        }
    }

    /// Ends a task's whole tree: SIGTERM, grace, SIGKILL. Answers with the final output.
    ///
    /// # Errors
    /// [`Error::UnknownTask`], [`Error::Closed`], [`Error::Store`]
    pub async fn kill(self: &Arc<Self>, named: &str) -> Result<Check, Error> {
        let id = self.find(named)?.id;
        self.end(&id).await;
        self.read(&id, None, false).await
    }
}

fn capture(file: File, start: u64, end: u64, log: std::path::PathBuf) -> std::io::Result<crate::capture::Captured> {
    // The log is clean text already.
    let mut capture = Capture::new("output", Truncate::default(), Sanitize::off(), false);
    capture.spill_elsewhere(log);
    let mut text = Text::of(file, start, end)?;
    while let Some(piece) = text.piece()? {
        capture.push(piece.as_bytes());
    }
    Ok(capture.finish())
}
