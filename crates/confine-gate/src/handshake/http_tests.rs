use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::{DialledDestination, ForwardingDecision, HandshakeInspector, HandshakeMismatch};
use crate::allowed_hosts::AllowedHosts;
use confine_policy::NetworkScope;

fn named(mapped: bool) -> HandshakeInspector {
    HandshakeInspector::new(DialledDestination::Name { name: "a.test".into(), mapped })
}

fn pass(inspector: &mut HandshakeInspector, stream: &[u8]) -> Result<Vec<u8>, HandshakeMismatch> {
    Ok(match inspector.feed(stream)? {
        ForwardingDecision::Pass => stream.to_vec(),
        ForwardingDecision::ReplaceWith(bytes) => bytes,
    })
}

fn refused(stream: &str) -> Option<String> {
    pass(&mut named(false), stream.as_bytes()).expect_err(stream).claimed
}

#[test]
fn requests_for_the_name_that_was_asked_for_pass() {
    for stream in [
        "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: A.TEST.:8080\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET http://a.test/ HTTP/1.0\r\n\r\n",
        "\r\nGET http://a.test:80/x?y HTTP/1.1\r\nhost:a.test\r\nx: \u{e9}\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nt: 1\r\n\r\n\
         GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
    ] {
        assert_eq!(pass(&mut named(false), stream.as_bytes()), Ok(stream.as_bytes().to_vec()), "{stream}");
    }
}

#[test]
fn requests_for_another_host_are_refused() {
    for stream in [
        "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "GET / HTTP/1.0\r\nX: a.test\r\nHOST:\tevil.test:80\t\r\n\r\n",
        "\r\n\r\n GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "GET http://evil.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET http://evil.test/ HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\nHost: evil.test\r\n\r\n",
        "GET http://a.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.test\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
    ] {
        assert_eq!(refused(stream).as_deref(), Some("evil.test"), "{stream}");
    }
}

#[test]
fn requests_that_only_some_servers_read_are_refused() {
    let lines: [&[u8]; 27] = [
        b"GET /a",
        b"GET /a ",
        b"GET a",
        b"OPTIONS *",
        b"M-SEARCH /a",
        b"GET_ /a",
        b"GET / RTSP/1.0",
        b"DESCRIBE http://a.test/ RTSP/1.0",
        b"SOURCE /a ICE/1.0",
        b"\x0bGET /a HTTP/1.1",
        b"\x1cGET\x0b/a\x1fHTTP/1.1",
        b"\x85GET /a HTTP/1.1",
        b"\xa0GET /a HTTP/1.1",
        b"GET\x85/a\xa0HTTP/1.1",
        b"GET\xc2\xa0/a HTTP/1.1",
        b"\xef\xbb\xbfGET /a HTTP/1.1",
        b"\xff\xfb\x01GET /a HTTP/1.1",
        b"\0GET /a HTTP/1.1",
        b"\x80\x10\x01GET /a HTTP/1.1",
        b"\"GET\" /a HTTP/1.1",
        b"G@T /a HTTP/1.1",
        b"= /a HTTP/1.1",
        b"GET\0 /a HTTP/1.1",
        b"GET /a HTTP/+1.1",
        b"GET /a HTTP/ 1.1",
        b"GET /\xa0a",
        b"GET /a\xc2\xa0HTTP",
    ];
    for line in lines {
        for end in ["\n", "\r\n"] {
            let stream = [line, end.as_bytes(), b"Host: evil.test\r\n\r\n"].concat();
            assert!(pass(&mut named(false), &stream).is_err(), "{line:?}");
        }
    }
}

#[test]
fn a_line_that_begins_as_no_method_can_passes_at_once() {
    let mut inspector = named(false);
    for part in [&b"\x01\x02"[..], &[7; 40_000], &[7; 40_000], EVIL] {
        assert_eq!(pass(&mut inspector, part).as_deref(), Ok(part));
    }
    assert_eq!(pass(&mut named(false), b"{\"a\": 1}\nmore").as_deref(), Ok(&b"{\"a\": 1}\nmore"[..]));
}

