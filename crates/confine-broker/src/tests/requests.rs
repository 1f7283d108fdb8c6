//! Stand-ins in requests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use confine_policy::{AllowEntry, AllowHost, SecretPlace, SecretRule};

use super::fixture::{BrokerFixture, echo, ok, rule, rule_in, status};
use crate::BrokerEvent;

const VALUE: &str = "ghp_ValueValueValueValueValueValue000000";
const STAND_IN: &str = "ghp_StandStandStandStandStandStand111111";

fn secret(rule: SecretRule) -> (SecretRule, Result<String, String>) {
    (rule, Ok(VALUE.to_owned()))
}

#[test]
fn a_header_gets_the_value() {
    let fixture = BrokerFixture::new(&[secret(rule("TOKEN", STAND_IN))], ok());
    for (head, expected) in [
        (format!("GET /a?b=c\nAuthorization: Bearer {STAND_IN}"), format!("Bearer {VALUE}")),
        (format!("GET /a?b=c\nAuthorization: token {STAND_IN}"), format!("token {VALUE}")),
        (
            format!("GET /a?b=c\nAuthorization: Basic {}", STANDARD.encode(format!("x:{STAND_IN}"))),
            format!("Basic {}", STANDARD.encode(format!("x:{VALUE}"))),
        ),
    ] {
        assert_eq!(status(&fixture.send(&head, b"")), 200);
        assert_eq!(fixture.last().headers["authorization"], expected);
        assert_eq!(fixture.last().line, "GET /a?b=c");
    }
    fixture.send(&format!("POST /x\nX-Api-Key: {STAND_IN}"), b"body");
    assert_eq!(fixture.last().headers["x-api-key"], VALUE);
    assert_eq!(fixture.last().body, b"body");
    assert_eq!(fixture.uses()[0], "TOKEN api.example GET /a 200 -");
    assert_eq!(fixture.uses()[3], "TOKEN api.example POST /x 200 -");
    assert_eq!(fixture.uses().len(), 4);
}

#[test]
fn a_request_without_a_stand_in_is_forwarded_as_it_is() {
    let fixture = BrokerFixture::new(&[secret(rule("TOKEN", STAND_IN))], ok());
    assert_eq!(
        status(&fixture.send("PUT /p%20q?x=%2F\nX-A: 1\nX-A: 2\nAccept-Encoding: gzip, zz, br;q=0.5", b"b")),
        200
    );
    let last = fixture.last();
    assert_eq!((last.line.as_str(), last.body.as_slice()), ("PUT /p%20q?x=%2F", b"b".as_slice()));
    assert_eq!(last.headers["accept-encoding"], "gzip, br;q=0.5");
    assert!(fixture.events().is_empty());
}

