//! A command that reaches its limit goes on as a task, and what a command has left becomes one.

use std::io;

use tokio::time::Instant;

use super::drive::{Drive, HARD_BOUND, TAKEN_OVER};
use super::listener::Listener;
use crate::background::Task;
use crate::error::Error;
use crate::supervise::{Cause, Transfer};

impl<L: Listener> Drive<'_, L> {
    /// The limit is reached: the command is handed to its shim with all that was read so far.
    pub(super) fn hand_over(&mut self) {
        if self.aborted {
            return;
        }
        let place = self.request.registry.as_ref().zip(self.journal.as_ref());
        let place = match place.map(|(registry, journal)| registry.reserve(journal.id())) {
            Some(Ok(place)) => place,
            Some(Err(error)) => return self.stay(error.to_string()),
            None => return,
        };
        match self.transfer() {
            Ok(()) => {
                self.moving = Some(place);
                self.hard = Instant::now() + TAKEN_OVER;
            }
            Err(error) => self.stay(error.to_string()),
        }
    }

    fn transfer(&mut self) -> io::Result<()> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let order = journal.finish()?;
        let flows = [Some(&self.stdout), self.stderr.as_ref()];
        let resume = flows.into_iter().flatten().map(|flow| flow.capture.resume()).collect();
        self.child.hand_over(&Transfer { order, resume }, &self.feed.hand_over()?);
        Ok(())
    }

    /// It is a task now.
    pub(super) fn take_over(&mut self, task: Task) {
        if let Some(journal) = &mut self.journal {
            journal.is_taken();
        }
        if let Some(registry) = &self.request.registry {
            let log = registry.store().log_path(&task.id);
            self.stdout.moved_to(&log);
            if let Some(stderr) = &mut self.stderr {
                stderr.moved_to(&log);
            }
        }
        self.moved = Some(task);
    }

    /// It cannot be moved: it is ended at its limit like any other.
    pub(super) fn stay(&mut self, reason: String) {
        self.moving = None;
        self.journal = None;
        self.notes
            .push(format!("the command could not be moved to the background, and was ended at its limit: {reason}"));
        self.hard = Instant::now() + self.request.grace + HARD_BOUND;
        self.child.end_at_limit();
    }

    /// An order for what the command has left on its pipes, if there is a registry to take it.
    pub(super) fn adoption(&mut self) -> Option<Transfer> {
        let registry = self.request.registry.as_ref()?;
        let left = self
            .end
            .as_ref()
            .is_some_and(|end| end.as_ref().is_ok_and(|ended| ended.alive && ended.cause == Cause::Itself));
        let open = self.stdout.is_open() || self.stderr.as_ref().is_some_and(super::stream::Flow::is_open);
        if !left || !open || self.aborted {
            return None;
        }
        let order = self.request.order(None)?;
        match registry.reserve(&order.id) {
            // From here on it counts as running by itself.
            Ok(_place) => {}
            Err(Error::Closed) => return None,
            Err(error) => {
                self.notes.push(format!("what the command left running was not made a task: {error}"));
                return None;
            }
        }
        let flows = [Some(&self.stdout), self.stderr.as_ref()];
        let resume = flows.into_iter().flatten().map(|flow| flow.capture.resume()).collect();
        Some(Transfer { order, resume })
    }
}
