//! The sockets of the internet of other network namespaces, from `/proc`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use nix::unistd::Pid;

use super::proc::{descriptors, every_process};
use crate::{InternetTransport, ListeningSocket};

/// The state of a listening socket in the kernel's table.
const LISTENING: &str = "0A";

/// The bytes that the kernel gives at most in one read, on machines with the smallest pages.
const PAGE: usize = 4096;
/// More than the bytes of any row.
const LONGEST_ROW: usize = 512;

/// A line of the kernel's table.
struct SocketTableRow<'a> {
    local: SocketAddr,
    state: &'a str,
    inode: &'a str,
}

/// Parses a line of `/proc/PID/net/tcp` and the like.
fn parse_row(line: &str) -> Option<SocketTableRow<'_>> {
    let mut words = line.split_ascii_whitespace();
    let (address, port) = words.nth(1)?.split_once(':')?;
    let state = words.nth(1)?;
    let inode = words.nth(5)?;
    let port = u16::from_str_radix(port, 16).ok()?;
    // Words of 32 bits in the machine's byte order.
    let word = |at: usize| Some(u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok()?.to_ne_bytes());
    let ip = if address.len() == 8 {
        IpAddr::from(Ipv4Addr::from(word(0)?))
    } else {
        let octets: [u8; 16] = [word(0)?, word(1)?, word(2)?, word(3)?].concat().try_into().ok()?;
        IpAddr::from(Ipv6Addr::from(octets)).to_canonical()
    };
    Some(SocketTableRow { local: SocketAddr::new(ip, port), state, inode })
}

/// Reads a table of a process's network namespace. Each read makes the kernel walk the sockets of the whole machine,
/// which takes milliseconds, so the read that would only find the end is left out: after less than a page minus a row
/// there is nothing more.
fn read_table(pid: Pid, table: &str) -> io::Result<String> {
    let mut file = File::open(format!("/proc/{pid}/net/{table}"))?;
    let (mut text, mut page) = (Vec::new(), [0; PAGE]);
    loop {
        let count = file.read(&mut page)?;
        text.extend_from_slice(&page[..count]);
        if count + LONGEST_ROW <= PAGE {
            return String::from_utf8(text).map_err(io::Error::other);
        }
    }
}

/// Finds a row in the tables of a process's network namespace.
fn find<T>(pid: Pid, tables: [&str; 2], wanted: impl Fn(&SocketTableRow<'_>) -> Option<T>) -> Option<T> {
    tables.iter().find_map(|table| {
        let text = read_table(pid, table).ok()?;
        text.lines().skip(1).filter_map(parse_row).find_map(|row| wanted(&row))
    })
}

/// Returns whether a server in the network namespace of a process listens at a TCP port that its loopback reaches.
pub fn listens(pid: Pid, port: u16) -> bool {
    loopback_server(pid, port).is_some()
}

/// Returns the address at which the loopback of a process's network namespace reaches the server of a TCP port.
pub fn loopback_server(pid: Pid, port: u16) -> Option<SocketAddr> {
    let reached = |ip: IpAddr| ip.is_loopback() || ip.is_unspecified();
    let listening =
        |row: &SocketTableRow<'_>| row.state == LISTENING && row.local.port() == port && reached(row.local.ip());
    let loopback =
        |ip: IpAddr| if ip.is_ipv6() { Ipv6Addr::LOCALHOST.into() } else { IpAddr::from(Ipv4Addr::LOCALHOST) };
    find(pid, ["tcp", "tcp6"], |row| listening(row).then(|| SocketAddr::new(loopback(row.local.ip()), port)))
}

/// Returns whether a server of this machine listens at an address.
pub fn listens_at(address: SocketAddr) -> bool {
    let listening = |row: &SocketTableRow<'_>| row.state == LISTENING && row.local == address;
    find(nix::unistd::getpid(), ["tcp", "tcp6"], |row| listening(row).then_some(())).is_some()
}

/// Returns whether a process has another network namespace than this one. A process that is gone has none.
pub fn has_other_network(pid: Pid) -> bool {
    let network = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
    network(&pid.to_string()).is_some_and(|of| network("self").is_some_and(|own| own != of))
}

/// Returns the TCP servers of the network namespace of a process.
pub fn listeners_of(pid: Pid) -> Vec<ListeningSocket> {
    let tables = ["tcp", "tcp6"].map(|table| read_table(pid, table).unwrap_or_default());
    let rows = tables.iter().flat_map(|text| text.lines().skip(1).filter_map(parse_row));
    let listener = |row: SocketTableRow<'_>| {
        let socket = row.inode.parse().ok()?;
        (row.state == LISTENING).then(|| ListeningSocket { address: row.local.ip(), port: row.local.port(), socket })
    };
    rows.filter_map(listener).collect()
}

