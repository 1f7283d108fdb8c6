//! The places of connections. A token of the poller names a place and a side.

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit};

use sys::DescriptorPoller;

use super::connection::GatedConnection;
use super::relay::RelaySide;

/// The most connections at the same time, if the machine allows as many descriptors.
const MOST: usize = 4096;
/// Descriptors that are kept free for other uses and processes.
const RESERVED: u64 = 256;
/// Length of a read.
const LARGE: usize = 64 * 1024;
/// Length of a read when many receivers are slow, because each connection may keep as many bytes.
const SMALL: usize = 4 * 1024;
/// Total of kept bytes from which reads become small.
const KEPT: usize = 16 * 1024 * 1024;
/// Bytes that all connections keep at most. A connection that would exceed them ends.
const MOST_KEPT: usize = 64 * 1024 * 1024;

/// A connection with a number of its own.
struct NumberedConnection {
    serial: u64,
    connection: GatedConnection,
}

/// All connections.
pub(super) struct ConnectionTable {
    places: Vec<Option<NumberedConnection>>,
    free: Vec<usize>,
    most: usize,
    serial: u64,
    kept: usize,
    /// The earliest time at which a connection has waited long enough. `None`: no connection waits.
    earliest: Option<Instant>,
    buffer: Vec<u8>,
    /// The kind of tokens.
    kind: u64,
}

impl ConnectionTable {
    /// Creates an empty list. `kind` is the kind of the connections' tokens.
    pub fn new(kind: u64) -> Self {
        let (descriptors, _) = getrlimit(Resource::RLIMIT_NOFILE).unwrap_or((1024, 1024));
        let most = usize::try_from(descriptors.saturating_sub(RESERVED) / 2).unwrap_or(MOST).clamp(16, MOST);
        let (places, free) = (Vec::new(), Vec::new());
        Self { places, free, most, serial: 0, kept: 0, earliest: None, buffer: vec![0; LARGE], kind }
    }

    /// Returns whether there is no place for another connection.
    pub fn is_full(&self) -> bool {
        self.places.len() - self.free.len() >= self.most
    }

    /// Gives a connection a place.
    pub fn add(&mut self, connection: GatedConnection) -> usize {
        self.serial += 1;
        let place = Some(NumberedConnection { serial: self.serial, connection });
        if let Some(slot) = self.free.pop() {
            self.places[slot] = place;
            return slot;
        }
        self.places.push(place);
        self.places.len() - 1
    }

    /// Returns the connection at a place, with a buffer for its reads.
    pub fn connection_at(&mut self, slot: usize) -> Option<(&mut GatedConnection, &mut [u8])> {
        let length = if self.kept > KEPT { SMALL } else { LARGE };
        let place = self.places.get_mut(slot)?.as_mut()?;
        Some((&mut place.connection, &mut self.buffer[..length]))
    }

    /// Returns where the connection from a port leads.
    pub fn to(&self, from: u16) -> Option<SocketAddr> {
        let mut connections = self.places.iter().flatten().map(|place| &place.connection);
        connections.find(|connection| connection.from.port() == from).map(|connection| connection.to)
    }

    /// Returns the number of the connection at a place. No later connection has the number.
    pub fn serial_of(&self, slot: usize) -> Option<u64> {
        Some(self.places.get(slot)?.as_ref()?.serial)
    }

    /// Counts a change in the bytes that a connection keeps. Returns whether there is room for the change.
    pub fn count_kept_bytes(&mut self, before: usize, after: usize) -> bool {
        self.kept = self.kept.saturating_sub(before) + after;
        after <= before || self.kept <= MOST_KEPT
    }

    /// Removes a connection. Its sockets close.
    pub fn remove(&mut self, slot: usize) {
        drop(self.take(slot));
    }

    /// Takes a connection out of the table. The poller may know its sockets.
    pub fn take(&mut self, slot: usize) -> Option<GatedConnection> {
        let place = self.places.get_mut(slot).and_then(Option::take)?;
        self.count_kept_bytes(place.connection.kept_bytes(), 0);
        self.free.push(slot);
        Some(place.connection)
    }

