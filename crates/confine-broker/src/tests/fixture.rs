//! A host with its own authority, and connections through a broker.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};
use std::thread;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, StreamOwned};

use confine_policy::{AllowEntry, AllowHost, CountedSecretUse, SecretPlace, SecretRule, ValueAnswer, ValueQuestion};

use crate::broker::{SecretBroker, provider};
use crate::{BrokerEvent, ConnectionOrigin, EventSink, TlsConnection};

/// The host of the secrets.
pub const HOST: &str = "api.example";

/// A request as the host got it.
#[derive(Debug, Clone)]
pub struct RequestAtHost {
    pub line: String,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

/// What the host answers.
pub type Answering = Arc<dyn Fn(&RequestAtHost) -> Response<Full<Bytes>> + Send + Sync>;

/// A broker with a host.
pub struct BrokerFixture {
    pub broker: SecretBroker,
    pub received: Arc<Mutex<Vec<RequestAtHost>>>,
    events: Arc<Mutex<Vec<BrokerEvent>>>,
    host: SocketAddr,
}

/// A rule for this host.
pub fn rule_at(host: &str) -> SecretRule {
    SecretRule {
        hosts: vec![AllowEntry { host: AllowHost::Name(host.into()), port: None }],
        ..rule("TOKEN", "stand-in")
    }
}

/// A rule for `api.example`.
pub fn rule(name: &str, stand_in: &str) -> SecretRule {
    SecretRule {
        name: name.into(),
        stand_in: stand_in.into(),
        hosts: vec![AllowEntry { host: AllowHost::Name(HOST.into()), port: None }],
        places: Vec::new(),
        methods: None,
        paths: None,
        inject: false,
        file: None,
        ttl_ms: None,
    }
}

/// A rule for these places.
pub fn rule_in(name: &str, stand_in: &str, places: &[SecretPlace]) -> SecretRule {
    SecretRule { places: places.to_vec(), ..rule(name, stand_in) }
}

/// Answers questions about values.
fn answer_values(values: HashMap<String, ValueAnswer>) -> std::os::fd::OwnedFd {
    let (gate, host) = sys::packet_pair().expect("a pair");
    thread::spawn(move || {
        loop {
            if poll(&mut [PollFd::new(host.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE).is_err() {
                continue;
            }
            let (mut buffer, mut sockets) = (vec![0; 4096], Vec::new());
            let Ok(length) = sys::receive(host.as_fd(), &mut buffer, &mut sockets) else { continue };
            if length == 0 {
                return;
            }
            let question: ValueQuestion = postcard::from_bytes(&buffer[..length]).expect("a question");
            let answer = values.get(&question.stand_in).cloned().unwrap_or_else(|| Err("unknown".into()));
            let bytes = postcard::to_allocvec(&answer).expect("encoded");
            sys::send(sockets[0].as_fd(), &bytes, &[]).expect("answered");
        }
    });
    gate
}

/// Returns the certificate of a host's authority and the configuration of the host.
pub fn host_tls(protocols: &[&[u8]]) -> (CertificateDer<'static>, ServerConfig) {
    let key = rcgen::KeyPair::generate().expect("a key");
    let certificate =
        rcgen::CertificateParams::new([HOST.to_owned()]).expect("valid").self_signed(&key).expect("signed");
    let der = certificate.der().clone();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![der.clone()], key)
        .expect("a certificate");
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    (der, config)
}

async fn received_of(request: Request<Incoming>) -> RequestAtHost {
    let (parts, body) = request.into_parts();
    let headers = parts
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let headers = headers.collect();
    let body = body.collect().await.map(|body| body.to_bytes().to_vec()).unwrap_or_default();
    RequestAtHost { line: format!("{} {}", parts.method, parts.uri), headers, body }
}

/// Serves HTTPS at a port of the loopback, each connection with the next configuration, and further ones with the last.
fn serve_host(configs: Vec<ServerConfig>, received: Arc<Mutex<Vec<RequestAtHost>>>, answer: Answering) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    listener.set_nonblocking(true).expect("set");
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            let mut configs = configs.into_iter().map(Arc::new).peekable();
            let mut last = configs.peek().cloned();
            while let Ok((stream, _)) = listener.accept().await {
                last = configs.next().or(last);
                let acceptor = tokio_rustls::TlsAcceptor::from(last.clone().expect("a configuration"));
                let (received, answer) = (Arc::clone(&received), Arc::clone(&answer));
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    let service = service_fn(move |request| {
                        let (received, answer) = (Arc::clone(&received), Arc::clone(&answer));
                        async move {
                            let request = received_of(request).await;
                            let response = answer(&request);
                            received.lock().expect("no panic").push(request);
                            Ok::<_, io::Error>(response)
                        }
                    });
                    let io = TokioIo::new(stream);
                    let _ = if http2 {
                        hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                            .serve_connection(io, service)
                            .await
                    } else {
                        hyper::server::conn::http1::Builder::new().serve_connection(io, service).await
                    };
                });
            }
        });
    });
    address
}

/// Answers with nothing but a status.
pub fn ok() -> Answering {
    Arc::new(|_| Response::new(Full::default()))
}

/// Answers with the headers and the body of the request.
pub fn echo() -> Answering {
    Arc::new(|request| {
        let mut text = format!("{}\n", request.line);
        for (name, value) in &request.headers {
            text.push_str(&format!("{name}: {value}\n"));
        }
        let mut response = Response::new(Full::from([text.as_bytes(), &request.body].concat()));
        if let Some(authorization) = request.headers.get("authorization") {
            response.headers_mut().insert("x-echo", authorization.parse().expect("a value"));
        }
        response
    })
}

