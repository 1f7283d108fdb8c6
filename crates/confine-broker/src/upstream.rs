//! The side of an opened connection that leads to the host.

use std::io;
use std::sync::Arc;

use http::{Request, Response, Uri, Version};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, watch};
use tokio_rustls::TlsConnector;

use confine_policy::HostAuthorities;

use super::authority::HttpProtocol;
use super::kept_by_host::KeptByHost;
use super::secret_body::SecretBody;

/// The bytes of a connection and of a request in HTTP/2 that wait for a slow program.
const CONNECTION_WINDOW: u32 = 512 * 1024;
const STREAM_WINDOW: u32 = 256 * 1024;
const SEND_BUFFER: usize = 16 * 1024;

/// The largest head of an answer, in bytes.
pub(crate) const LARGEST_HEAD: u32 = 128 * 1024;

/// The configurations of clients, by the protocols that are offered.
pub(crate) struct UpstreamConfigs {
    both: Arc<ClientConfig>,
    http1: Arc<ClientConfig>,
    http2: Arc<ClientConfig>,
    /// The protocol that each host chose last, by what it was offered.
    chosen: KeptByHost<Vec<HttpProtocol>, HttpProtocol>,
}

impl UpstreamConfigs {
    /// Returns configurations that trust these authorities.
    pub fn new(roots: RootCertStore, provider: &Arc<CryptoProvider>) -> Result<Self, rustls::Error> {
        let roots = Arc::new(roots);
        let of = |protocols: &[HttpProtocol]| {
            let mut config = ClientConfig::builder_with_provider(Arc::clone(provider))
                .with_safe_default_protocol_versions()?
                .with_root_certificates(Arc::clone(&roots))
                .with_no_client_auth();
            config.alpn_protocols = protocols.iter().map(|protocol| protocol.alpn().to_vec()).collect();
            Ok::<_, rustls::Error>(Arc::new(config))
        };
        Ok(Self {
            both: of(&[HttpProtocol::Http2, HttpProtocol::Http1])?,
            http1: of(&[HttpProtocol::Http1])?,
            http2: of(&[HttpProtocol::Http2])?,
            chosen: KeptByHost::default(),
        })
    }

    /// Returns what a host chose last of these protocols. `None`: it was not greeted with them yet.
    pub fn chosen(&self, name: &str, offered: &[HttpProtocol]) -> Option<HttpProtocol> {
        self.chosen.get(name, offered.to_vec())
    }

    fn offering(&self, offered: &[HttpProtocol]) -> &Arc<ClientConfig> {
        match (offered.contains(&HttpProtocol::Http1), offered.contains(&HttpProtocol::Http2)) {
            (true, true) => &self.both,
            (false, true) => &self.http2,
            (_, false) => &self.http1,
        }
    }
}

/// Returns the authorities of the host, as they are now. A certificate that cannot be read is left out.
#[cfg(target_os = "linux")]
pub(crate) fn host_roots(authorities: &HostAuthorities) -> RootCertStore {
    use rustls_native_certs::{load_certs_from_paths, load_native_certs};
    let mut roots = RootCertStore::empty();
    for file in authorities.files() {
        roots.add_parsable_certificates(load_certs_from_paths(Some(file), None).certs);
    }
    for directory in &authorities.directories {
        roots.add_parsable_certificates(load_certs_from_paths(None, Some(directory)).certs);
    }
    if authorities.system.is_empty() {
        roots.add_parsable_certificates(load_native_certs().certs);
    }
    roots
}

/// Returns no authorities: where there are no worlds with secrets, nothing is greeted.
#[cfg(not(target_os = "linux"))]
pub(crate) fn host_roots(_: &HostAuthorities) -> RootCertStore {
    RootCertStore::empty()
}

/// How requests are sent.
enum RequestSender {
    Http1(Mutex<http1::SendRequest<SecretBody>>),
    Http2(http2::SendRequest<SecretBody>),
    /// Nothing is sent, for this reason.
    Failed(HttpProtocol, String),
}

/// A connection to the host, over which requests are sent.
pub(crate) struct UpstreamConnection {
    sender: RequestSender,
    /// Whether the connection has ended.
    pub ended: watch::Receiver<bool>,
}

impl UpstreamConnection {
    /// Greets a host over a connection. A host that cannot be greeted is one that answers every request with the
    /// reason.
    pub async fn connect(server: TcpStream, name: &str, offered: &[HttpProtocol], configs: &UpstreamConfigs) -> Self {
        match Self::greet(server, name, offered, configs).await {
            Ok(upstream) => {
                configs.chosen.keep(name, offered.to_vec(), upstream.protocol());
                upstream
            }
            Err(error) => {
                let protocol = offered.first().copied().unwrap_or(HttpProtocol::Http1);
                Self::failed(protocol, format!("{name} could not be greeted: {error}"))
            }
        }
    }

