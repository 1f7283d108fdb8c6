//! The transfer that a question opens: parts of the host, and parts for it.

use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::mpsc::UnboundedReceiver;

use super::registries::Asked;
use crate::flow::Untaken;
use crate::messages::{Call, Event, Part};
use crate::post::Post;
use runner::error::Error;

/// The transfer of one question.
pub struct Exchange {
    post: Arc<Post>,
    run: u64,
    parts: Parts,
    untaken: Untaken,
}

/// The parts of the host.
pub struct Parts(UnboundedReceiver<Call>);

impl Parts {
    /// Returns the next part. `None`: the host has given the question up.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Part>> {
        self.0.poll_recv(context).map(|call| if let Some(Call::Part(part)) = call { Some(part) } else { None })
    }

    async fn next(&mut self) -> Option<Part> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

impl Exchange {
    /// Opens the transfer of a question.
    pub fn of(Asked { post, run, further }: Asked) -> Self {
        Self { post, run, parts: Parts(further), untaken: Untaken::default() }
    }

    /// Parts the ways of a transfer that is no sequence of steps.
    pub fn split(self) -> (Arc<Post>, u64, Parts) {
        (self.post, self.run, self.parts)
    }

    /// Sends bytes, once the host has taken enough of those before them.
    ///
    /// # Errors
    /// If the host has given the question up, or too much waits for a link.
    pub async fn send(&mut self, bytes: Vec<u8>) -> Result<(), Error> {
        while !self.untaken.has_room() {
            match self.parts.next().await {
                Some(Part::Taken(bytes)) => self.untaken.taken(bytes),
                _ => return Err(Error::Aborted),
            }
        }
        self.untaken.sent(bytes.len());
        self.pass(Part::Bytes(bytes))
    }

    /// Waits for the next bytes of the host.
    ///
    /// # Errors
    /// If the host has given the question up.
    pub async fn receive(&mut self) -> Result<Vec<u8>, Error> {
        match self.parts.next().await {
            Some(Part::Bytes(bytes)) => Ok(bytes),
            _ => Err(Error::Aborted),
        }
    }

    /// Sends a part.
    ///
    /// # Errors
    /// If too much waits for a link.
    pub fn pass(&self, part: Part) -> Result<(), Error> {
        self.post.send(self.run, &Event::Part(part)).map_err(|_full| Error::Aborted)
    }
}
