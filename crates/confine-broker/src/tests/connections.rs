//! Handshakes, protocols and what programs may do to them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use nix::sys::socket::{MsgFlags, send};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};

use super::fixture::{BrokerFixture, HOST, echo, ok, rule, status};
use crate::BrokerEvent;
use crate::broker::provider;

const VALUE: &str = "sk-proj-ValueValueValueValueValueValue000000";
const STAND_IN: &str = "sk-proj-StandStandStandStandStandStand111111";

fn with(protocols: &[&[u8]]) -> BrokerFixture {
    BrokerFixture::speaking(&[(rule("KEY", STAND_IN), Ok(VALUE.to_owned()))], protocols, echo())
}

/// Sends requests of HTTP/2 over one connection. Returns each status and body.
fn http2(fixture: &BrokerFixture, requests: usize) -> Vec<(u16, String)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        // The handshake is made by hand, as the fixture's own stream is a blocking one.
        let socket = fixture.tls(&[b"h2"]).into_parts().1;
        socket.set_nonblocking(true).expect("set");
        let socket = tokio::net::TcpStream::from_std(socket).expect("a socket");
        let mut roots = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_slice(fixture.broker.certificate().as_bytes()).expect("one");
        roots.add(certificate).expect("a root");
        let mut config = rustls::ClientConfig::builder_with_provider(Arc::new(provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let stream = connector.connect(ServerName::try_from(HOST).expect("a name"), socket).await.expect("greeted");
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
        let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
            .handshake(TokioIo::new(stream))
            .await
            .expect("a connection");
        tokio::spawn(connection);
        let mut answers = Vec::new();
        for number in 0..requests {
            let request = Request::get(format!("https://{HOST}/{number}"))
                .header("authorization", format!("Bearer {STAND_IN}"))
                .body(Empty::<bytes::Bytes>::new())
                .expect("a request");
            let response = sender.clone().send_request(request).await.expect("an answer");
            let status = response.status().as_u16();
            let body = response.into_body().collect().await.expect("a body").to_bytes();
            answers.push((status, String::from_utf8_lossy(&body).into_owned()));
        }
        answers
    })
}

#[test]
fn http2_is_spoken_where_both_sides_speak_it() {
    let fixture = with(&[b"h2", b"http/1.1"]);
    for (number, (status, body)) in http2(&fixture, 3).into_iter().enumerate() {
        assert_eq!(status, 200);
        assert!(body.contains(&format!("authorization: Bearer {STAND_IN}")) && !body.contains(VALUE), "{body}");
        assert_eq!(fixture.uses()[number], format!("KEY api.example GET /{number} 200 -"));
    }
    assert_eq!(fixture.last().headers["authorization"], format!("Bearer {VALUE}"));
}

#[test]
fn a_program_may_offer_http_1_0_alone() {
    let fixture = with(&[b"h2", b"http/1.1"]);
    let mut stream = fixture.tls(&[b"http/1.0"]);
    write!(stream, "GET / HTTP/1.0\r\n\r\n").expect("written");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert_eq!(status(&answer), 200, "{answer}");
}

#[test]
fn a_use_is_told_although_the_program_does_not_wait_for_the_answer() {
    let (arrived, arrives) = std::sync::mpsc::channel();
    let slow = Arc::new(move |_: &_| {
        let _ = arrived.send(());
        std::thread::sleep(std::time::Duration::from_secs(2));
        http::Response::default()
    });
    let fixture = BrokerFixture::speaking(&[(rule("KEY", STAND_IN), Ok(VALUE.to_owned()))], &[b"http/1.1"], slow);
    let mut stream = fixture.tls(&[b"http/1.1"]);
    write!(stream, "GET / HTTP/1.1\r\nHost: {HOST}\r\nX: {STAND_IN}\r\n\r\n").expect("written");
    arrives.recv().expect("a request");
    drop(stream);
    wait_for_event(&fixture);
    assert_eq!(fixture.uses(), ["KEY api.example GET / - -"]);
}

#[test]
fn http1_is_spoken_where_the_host_speaks_nothing_else() {
    let fixture = with(&[b"http/1.1"]);
    let mut stream = fixture.tls(&[b"h2", b"http/1.1"]);
    write!(stream, "GET / HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n").expect("written");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert_eq!(stream.conn.alpn_protocol(), Some(b"http/1.1".as_slice()));
    assert_eq!(status(&answer), 200);
}