    fn failed(protocol: HttpProtocol, reason: String) -> Self {
        let (_, ended) = watch::channel(false);
        Self { sender: RequestSender::Failed(protocol, reason), ended }
    }

    /// Returns the connection for a program that speaks this protocol. A host that has chosen another one than before
    /// is one that answers every request with that.
    pub fn speaking(self, protocol: HttpProtocol) -> Self {
        match self.sender {
            RequestSender::Failed(_, reason) => Self::failed(protocol, reason),
            _ if self.protocol() == protocol => self,
            _ => Self::failed(protocol, "the host speaks another version of HTTP than before; try again".into()),
        }
    }

    async fn greet(
        server: TcpStream,
        name: &str,
        offered: &[HttpProtocol],
        configs: &UpstreamConfigs,
    ) -> io::Result<Self> {
        let config = Arc::clone(configs.offering(offered));
        let to = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
        let stream = TlsConnector::from(config).connect(to, server).await?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(HttpProtocol::Http2.alpn());
        let (ends, ended) = watch::channel(false);
        let sender = if is_http2 {
            let (sender, connection) = http2::Builder::new(TokioExecutor::new())
                .initial_connection_window_size(CONNECTION_WINDOW)
                .initial_stream_window_size(STREAM_WINDOW)
                .max_send_buf_size(SEND_BUFFER)
                .max_header_list_size(LARGEST_HEAD)
                .handshake(TokioIo::new(stream))
                .await
                .map_err(io::Error::other)?;
            tokio::spawn(async move {
                let _ = connection.await;
                let _ = ends.send(true);
            });
            RequestSender::Http2(sender)
        } else {
            let (sender, connection) = http1::Builder::new()
                .preserve_header_case(true)
                .max_buf_size(LARGEST_HEAD as usize)
                .handshake(TokioIo::new(stream))
                .await
                .map_err(io::Error::other)?;
            tokio::spawn(async move {
                let _ = connection.with_upgrades().await;
                let _ = ends.send(true);
            });
            RequestSender::Http1(Mutex::new(sender))
        };
        Ok(Self { sender, ended })
    }

    /// Returns the protocol of the connection.
    pub fn protocol(&self) -> HttpProtocol {
        match &self.sender {
            RequestSender::Http1(_) => HttpProtocol::Http1,
            RequestSender::Http2(_) => HttpProtocol::Http2,
            RequestSender::Failed(protocol, _) => *protocol,
        }
    }

    /// Returns the version of its requests.
    pub fn version(&self) -> Version {
        self.protocol().into()
    }

    /// Returns the target of a request in the form of the protocol.
    pub fn target(&self, uri: &Uri, authority: &str) -> Result<Uri, String> {
        target_for(self.protocol(), uri, authority).map_err(|error| error.to_string())
    }

    /// Sends a request. Returns the answer, or why there is none.
    pub async fn send(&self, request: Request<SecretBody>) -> Result<Response<Incoming>, String> {
        let sent = match &self.sender {
            RequestSender::Http1(sender) => {
                let mut sender = sender.lock().await;
                match sender.ready().await {
                    Ok(()) => sender.send_request(request).await,
                    Err(error) => Err(error),
                }
            }
            RequestSender::Http2(sender) => {
                let mut sender = sender.clone();
                match sender.ready().await {
                    Ok(()) => sender.send_request(request).await,
                    Err(error) => Err(error),
                }
            }
            RequestSender::Failed(_, reason) => return Err(reason.clone()),
        };
        sent.map_err(|error| format!("the host did not answer: {error}"))
    }
}

/// The protocol of a connection in the words of `http`.
impl From<HttpProtocol> for Version {
    fn from(protocol: HttpProtocol) -> Self {
        match protocol {
            HttpProtocol::Http1 => Self::HTTP_11,
            HttpProtocol::Http2 => Self::HTTP_2,
        }
    }
}

/// Returns a target in the form of a protocol.
fn target_for(protocol: HttpProtocol, uri: &Uri, authority: &str) -> Result<Uri, http::Error> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    match protocol {
        HttpProtocol::Http1 => Ok(Uri::builder().path_and_query(path).build()?),
        HttpProtocol::Http2 => Uri::builder().scheme("https").authority(authority).path_and_query(path).build(),
    }
}
