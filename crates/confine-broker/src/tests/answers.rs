//! Values in answers.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use rustls::{ServerConnection, StreamOwned};

use super::fixture::{Answering, BrokerFixture, HOST, echo, rule, status};

const VALUE: &str = "ghp_ValueValueValueValueValueValue000000";
const STAND_IN: &str = "ghp_StandStandStandStandStandStand111111";

fn with(answer: Answering) -> BrokerFixture {
    BrokerFixture::new(&[(rule("TOKEN", STAND_IN), Ok(VALUE.to_owned()))], answer)
}

fn answering(coding: &'static str, body: Vec<u8>) -> Answering {
    Arc::new(move |_| {
        let mut response = Response::new(Full::<Bytes>::from(body.clone()));
        response.headers_mut().insert("content-encoding", coding.parse().expect("a value"));
        response.headers_mut().insert("content-length", body.len().into());
        response
    })
}

#[test]
fn a_host_that_echoes_gives_the_stand_in() {
    let fixture = with(echo());
    let answer = fixture.send(&format!("GET /\nAuthorization: Bearer {STAND_IN}"), b"");
    assert!(!answer.contains(VALUE), "{answer}");
    assert!(answer.contains(&format!("x-echo: Bearer {STAND_IN}")), "{answer}");
    assert!(answer.contains(&format!("authorization: Bearer {STAND_IN}")), "{answer}");
    let basic = STANDARD.encode(format!("me:{STAND_IN}"));
    let answer = fixture.send(&format!("GET /\nAuthorization: Basic {basic}"), b"");
    assert!(!answer.contains(&STANDARD.encode(format!("me:{VALUE}"))), "{answer}");
    assert!(answer.contains(&format!("x-echo: Basic {basic}")), "{answer}");
}

/// A host that answers every request over HTTP/1.1 with these bytes.
fn raw(answer: String) -> BrokerFixture {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let (certificate, config) = super::fixture::host_tls(&[b"http/1.1"]);
    std::thread::spawn(move || {
        let (socket, _) = listener.accept().expect("accepted");
        let mut stream = StreamOwned::new(ServerConnection::new(Arc::new(config)).expect("a server"), socket);
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a head");
            head.push(byte[0]);
        }
        let _ = stream.write_all(answer.as_bytes());
        stream.conn.send_close_notify();
        let _ = stream.flush();
    });
    BrokerFixture::at(&[(rule("TOKEN", STAND_IN), Ok(VALUE.to_owned()))], address, certificate)
}

#[test]
fn a_value_in_the_words_after_a_status_is_not_passed_on() {
    let fixture = raw(format!("HTTP/1.1 401 no {VALUE}\r\nContent-Length: 0\r\n\r\n"));
    let answer = fixture.send(&format!("GET /\nAuthorization: Bearer {STAND_IN}"), b"");
    assert!(answer.starts_with("HTTP/1.1 401 Unauthorized\r\n"), "{answer}");
    assert!(!answer.contains(VALUE), "{answer}");
}

#[test]
fn a_header_with_a_value_in_its_name_is_removed() {
    let fixture = raw(format!("HTTP/1.1 200 OK\r\nX-{VALUE}: 1\r\nX-Other: 2\r\nContent-Length: 0\r\n\r\n"));
    let answer = fixture.send(&format!("GET /\nAuthorization: Bearer {STAND_IN}"), b"");
    assert!(!answer.to_ascii_lowercase().contains(&VALUE.to_ascii_lowercase()), "{answer}");
    assert!(answer.contains("X-Other: 2"), "{answer}");
}

#[test]
fn an_answer_that_is_compressed_on_its_way_is_refused() {
    let fixture = raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n".to_owned());
    assert_eq!(status(&fixture.send(&format!("GET /\nAuthorization: Bearer {STAND_IN}"), b"")), 502);
    let asking = with(echo());
    asking.send("GET /\nTE: trailers\nTE: gzip", b"");
    assert_eq!(asking.last().headers.get("te"), None);
}

#[test]
fn a_value_that_the_host_knows_from_elsewhere_is_the_stand_in() {
    let fixture = with(Arc::new(|_| Response::new(Full::from(format!("the last one was {VALUE}")))));
    let answer = fixture.send("GET /last", b"");
    assert!(answer.ends_with(&format!("the last one was {STAND_IN}")), "{answer}");
    assert!(fixture.events().is_empty());
}

