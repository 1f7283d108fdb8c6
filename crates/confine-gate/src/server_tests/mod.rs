//! A gate with real sockets.

mod figures;
mod gated_test_world;

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::dns::build_query;
use crate::link::GATE_V4;
use crate::link_sockets::LinkSockets;
use crate::refusals::GateRefusals;
use crate::relay::reset;
use crate::resolver_pool::ResolverPool;
use crate::server::GateServer;
use crate::{setup::GateNamespaces, setup::GateNetwork, setup::GateSetup};
use confine_policy::{NetworkScope, SuggestedGrant};
use gated_test_world::{
    GatedTestWorld, HANG, NamespaceThread, address_in, echo, is_refused, is_reset, resets, resolve, serve,
};

#[test]
fn an_allowed_name_is_reached_and_both_sides_close_by_themselves() {
    let port = serve(echo);
    let Some(world) = GatedTestWorld::new(&[("a.test", port)], &["a.test"], &[]) else { return };
    world.control.wait_until_started().expect("started");
    for kind in [1, 28] {
        let address = world.look("a.test", kind).expect("an address");
        let mut stream = world.inside.connect((address, port).into()).expect("connected");
        let sent: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut writer = stream.try_clone().expect("a clone");
        let copy = sent.clone();
        let written = thread::spawn(move || {
            writer.write_all(&copy).expect("written");
            writer.shutdown(Shutdown::Write).expect("closed");
        });
        let mut received = Vec::new();
        stream.read_to_end(&mut received).expect("read");
        written.join().expect("written");
        assert!(received == sent, "{} bytes of {}", received.len(), sent.len());
    }
    assert_eq!(world.taken(), []);
}

#[test]
fn a_name_that_is_not_allowed_is_refused_with_the_port_that_was_wanted() {
    let Some(world) = GatedTestWorld::new(&[("a.test", 443)], &["a.test"], &[]) else { return };
    for port in [443, 46_627] {
        let mut refused = Vec::new();
        for kind in [1, 28] {
            let address = world.look("evil.test", kind).expect("an address");
            let connected = world.inside.connect((address, port).into());
            assert!(connected.map_or(true, |stream| resets(&stream)), "{port}");
            refused.push(world.control.take(None).expect("refusals"));
        }
        for GateRefusals { listed, total, .. } in refused {
            let [refused] = listed.as_slice() else { panic!("{listed:?}") };
            let target = format!("evil.test:{port}");
            assert_eq!((&refused.target, refused.count, total), (&target, 1, 1));
            assert_eq!(refused.grant, Some(SuggestedGrant::Host(target)));
        }
    }
}

#[test]
fn the_program_and_the_command_that_tried_are_found() {
    let Some(world) = GatedTestWorld::new(&[("192.0.2.7", 443)], &[], &[]) else { return };
    let asked: String = build_query("evil.test", 16).iter().map(|byte| format!("\\x{byte:02x}")).collect();
    let script = format!(
        "exec 3<>/dev/udp/{GATE_V4}/53; printf '{asked}' >&3; head -c 1 <&3 | wc -c
         exec 4<>/dev/tcp/192.0.2.8/443; read -r line <&4; exec 5<>/dev/tcp/192.0.2.9/444; echo over; read -r"
    );
    let mut bash = world.inside.bash(script);
    let mut output = [0; 7];
    bash.stdout.take().expect("a pipe").read_exact(&mut output).expect("output");
    assert_eq!(&output, b"1\nover\n");
    assert_eq!(world.control.take(Some("other")).expect("refusals").listed.len(), 1, "the program of one had gone on");
    let GateRefusals { listed, .. } = world.control.take(Some("marked")).expect("refusals");
    drop(bash.stdin.take());
    bash.wait().expect("an exit");
    let found: Vec<_> = listed.iter().map(|refused| (refused.target.as_str(), refused.program.as_str())).collect();
    assert_eq!(found, [("evil.test", "bash"), ("192.0.2.8:443", "bash")]);
}