#[test]
fn a_query_and_a_body_get_the_value_where_that_is_asked_for() {
    let places = [SecretPlace::Query, SecretPlace::Body];
    let fixture = BrokerFixture::new(&[secret(rule_in("TOKEN", STAND_IN, &places))], ok());
    fixture.send(&format!("GET /q?a=1&key={STAND_IN}&b=2"), b"");
    assert_eq!(fixture.last().line, format!("GET /q?a=1&key={VALUE}&b=2"));
    for (kind, body) in [
        ("application/json", format!(r#"{{"key":"{STAND_IN}"}}"#)),
        ("application/x-www-form-urlencoded; charset=utf-8", format!("a=1&key={STAND_IN}")),
    ] {
        assert_eq!(status(&fixture.send(&format!("POST /b\nContent-Type: {kind}"), body.as_bytes())), 200);
        assert_eq!(String::from_utf8_lossy(&fixture.last().body), body.replace(STAND_IN, VALUE));
    }
    let chunked = format!(
        "8\r\n{{\"key\":\"\r\n14\r\n{}\r\n14\r\n{}\r\n2\r\n\"}}\r\n0\r\n\r\n",
        &STAND_IN[..20],
        &STAND_IN[20..]
    );
    let head = "POST /b\nContent-Type: application/json\nTransfer-Encoding: chunked";
    assert_eq!(status(&fixture.send(head, chunked.as_bytes())), 200);
    assert_eq!(String::from_utf8_lossy(&fixture.last().body), format!(r#"{{"key":"{VALUE}"}}"#));
    assert_eq!(fixture.uses().len(), 4, "{:?}", fixture.uses());
}

#[test]
fn a_place_that_is_not_asked_for_is_refused_and_nothing_is_forwarded() {
    let fixture = BrokerFixture::new(&[secret(rule_in("TOKEN", STAND_IN, &[SecretPlace::Bearer]))], ok());
    let basic = STANDARD.encode(format!("x:{STAND_IN}"));
    let inner = STANDARD.encode(format!("{{\"auth\":\"{STAND_IN}\"}}"));
    let encoded: String = STAND_IN.bytes().map(|byte| format!("%{byte:02x}")).collect();
    for head in [
        format!("GET /\nX-Key: {STAND_IN}"),
        format!("GET /\nAuthorization: Basic {basic}"),
        format!("GET /\nX-Registry-Auth: {inner}"),
        format!("GET /\nCookie: a=b; key={STAND_IN}"),
        format!("GET /?key={STAND_IN}"),
        format!("GET /?key={encoded}"),
        format!("GET /bot{STAND_IN}/getMe"),
        format!("GET /bot{encoded}/getMe"),
    ] {
        let answer = fixture.send(&head, b"");
        assert_eq!(status(&answer), 403, "{head}: {answer}");
        assert!(answer.contains("agent-bash: TOKEN: it may not stand in"), "{answer}");
    }
    assert_eq!(fixture.count(), 0);
    let body = format!(r#"{{"key":"{STAND_IN}"}}"#);
    let answer = fixture.send("POST /\nContent-Type: application/json", body.as_bytes());
    assert!(!answer.contains(VALUE), "{answer}");
    assert!(
        fixture
            .received
            .lock()
            .expect("no panic")
            .iter()
            .all(|request| { !String::from_utf8_lossy(&request.body).contains(STAND_IN) })
    );
    assert_eq!(fixture.uses().len(), 9, "{:?}", fixture.uses());
}

#[test]
fn methods_and_paths_are_kept() {
    let rule = SecretRule {
        methods: Some(vec!["GET".into()]),
        paths: Some(vec!["/repos/acme/*".into()]),
        ..rule("TOKEN", STAND_IN)
    };
    let fixture = BrokerFixture::new(&[secret(rule)], ok());
    for (line, expected) in [
        ("GET /repos/acme/app", 200),
        ("GET /repos/acme/app/pulls?x=/../", 200),
        ("DELETE /repos/acme/app", 403),
        ("GET /repos/other/app", 403),
        ("GET /repos/acme/../other/app", 403),
        ("GET /repos/acme/%2e%2e/other", 403),
        ("GET /repos/acme/..%2fother", 403),
        ("GET /repos/acme/..;/other", 403),
        ("GET /repos/acme/a//b", 403),
        ("GET /repos/acme/%252e%252e/other", 403),
    ] {
        let answer = fixture.send(&format!("{line}\nAuthorization: Bearer {STAND_IN}"), b"");
        assert_eq!(status(&answer), expected, "{line}: {answer}");
    }
    assert_eq!(status(&fixture.send("DELETE /elsewhere", b"")), 200, "without the secret");
}

#[test]
fn a_stand_in_that_goes_to_another_host_is_a_leak() {
    let elsewhere = SecretRule {
        hosts: vec![AllowEntry { host: AllowHost::Name("other.example".into()), port: None }],
        ..rule("OTHER", "xoxb-0000000000-standstandstandstand")
    };
    let secrets = [secret(rule("TOKEN", STAND_IN)), (elsewhere, Ok("xoxb-1111111111-valuevaluevaluevalue".into()))];
    let fixture = BrokerFixture::new(&secrets, ok());
    let answer = fixture.send("GET /\nAuthorization: Bearer xoxb-0000000000-standstandstandstand", b"");
    assert_eq!(status(&answer), 403, "{answer}");
    assert!(answer.contains("OTHER: api.example is not one of its hosts"), "{answer}");
    let leaked = fixture.events().into_iter().any(
        |event| matches!(event, BrokerEvent::Leaked { name, to, .. } if name == "OTHER" && to == "api.example:443"),
    );
    assert!(leaked, "{:?}", fixture.events());
    assert_eq!(fixture.count(), 0);
}

#[test]
fn nothing_is_sent_without_a_value() {
    let fixture = BrokerFixture::new(&[(rule("TOKEN", STAND_IN), Err("the keychain is locked".into()))], ok());
    let answer = fixture.send(&format!("GET /\nAuthorization: Bearer {STAND_IN}"), b"");
    assert_eq!(status(&answer), 407, "{answer}");
    assert!(answer.contains("TOKEN: its value could not be had: the keychain is locked"), "{answer}");
    assert_eq!(fixture.count(), 0);
    assert!(fixture.uses()[0].contains("the keychain is locked"));
}

#[test]
fn a_secret_is_put_in_although_nothing_was_sent() {
    for (place, expected) in [
        (SecretPlace::Bearer, format!("Bearer {VALUE}")),
        (SecretPlace::Basic, format!("Basic {}", STANDARD.encode(VALUE))),
    ] {
        let rule = SecretRule { inject: true, ..rule_in("TOKEN", STAND_IN, &[place]) };
        let fixture = BrokerFixture::new(&[secret(rule)], echo());
        let answer = fixture.send("GET /", b"");
        assert_eq!(fixture.last().headers["authorization"], expected);
        assert!(!answer.contains(VALUE) && !answer.contains(&STANDARD.encode(VALUE)), "{answer}");
        fixture.send("GET /\nAuthorization: Bearer mine", b"");
        assert_eq!(fixture.last().headers["authorization"], "Bearer mine");
    }
}

#[test]
fn requests_that_servers_read_differently_are_not_forwarded() {
    let fixture = BrokerFixture::new(&[secret(rule("TOKEN", STAND_IN))], ok());
    for request in [
        "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example:8443\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: user@api.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example:443.evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example:+443\r\n\r\n",
        "GET https://api.example:443.evil.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET https://evil.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "GET http://api.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "CONNECT api.example:443 HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example\r\nX: a\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example\r\nX: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example\r\nX : a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: api.example\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST / HTTP/1.1\r\nHost: api.example\r\nContent-Length: 1, 2\r\n\r\nab",
        "POST / HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: gzip\r\n\r\nab",
        "POST / HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "\x16\x03\x01garbage",
    ] {
        let answer = fixture.send_raw(request.as_bytes());
        assert!(answer.is_empty() || (400..500).contains(&status(&answer)), "{request}: {answer}");
    }
    assert_eq!(fixture.count(), 0, "{:?}", fixture.received);
}

#[test]
fn both_lengths_are_one_request() {
    let fixture = BrokerFixture::new(&[secret(rule("TOKEN", STAND_IN))], ok());
    let smuggled = format!("GET /smuggled HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer {STAND_IN}\r\n\r\n");
    let request = format!(
        "POST /first HTTP/1.1\r\nHost: api.example\r\nContent-Length: {}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}",
        5 + smuggled.len()
    );
    fixture.send_raw(request.as_bytes());
    // The chunks count, and nothing is read behind such a request.
    let received = fixture.received.lock().expect("no panic").clone();
    let all: Vec<_> = received.iter().map(|request| (request.line.as_str(), request.body.len())).collect();
    assert_eq!(all, [("POST /first", 0)]);
    assert!(fixture.uses().is_empty());
}