#[test]
fn a_value_is_found_in_what_a_host_says_outside_of_opened_connections() {
    let fixture = with(echo());
    let mut search = fixture.broker.value_search(HOST, 443);
    let (one, other) = VALUE.as_bytes().split_at(10);
    // The value is asked for meanwhile, as no request has had it.
    let mut found = None;
    for _ in 0..500 {
        assert_eq!((search.find(STAND_IN.as_bytes()), search.find(one)), (None, None));
        found = search.find(other);
        if found.is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(found.as_deref(), Some("TOKEN"));
    let mut search = fixture.broker.value_search(HOST, 443);
    assert_eq!(search.find(STANDARD.encode(format!("me:{VALUE}")).as_bytes()).as_deref(), Some("TOKEN"));
    assert_eq!(fixture.count(), 0);
}

#[test]
fn compressed_answers_are_opened() {
    let text = format!("{{\"token\":\"{VALUE}\",\"b64\":\"{}\"}}", STANDARD.encode(VALUE));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(text.as_bytes()).expect("written");
    let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    deflate.write_all(text.as_bytes()).expect("written");
    for (coding, body) in [
        ("gzip", gzip.finish().expect("finished")),
        ("deflate", deflate.finish().expect("finished")),
        ("zstd", zstd::encode_all(text.as_bytes(), 3).expect("encoded")),
        ("identity", text.clone().into_bytes()),
        ("unheard-of", text.clone().into_bytes()),
    ] {
        let fixture = with(answering(coding, body));
        let answer = fixture.send(&format!("GET /\nAuthorization: Bearer {STAND_IN}\nAccept-Encoding: gzip"), b"");
        assert_eq!(status(&answer), 200, "{coding}: {answer}");
        assert!(answer.contains(&format!("\"token\":\"{STAND_IN}\"")), "{coding}: {answer}");
        assert!(answer.contains(&STANDARD.encode(STAND_IN)), "{coding}: {answer}");
        assert!(!answer.contains(VALUE), "{coding}");
    }
}

#[test]
fn an_answer_that_cannot_be_opened_is_refused() {
    let head = format!("GET /\nAuthorization: Bearer {STAND_IN}");
    let twice = with(answering("gzip, br", b"x".to_vec())).send(&head, b"");
    assert_eq!(status(&twice), 502, "{twice}");
    let broken = with(answering("gzip", b"no gzip at all".to_vec())).send(&head, b"");
    assert!(!broken.contains("no gzip") && !broken.ends_with("0\r\n\r\n"), "it ends early: {broken}");
}

/// A host that gives the parts of a body that are asked for.
fn in_parts(body: Vec<u8>) -> Answering {
    Arc::new(move |request| {
        let range = request.headers.get("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
        let Some((first, last)) = range else { return Response::new(Full::from(body.clone())) };
        let (first, last): (usize, usize) = (first.parse().expect("a number"), last.parse().expect("a number"));
        let mut response = Response::new(Full::from(body[first..=last].to_vec()));
        *response.status_mut() = http::StatusCode::PARTIAL_CONTENT;
        let range = format!("bytes {first}-{last}/{}", body.len());
        response.headers_mut().insert("content-range", range.parse().expect("a value"));
        response
    })
}

#[test]
fn a_range_cannot_split_a_value() {
    let (body, shown) = (format!("token={VALUE}\n"), format!("token={STAND_IN}\n"));
    let fixture = with(in_parts(body.clone().into_bytes()));
    let mut all = String::new();
    for first in (0..body.len()).step_by(7) {
        let last = (first + 6).min(body.len() - 1);
        let head = format!("GET /\nAuthorization: Bearer {STAND_IN}\nRange: bytes={first}-{last}");
        let answer = fixture.send(&head, b"");
        assert_eq!(status(&answer), 206, "{answer}");
        assert!(answer.contains(&format!("content-range: bytes {first}-{last}/{}", body.len())), "{answer}");
        all.push_str(answer.split_once("\r\n\r\n").expect("a body").1);
    }
    assert_eq!(all, shown);
    assert_eq!(fixture.uses().len(), body.len().div_ceil(7), "one for each request of the program");
    let several = fixture.send("GET /\nRange: bytes=0-1,3-4", b"");
    assert!(status(&several) == 200 && several.ends_with(&shown), "{several}");
}

#[test]
fn a_part_that_is_not_clear_is_the_whole() {
    let (body, shown) = (format!("token={VALUE}\n"), format!("token={STAND_IN}\n"));
    for content_range in [None, Some("Bytes 0-9/47"), Some("bytes 0-9/*"), Some("bytes 9-0/47")] {
        let whole = body.clone();
        let fixture = with(Arc::new(move |request| {
            if !request.headers.contains_key("range") {
                return Response::new(Full::from(whole.clone()));
            }
            let mut response = Response::new(Full::from(whole[..10].to_owned()));
            *response.status_mut() = http::StatusCode::PARTIAL_CONTENT;
            if let Some(range) = content_range {
                response.headers_mut().insert("content-range", range.parse().expect("a value"));
            }
            response
        }));
        let answer = fixture.send(&format!("GET /\nX-Key: {STAND_IN}\nRange: BYTES=0-9"), b"");
        assert!(status(&answer) == 200 && answer.ends_with(&shown), "{content_range:?}: {answer}");
    }
}

#[test]
fn a_range_that_hosts_read_differently_is_not_forwarded() {
    let fixture = with(echo());
    for head in ["GET /\nRange: bytes=0-3\nRange: bytes=4-9", "POST /\nRange: bytes=0-3"] {
        fixture.send(head, b"");
        assert_eq!(fixture.last().headers.get("range"), None, "{head}");
    }
    fixture.send("GET /\nRange: rows=0-3", b"");
    assert_eq!(fixture.last().headers["range"], "rows=0-3");
}

#[test]
fn a_part_of_a_large_answer_is_passed_on() {
    let fixture = with(in_parts(vec![b'x'; 2 << 20]));
    let answer = fixture.send("GET /\nRange: bytes=1000-1099", b"");
    assert_eq!(status(&answer), 206);
    assert!(answer.ends_with(&"x".repeat(100)));
    assert_eq!(fixture.count(), 1);
}

#[test]
fn a_long_answer_arrives_whole() {
    let long: Vec<u8> = (0..3_000_000_u32).map(|number| b'a' + (number % 26) as u8).collect();
    let body = [long.clone(), VALUE.as_bytes().to_vec(), long.clone()].concat();
    let fixture = with(Arc::new(move |_| Response::new(Full::from(body.clone()))));
    let answer = fixture.send(&format!("GET /\nAuthorization: Bearer {STAND_IN}"), b"");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
    assert!(head.contains(&format!("content-length: {}", 2 * long.len() + VALUE.len())), "{head}");
    assert_eq!(body.len(), 2 * long.len() + VALUE.len());
    assert_eq!(&body[long.len()..long.len() + STAND_IN.len()], STAND_IN);
}