#[test]
fn a_world_without_hosts_records_the_names_that_it_asks_for() {
    let Ok(inside) = NamespaceThread::new() else { return };
    let Ok(sockets) = inside.ip(vec!["link set lo up".into()]).and_then(|()| inside.run(LinkSockets::open_resolver))
    else {
        return;
    };
    let (lifeline, held) = sys::pipe().expect("a pipe");
    let namespaces = GateNamespaces { user: None, gate: None, world: inside.network.try_clone().expect("a copy") };
    let network = GateNetwork::Namespaces(namespaces);
    let (setup, control) = GateSetup::new(&NetworkScope::None, &[], network, lifeline, "X").expect("a setup");
    let pool = ResolverPool::new(resolve).expect("a pool");
    let gate = thread::spawn(move || GateServer::new(setup, sockets, None, pool, None)?.run());
    let answer = inside.run(|| {
        let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
        socket.send_to(&build_query("evil.test", 1), (GATE_V4, 53)).expect("sent");
        socket.set_read_timeout(Some(HANG)).expect("a timeout");
        let mut buffer = [0; 512];
        let length = socket.recv(&mut buffer).expect("an answer");
        buffer[..length].to_vec()
    });
    assert_eq!(address_in(&answer, 1), Err(3));
    assert_eq!(control.take(None).expect("refusals").listed[0].target, "evil.test");
    drop(held);
    gate.join().expect("no panic").expect("no error");
}

#[test]
fn the_resolver_answers_over_connections_too() {
    let Some(world) = GatedTestWorld::new(&[("a.test", 443)], &[], &[]) else { return };
    let mut stream = world.inside.connect((GATE_V4, 53).into()).expect("connected");
    let asked = build_query("a.test", 1);
    let framed = [&(asked.len() as u16).to_be_bytes()[..], &asked].concat();
    for byte in [framed.clone(), framed].concat() {
        stream.write_all(&[byte]).expect("written");
    }
    for _ in 0..2 {
        let mut length = [0; 2];
        stream.read_exact(&mut length).expect("a length");
        let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut answer).expect("an answer");
        assert_eq!(address_in(&answer, 1), world.look("a.test", 1));
    }
    stream.shutdown(Shutdown::Write).expect("closed");
    assert_eq!(stream.read(&mut [0; 1]).expect("an end"), 0);
}

#[test]
fn addresses_are_refused_unless_they_are_entries() {
    let port = serve(echo);
    let Some(world) = GatedTestWorld::new(&[("192.0.2.7", port), ("a.test", port)], &["a.test"], &[]) else { return };
    assert!(is_refused(world.inside.connect(([192, 0, 2, 8], port).into())));
    let closed = world.inside.connect(([192, 0, 2, 8], port ^ 1).into()).expect_err("nothing listens");
    assert_eq!(closed.kind(), io::ErrorKind::ConnectionRefused);
    let closed = world.inside.connect(("2001:db8::1".parse::<IpAddr>().expect("an address"), port ^ 1).into());
    assert_eq!(closed.expect_err("nothing listens").kind(), io::ErrorKind::ConnectionRefused);
    let expected =
        [format!("192.0.2.8:{port}"), format!("192.0.2.8:{}", port ^ 1), format!("[2001:db8::1]:{}", port ^ 1)];
    let mut taken: Vec<_> = world.taken().into_iter().map(|(target, _)| target).collect();
    taken.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(taken, expected);
}

#[test]
fn names_of_private_addresses_are_refused() {
    let port = serve(echo);
    let Some(world) =
        GatedTestWorld::new(&[("private.test", port), ("loop.test", port), ("none.test", port)], &[], &[])
    else {
        return;
    };
    for name in ["private.test", "loop.test", "none.test"] {
        assert!(is_refused(world.dial(name, port)), "{name}");
    }
    let mut taken = world.taken();
    taken.sort();
    assert_eq!(taken, [(format!("loop.test:{port}"), 1), (format!("private.test:{port}"), 1)]);
}

#[test]
fn datagrams_are_refused() {
    let Some(world) = GatedTestWorld::new(&[("a.test", 443)], &[], &[]) else { return };
    let address = world.look("a.test", 1).expect("an address");
    let error = world.inside.run(move || {
        let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
        socket.set_read_timeout(Some(HANG)).expect("a timeout");
        socket.connect((address, 443)).expect("connected");
        socket.send(b"quic").expect("sent");
        socket.recv(&mut [0; 16]).expect_err("nobody is there")
    });
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    assert_eq!(world.taken(), [("a.test:443/udp".to_owned(), 1)]);
}

