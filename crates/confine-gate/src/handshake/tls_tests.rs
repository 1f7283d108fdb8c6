use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use proptest::prelude::*;

use super::tls::{HANDSHAKE, server_name};
use super::{DialledDestination, ForwardingDecision, HandshakeInspector, HandshakeMismatch};
use crate::allowed_hosts::AllowedHosts;
use confine_policy::{AllowEntry, AllowHost, NetworkScope};

fn vector(bytes: usize, data: &[u8]) -> Vec<u8> {
    let mut all = (data.len() as u32).to_be_bytes()[4 - bytes..].to_vec();
    all.extend_from_slice(data);
    all
}

fn extension(kind: u16, data: &[u8]) -> Vec<u8> {
    [kind.to_be_bytes().to_vec(), vector(2, data)].concat()
}

fn sni(name: &str) -> Vec<u8> {
    let entry = [vec![0], vector(2, name.as_bytes())].concat();
    extension(0, &vector(2, &entry))
}

/// Returns the body of a ClientHello.
fn body(extensions: &[Vec<u8>]) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend(vector(1, &[9; 32]));
    body.extend(vector(2, &[0x13, 1, 0x13, 2]));
    body.extend(vector(1, &[0]));
    body.extend(vector(2, &extensions.concat()));
    body
}

fn message(body: &[u8]) -> Vec<u8> {
    [vec![1], vector(3, body)].concat()
}

/// Records of a type with these contents, each as long as told.
fn records(kind: u8, contents: &[u8], length: usize) -> Vec<u8> {
    contents.chunks(length).flat_map(|part| [vec![kind, 3, 1], vector(2, part)].concat()).collect()
}

fn hello(name: &str) -> Vec<u8> {
    let others = [extension(10, &[0, 2, 0, 29]), sni(name), extension(43, &[2, 3, 4])];
    records(HANDSHAKE, &message(&body(&others)), 16_384)
}

fn named(name: &str) -> HandshakeInspector {
    HandshakeInspector::new(DialledDestination::Name { name: name.into(), mapped: false })
}

/// Feeds a stream in parts. Returns the bytes that were passed on.
fn pass(inspector: &mut HandshakeInspector, parts: &[&[u8]]) -> Result<Vec<u8>, HandshakeMismatch> {
    let mut passed = Vec::new();
    for part in parts {
        match inspector.feed(part)? {
            ForwardingDecision::Pass => passed.extend_from_slice(part),
            ForwardingDecision::ReplaceWith(bytes) => passed.extend(bytes),
        }
    }
    Ok(passed)
}

#[test]
fn the_name_that_was_asked_for_passes() {
    let mut stream = hello("A.Test");
    stream.extend(records(20, &[1], 1));
    stream.extend(records(23, &[0x16; 3_000], 1_000));
    assert_eq!(pass(&mut named("a.test"), &[&stream]), Ok(stream));
}

#[test]
fn another_name_is_refused_and_its_handshake_stays_here() {
    let stream = hello("evil.test");
    let mut inspector = named("a.test");
    let mut passed = 0;
    let refused = stream.iter().find_map(|byte| match inspector.feed(&[*byte]) {
        Ok(ForwardingDecision::Pass) => panic!("a byte passed unread"),
        Ok(ForwardingDecision::ReplaceWith(bytes)) => {
            passed += bytes.len();
            None
        }
        Err(mismatch) => Some(mismatch),
    });
    assert_eq!(refused, Some(HandshakeMismatch { claimed: Some("evil.test".into()) }));
    assert!(passed <= 6, "only the start, which says nothing, has passed");
}

#[test]
fn any_split_into_segments_and_records_is_read_alike() {
    for (name, right) in [("a.test", true), ("evil.test", false)] {
        let whole = message(&body(&[sni(name)]));
        for record in 1..=whole.len() {
            let stream = records(HANDSHAKE, &whole, record);
            assert_eq!(pass(&mut named("a.test"), &[&stream]).is_ok(), right, "records of {record} bytes");
        }
        let stream = hello(name);
        for at in 0..=stream.len() {
            let (one, two) = stream.split_at(at);
            let parts: Vec<&[u8]> = [one, two].into_iter().filter(|part| !part.is_empty()).collect();
            let passed = pass(&mut named("a.test"), &parts);
            assert_eq!(passed.is_ok(), right, "split at {at}");
            assert!(passed.is_err() || passed == Ok(stream.clone()));
        }
    }
}

