//! Ports of a target, as ports of this machine.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use nix::errno::Errno;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::relayed_request::relay_request;
use super::remote_target::{RemoteTarget, TargetState};
use crate::connection_relay::{RelayedStream, reset_on_drop};
use crate::messages::{TargetRequest, system_code};
use runner::error::RunError;

/// A port of this machine that leads to one of a target. Ends with the target, or when this is dropped.
pub struct PortForward {
    port: u16,
    closes: watch::Sender<bool>,
}

impl PortForward {
    /// Returns the port of this machine.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Closes the port, and resets its connections. Returns when they are gone.
    pub async fn close(self) {
        self.closes.send_replace(true);
        self.closes.closed().await;
    }
}

/// Where connections lead.
#[derive(Clone)]
struct ForwardRoute {
    target: Weak<RemoteTarget>,
    state: watch::Receiver<TargetState>,
    closes: watch::Receiver<bool>,
    host: String,
    port: u16,
}

impl RemoteTarget {
    /// Listens on a port of this machine, on 127.0.0.1 only. Each connection to it is one to this port of this host, as
    /// the target sees it: an IP address, or a name that the resolver there knows. `local_port`: 0 for any. The port
    /// stays through cuts, which reset the connections.
    ///
    /// # Errors
    /// If the target was closed, or the system refuses the port of this machine.
    pub async fn forward(self: &Arc<Self>, host: &str, port: u16, local_port: u16) -> Result<PortForward, RunError> {
        if self.state() == TargetState::Closed {
            return Err(self.closed_error());
        }
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, local_port)).await;
        let bound = bound.and_then(|listener| Ok((listener.local_addr()?.port(), listener)));
        let (own, listener) = bound.map_err(|error| refused(local_port, &error))?;
        let (closes, closed) = watch::channel(false);
        let target = Arc::downgrade(self);
        tokio::spawn(serve_forward(
            listener,
            ForwardRoute { target, state: self.watch(), closes: closed, host: host.to_owned(), port },
        ));
        Ok(PortForward { port: own, closes })
    }
}

fn refused(port: u16, error: &io::Error) -> RunError {
    let errno = error.raw_os_error().map(|errno| format!("{:?}", Errno::from_raw(errno)));
    let code = errno.as_deref().and_then(system_code).unwrap_or("EIO");
    RunError::FromTarget { code, message: format!("port {port} of 127.0.0.1 cannot be listened on: {error}"), errno }
}

/// Takes connections until the target is closed, or nobody has it or the forward any more.
async fn serve_forward(listener: TcpListener, way: ForwardRoute) {
    let over = way.clone();
    tokio::select! {
        () = over.wait_until_over() => {}
        () = accept(&listener, &way) => {}
    }
    // Whoever closes the forward waits for the last clone of `way`.
    drop(listener);
}

async fn accept(listener: &TcpListener, way: &ForwardRoute) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files. One may be closed by then.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        // This connection waits for room, and later ones wait in the system.
        let Some(connections) = way.target.upgrade().map(|target| Arc::clone(&target.connections)) else { return };
        let Ok(place) = connections.acquire_owned().await else { return };
        let (way, over, closes) = (way.clone(), way.clone(), way.closes.clone());
        tokio::spawn(async move {
            let whole = tokio::select! {
                () = over.wait_until_over() => false,
                whole = forward_connection(&stream, way) => whole.is_some(),
            };
            if !whole {
                reset_on_drop(&stream);
            }
            drop((stream, place, closes));
        });
    }
}

impl ForwardRoute {
    /// Waits until the target is closed, or nobody has it or the forward any more.
    async fn wait_until_over(self) {
        let Self { mut state, mut closes, .. } = self;
        // An error: the other side is gone.
        tokio::select! {
            _ = state.wait_for(|state| *state == TargetState::Closed) => {}
            _ = closes.wait_for(|closes| *closes) => {}
        }
    }
}

/// Passes the bytes of one connection. `None`: some of them did not arrive.
async fn forward_connection(
    stream: &TcpStream,
    ForwardRoute { target, mut state, host, port, .. }: ForwardRoute,
) -> Option<()> {
    state.wait_for(|state| *state != TargetState::Disconnected).await.ok()?;
    let mut begun = target.upgrade()?.begin_request(TargetRequest::Dial(host, port)).ok()?;
    let cut = async {
        // A target that was lost connects anew for this.
        state.wait_for(|state| *state == TargetState::Connected).await?;
        state.wait_for(|state| *state != TargetState::Connected).await.map(|_| ())
    };
    tokio::select! {
        _ = cut => None,
        whole = relay_request(RelayedStream::Tcp(stream), &mut begun) => whole.ok().map(drop),
    }
}