#[test]
fn a_host_that_speaks_another_version_than_before_is_told_and_spoken_to_again() {
    let secrets = [(rule("KEY", STAND_IN), Ok(VALUE.to_owned()))];
    let fixture = BrokerFixture::speaking_in_turn(&secrets, &[&[b"http/1.1"], &[b"http/1.1"], &[b"h2"]], echo());
    let get = || {
        let mut stream = fixture.tls(&[b"h2", b"http/1.1"]);
        write!(stream, "GET / HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n").expect("written");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        (stream.conn.alpn_protocol().map(<[u8]>::to_vec), answer)
    };
    for _ in 0..2 {
        let (protocol, answer) = get();
        assert_eq!((protocol, status(&answer)), (Some(b"http/1.1".to_vec()), 200));
    }
    let (protocol, answer) = get();
    assert_eq!((protocol, status(&answer)), (Some(b"http/1.1".to_vec()), 502), "{answer}");
    assert!(answer.contains("another version of HTTP"), "{answer}");
    assert_eq!(get().0, Some(b"h2".to_vec()));
}

#[test]
fn requests_follow_each_other_over_one_connection() {
    let fixture = with(&[b"http/1.1"]);
    let mut stream = fixture.tls(&[b"http/1.1"]);
    for number in 0..5 {
        write!(stream, "GET /{number} HTTP/1.1\r\nHost: {HOST}\r\nX-Key: {STAND_IN}\r\n\r\n").expect("written");
        let mut answer = vec![0; 4096];
        let length = stream.read(&mut answer).expect("read");
        assert_eq!(status(&String::from_utf8_lossy(&answer[..length])), 200);
    }
    assert_eq!(fixture.uses().len(), 5);
}

#[test]
fn a_handshake_for_another_name_is_refused() {
    let fixture = with(&[b"http/1.1"]);
    let mut stream = fixture.tls_to(HOST, "evil.example", &[b"http/1.1"]);
    assert!(stream.write_all(b"GET / HTTP/1.1\r\n\r\n").and_then(|()| stream.read(&mut [0; 10])).is_err());
    let refused =
        |event: &BrokerEvent| matches!(event, BrokerEvent::OtherName { target, .. } if target == "evil.example:443");
    assert!(fixture.events().iter().any(refused), "{:?}", fixture.events());
}

