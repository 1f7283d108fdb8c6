//! The servers of HTTP by hyper, for HTTP/1 and for both versions, and of TLS by rustls, at once or within another
//! protocol.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use std::{convert::Infallible, env, fs, path::Path, thread};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, ServerConnection, crypto::ring};

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let _ = body.collect().await;
    let host = head.headers.get("host").map_or("".into(), |host| String::from_utf8_lossy(host.as_bytes()).into_owned());
    let seen = format!("<<{host}\x1f{}\x1f{:?}\x1f>>", head.uri, head.version);
    Ok(Response::new(Full::new(seen.into())))
}

fn listen(title: &str) -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    println!("{title} {}", listener.local_addr().expect("an address").port());
    listener
}

async fn web(listener: TcpListener, both: bool) {
    listener.set_nonblocking(true).expect("a mode");
    let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
    loop {
        let (client, _) = listener.accept().await.expect("a client");
        tokio::spawn(async move {
            let (io, service) = (TokioIo::new(client), service_fn(answer));
            if both {
                let mut builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                builder.http1().half_close(true);
                let _ = builder.serve_connection(io, service).await;
            } else {
                let _ = hyper::server::conn::http1::Builder::new().half_close(true).serve_connection(io, service).await;
            }
        });
    }
}

#[derive(Debug)]
struct ByName {
    named: [(&'static str, Arc<CertifiedKey>); 2],
    other: Arc<CertifiedKey>,
}

impl ResolvesServerCert for ByName {
    fn resolve(&self, hello: ClientHello) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().unwrap_or_default().to_ascii_lowercase();
        let found = self.named.iter().find(|(named, _)| *named == name.trim_end_matches('.'));
        Some(found.map_or(&self.other, |(_, key)| key).clone())
    }
}

fn key_of(name: &str) -> Arc<CertifiedKey> {
    let read =
        |end: &str| fs::read(Path::new(&env::var_os("CERTIFICATES").expect("a directory")).join(name.to_owned() + end));
    let certificate = CertificateDer::from_pem_slice(&read(".pem").expect("a file")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(&read(".key").expect("a file")).expect("a key");
    let key = ring::sign::any_supported_type(&key).expect("a known key");
    Arc::new(CertifiedKey::new(vec![certificate], key))
}

/// Reads another protocol. Returns the bytes behind it.
fn agree(client: &mut TcpStream) -> Option<Vec<u8>> {
    let digits = env::var("AGREED").expect("the ends of other protocols");
    let hex = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("text"), 16).expect("a number");
    let ends: Vec<Vec<u8>> = digits.split(',').map(|end| end.as_bytes().chunks(2).map(hex).collect()).collect();
    let (mut before, mut buffer) = (Vec::new(), [0; 65_536]);
    loop {
        let count = client.read(&mut buffer).ok().filter(|count| *count > 0)?;
        before.extend_from_slice(&buffer[..count]);
        let place = |end: &Vec<u8>| before.windows(end.len()).position(|part| part == end).map(|at| at + end.len());
        if let Some(first) = ends.iter().filter_map(place).min() {
            return Some(before.split_off(first));
        }
    }
}

fn greet(mut client: TcpStream, config: Arc<ServerConfig>, within: bool) -> Option<()> {
    client.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut begun = if within { agree(&mut client)? } else { vec![] };
    let mut connection = ServerConnection::new(config).ok()?;
    let mut buffer = [0; 65_536];
    loop {
        if begun.is_empty() {
            let count = client.read(&mut buffer).ok().filter(|count| *count > 0)?;
            begun.extend_from_slice(&buffer[..count]);
        }
        let input = std::mem::take(&mut begun);
        let mut input = &input[..];
        let mut failed = false;
        while !input.is_empty() && !failed {
            connection.read_tls(&mut input).ok()?;
            failed = connection.process_new_packets().is_err();
        }
        while connection.wants_write() {
            let mut output = Vec::new();
            connection.write_tls(&mut output).ok()?;
            client.write_all(&output).ok()?;
        }
        if failed {
            return None;
        }
    }
}

fn secure(listener: TcpListener, config: Arc<ServerConfig>, within: bool) {
    for client in listener.incoming().flatten() {
        let config = config.clone();
        thread::spawn(move || greet(client, config, within));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let named = ["a.test", "evil.test"].map(|name| (name, key_of(name)));
    let resolver = ByName { named, other: key_of("default.test") };
    let config = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(resolver));
    let config = Arc::new(config);
    for (title, within) in [("tls rustls", false), ("starttls rustls", true)] {
        let (listener, config) = (listen(title), config.clone());
        thread::spawn(move || secure(listener, config, within));
    }
    tokio::join!(web(listen("http hyper"), false), web(listen("http hyper2"), true));
}
