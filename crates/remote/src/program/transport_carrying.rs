//! Holds transports to further machines for the host, which reaches them through this one.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Socket;

use tokio::net::UnixStream;

use super::access_refusal::TargetAccessRefusal;
use super::request_transfer::RequestTransfer;
use super::session_table::ResponseFuture;
use crate::carrier_process::CarrierProcess;
use crate::connection_relay::{RelayedStream, relay_connection};
use crate::messages::{TargetEvent, TargetResponse};

/// Starts a transport, and passes its bytes on until it has ended. Its carrier says goodbye on the further machine when
/// the host has no more frames, or this program ends in any way, and not when the host gives the question up.
pub fn carry(argv: Vec<String>, exchange: RequestTransfer) -> ResponseFuture {
    Box::pin(async move {
        let (carrier, stream) = start(&argv).map_err(|source| TargetAccessRefusal::System {
            what: argv.first().cloned().unwrap_or_default(),
            done: "started",
            source,
        })?;
        let (post, run, mut parts) = exchange.split();
        let send = |part| post.send(run, &TargetEvent::Part(part)).is_ok();
        let whole = relay_connection(RelayedStream::Socket(&stream), |context| parts.poll_next(context), send).await;
        if !whole && parts.is_given_up() {
            carrier.drop_link();
            return Ok(TargetResponse::Carried(None, carrier.stderr_text()));
        }
        drop(stream);
        let (code, said) = carrier.last_words().await;
        Ok(TargetResponse::Carried(code, said))
    })
}

fn start(argv: &[String]) -> io::Result<(CarrierProcess, UnixStream)> {
    let (ours, theirs) = Socket::pair()?;
    let frames = theirs.try_clone()?;
    let carrier = CarrierProcess::start(argv, &frames, OwnedFd::from(theirs))?;
    ours.set_nonblocking(true)?;
    Ok((carrier, UnixStream::from_std(ours)?))
}