fn wait_for_event(fixture: &BrokerFixture) {
    for _ in 0..200 {
        if !fixture.events().is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn assert_distrust_is_told(fixture: &BrokerFixture) {
    wait_for_event(fixture);
    let told =
        |event: &BrokerEvent| matches!(event, BrokerEvent::Distrusted { target, .. } if target == "api.example:443");
    assert!(fixture.events().iter().any(told), "{:?}", fixture.events());
}

#[test]
fn a_program_that_trusts_other_authorities_is_told() {
    let fixture = with(&[b"http/1.1"]);
    let mut stream = fixture.tls_trusting(RootCertStore::empty(), HOST, HOST, &[b"http/1.1"]);
    assert!(stream.write_all(b"GET / HTTP/1.1\r\n\r\n").is_err());
    let _ = stream.sock.shutdown(std::net::Shutdown::Write);
    let _ = stream.sock.read(&mut [0; 10]);
    assert_distrust_is_told(&fixture);
}

#[test]
fn a_program_that_ends_the_handshake_without_a_word_is_told() {
    for with_reset in [false, true] {
        let fixture = with(&[b"http/1.1"]);
        let mut stream = fixture.tls(&[b"http/1.1"]);
        stream.conn.write_tls(&mut stream.sock).expect("written");
        // A connection is reset if something was not read.
        let mut answer = vec![0; if with_reset { 10 } else { 10_000 }];
        assert!(stream.sock.read(&mut answer).expect("an answer") > 0);
        drop(stream);
        assert_distrust_is_told(&fixture);
    }
}

#[test]
fn a_program_that_ends_before_it_sees_a_certificate_distrusts_nothing() {
    let fixture = with(&[b"http/1.1"]);
    for _ in 0..20 {
        let mut stream = fixture.tls(&[b"http/1.1"]);
        let mut hello = Vec::new();
        stream.conn.write_tls(&mut hello).expect("written");
        // The greeting waits for its end, and one segment brings both.
        let sent = send(stream.sock.as_raw_fd(), &hello, MsgFlags::from_bits_retain(nix::libc::MSG_MORE));
        assert_eq!(sent, Ok(hello.len()));
        stream.sock.shutdown(std::net::Shutdown::Write).expect("ended");
        // The connection ends without an answer.
        assert_eq!(stream.sock.read(&mut [0; 10]).unwrap_or(0), 0);
    }
    assert!(fixture.events().is_empty(), "{:?}", fixture.events());
}

#[test]
fn a_host_that_is_not_trusted_gets_no_request() {
    // The fixture's host has a certificate for one name alone.
    let fixture = BrokerFixture::new(&[(rule_for("other.example"), Ok(VALUE.to_owned()))], ok());
    let mut stream = fixture.tls_to("other.example", "other.example", &[b"http/1.1"]);
    write!(stream, "GET / HTTP/1.1\r\nHost: other.example\r\nX-Key: {STAND_IN}\r\nConnection: close\r\n\r\n")
        .expect("written");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert_eq!(status(&answer), 502, "{answer}");
    assert!(answer.contains("could not be greeted"), "{answer}");
    assert_eq!(fixture.count(), 0);
}

fn rule_for(host: &str) -> confine_policy::SecretRule {
    let host = confine_policy::AllowHost::Name(host.into());
    confine_policy::SecretRule { hosts: vec![confine_policy::AllowEntry { host, port: None }], ..rule("KEY", STAND_IN) }
}

#[test]
fn no_certificate_is_made_for_a_host_without_a_secret() {
    // Programs check what the authority may vouch for.
    let fixture = with(&[b"http/1.1"]);
    let mut stream = fixture.tls_to("evil.example", "evil.example", &[b"http/1.1"]);
    assert!(stream.write_all(b"GET / HTTP/1.1\r\n\r\n").is_err());
    assert_eq!(fixture.count(), 0);
}

#[test]
fn garbage_ends_a_connection_and_nothing_else() {
    let fixture = with(&[b"http/1.1"]);
    for garbage in [&b"\x16\x03\x01\x00\x05hello"[..], b"\x16", b"\x16\x03\x01\xff\xff", &[0x16; 100_000]] {
        let stream = fixture.tls(&[b"http/1.1"]);
        let mut socket = stream.sock;
        let _ = socket.write_all(garbage);
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let _ = socket.read(&mut [0; 100]);
    }
    assert_eq!(status(&fixture.send("GET /", b"")), 200);
}

#[test]
fn a_connection_that_changes_its_protocol_goes_on() {
    // A host that answers 101, and then echoes the head of the request and five bytes.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let (certificate, config) = super::fixture::host_tls(&[b"http/1.1"]);
    std::thread::spawn(move || {
        let (socket, _) = listener.accept().expect("accepted");
        let connection = rustls::ServerConnection::new(Arc::new(config)).expect("a server");
        let mut stream = rustls::StreamOwned::new(connection, socket);
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a head");
            head.push(byte[0]);
        }
        let text = String::from_utf8_lossy(&head).to_ascii_lowercase();
        assert!(!text.contains("sec-websocket-extensions"), "{text}");
        stream
            .write_all(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
            .expect("written");
        stream.write_all(&head).expect("written");
        let mut more = [0; 5];
        stream.read_exact(&mut more).expect("more");
        stream.write_all(&more).expect("written");
        stream.conn.send_close_notify();
        let _ = stream.flush();
    });
    let fixture = BrokerFixture::at(&[(rule("KEY", STAND_IN), Ok(VALUE.to_owned()))], address, certificate);
    let mut stream = fixture.tls(&[b"http/1.1"]);
    write!(
        stream,
        "GET /ws HTTP/1.1\r\nHost: {HOST}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Extensions: permessage-deflate\r\nAuthorization: Bearer {STAND_IN}\r\n\r\nhello"
    )
    .expect("written");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert_eq!(status(&answer), 101, "{answer}");
    assert!(answer.contains(&format!("Bearer {STAND_IN}")) && !answer.contains(VALUE), "{answer}");
    assert!(answer.ends_with("hello"), "{answer}");
    assert_eq!(fixture.uses(), ["KEY api.example GET /ws 101 -"]);
}