#[test]
fn a_body_that_a_server_may_take_for_a_request_is_refused() {
    let request = |method: &str, body: &str| {
        format!("{method} / HTTP/1.1\r\nHost: a.test\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    };
    let smuggled = "\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    for method in ["GET", "HEAD", "DELETE", "OPTIONS"] {
        let stream = request(method, smuggled);
        assert_eq!(refused(&stream), None, "{method}");
        let mut inspector = named(false);
        let parts: Vec<_> = stream.bytes().map(|byte| pass(&mut inspector, &[byte])).collect();
        assert!(parts.iter().any(Result::is_err), "{method}");
        let harmless = request(method, "{\"query\": {}}\n");
        assert!(pass(&mut named(false), harmless.repeat(2).as_bytes()).is_ok(), "{method}");
    }
    assert!(pass(&mut named(false), request("POST", smuggled).as_bytes()).is_ok());
}

#[test]
fn the_first_lines_of_other_protocols_pass() {
    for line in ["USER ann", "EHLO a.test", "a1 LOGIN ann secret", "SET key value", "get key", "STATS", "CWD pub/a"] {
        let stream = format!("{line}\r\nmore\r\n");
        assert_eq!(pass(&mut named(false), stream.as_bytes()), Ok(stream.into_bytes()), "{line}");
    }
}

#[test]
fn requests_that_can_be_read_in_two_ways_are_refused() {
    for head in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.test\r\nHost: a.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.test\r\n evil.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.test@evil.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.test, evil.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET / HTTP/1.1\nHost: a.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.test\n\r\n",
        "GET / HTTP/1.1\r\nX: a\rb\r\nHost: a.test\r\n\r\n",
        "GET / HTTP/1.1\r\nX: a\0b\r\nHost: a.test\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET\t/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET evil.test HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET http://a.test@evil.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET / HTTP/1.2\r\nHost: a.test\r\n\r\n",
        "GET / http/1.1\r\nHost: a.test\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET http://evil.test/\r\n\r\n",
        "GET /\u{b}HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\nGET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "\r\n\r\n\0\r\nQUIT\n!",
        "P / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "P / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1, 1\r\n\r\n",
        "P / HTTP/1.1\r\nHost: a.test\r\nContent-Length: +1\r\n\r\n",
        "P / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "P / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "P / HTTP/1.0\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n",
        "P / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "P / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1\nab",
        "P / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n13;a / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "P / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n13 / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "P / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
        "P / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n",
    ] {
        assert_eq!(refused(head), None, "{head}");
    }
}

#[test]
fn long_methods_are_methods() {
    let method = "A".repeat(20_000);
    assert_eq!(refused(&format!("{method} / HTTP/1.1\r\nHost: evil.test\r\n\r\n")).as_deref(), Some("evil.test"));
    assert_eq!(refused(&"A".repeat(40_000)), None, "a line without end");
}

#[test]
fn other_text_passes() {
    for text in [
        "OPTIONS rtsp://a.test/ RTSP/1.0\r\nCSeq: 1\r\n\r\n",
        "{\"id\": 1}\n",
        "get key\r\n",
        "EHLO a.test\r\n",
        "+PONG\r\n",
    ] {
        assert_eq!(pass(&mut named(false), text.as_bytes()), Ok(text.as_bytes().to_vec()));
    }
}

#[test]
fn a_request_stays_here_until_its_host_is_known() {
    let mut inspector = named(false);
    let mut passed = Vec::new();
    for byte in b"GET /secret HTTP/1.1\r\nHost: evil.test\r\n\r" {
        passed.extend(pass(&mut inspector, &[*byte]).expect("undecided"));
    }
    assert_eq!(passed, b"GET /secret HTTP/1.1\r", "a line without its end, which no server answers");
    assert!(pass(&mut inspector, b"\n").is_err());
}

const WEBSOCKET: &[u8] = b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const H2C: &[u8] = b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n";
const EVIL: &[u8] = b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n";

#[test]
fn what_follows_an_upgrade_waits_for_the_server() {
    let mut inspector = named(false);
    assert_eq!(pass(&mut inspector, WEBSOCKET), Ok(WEBSOCKET.to_vec()));
    assert_eq!(pass(&mut inspector, EVIL), Ok(vec![]));
    assert_eq!(inspector.on_served(b"HTTP/1.1 1"), Ok(vec![]));
    assert_eq!(inspector.on_served(b"01 Switching"), Ok(EVIL.to_vec()), "it is no request any more");
    assert_eq!(inspector.feed(EVIL), Ok(ForwardingDecision::Pass));
}