#[test]
fn a_handshake_without_a_name_is_for_addresses() {
    let silent = records(HANDSHAKE, &message(&body(&[extension(43, &[2, 3, 4])])), 100);
    assert_eq!(pass(&mut named("a.test"), &[&silent]), Err(HandshakeMismatch { claimed: None }));
    let entries = vec![AllowEntry { host: AllowHost::Name("a.test".into()), port: Some(443) }];
    let rules = Arc::new(AllowedHosts::new(&NetworkScope::Allow { entries, hosts: BTreeMap::new() }));
    let address = || {
        HandshakeInspector::new(DialledDestination::Address {
            address: IpAddr::from([192, 0, 2, 1]),
            port: 443,
            rules: rules.clone(),
        })
    };
    assert!(pass(&mut address(), &[&silent]).is_ok());
    assert!(pass(&mut address(), &[&hello("a.test")]).is_ok());
    assert!(pass(&mut address(), &[&hello("192.0.2.1")]).is_ok());
    assert_eq!(pass(&mut address(), &[&hello("b.test")]), Err(HandshakeMismatch { claimed: Some("b.test".into()) }));
}

#[test]
fn names_that_a_server_could_read_otherwise_are_refused() {
    let two = [vec![0], vector(2, b"a.test"), vec![0], vector(2, b"evil.test")].concat();
    for extensions in [
        vec![sni("a.test"), sni("evil.test")],
        vec![sni("evil.test"), sni("a.test")],
        vec![extension(0, &vector(2, &two))],
        vec![sni("a.test\0.evil.test")],
        vec![sni("a.test.")],
        vec![sni("")],
        vec![extension(0, &[])],
        vec![extension(0, &[0, 9, 0, 0, 6, b'a'])],
    ] {
        let stream = records(HANDSHAKE, &message(&body(&extensions)), 16_384);
        assert_eq!(pass(&mut named("a.test"), &[&stream]), Err(HandshakeMismatch { claimed: None }));
    }
}

#[test]
fn a_second_hello_is_read_too() {
    let second = |name, data: &[u8]| [hello("a.test"), records(20, &[1], 1), data.to_vec(), hello(name)].concat();
    for early in [vec![], records(23, &[5; 40_000], 16_000)] {
        assert!(pass(&mut named("a.test"), &[&second("a.test", &early)]).is_ok());
        assert!(pass(&mut named("a.test"), &[&second("evil.test", &early)]).is_err());
    }
    let mut hidden = [hello("a.test"), records(20, &[1], 1)].concat();
    hidden.extend(records(HANDSHAKE, &message(&body(&[sni("evil.test")])), 3));
    assert!(pass(&mut named("a.test"), &[&hidden]).is_err());
}

#[test]
fn encrypted_handshake_messages_pass() {
    for first in 0..=255 {
        let mut finished = vec![first; 40];
        finished[1] = 200;
        let stream = [hello("a.test"), records(20, &[1], 1), records(HANDSHAKE, &finished, 40)].concat();
        assert_eq!(pass(&mut named("a.test"), &[&stream]), Ok(stream));
    }
}

#[test]
fn a_hello_is_read_wherever_it_begins() {
    let fake = [hello("a.test"), records(23, b"\r\nSTARTTLS\r\n", 100)].concat();
    let befores: [&[u8]; 10] = [
        &[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f],
        &[0, 0, 0, 8, 4, 0xd2, 0x16],
        b"EHLO a\r\nSTARTTLS\r\n",
        b"a word",
        b"two words ",
        b"\x16",
        b"\0\x16\x03\x01",
        b"\xff\xff\x01\x16\x03\x01\0\x01\x01",
        &fake,
        &fake[..fake.len() - 1],
    ];
    for before in befores {
        for record in [1, 2, 5, 6, 100, 16_384] {
            for (name, right) in [("a.test", true), ("evil.test", false)] {
                let whole = records(HANDSHAKE, &message(&body(&[sni(name)])), record);
                let stream = [before, &whole].concat();
                for at in before.len().saturating_sub(1)..stream.len().min(before.len() + 14) {
                    let (one, two) = stream.split_at(at);
                    let passed = pass(&mut named("a.test"), &[one, two]);
                    // A beginning that hides one of another is refused, too.
                    assert!(right || passed.is_err(), "{before:?}, records of {record} bytes, split at {at}");
                    assert!(passed.is_err() || passed == Ok(stream.clone()));
                }
            }
        }
        if !before.ends_with(&[3, 1]) && !before.ends_with(&[1, 1]) {
            assert!(pass(&mut named("a.test"), &[before, &hello("a.test")]).is_ok(), "{before:?}");
        }
    }
}

