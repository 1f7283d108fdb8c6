//! Transports that the program of a target starts, and whose bytes it passes on. A cut of this target is one of the
//! link through it, whose own program would not see it.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Socket;
use std::sync::{Arc, OnceLock};

use tokio::net::UnixStream;
use tokio::sync::oneshot;

use super::connect::TargetRunHandle;
use super::distant_run::reported_error;
use super::relayed_request::relay_request;
use super::remote_target::{RemoteTarget, TargetState};
use super::target_run_updates::{PROTOCOL_BROKEN, TargetRunUpdate};
use super::transport_via::{TransportOrigin, TransportVia, TransportWords, ViaFailure};
use crate::carrier_process::MAX_STDERR;
use crate::connection_relay::RelayedStream;
use crate::frame_link::FrameLink;
use crate::messages::{TargetCall, TargetEvent, TargetRequest, TargetResponse};
use runner::error::RunError;

impl TransportOrigin for RemoteTarget {
    fn start_transport(self: Arc<Self>, argv: Vec<String>) -> Result<(FrameLink, TransportVia), ViaFailure> {
        let failed = |error: std::io::Error| ViaFailure::Failed(error.to_string());
        let begun = self.begin_request(TargetRequest::Carry(argv)).map_err(|error| refusal(&self, &error))?;
        let (ours, theirs) = Socket::pair().map_err(failed)?;
        let link = FrameLink::new(ours.try_clone().map_err(failed)?.into(), OwnedFd::from(ours)).map_err(failed)?;
        theirs.set_nonblocking(true).map_err(failed)?;
        let stream = UnixStream::from_std(theirs).map_err(failed)?;
        let (drops, dropped) = oneshot::channel();
        let cut = Arc::<OnceLock<String>>::default();
        let relay = tokio::spawn(relay_transport(begun, stream, dropped, Arc::clone(&cut)));
        Ok((link, TransportVia { relay, drops, cut }))
    }

    fn is_closed(&self) -> bool {
        self.state() == TargetState::Closed
    }
}

/// Relays the bytes of a transport until it exits. Returns its exit code and its messages.
async fn relay_transport(
    mut begun: TargetRunHandle,
    stream: UnixStream,
    dropped: oneshot::Receiver<()>,
    cut: Arc<OnceLock<String>>,
) -> Result<TransportWords, ViaFailure> {
    let via = Arc::clone(&begun.target);
    let mut state = via.watch();
    let is_cut = async {
        // The target itself outlives its runs.
        drop(state.wait_for(|state| *state == TargetState::Connected).await);
        drop(state.wait_for(|state| *state != TargetState::Connected).await);
    };
    let ended = tokio::select! {
        biased;
        () = is_cut => Err(None),
        Ok(()) = dropped => {
            // Room is left for it, unless the program takes nothing for ever.
            let _full = via.outbox.send(begun.run, &TargetCall::Abort);
            wait_for_words(&mut begun).await
        }
        ended = relay_request(RelayedStream::Socket(&stream), &mut begun) => ended,
    };
    match ended {
        Ok(TargetResponse::Carried(code, mut said)) => {
            said.truncate(said.floor_char_boundary(MAX_STDERR));
            Ok((code, said))
        }
        other => {
            let why = describe_end(&via, other.err().flatten());
            let (ViaFailure::Failed(words) | ViaFailure::Closed(words)) = &why;
            // Known before the stream ends, and with it the link.
            let _first = cut.set(words.clone());
            drop(stream);
            Err(why)
        }
    }
}

/// Waits for the answer of a transport that was given up.
async fn wait_for_words(begun: &mut TargetRunHandle) -> Result<TargetResponse, Option<TargetRunUpdate>> {
    loop {
        match begun.happened.recv().await {
            Some(TargetRunUpdate::Event(TargetEvent::Answered(answer))) => return Ok(answer),
            Some(TargetRunUpdate::Event(TargetEvent::Part(_))) => {}
            other => return Err(other),
        }
    }
}

/// Says why the other target has ended a transport.
fn describe_end(via: &RemoteTarget, update: Option<TargetRunUpdate>) -> ViaFailure {
    let through = format!("the target {}, through which it leads,", via.id());
    let failed = |why: &str| ViaFailure::Failed(format!("{through} {why}"));
    match update {
        _ if via.state() == TargetState::Closed => ViaFailure::Closed(format!("{through} was closed")),
        Some(TargetRunUpdate::Unreachable(error)) => failed(&format!("cannot be used: {error}")),
        Some(TargetRunUpdate::Event(TargetEvent::Failed(failure))) => {
            failed(&format!("cannot start a transport: {}", reported_error(failure)))
        }
        Some(TargetRunUpdate::Lost(why)) => failed(&format!("is lost: {why}")),
        Some(TargetRunUpdate::Event(_)) => failed(PROTOCOL_BROKEN),
        None => match via.state() {
            TargetState::Disconnected => failed("is disconnected"),
            TargetState::Lost => failed("is lost"),
            TargetState::Connected | TargetState::Closed => failed("passes nothing on any more"),
        },
    }
}

fn refusal(via: &RemoteTarget, error: &RunError) -> ViaFailure {
    match describe_end(via, None) {
        closed @ ViaFailure::Closed(_) => closed,
        ViaFailure::Failed(_) => ViaFailure::Failed(error.to_string()),
    }
}
