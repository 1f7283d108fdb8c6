//! Ports at which servers listen, before and after a command.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{LazyLock, Mutex, PoisonError};

use nix::unistd::Pid;

use super::{ListeningPort, PortDifference, ReceiptCompleteness, RunReceipt};
use sys::ListeningSocket;

/// The servers of a network at one moment.
#[derive(Debug, Clone, Default)]
pub struct PortListeners(BTreeMap<(u16, IpAddr), HashSet<u64>>);

impl PortListeners {
    /// Reads the servers of this process's network.
    ///
    /// # Errors
    /// If the system does not list them.
    pub fn read() -> io::Result<Self> {
        Ok(Self::of(sys::listeners()?))
    }

    /// Reads the servers of another process's network, such as a world's.
    #[must_use]
    pub fn read_of(pid: Pid) -> Self {
        Self::of(sys::listeners_of(pid))
    }

    fn of(listeners: Vec<ListeningSocket>) -> Self {
        let mut sockets: BTreeMap<_, HashSet<_>> = BTreeMap::new();
        for listener in listeners {
            sockets.entry((listener.port, listener.address)).or_default().insert(listener.socket);
        }
        Self(sockets)
    }

    /// Compares with an earlier moment. `tree` are processes that may own the sockets.
    #[must_use]
    pub fn difference_since(&self, before: &Self, tree: &[Pid]) -> PortDifference {
        let new: Vec<_> = self.0.iter().filter(|(place, _)| !before.0.contains_key(place)).collect();
        let sockets: Vec<u64> = new.iter().flat_map(|(_, sockets)| sockets.iter().copied()).collect();
        let owners = if sockets.is_empty() { Vec::new() } else { sys::socket_owners(tree, &sockets) };
        let opened = new.into_iter().map(|(place, sockets)| {
            let owner = owners.iter().find(|(socket, _)| sockets.contains(socket));
            port(place, owner.map(|(_, pid)| pid.as_raw()))
        });
        let closed = before.0.keys().filter(|place| !self.0.contains_key(place)).map(|place| port(place, None));
        PortDifference { opened: opened.collect(), closed: closed.collect() }
    }
}

fn port((number, address): &(u16, IpAddr), pid: Option<i32>) -> ListeningPort {
    ListeningPort { port: *number, address: address.to_string(), pid }
}

/// The processes that have the sockets of servers.
pub type SocketOwners = HashMap<u64, Vec<Pid>>;

/// The owners that were looked up last, because that takes some milliseconds.
static KNOWN: LazyLock<Mutex<SocketOwners>> = LazyLock::new(Mutex::default);

impl PortListeners {
    /// Returns the processes of the servers, for [`PortListeners::has_ended`].
    #[must_use]
    pub fn owners(&self) -> SocketOwners {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let sockets: HashSet<u64> = self.0.values().flatten().copied().collect();
        known.retain(|socket, _| sockets.contains(socket));
        let new: Vec<u64> = sockets.into_iter().filter(|socket| !known.contains_key(socket)).collect();
        if !new.is_empty() {
            known.extend(new.iter().map(|socket| (*socket, Vec::new())));
            for (socket, pid) in sys::socket_owners(&sys::every_process(), &new) {
                known.entry(socket).or_default().push(pid);
            }
        }
        known.clone()
    }

    /// Returns whether the processes that had a port are known, and have all ended. A server that closes its port and
    /// lives on did so by itself.
    #[must_use]
    pub fn has_ended(&self, port: &ListeningPort, owners: &SocketOwners) -> bool {
        let is_it = |(number, address): &(u16, IpAddr)| *number == port.port && address.to_string() == port.address;
        let sockets = self.0.iter().filter(|(place, _)| is_it(place)).flat_map(|(_, sockets)| sockets);
        let pids: Vec<Pid> = sockets.flat_map(|socket| owners.get(socket).into_iter().flatten().copied()).collect();
        !pids.is_empty() && pids.into_iter().all(|pid| sys::living_identity(pid).is_none())
    }
}

/// The servers of this process's network before a run.
#[derive(Debug)]
pub struct ServersBefore {
    listeners: PortListeners,
    /// The processes of the servers.
    owners: SocketOwners,
}

impl ServersBefore {
    /// Reads them. A confined run can end no server of the host, so their processes are not looked up. `None`: the
    /// system does not list them.
    #[must_use]
    pub fn read(is_confined: bool) -> Option<Self> {
        let listeners = PortListeners::read().ok()?;
        let owners = if is_confined { SocketOwners::new() } else { listeners.owners() };
        Some(Self { listeners, owners })
    }
}