#[test]
fn versions_that_only_some_servers_take_are_refused() {
    for before in [&b""[..], b"EHLO a\r\nSTARTTLS\r\n"] {
        for (at, version) in [(1, 0), (1, 2), (1, 4), (1, 15), (9, 4), (9, 0)] {
            let mut stream = [before, &hello("evil.test")].concat();
            stream[before.len() + at] = version;
            assert!(pass(&mut named("a.test"), &[&stream]).is_err(), "{before:?} {at} {version}");
        }
    }
}

#[test]
fn records_of_versions_that_only_some_servers_take_are_refused() {
    let whole = message(&body(&[sni("evil.test")]));
    for version in [[0, 0], [1, 1], [4, 0], [15, 255], [16, 1], [254, 253], [255, 255]] {
        for length in [1, 5, 6, 18, 60, 16_384] {
            let mut stream = Vec::new();
            for part in whole.chunks(length) {
                stream.extend([&[HANDSHAKE], &version[..], &vector(2, part)].concat());
            }
            for before in [&b""[..], b"EHLO a\r\nSTARTTLS\r\n", &[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]] {
                let stream = [before, &stream].concat();
                for part in [1, 7, stream.len()] {
                    let parts: Vec<&[u8]> = stream.chunks(part).collect();
                    assert!(pass(&mut named("a.test"), &parts).is_err(), "{before:?} {version:?} {length} {part}");
                }
            }
        }
    }
}

#[test]
fn a_record_within_a_hello_does_not_hide_its_rest() {
    let whole = message(&body(&[sni("evil.test")]));
    for version in [[3, 1], [4, 0]] {
        for first in 1..6 {
            for record in [
                &[20, 3, 3, 0, 1, 1][..],
                &[21, 3, 1, 0, 2, 1, 90],
                &[21, 4, 0, 0, 2, 1, 90],
                &[24, 3, 3, 0, 0],
                &[22, 3, 3, 0, 0],
            ] {
                let part = |part: &[u8]| [&[HANDSHAKE], &version[..], &vector(2, part)].concat();
                let hello = [part(&whole[..first]), record.to_vec(), part(&whole[first..])].concat();
                let stream = [b"STARTTLS\r\n", &hello[..]].concat();
                assert!(pass(&mut named("a.test"), &[&stream]).is_err(), "{version:?} {first} {record:?}");
            }
        }
    }
}

#[test]
fn a_hello_of_version_2_is_refused_wherever_it_begins() {
    let old = [&[0x80, 41 + 3][..], &[1, 3, 3, 0, 3, 0, 0, 0, 32, 0, 0, 0x2f], &[7; 32]].concat();
    for before in [&b""[..], b"STARTTLS\r\n", b"STARTTLS\r\n\x80", b"\xff\xff", &[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]] {
        let stream = [before, &old].concat();
        for part in [1, 2, 3, 5, stream.len()] {
            let parts: Vec<&[u8]> = stream.chunks(part).collect();
            assert!(pass(&mut named("a.test"), &parts).is_err(), "{before:?} {part}");
        }
    }
}

#[test]
fn a_request_of_mysql_for_tls_passes() {
    let request = [&[0x20, 0, 0, 1, 0x85, 0xae, 0x7f, 0, 0, 0, 0, 1, 0x21][..], &[0; 23]].concat();
    for at in 1..request.len() {
        let (one, two) = request.split_at(at);
        assert_eq!(
            pass(&mut named("a.test"), &[one, two, &hello("a.test")]),
            Ok([&request, &hello("a.test")[..]].concat())
        );
    }
    assert!(pass(&mut named("a.test"), &[&request, &hello("evil.test")]).is_err());
}

#[test]
fn a_stream_of_tls_begins_with_a_hello() {
    let fronts: [&[u8]; 9] = [
        &[22, 3, 1, 0, 0],
        &[22, 3, 3, 0, 0, 22, 3, 3, 0, 0],
        &[20, 3, 3, 0, 1, 1],
        &[21, 3, 3, 0, 2, 1, 0],
        &[23, 3, 3, 0, 0],
        &[24, 3, 3, 0, 3, 1, 0, 0],
        &[22, 3, 1, 0, 4, 0, 0, 0, 0],
        &[22, 3, 9, 0, 4],
        // A ClientHello of version 2, which has no name.
        &[0x80, 46, 1, 3, 1],
    ];
    for front in fronts {
        for at in 0..front.len() {
            let (one, two) = front.split_at(at);
            let parts: Vec<&[u8]> = [one, two].into_iter().filter(|part| !part.is_empty()).collect();
            assert_eq!(pass(&mut named("a.test"), &parts), Err(HandshakeMismatch { claimed: None }), "{front:?}");
        }
    }
}

