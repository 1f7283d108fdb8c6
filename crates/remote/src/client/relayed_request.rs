//! A question whose bytes are those of a stream of this machine.

use std::task::{Context, Poll, ready};

use super::connect::TargetRunHandle;
use super::target_run_updates::TargetRunUpdate;
use crate::connection_relay::{RelayedStream, relay_connection};
use crate::messages::{TargetCall, TargetEvent, TargetResponse, TransferPart};

/// Passes the bytes of a stream to a question and back until both directions have ended. Returns its answer.
///
/// # Errors
/// What has happened in place of an answer. `None`: the stream is broken.
pub(super) async fn relay_request(
    stream: RelayedStream<'_>,
    begun: &mut TargetRunHandle,
) -> Result<TargetResponse, Option<TargetRunUpdate>> {
    let TargetRunHandle { target, run, happened, .. } = begun;
    let send = |part| target.outbox.send(*run, &TargetCall::Part(part)).is_ok();
    let (mut ended, mut answer, mut other) = (false, None, None);
    let next = |context: &mut Context<'_>| {
        if answer.is_some() {
            return Poll::Pending;
        }
        match ready!(happened.poll_recv(context)) {
            Some(TargetRunUpdate::Event(TargetEvent::Part(part))) => {
                ended |= part == TransferPart::End;
                Poll::Ready(Some(part))
            }
            // The last bytes may still wait to be written here.
            Some(TargetRunUpdate::Event(TargetEvent::Answered(answered))) if ended => {
                answer = Some(answered);
                Poll::Pending
            }
            update => {
                other = update;
                Poll::Ready(None)
            }
        }
    };
    if !relay_connection(stream, next, send).await {
        return Err(other);
    }
    loop {
        if let Some(answer) = answer {
            return Ok(answer);
        }
        match happened.recv().await {
            Some(TargetRunUpdate::Event(TargetEvent::Part(TransferPart::Taken(_)))) => {}
            Some(TargetRunUpdate::Event(TargetEvent::Answered(answered))) => answer = Some(answered),
            update => return Err(update),
        }
    }
}