impl RunReceipt {
    /// Adds the ports that the run has opened and closed: those that its living processes hold, and those whose
    /// processes have ended. `before`: the servers before the run.
    pub fn add_ports(&mut self, before: Option<&ServersBefore>, tree: &[Pid]) {
        let Some(ServersBefore { listeners, owners }) = before else {
            return self.lower(ReceiptCompleteness::Partial, "the ports of before are not known");
        };
        if tree.is_empty() && owners.values().all(Vec::is_empty) {
            return;
        }
        let Ok(now) = PortListeners::read() else {
            return self.lower(ReceiptCompleteness::Partial, "the ports of after are not known");
        };
        self.ports = now.difference_since(listeners, tree);
        self.ports.keep_owned();
        self.ports.closed.retain(|port| listeners.has_ended(port, owners));
        self.ports.add_own_network(tree);
    }
}

impl PortDifference {
    /// Keeps only the opened ports that are known to be the command's own: its tree holds them.
    pub fn keep_owned(&mut self) {
        self.opened.retain(|port| port.pid.is_some());
    }

    /// Replaces the addresses of servers by those that they have asked for.
    pub fn replace_addresses(&mut self, servers: &[(SocketAddr, SocketAddr)]) {
        for port in &mut self.opened {
            let is_it = |server: &SocketAddr| server.port() == port.port && server.ip().to_string() == port.address;
            if let Some((_, asked)) = servers.iter().find(|(server, _)| is_it(server)) {
                (port.port, port.address) = (asked.port(), asked.ip().to_string());
            }
        }
    }

    /// Adds the ports that a tree holds in a network of its own, like the network of a confined command.
    pub fn add_own_network(&mut self, tree: &[Pid]) {
        let Some(first) = tree.first().filter(|pid| has_own_network(**pid)) else { return };
        let mut own = PortListeners::read_of(*first).difference_since(&PortListeners::default(), tree);
        own.keep_owned();
        self.opened.append(&mut own.opened);
    }
}

/// Returns whether a process is in another network than this process.
fn has_own_network(pid: Pid) -> bool {
    let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
    of(&pid.to_string()).is_some_and(|other| of("self").is_some_and(|own| own != other))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket};

    use super::*;

    fn listener(port: u16, address: impl Into<IpAddr>, socket: u64) -> ListeningSocket {
        ListeningSocket { port, address: address.into(), socket }
    }

    #[test]
    fn what_differs() {
        let local = Ipv4Addr::LOCALHOST;
        let before = PortListeners::of(vec![listener(80, local, 1), listener(81, local, 2), listener(82, local, 3)]);
        let after = vec![listener(80, local, 9), listener(82, local, 3), listener(82, Ipv6Addr::LOCALHOST, 4)];
        let ports = PortListeners::of(after).difference_since(&before, &[]);
        let port = |port, address: &str| ListeningPort { port, address: address.into(), pid: None };
        assert_eq!(ports.opened, [port(82, "::1")]);
        assert_eq!(ports.closed, [port(81, "127.0.0.1")]);
    }

    #[test]
    fn real_servers() {
        let own = nix::unistd::getpid();
        let before = PortListeners::read().expect("the table");
        let server = TcpListener::bind("127.0.0.1:0").expect("a server");
        let other = TcpListener::bind("[::]:0").ok();
        let _datagrams = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let number = server.local_addr().expect("an address").port();
        let after = PortListeners::read().expect("the table");
        let mut ports = after.difference_since(&before, &[own]);
        let expected = ListeningPort { port: number, address: "127.0.0.1".into(), pid: Some(own.as_raw()) };
        assert!(ports.opened.contains(&expected), "{ports:?}");
        if let Some(other) = &other {
            let number = other.local_addr().expect("an address").port();
            assert!(ports.opened.iter().any(|port| port.port == number && port.address == "::"), "{ports:?}");
        }
        let others = after.difference_since(&before, &[]);
        assert!(others.opened.iter().any(|port| port.port == number && port.pid.is_none()), "{others:?}");
        ports.closed.push(ListeningPort { port: 1, address: "::".into(), pid: None });
        ports.keep_owned();
        assert!(ports.opened.contains(&expected) && !ports.closed.is_empty());
        let known = ports.clone();
        ports.add_own_network(&[own]);
        assert_eq!(ports, known, "the same network");
        assert_eq!(PortListeners::read_of(own).0.keys().collect::<Vec<_>>(), after.0.keys().collect::<Vec<_>>());
        let owners = after.owners();
        assert!(owners.values().any(|pids| pids.contains(&own)));
        let port = |pid| ListeningPort { pid, ..expected.clone() };
        assert!(!after.has_ended(&port(None), &owners), "its process lives on");
        let gone = owners.keys().map(|socket| (*socket, vec![Pid::from_raw(i32::MAX)])).collect();
        assert!(after.has_ended(&port(None), &gone) && !after.has_ended(&port(None), &SocketOwners::new()));
        drop(server);
        let closed = PortListeners::read().expect("the table").difference_since(&after, &[own]).closed;
        assert!(closed.iter().any(|port| port.port == number), "{closed:?}");
    }
}
