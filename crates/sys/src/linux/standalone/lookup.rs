//! The addresses of names, by files and by name servers.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use super::dns_question::{DnsQuestion, DnsServerAnswer};
use super::resolver_config::{ResolverConfig, addresses_without_server};

/// The port of name servers.
const PORT: u16 = 53;
/// Time for the answer of a server.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often all servers are asked.
const ROUNDS: usize = 2;
/// Longest answer in a datagram.
const DATAGRAM: usize = 4096;

/// Why a name has no addresses.
#[derive(Debug, PartialEq, Eq)]
pub enum NoAddress {
    /// There is no such name.
    Name,
    /// No server has answered.
    Server,
}

/// Returns the addresses of a name.
pub fn addresses(name: &str) -> Result<Vec<IpAddr>, NoAddress> {
    let read = |path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let found = addresses_without_server(name, &read("/etc/hosts"));
    if !found.is_empty() {
        return Ok(found);
    }
    let asking = ResolverConfig::of(&read("/etc/resolv.conf"));
    let servers: Vec<SocketAddr> = asking.servers.iter().map(|server| (*server, PORT).into()).collect();
    let mut failure = NoAddress::Name;
    for name in asking.candidate_names(name) {
        match ask_all(&name, &servers, PATIENCE) {
            Ok(found) => return Ok(found),
            Err(NoAddress::Name) => {}
            Err(NoAddress::Server) => failure = NoAddress::Server,
        }
    }
    Err(failure)
}

/// Asks the servers for a full name until one answers.
fn ask_all(name: &str, servers: &[SocketAddr], patience: Duration) -> Result<Vec<IpAddr>, NoAddress> {
    let random = RandomState::new().hash_one(name);
    let numbers = [random as u16, (random >> 16) as u16];
    let questions = DnsQuestion::for_both_families(name, numbers).ok_or(NoAddress::Name)?;
    for server in servers.iter().cycle().take(servers.len() * ROUNDS) {
        // IPv4 comes first: a machine without IPv6 may still have names for it.
        if let Ok(Some(found)) = ask(&questions, *server, patience) {
            return if found.is_empty() { Err(NoAddress::Name) } else { Ok(found) };
        }
    }
    Err(NoAddress::Server)
}

/// Asks one server. `None`: it cannot tell.
fn ask(questions: &[DnsQuestion; 2], server: SocketAddr, patience: Duration) -> io::Result<Option<Vec<IpAddr>>> {
    let any = if server.is_ipv4() { IpAddr::from(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(server)?;
    let until = Instant::now() + patience;
    for question in questions {
        socket.send(&question.bytes)?;
    }
    let mut answers = [None, None];
    let mut buffer = [0; DATAGRAM];
    while answers.contains(&None) {
        let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        socket.set_read_timeout(Some(left.ok_or(io::ErrorKind::TimedOut)?))?;
        let length = socket.recv(&mut buffer)?;
        for (question, answer) in questions.iter().zip(&mut answers) {
            if answer.is_none() {
                *answer = question.parse_answer(&buffer[..length]);
            }
        }
    }
    let mut found = Vec::new();
    for (question, answer) in questions.iter().zip(answers) {
        let answer =
            if answer == Some(DnsServerAnswer::TooLong) { ask_stream(question, server, patience)? } else { answer };
        match answer {
            Some(DnsServerAnswer::Addresses(addresses)) => found.extend(addresses),
            Some(DnsServerAnswer::TooLong | DnsServerAnswer::Failed) | None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// Asks a server over a stream.
fn ask_stream(question: &DnsQuestion, server: SocketAddr, patience: Duration) -> io::Result<Option<DnsServerAnswer>> {
    let mut stream = TcpStream::connect_timeout(&server, patience)?;
    stream.set_read_timeout(Some(patience))?;
    let length = u16::try_from(question.bytes.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), question.bytes.as_slice()].concat())?;
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut bytes = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut bytes)?;
    Ok(question.parse_answer(&bytes))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// The answer to a question: one address of the family that it asks for, which counts as cut off if `cut`.
    fn answer(question: &[u8], cut: bool) -> Vec<u8> {
        let mut bytes = question.to_vec();
        bytes[2..4].copy_from_slice(&[if cut { 0x83 } else { 0x81 }, 0x80]);
        bytes[7] = 1;
        let kind = question[question.len() - 3];
        let data: &[u8] = if kind == 1 { &[10, 0, 0, 7] } else { &[0xfd; 16] };
        bytes.extend([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 9, 0, u8::try_from(data.len()).expect("short")]);
        bytes.extend(data);
        bytes
    }

    #[test]
    fn a_server_that_answers_is_found_behind_one_that_does_not() {
        let silent = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let servers = [&silent, &socket].map(|socket| socket.local_addr().expect("an address"));
        let server = thread::spawn(move || {
            for _ in 0..2 {
                let mut buffer = [0; 512];
                let (length, from) = socket.recv_from(&mut buffer).expect("a question");
                socket.send_to(b"noise", from).expect("sent");
                socket.send_to(&answer(&buffer[..length], false), from).expect("sent");
            }
        });
        let found = ask_all("db.test", &servers, Duration::from_millis(200));
        assert_eq!(found, Ok(vec![[10, 0, 0, 7].into(), [0xfd; 16].into()]));
        server.join().expect("no panic");
    }

    #[test]
    fn an_answer_that_is_too_long_comes_over_a_stream() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let at = listener.local_addr().expect("an address");
        let socket = UdpSocket::bind(at).expect("the port is free for datagrams");
        let server = thread::spawn(move || {
            let mut buffer = [0; 512];
            for _ in 0..2 {
                let (length, from) = socket.recv_from(&mut buffer).expect("a question");
                socket.send_to(&answer(&buffer[..length], true), from).expect("sent");
            }
            for _ in 0..2 {
                let (mut stream, _) = listener.accept().expect("a stream");
                let length = stream.read(&mut buffer).expect("a question");
                let said = answer(&buffer[2..length], false);
                let length = u16::try_from(said.len()).expect("short").to_be_bytes();
                stream.write_all(&[&length, said.as_slice()].concat()).expect("sent");
            }
        });
        let found = ask_all("db.test", &[at], PATIENCE);
        assert_eq!(found, Ok(vec![[10, 0, 0, 7].into(), [0xfd; 16].into()]));
        server.join().expect("no panic");
    }

    #[test]
    fn names_that_cannot_be_have_no_addresses() {
        assert_eq!(ask_all("no such name", &[], PATIENCE), Err(NoAddress::Name));
        assert_eq!(ask_all("db.test", &[], PATIENCE), Err(NoAddress::Server));
        assert_eq!(addresses("127.0.0.1"), Ok(vec![Ipv4Addr::LOCALHOST.into()]));
    }
}
