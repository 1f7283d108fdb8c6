//! Values in answers.

use std::io::Write;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Response;
use http_body_util::Full;

use super::fixture::{Answering, Fixture, echo, rule, status};

const VALUE: &str = "ghp_ValueValueValueValueValueValue000000";
const STAND_IN: &str = "ghp_StandStandStandStandStandStand111111";

fn with(answer: Answering) -> Fixture {
    Fixture::new(&[(rule("TOKEN", STAND_IN), Ok(VALUE.to_owned()))], answer)
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
    for (coding, body) in [("gzip, br", b"x".to_vec()), ("gzip", b"no gzip at all".to_vec())] {
        let fixture = with(answering(coding, body));
        let answer = fixture.send(&format!("GET /\nAuthorization: Bearer {STAND_IN}"), b"");
        assert!(status(&answer) == 502 || !answer.contains("no gzip"), "{coding}: {answer}");
    }
}

#[test]
fn a_range_cannot_split_a_value() {
    let fixture = with(echo());
    let answer = fixture.send(&format!("GET /\nAuthorization: Bearer {STAND_IN}\nRange: bytes=0-3"), b"");
    assert!(!fixture.last().headers.contains_key("range"));
    assert_eq!(status(&answer), 200);
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