impl BrokerFixture {
    /// Starts a broker for secrets, each a rule and its value, and a host.
    pub fn new(secrets: &[(SecretRule, ValueAnswer)], answer: Answering) -> Self {
        Self::speaking(secrets, &[b"h2", b"http/1.1"], answer)
    }

    /// Like [`Self::new`], with a host that speaks these protocols.
    pub fn speaking(secrets: &[(SecretRule, ValueAnswer)], protocols: &[&[u8]], answer: Answering) -> Self {
        Self::speaking_in_turn(secrets, &[protocols], answer)
    }

    /// Like [`Self::speaking`], with other protocols for each of the first connections.
    pub fn speaking_in_turn(secrets: &[(SecretRule, ValueAnswer)], turns: &[&[&[u8]]], answer: Answering) -> Self {
        let (certificate, config) = host_tls(turns[0]);
        let of_turn = |protocols: &&[&[u8]]| {
            let mut config = config.clone();
            config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
            config
        };
        let received = Arc::new(Mutex::new(Vec::new()));
        let host = serve_host(turns.iter().map(of_turn).collect(), Arc::clone(&received), answer);
        Self { received, ..Self::at(secrets, host, certificate) }
    }

    /// Starts a broker for a host at this address.
    pub fn at(secrets: &[(SecretRule, ValueAnswer)], host: SocketAddr, certificate: CertificateDer<'static>) -> Self {
        let values = secrets.iter().map(|(rule, value)| (rule.stand_in.clone(), value.clone())).collect();
        let rules = secrets.iter().map(|(rule, _)| rule.clone()).collect();
        let events: Arc<Mutex<Vec<BrokerEvent>>> = Arc::default();
        let sink = Arc::clone(&events);
        let sink = EventSink::new(move |event| sink.lock().expect("no panic").push(event));
        let mut roots = RootCertStore::empty();
        roots.add(certificate).expect("a root");
        let broker = SecretBroker::trusting(rules, answer_values(values), sink, roots).expect("started");
        Self { broker, received: Arc::default(), events, host }
    }

    /// Returns two connected sockets that lead to the broker and through it to the host.
    fn connect_to(&self, name: &str) -> TcpStream {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let program = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let (client, _) = listener.accept().expect("accepted");
        let server = TcpStream::connect(self.host).expect("connected");
        for socket in [&client, &server] {
            socket.set_nonblocking(true).expect("set");
        }
        let origin = ConnectionOrigin { mark: Some("mark".into()), program: "curl".into() };
        let origin = Arc::new(origin.into());
        let opened = self.broker.open(TlsConnection { client, server, name: name.into(), port: 443, origin });
        opened.expect("room");
        program
    }

    /// Returns a connection to the host, as a program that trusts the authority of the world opens it.
    pub fn tls(&self, protocols: &[&[u8]]) -> StreamOwned<ClientConnection, TcpStream> {
        self.tls_to(HOST, HOST, protocols)
    }

    /// Like [`Self::tls`], with a name that was dialled and one that the handshake gives.
    pub fn tls_to(&self, dialled: &str, named: &str, protocols: &[&[u8]]) -> StreamOwned<ClientConnection, TcpStream> {
        let certificate = CertificateDer::from_pem_slice(self.broker.certificate().as_bytes()).expect("a certificate");
        let mut roots = RootCertStore::empty();
        roots.add(certificate).expect("a root");
        self.tls_trusting(roots, dialled, named, protocols)
    }

    /// Like [`Self::tls_to`], with these roots.
    pub fn tls_trusting(
        &self,
        roots: RootCertStore,
        dialled: &str,
        named: &str,
        protocols: &[&[u8]],
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let mut config = ClientConfig::builder_with_provider(Arc::new(provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let name = ServerName::try_from(named.to_owned()).expect("a name");
        let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
        StreamOwned::new(connection, self.connect_to(dialled))
    }

    /// Sends a request of HTTP/1.1 and returns the answer. `head` has the lines up to the empty one, without `Host`.
    pub fn send(&self, head: &str, body: &[u8]) -> String {
        let (line, headers) = head.split_once('\n').unwrap_or((head, ""));
        let mut lines = vec![format!("{line} HTTP/1.1"), format!("Host: {HOST}"), "Connection: close".to_owned()];
        lines.extend(headers.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()));
        if !body.is_empty() && !headers.to_ascii_lowercase().contains("transfer-encoding") {
            lines.push(format!("Content-Length: {}", body.len()));
        }
        self.send_raw(&[format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes(), body].concat())
    }

    /// Sends bytes and returns all that comes back.
    pub fn send_raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.tls(&[b"http/1.1"]);
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Returns the last request that the host got.
    pub fn last(&self) -> RequestAtHost {
        self.received.lock().expect("no panic").last().cloned().expect("a request")
    }

    /// Returns how many requests the host got.
    pub fn count(&self) -> usize {
        self.received.lock().expect("no panic").len()
    }

    /// Returns the events so far.
    pub fn events(&self) -> Vec<BrokerEvent> {
        self.events.lock().expect("no panic").clone()
    }

    /// Returns the uses so far, each as `NAME HOST METHOD PATH STATUS REFUSED`.
    pub fn uses(&self) -> Vec<String> {
        let of = |event| match event {
            BrokerEvent::Used { of: CountedSecretUse { name, host, method, path, status, refused, .. }, .. } => {
                let status = status.map_or("-".to_owned(), |status| status.to_string());
                Some(format!("{name} {host} {method} {path} {status} {}", refused.unwrap_or_else(|| "-".into())))
            }
            _ => None,
        };
        self.events().into_iter().filter_map(of).collect()
    }
}

/// Returns the status of an answer.
pub fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}