/// Returns the processes in a network namespace, as far as this process may know.
pub fn processes_in_network(network: BorrowedFd<'_>) -> Vec<Pid> {
    let Ok(data) = nix::sys::stat::fstat(network) else { return Vec::new() };
    let name = PathBuf::from(format!("net:[{}]", data.st_ino));
    let inside = |pid: &Pid| fs::read_link(format!("/proc/{pid}/ns/net")).is_ok_and(|link| link == name);
    every_process().into_iter().filter(inside).collect()
}

/// Returns the process among these, all of one network namespace, that has a socket with this local address.
pub fn socket_owner(processes: &[Pid], transport: InternetTransport, local: SocketAddr) -> Option<Pid> {
    let tables = match transport {
        InternetTransport::Tcp => ["tcp", "tcp6"],
        InternetTransport::Udp => ["udp", "udp6"],
    };
    // A socket without a peer has no local address until it sends.
    let same = |of: SocketAddr| of.port() == local.port() && (of.ip() == local.ip() || of.ip().is_unspecified());
    let inode = |row: &SocketTableRow<'_>| (same(row.local) && row.inode != "0").then(|| row.inode.to_owned());
    let names = [PathBuf::from(format!("socket:[{}]", find(*processes.first()?, tables, inode)?))];
    processes.iter().copied().find(|pid| descriptors(*pid).any(|open| open.is_one_of(&names)))
}

/// Returns the value of a variable in the environment that a process was started with.
pub fn variable_of(pid: Pid, name: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = |entry: &[u8]| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=").map(<[u8]>::to_vec);
    String::from_utf8(environment.split(|byte| *byte == 0).find_map(value)?).ok()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn tables_of_several_pages_are_read_whole() {
        let servers: Vec<_> = (0..100).map(|_| TcpListener::bind("127.0.0.1:0").expect("a server")).collect();
        let addresses = servers.iter().map(|server| server.local_addr().expect("an address"));
        assert_eq!(addresses.filter(|address| listens_at(*address)).count(), 100);
    }

    #[test]
    fn rows() {
        let line =
            "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0        0 4711 1 0 100";
        let parsed = parse_row(line).expect("a row");
        assert_eq!((parsed.state, parsed.inode), ("0A", "4711"));
        if cfg!(target_endian = "little") {
            assert_eq!(parsed.local, "127.0.0.1:8080".parse().expect("an address"));
            let line = "0: 0000000000000000FFFF00000100007F:0050 0:0 01 0:0 00:0 0 0 0 7";
            assert_eq!(parse_row(line).expect("a row").local, "127.0.0.1:80".parse().expect("an address"));
        }
        assert!(parse_row("sl local_address").is_none());
    }

    #[test]
    fn a_listener_is_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        assert!(listens(nix::unistd::getpid(), port));
        drop(listener);
        assert!(!listens(nix::unistd::getpid(), port));
    }

    #[test]
    fn the_owner_of_a_socket_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let stream = TcpStream::connect(listener.local_addr().expect("an address")).expect("a stream");
        let datagram = UdpSocket::bind("0.0.0.0:0").expect("a socket");
        let network = fs::File::open("/proc/self/ns/net").expect("a namespace");
        let processes = processes_in_network(network.as_fd());
        let own = nix::unistd::getpid();
        assert!(!has_other_network(own));
        assert!(processes.contains(&own));
        let local = stream.local_addr().expect("an address");
        assert_eq!(socket_owner(&processes, InternetTransport::Tcp, local), Some(own));
        let port = datagram.local_addr().expect("an address").port();
        assert_eq!(socket_owner(&processes, InternetTransport::Udp, ([127, 0, 0, 1], port).into()), Some(own));
    }

    #[test]
    fn variables() {
        let path = std::env::var("PATH").ok();
        assert_eq!(variable_of(nix::unistd::getpid(), "PATH"), path);
        assert_eq!(variable_of(nix::unistd::getpid(), "PAT"), None);
    }
}
