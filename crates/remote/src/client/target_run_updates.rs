//! What happens to a run there, on its way to the task that follows the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::target_error::TargetError;
use crate::flow_control::{MOST_UNREAD, credit_cost};
use crate::frame_link::LinkError;
use crate::messages::{TargetEvent, clean_event};
use capture::SanitizeRules;

/// Why runs are lost when their target is closed.
pub(super) const TARGET_CLOSED: &str = "the target was closed";
/// Why a run is lost whose events no program of ours sends.
pub(super) const PROTOCOL_BROKEN: &str = "the program there broke the protocol";

/// What happens to a run there.
pub(super) enum TargetRunUpdate {
    /// An event of the program.
    Event(TargetEvent),
    /// The run is lost, with the reason.
    Lost(&'static str),
    /// The run has never begun, since the target cannot be reached.
    Unreachable(TargetError),
}

/// Tells the task of a run what happens to it.
pub(super) struct RunUpdateSender {
    sender: UnboundedSender<(TargetRunUpdate, u64)>,
    /// The cost of what was told and not read.
    unread: Arc<AtomicU64>,
}

/// What happens to a run, up to its end.
pub(super) struct RunUpdateReceiver {
    receiver: UnboundedReceiver<(TargetRunUpdate, u64)>,
    unread: Arc<AtomicU64>,
    /// The cost of what was read and not paid for.
    unpaid: u64,
    /// How its output was cleaned.
    sanitize: Option<SanitizeRules>,
    /// Whether the run has ended there.
    over: bool,
}

impl RunUpdateSender {
    pub fn send_update(&self, what: TargetRunUpdate) {
        // The task may just have ended.
        let _gone = self.sender.send((what, 0));
    }

    /// Tells of an event of this length.
    ///
    /// # Errors
    /// If more is unread than a program that keeps to the credit sends.
    pub fn send_event(&self, event: TargetEvent, bytes: usize) -> Result<(), LinkError> {
        if self.unread.load(Ordering::Relaxed) > MOST_UNREAD {
            return Err(LinkError::Unexpected("more events than the credit allows"));
        }
        let cost = credit_cost(bytes);
        self.unread.fetch_add(cost, Ordering::Relaxed);
        let _gone = self.sender.send((TargetRunUpdate::Event(event), cost));
        Ok(())
    }
}

impl RunUpdateReceiver {
    pub fn new() -> (RunUpdateSender, Self) {
        let (sender, receiver) = unbounded_channel();
        let unread = Arc::new(AtomicU64::new(0));
        (
            RunUpdateSender { sender, unread: Arc::clone(&unread) },
            Self { receiver, unread, unpaid: 0, sanitize: None, over: false },
        )
    }

    /// Returns the cost of all events that were read since the last call.
    pub fn take_read_cost(&mut self) -> u64 {
        std::mem::take(&mut self.unpaid)
    }

    /// Cleans the output of the run again, as it was cleaned there.
    pub fn clean_output(&mut self, sanitize: Option<SanitizeRules>) {
        self.sanitize = sanitize;
    }

    /// Returns whether the run has ended there.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Waits for what happens next. `None`: the target was closed.
    pub async fn recv(&mut self) -> Option<TargetRunUpdate> {
        std::future::poll_fn(|context| self.poll_recv(context)).await
    }

    /// Returns what happens next.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<TargetRunUpdate>> {
        let (mut next, cost) = ready!(self.receiver.poll_recv(context)).unzip();
        if let Some(TargetRunUpdate::Event(event)) = &mut next
            && !clean_event(event, self.sanitize)
        {
            next = Some(TargetRunUpdate::Lost(PROTOCOL_BROKEN));
        }
        self.unread.fetch_sub(cost.unwrap_or(0), Ordering::Relaxed);
        self.unpaid += cost.unwrap_or(0);
        self.over |= match &next {
            Some(TargetRunUpdate::Event(event)) => event.ends_run(),
            Some(TargetRunUpdate::Lost(_) | TargetRunUpdate::Unreachable(_)) | None => true,
        };
        Poll::Ready(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    #[test]
    fn a_program_that_ignores_the_credit_is_found_out_and_one_that_is_read_is_not() {
        let (teller, mut happenings) = RunUpdateReceiver::new();
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..100_000 {
            teller.send_event(TargetEvent::Exited, 1_000).expect("it is read");
            assert!(matches!(
                happenings.poll_recv(&mut context),
                Poll::Ready(Some(TargetRunUpdate::Event(TargetEvent::Exited)))
            ));
        }
        let told = (0..100_000).take_while(|_| teller.send_event(TargetEvent::Exited, 0).is_ok()).count();
        assert_eq!(told as u64, MOST_UNREAD / credit_cost(0) + 1);
    }
}