    /// Registers the events that the connection at a place waits for with the poller. Returns whether all are
    /// registered.
    pub fn watch(&mut self, poller: &DescriptorPoller, slot: usize) -> bool {
        let kind = self.kind;
        let Some((connection, _)) = self.connection_at(slot) else { return true };
        let mut watched = connection.watched;
        let mut done = true;
        for (index, side) in [RelaySide::Client, RelaySide::Server].into_iter().enumerate() {
            let Some((socket, wanted)) = connection.socket(side) else { continue };
            let token = kind << 32 | (slot * 2 + index) as u64;
            done &= match (watched[index], wanted) {
                (before, now) if before == now => true,
                (None, Some(interest)) => poller.add(socket.as_fd(), token, interest).is_ok(),
                (Some(_), Some(interest)) => poller.change(socket.as_fd(), token, interest).is_ok(),
                (_, None) => {
                    poller.remove(socket.as_fd());
                    true
                }
            };
            watched[index] = wanted;
        }
        connection.watched = watched;
        let deadline = connection.deadline();
        self.earliest = self.earliest.into_iter().chain(deadline).min();
        done
    }

    /// Returns the places whose connections have waited long enough.
    pub fn expired_slots(&mut self, now: Instant) -> Vec<usize> {
        if self.earliest.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let deadlines = self.places.iter().enumerate();
        let deadlines = deadlines.filter_map(|(slot, place)| Some((slot, place.as_ref()?.connection.deadline()?)));
        let (late, waiting): (Vec<_>, Vec<_>) = deadlines.partition(|(_, at)| *at <= now);
        self.earliest = waiting.into_iter().map(|(_, at)| at).min();
        late.into_iter().map(|(slot, _)| slot).collect()
    }

    /// Returns the time until a connection may have waited long enough.
    pub fn timeout(&self, now: Instant) -> Option<Duration> {
        self.earliest.map(|at| at.saturating_duration_since(now))
    }
}

/// Returns the place and the side of a connection, from the index in a token.
pub(super) fn place_of(index: usize) -> (usize, RelaySide) {
    (index / 2, if index.is_multiple_of(2) { RelaySide::Client } else { RelaySide::Server })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn connection(listener: &TcpListener) -> GatedConnection {
        let to = listener.local_addr().expect("an address");
        let client = TcpStream::connect(to).expect("connected");
        GatedConnection::new(client, to, to)
    }

    #[test]
    fn a_place_is_taken_again_under_another_number() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let mut connections = ConnectionTable::new(7);
        let first = connections.add(connection(&listener));
        let other = connections.add(connection(&listener));
        let serial = connections.serial_of(first);
        connections.remove(first);
        assert_eq!(connections.serial_of(first), None);
        assert_eq!(connections.add(connection(&listener)), first);
        assert_ne!(connections.serial_of(first), serial);
        assert_ne!(first, other);
        connections.remove(99);
    }

    #[test]
    fn a_world_cannot_have_any_number_of_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let mut connections = ConnectionTable::new(7);
        connections.most = 2;
        let first = connections.add(connection(&listener));
        assert!(!connections.is_full());
        connections.add(connection(&listener));
        assert!(connections.is_full());
        connections.remove(first);
        assert!(!connections.is_full());
    }

    #[test]
    fn all_connections_together_keep_a_bounded_number_of_bytes() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let mut connections = ConnectionTable::new(7);
        let slot = connections.add(connection(&listener));
        assert_eq!(connections.connection_at(slot).map(|(_, buffer)| buffer.len()), Some(LARGE));
        assert!(connections.count_kept_bytes(0, KEPT + 1));
        assert_eq!(connections.connection_at(slot).map(|(_, buffer)| buffer.len()), Some(SMALL));
        assert!(!connections.count_kept_bytes(0, MOST_KEPT));
        assert!(connections.count_kept_bytes(MOST_KEPT, 0), "less is always possible");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_waits_too_long_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let (mut connections, poller) = (ConnectionTable::new(7), DescriptorPoller::new().expect("a poller"));
        let now = Instant::now();
        assert_eq!(connections.timeout(now), None);
        let slot = connections.add(connection(&listener));
        assert!(connections.watch(&poller, slot));
        let wait = connections.timeout(now).expect("a time");
        assert!(connections.expired_slots(now).is_empty());
        assert_eq!(connections.expired_slots(now + wait + Duration::from_secs(1)), [slot]);
        assert_eq!(connections.timeout(now), None, "it is reported once");
    }
}
