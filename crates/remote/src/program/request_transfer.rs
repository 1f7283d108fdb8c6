//! The transfer that a question opens: parts of the host, and parts for it.

use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::mpsc::UnboundedReceiver;

use super::registry_table::ReceivedRequest;
use crate::flow_control::TransferWindow;
use crate::link_mailbox::LinkMailbox;
use crate::messages::{TargetCall, TargetEvent, TransferPart};
use runner::error::RunError;

/// The transfer of one question.
pub struct RequestTransfer {
    post: Arc<LinkMailbox>,
    run: u64,
    parts: TransferPartReceiver,
    untaken: TransferWindow,
}

/// The parts of the host.
pub struct TransferPartReceiver {
    calls: UnboundedReceiver<TargetCall>,
    given_up: bool,
}

impl TransferPartReceiver {
    /// Returns the next part. `None`: the host has given the question up.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<TransferPart>> {
        self.calls.poll_recv(context).map(|call| {
            self.given_up |= matches!(call, Some(TargetCall::Abort));
            if let Some(TargetCall::Part(part)) = call { Some(part) } else { None }
        })
    }

    /// Returns whether the host has given the question up, and is not gone itself.
    pub fn is_given_up(&self) -> bool {
        self.given_up
    }

    async fn next(&mut self) -> Option<TransferPart> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

impl RequestTransfer {
    /// Opens the transfer of a question.
    pub fn open(ReceivedRequest { post, run, further }: ReceivedRequest) -> Self {
        Self {
            post,
            run,
            parts: TransferPartReceiver { calls: further, given_up: false },
            untaken: TransferWindow::default(),
        }
    }

    /// Parts the ways of a transfer that is no sequence of steps.
    pub fn split(self) -> (Arc<LinkMailbox>, u64, TransferPartReceiver) {
        (self.post, self.run, self.parts)
    }

    /// Sends bytes, once the host has taken enough of those before them.
    ///
    /// # Errors
    /// If the host has given the question up, or too much waits for a link.
    pub async fn send(&mut self, bytes: Vec<u8>) -> Result<(), RunError> {
        while !self.untaken.has_room() {
            match self.parts.next().await {
                Some(TransferPart::Taken(bytes)) => self.untaken.count_taken(bytes),
                _ => return Err(RunError::Aborted),
            }
        }
        self.untaken.count_sent(bytes.len());
        self.send_part(TransferPart::Bytes(bytes))
    }

    /// Waits for the next bytes of the host.
    ///
    /// # Errors
    /// If the host has given the question up.
    pub async fn receive(&mut self) -> Result<Vec<u8>, RunError> {
        match self.parts.next().await {
            Some(TransferPart::Bytes(bytes)) => Ok(bytes),
            _ => Err(RunError::Aborted),
        }
    }

    /// Sends a part.
    ///
    /// # Errors
    /// If too much waits for a link.
    pub fn send_part(&self, part: TransferPart) -> Result<(), RunError> {
        self.post.send(self.run, &TargetEvent::Part(part)).map_err(|_full| RunError::Aborted)
    }
}