#[test]
fn encrypted_bytes_pass() {
    let mut state = 7_u64;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    })
    .take(4 << 20)
    .collect();
    let stream = [hello("a.test"), records(23, &bytes, 16_384)].concat();
    let parts: Vec<&[u8]> = stream.chunks(10_007).collect();
    assert_eq!(pass(&mut named("a.test"), &parts), Ok(stream.clone()));
}

#[test]
fn other_protocols_are_never_kept_back() {
    for part in
        [&b"hello"[..], b"SSH-2.0-x\r\n", b"*1\r\n$4\r\nPING\r\n", b"\x16", b"\x16\x03\x01", b"\x00\x01", b"\r\n", b"Q"]
    {
        let mut inspector = named("a.test");
        assert_eq!(pass(&mut inspector, &[part]), Ok(part.to_vec()), "{part:?}");
        let mut inspector = named("a.test");
        assert_eq!(pass(&mut inspector, &[b"\x01\x02", part]), Ok([b"\x01\x02", part].concat()), "{part:?}");
    }
    let bulk = vec![0x16; 100_000];
    let mut inspector = named("a.test");
    assert_eq!(pass(&mut inspector, &[b"\0", &bulk, &bulk[1..]]).map(|passed| passed.len()), Ok(200_000));
}

#[test]
fn a_handshake_without_end_is_refused() {
    let mut endless = vec![HANDSHAKE, 3, 1, 0x40, 0, 1, 1, 0xff, 0xff];
    endless.resize(5 + 0x4000, 0);
    let more = records(HANDSHAKE, &[0; 0x4000], 0x4000);
    let mut inspector = named("a.test");
    let mut fed = inspector.feed(&endless).map(drop);
    for _ in 0..10 {
        fed = fed.and_then(|()| inspector.feed(&more).map(drop));
    }
    assert!(fed.is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = server_name(&bytes);
        let _ = pass(&mut named("a.test"), &[&records(HANDSHAKE, &message(&bytes), 100)]);
        let _ = pass(&mut named("a.test"), &[&[&[HANDSHAKE, 3, 1], bytes.as_slice()].concat()]);
    }

    #[test]
    fn a_changed_byte_never_lets_another_name_pass(at in 0..200_usize, byte: u8) {
        let mut stream = hello("evil.test");
        let at = at % stream.len();
        stream[at] = byte;
        // Without its start it is no handshake. Then the server does not read one either.
        if let Ok(passed) = pass(&mut named("a.test"), &[&stream]) {
            prop_assert!(at < 6 || passed.len() <= 6);
        }
    }

    #[test]
    fn nothing_in_front_lets_another_name_pass(
        front in prop::collection::vec(prop_oneof![any::<u8>(), Just(22), Just(3), Just(0), Just(1)], 0..40),
        record in prop_oneof![1..12_usize, Just(16_384)],
        part in 1..60_usize,
    ) {
        let whole = records(HANDSHAKE, &message(&body(&[sni("evil.test")])), record);
        let stream = [front, whole].concat();
        let parts: Vec<&[u8]> = stream.chunks(part).collect();
        // A record that has no end here is kept back with all that is in it.
        prop_assert!(pass(&mut named("a.test"), &parts).map_or(true, |passed| passed.len() < stream.len()));
    }

    #[test]
    fn splits_make_no_difference(cuts in prop::collection::vec(0..3_500_usize, 0..8), right: bool) {
        let mut stream = hello(if right { "a.test" } else { "evil.test" });
        stream.extend(records(20, &[1], 1));
        stream.extend(records(23, &[1; 2_000], 700));
        stream.extend(hello("a.test"));
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % stream.len()).chain([0, stream.len()]).collect();
        cuts.sort_unstable();
        let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]).filter(|part| !part.is_empty()).collect();
        let passed = pass(&mut named("a.test"), &parts);
        prop_assert_eq!(passed.is_ok(), right);
        prop_assert!(!right || passed == Ok(stream.clone()));
    }
}
