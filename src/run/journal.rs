//! What a command has written so far, of both streams in the order of arrival: the beginning of its log, should it move
//! to the background.

use std::io;
use std::sync::Arc;

use crate::background::{Log, Order, Registry};
use crate::request::Request;

/// Kept in memory up to here, bytes; then in the file that may become the log.
const IN_MEMORY: usize = 1024 * 1024;

/// The beginning of a log.
pub struct Journal {
    registry: Arc<Registry>,
    order: Order,
    text: String,
    log: Option<Log>,
    /// A file is there that is nobody's yet.
    made: bool,
    /// Why there is no whole beginning: nothing more is gathered.
    failure: Option<io::Error>,
}

impl Journal {
    /// Of a command that may move to the background.
    pub fn of(request: &Request) -> Option<Self> {
        let registry = request.registry.clone().filter(|_| request.may_move())?;
        let order = request.order(None)?;
        Some(Self { registry, order, text: String::new(), log: None, made: false, failure: None })
    }

    /// Of the task that it may become.
    pub fn id(&self) -> &str {
        &self.order.id
    }

    /// Takes what has come.
    pub fn push(&mut self, text: &str) {
        if self.failure.is_some() {
            return;
        }
        self.text.push_str(text);
        if self.text.len() >= IN_MEMORY
            && let Err(error) = self.write_down()
        {
            // At the limit there is somebody to hear of it.
            self.text = String::new();
            self.failure = Some(error);
        }
    }

    fn write_down(&mut self) -> io::Result<()> {
        if self.log.is_none() {
            let file = self.registry.store().create_log(&self.order.id)?;
            self.made = true;
            self.log = Some(Log::keep(file, self.order.max_log_bytes)?);
        }
        if let Some(log) = &mut self.log {
            log.write(&self.text);
            self.text.clear();
            if let Some(failure) = log.failure() {
                return Err(io::Error::other(failure.to_owned()));
            }
        }
        Ok(())
    }

    /// Writes all of it down and lets the file go, for the shim to take.
    pub fn finish(&mut self) -> io::Result<Order> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.write_down()?;
        self.log = None;
        Ok(self.order.clone())
    }

    /// The file has become a log.
    pub fn is_taken(&mut self) {
        self.made = false;
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.made {
            self.registry.store().remove(&self.order.id);
        }
    }
}
