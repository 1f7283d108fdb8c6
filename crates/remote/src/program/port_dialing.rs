//! Connects to ports for the host.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use nix::errno::Errno;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::access_refusal::TargetAccessRefusal;
use super::request_transfer::RequestTransfer;
use super::session_table::ResponseFuture;
use crate::connection_relay::{RelayedStream, relay_connection, reset_on_drop};
use crate::messages::{TargetEvent, TargetResponse};
use runner::error::RunError;

/// Time a port may take to accept.
const DIAL_TIMEOUT: Duration = Duration::from_secs(30);

/// Connects to a port. `localhost` is the loopback (RFC 6761), also on a machine without a file that says so.
async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    if host != "localhost" {
        return TcpStream::connect((host, port)).await;
    }
    let loopbacks: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    TcpStream::connect(loopbacks.map(|ip| SocketAddr::new(ip, port)).as_slice()).await
}

/// Connects to a port, and passes the bytes of both directions until both have ended. `host`: an IP address, or a name
/// that the files and name servers of this machine know.
pub fn dial(host: String, port: u16, exchange: RequestTransfer) -> ResponseFuture {
    Box::pin(async move {
        let dialed = timeout(DIAL_TIMEOUT, connect(&host, port)).await;
        let stream = dialed.unwrap_or_else(|_| Err(Errno::ETIMEDOUT.into())).map_err(|source| {
            TargetAccessRefusal::System { what: format!("port {port} of {host}"), done: "reached", source }
        })?;
        let (post, run, mut parts) = exchange.split();
        let send = |part| post.send(run, &TargetEvent::Part(part)).is_ok();
        if relay_connection(RelayedStream::Tcp(&stream), |context| parts.poll_next(context), send).await {
            return Ok(TargetResponse::Done);
        }
        reset_on_drop(&stream);
        Err(RunError::Aborted)
    })
}