#[test]
fn an_upgrade_that_the_server_ignores_changes_nothing() {
    let mut inspector = named(false);
    pass(&mut inspector, WEBSOCKET).expect("a request");
    assert_eq!(pass(&mut inspector, EVIL), Ok(vec![]));
    assert!(inspector.on_served(b"HTTP/1.1 200 OK").is_err());
    let mut inspector = named(false);
    pass(&mut inspector, WEBSOCKET).expect("a request");
    assert_eq!(inspector.on_served(b"HTTP/1.1 200 OK"), Ok(vec![]));
    assert_eq!(pass(&mut inspector, WEBSOCKET), Ok(WEBSOCKET.to_vec()));
    assert!(pass(&mut inspector, EVIL).is_err());
}

#[test]
fn http2_is_for_names_whose_server_the_caller_has_chosen() {
    for (mapped, accepted) in [(false, false), (true, true)] {
        let mut inspector = named(mapped);
        pass(&mut inspector, H2C).expect("a request");
        let switched = inspector.on_served(b"HTTP/1.1 101 Switching").and_then(|_| pass(&mut inspector, b"PRI"));
        assert_eq!(switched.is_ok(), accepted);
        assert_eq!(pass(&mut named(mapped), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").is_ok(), accepted);
    }
}

#[test]
fn an_address_is_its_own_host() {
    let rules = Arc::new(AllowedHosts::new(&NetworkScope::Allow { entries: vec![], hosts: BTreeMap::new() }));
    for (address, host, accepted) in
        [("192.0.2.1", "192.0.2.1:80", true), ("2001:db8::1", "[2001:db8::1]", true), ("192.0.2.1", "a.test", false)]
    {
        let address = address.parse().expect("an address");
        let mut inspector =
            HandshakeInspector::new(DialledDestination::Address { address, port: 80, rules: rules.clone() });
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(pass(&mut inspector, request.as_bytes()).is_ok(), accepted, "{host}");
    }
}

#[test]
fn a_large_body_passes_unread() {
    let mut inspector = named(false);
    pass(&mut inspector, b"PUT / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000000\r\n\r\n").expect("a request");
    for _ in 0..9 {
        assert_eq!(inspector.feed(&[b'\n'; 100_000]), Ok(ForwardingDecision::Pass));
    }
    assert_eq!(pass(&mut inspector, &[b'\n'; 100_000]).map(|passed| passed.len()), Ok(100_000));
    assert!(pass(&mut inspector, EVIL).is_err());
}

proptest! {
    #[test]
    fn splits_make_no_difference(cuts in prop::collection::vec(0..400_usize, 0..10), right: bool) {
        let last = if right { "a.test" } else { "evil.test" };
        let stream = format!(
            "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10\r\n0123456789abcdef\r\n\
             0\r\n\r\nPUT / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 7\r\n\r\n1234567GET / HTTP/1.1\r\nHost: {last}\r\n\r\n"
        );
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % stream.len()).chain([0, stream.len()]).collect();
        cuts.sort_unstable();
        let (mut inspector, mut passed, mut failed) = (named(false), Vec::new(), false);
        for cut in cuts.windows(2).filter(|cut| cut[0] < cut[1]) {
            match pass(&mut inspector, &stream.as_bytes()[cut[0]..cut[1]]) {
                Ok(bytes) => passed.extend(bytes),
                Err(_) => failed = true,
            }
        }
        prop_assert_eq!(failed, !right);
        prop_assert!(!right || passed == stream.as_bytes());
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "(GET|P) [ /a-z:@]{0,9} HTTP/1.1\r\n([A-Za-z :;,0-9]{0,20}\r?\n){0,6}\r\n.{0,40}") {
        let mut inspector = named(false);
        let _ = pass(&mut inspector, text.as_bytes());
        let _ = inspector.on_served(b"HTTP/1.1 101 x");
    }
}
