//! A connection that is opened: TLS towards the program and towards the host, and HTTP between them.

use std::io;
use std::net;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use rustls::AlertDescription;
use rustls::server::Acceptor;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{LazyConfigAcceptor, StartHandshake};

use super::authority::{HttpProtocol, WorldAuthority};
use super::broker_events::{BrokerEvent, EventSink, SharedOrigin};
use super::exchange::OpenedExchanges;
use super::host_secrets::{HostSecrets, StandIns};
use super::memory_budget::MemoryBudget;
use super::secret_vault::SecretVault;
use super::upstream::{LARGEST_HEAD, UpstreamConfigs, UpstreamConnection};

/// Time that a handshake, and the head of a request, may take.
const GREETING: Duration = Duration::from_secs(30);

/// The most requests of a connection at once, and the bytes that wait for a slow host.
const STREAMS: u32 = 100;
const CONNECTION_WINDOW: u32 = 512 * 1024;
const STREAM_WINDOW: u32 = 128 * 1024;
const SEND_BUFFER: usize = 16 * 1024;

/// The most requests that a program has reset while they were not handled yet (CVE-2023-44487).
const RESETS: usize = 20;

/// A connection of a program to a host of a secret, whose first byte is one of TLS.
#[derive(Debug)]
pub struct TlsConnection {
    /// The socket of the program.
    pub client: net::TcpStream,
    /// The socket of the host.
    pub server: net::TcpStream,
    /// The name that the program has dialled.
    pub name: String,
    /// The port that the program has dialled.
    pub port: u16,
    /// The command.
    pub origin: SharedOrigin,
}

/// What the connections of a world share.
pub(crate) struct BrokerParts {
    pub authority: WorldAuthority,
    pub configs: UpstreamConfigs,
    pub stand_ins: Arc<StandIns>,
    pub vault: Arc<SecretVault>,
    pub events: EventSink,
    pub memory: Arc<MemoryBudget>,
}

/// Serves a connection until its end.
pub(crate) async fn serve_connection(connection: TlsConnection, parts: &Arc<BrokerParts>) {
    // A connection that fails shows that by its end.
    let _ = serve(connection, parts).await;
}

async fn serve(connection: TlsConnection, parts: &Arc<BrokerParts>) -> io::Result<()> {
    let TlsConnection { client, server, name, port, origin } = connection;
    let (client, server) = (TcpStream::from_std(client)?, TcpStream::from_std(server)?);
    let hello = timeout(GREETING, LazyConfigAcceptor::new(Acceptor::default(), client)).await??;
    let (claimed, offered) = {
        let hello = hello.client_hello();
        (hello.server_name().map(str::to_owned), protocols(hello.alpn()))
    };
    if claimed.as_deref().map(str::to_ascii_lowercase).as_deref() != Some(name.as_str()) {
        let target = format!("{}:{port}", claimed.as_deref().unwrap_or(&name));
        parts.events.send(BrokerEvent::OtherName { origin, target });
        return Ok(());
    }
    let greeting = timeout(GREETING, UpstreamConnection::connect(server, &name, &offered, &parts.configs));
    let accept = async |hello: StartHandshake<TcpStream>, protocol| {
        let config = parts.authority.server(&name, protocol).map_err(io::Error::other)?;
        if has_ended(&hello.io) { Ok(None) } else { timeout(GREETING, hello.into_stream(config)).await?.map(Some) }
    };
    let (upstream, accepted) = if let Some(protocol) = parts.configs.chosen(&name, &offered) {
        let (upstream, accepted) = tokio::join!(greeting, accept(hello, protocol));
        (upstream?.speaking(protocol), accepted)
    } else {
        let upstream = greeting.await?;
        let accepted = accept(hello, upstream.protocol()).await;
        (upstream, accepted)
    };
    let stream = match accepted {
        Ok(Some(stream)) => stream,
        Ok(None) => return Ok(()),
        Err(error) => {
            if is_distrust(&error) {
                parts.events.send(BrokerEvent::Distrusted { origin, target: format!("{name}:{port}") });
            }
            return Err(error);
        }
    };
    let protocol = upstream.protocol();
    let of = HostSecrets::new(name, port, Arc::clone(&parts.stand_ins), Arc::clone(&parts.vault));
    let ended = upstream.ended.clone();
    let (events, memory) = (parts.events.clone(), Arc::clone(&parts.memory));
    let exchanges = Arc::new(OpenedExchanges { of, origin, upstream, events, memory });
    match protocol {
        HttpProtocol::Http1 => serve_http1(stream, exchanges, ended).await,
        HttpProtocol::Http2 => serve_http2(stream, exchanges, ended).await,
    }
}

/// Returns the protocols that a program offers, the one it prefers first. One that offers none speaks HTTP/1.1.
fn protocols<'a>(offered: Option<impl Iterator<Item = &'a [u8]>>) -> Vec<HttpProtocol> {
    let Some(offered) = offered else { return vec![HttpProtocol::Http1] };
    let known =
        |name: &[u8]| [HttpProtocol::Http1, HttpProtocol::Http2].into_iter().find(|protocol| protocol.alpn() == name);
    let known: Vec<_> = offered.filter_map(known).collect();
    if known.is_empty() { vec![HttpProtocol::Http1] } else { known }
}

/// Returns whether a program has closed its side, as when it was killed before it could see the certificate.
fn has_ended(client: &TcpStream) -> bool {
    let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    matches!(recv(client.as_raw_fd(), &mut [0], flags), Ok(0) | Err(Errno::ECONNRESET))
}

/// Returns whether a program has ended a handshake because it does not trust the certificate. Some, like Java's
/// `HttpClient`, end it without an alert.
fn is_distrust(error: &io::Error) -> bool {
    if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
    {
        return true;
    }
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(
        inner,
        Some(rustls::Error::AlertReceived(
            AlertDescription::UnknownCA
                | AlertDescription::BadCertificate
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::AccessDenied
        ))
    )
}

/// Resolves when the connection to the host has ended.
async fn end_of(mut ended: tokio::sync::watch::Receiver<bool>) {
    if ended.wait_for(|ended| *ended).await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn serve_http1(
    stream: TlsStream<TcpStream>,
    exchanges: Arc<OpenedExchanges>,
    ended: tokio::sync::watch::Receiver<bool>,
) -> io::Result<()> {
    let service = service_fn(move |request| Arc::clone(&exchanges).answer(request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(GREETING)
        .max_buf_size(LARGEST_HEAD as usize)
        .preserve_header_case(true)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        done = connection.as_mut() => return done.map_err(io::Error::other),
        () = end_of(ended) => connection.as_mut().graceful_shutdown(),
    }
    connection.await.map_err(io::Error::other)
}

async fn serve_http2(
    stream: TlsStream<TcpStream>,
    exchanges: Arc<OpenedExchanges>,
    ended: tokio::sync::watch::Receiver<bool>,
) -> io::Result<()> {
    let service = service_fn(move |request| Arc::clone(&exchanges).answer(request));
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .initial_stream_window_size(STREAM_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .max_header_list_size(LARGEST_HEAD)
        .max_pending_accept_reset_streams(RESETS)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        done = connection.as_mut() => return done.map_err(io::Error::other),
        () = end_of(ended) => connection.as_mut().graceful_shutdown(),
    }
    connection.await.map_err(io::Error::other)
}