#[test]
fn a_handshake_for_another_host_is_refused() {
    let port = serve(echo);
    let Some(world) = GatedTestWorld::new(&[("a.test", port)], &["a.test"], &[]) else { return };
    let mut stream = world.dial("a.test", port).expect("connected");
    stream.write_all(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n").expect("written");
    stream.read_exact(&mut [0; 32]).expect("echoed");
    stream.write_all(b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n").expect("written");
    assert!(resets(&stream));
    assert_eq!(world.taken(), [(format!("evil.test:{port}"), 1)]);
}

#[test]
fn a_server_may_speak_first() {
    let port = serve(|mut stream| {
        stream.write_all(b"220 ready\r\n").expect("written");
        echo(stream);
    });
    let Some(world) = GatedTestWorld::new(&[("a.test", port)], &["a.test"], &[]) else { return };
    let mut stream = world.dial("a.test", port).expect("connected");
    let mut greeting = [0; 11];
    stream.read_exact(&mut greeting).expect("a greeting");
    for part in ["E", "HLO me\r\n"] {
        stream.write_all(part.as_bytes()).expect("written");
        let mut echoed = vec![0; part.len()];
        stream.read_exact(&mut echoed).expect("echoed at once");
        assert_eq!(echoed, part.as_bytes());
    }
}

#[test]
fn resets_are_passed_on() {
    let port = serve(|mut stream| {
        let _ = stream.read(&mut [0; 1]);
        reset(&stream);
    });
    let (seen, sees) = mpsc::channel();
    let watched = serve(move |mut stream| seen.send(is_reset(stream.read(&mut [0; 1]))).unwrap_or_default());
    let Some(world) = GatedTestWorld::new(&[("a.test", port), ("a.test", watched)], &["a.test"], &[]) else { return };
    let mut stream = world.dial("a.test", port).expect("connected");
    stream.write_all(b"x").expect("written");
    assert!(resets(&stream));
    let stream = world.dial("a.test", watched).expect("connected");
    reset(&stream);
    drop(stream);
    assert!(sees.recv_timeout(HANG).expect("an end"), "the server sees a reset");
    let closed = TcpListener::bind("127.0.0.1:0").expect("a listener").local_addr().expect("an address").port();
    let Some(world) = GatedTestWorld::new(&[("a.test", closed)], &["a.test"], &[]) else { return };
    assert!(is_refused(world.dial("a.test", closed)));
    assert_eq!(world.taken(), [], "a server that is down is no denial");
}

#[test]
fn a_slow_reader_holds_its_server_back() {
    let (sent, counts) = mpsc::channel();
    let port = serve(move |mut stream| {
        stream.set_write_timeout(Some(Duration::from_millis(500))).expect("a timeout");
        let mut total = 0_usize;
        while let Ok(count) = stream.write(&[7; 65_536]) {
            total += count;
        }
        let _ = sent.send(total);
    });
    let Some(world) = GatedTestWorld::new(&[("a.test", port)], &["a.test"], &[]) else { return };
    let mut stream = world.dial("a.test", port).expect("connected");
    let total = counts.recv_timeout(HANG).expect("the server is held back");
    assert!(total < 64 << 20, "{total} bytes were taken");
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received);
    assert_eq!(received.len(), total, "nothing is lost");
}

#[test]
fn exposed_ports_lead_to_the_loopback_of_the_world() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a listener").local_addr().expect("an address").port();
    let Some(world) = GatedTestWorld::new(&[], &[], &[free]) else { return };
    let visit = |from: IpAddr| TcpStream::connect_timeout(&(from, free).into(), HANG);
    assert!(is_refused(visit([127, 0, 0, 1].into())), "nothing listens there");
    let mut bash = world.inside.bash("read -r".into());
    assert!(!world.control.listens(free).expect("an answer"));
    world.inside.run(move || {
        let listener = TcpListener::bind(("127.0.0.1", free)).expect("a listener");
        thread::spawn(move || listener.incoming().flatten().for_each(echo));
    });
    assert!(world.control.listens(free).expect("an answer"));
    drop(bash.stdin.take());
    bash.wait().expect("an exit");
    for from in [IpAddr::from([127, 0, 0, 1]), "::1".parse().expect("an address")] {
        let Ok(mut stream) = visit(from) else { continue };
        stream.write_all(b"hello").expect("written");
        stream.shutdown(Shutdown::Write).expect("closed");
        let mut echoed = String::new();
        stream.read_to_string(&mut echoed).expect("read");
        assert_eq!(echoed, "hello");
    }
}

#[test]
fn hundreds_of_connections_at_once() {
    let port = serve(echo);
    let Some(world) = GatedTestWorld::new(&[("a.test", port)], &["a.test"], &[]) else { return };
    let address = world.look("a.test", 1).expect("an address");
    let mut all: Vec<TcpStream> =
        (0..300).map(|_| world.inside.connect((address, port).into()).expect("connected")).collect();
    for stream in &mut all {
        stream.write_all(b"hello").expect("written");
    }
    for stream in &mut all {
        stream.read_exact(&mut [0; 5]).expect("echoed");
    }
}
