//! One loop over all sockets of a gate.
//!
//! A connection to a port that no entry of the policy has is refused at once. At other ports the kernel accepts before
//! the gate has decided. So a connection that is refused there, or whose server cannot be reached, is reset. Proxies of
//! the host cannot be reached, so variables that name them have to be removed from the environment.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::unistd::Pid;

use confine_broker::{BrokerEvent, SecretBroker, SharedOrigin, TlsConnection};
use confine_policy::CountedSecretUse;
use sys::{DescriptorPoller, InternetTransport, NamespaceKind, PollInterest};

use super::allowed_hosts::AllowedHosts;
use super::broker_events::GateBroker;
use super::connection::{ConnectionNeed, DialCandidate, GatedConnection};
use super::connection_decision::{self, ConnectionDecision, RefusedTarget};
use super::connection_table::{ConnectionTable, place_of};
use super::control::{self, GateAnswer, GateRequest, RequestedConnection};
use super::dns::{UnpairedQueries, WorldResolver};
use super::handshake::DialledDestination;
use super::link::is_resolver;
use super::link_sockets::LinkSockets;
use super::name_addresses::NameAddressTable;
use super::opening_packets;
use super::refusal_recorder::{RefusalRecorder, RefusedAttempt};
use super::refusals::without_v4_mapping;
use super::relay::{self, RelaySide, SecretGuard};
use super::resolver_pool::ResolverPool;
use super::setup::{GateNetwork, GateSetup};
use super::socket_factory::NamespacedSocketFactory;
use super::world_loopback::WorldLoopback;

/// Connections, queries or packets that are taken in a row, after which others get their turn.
const TURNS: usize = 32;
/// Turns for the arrivals of a command that has ended: as many connections as may wait for a listener.
const ROUNDS: usize = 4096 / TURNS;
/// The longest query over UDP that a program sends.
const QUERY: usize = 4096;
/// Time after which listeners that could not accept are tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Kinds of tokens. The lower half of a token is an index.
const LIFELINE: u64 = 0;
const CONTROL: u64 = 1;
const RESOLVED: u64 = 2;
const OPENINGS: u64 = 3;
const RESOLVER: u64 = 4;
const LISTENER: u64 = 5;
const EXPOSED: u64 = 6;
const BROKER: u64 = 7;
const CONNECTION: u64 = 8;

fn token(kind: u64, index: usize) -> u64 {
    kind << 32 | index as u64
}

/// Returns the target of a denial that names a secret.
fn leaked_target(name: &str, to: &str) -> String {
    format!("{to} ({name})")
}

/// The sockets on which connections and queries arrive.
struct GateListeners {
    /// Listeners at every address of the world's link.
    listeners: Vec<(u16, TcpListener)>,
    /// Listeners at the host's loopback.
    exposed: Vec<TcpListener>,
    resolvers: Vec<UdpSocket>,
    openings: Option<OwnedFd>,
    /// Whether listeners wait until there is room for connections again.
    paused: bool,
}

/// The way into the world's own network.
enum WorldNetworkRoute {
    /// There is none.
    NoNetwork,
    /// Into a namespace.
    Namespace(NamespacedSocketFactory),
    /// To an address of this machine.
    HostLoopback(WorldLoopback),
}

impl WorldNetworkRoute {
    fn loopback(&mut self) -> Option<&mut WorldLoopback> {
        match self {
            Self::HostLoopback(loopback) => Some(loopback),
            Self::NoNetwork | Self::Namespace(_) => None,
        }
    }
}

/// The state of a gate.
pub(super) struct GateServer {
    poller: DescriptorPoller,
    lifeline: OwnedFd,
    control: OwnedFd,
    entrances: GateListeners,
    inside: WorldNetworkRoute,
    rules: Arc<AllowedHosts>,
    names: NameAddressTable,
    pairs: UnpairedQueries,
    recorder: RefusalRecorder,
    pool: ResolverPool,
    /// Connections that wait for the addresses of a name.
    waiting: HashMap<String, Vec<(usize, u64)>>,
    connections: ConnectionTable,
    /// Opens connections to the hosts of secrets.
    broker: Option<GateBroker>,
}

impl GateServer {
    /// Registers all sockets on which a gate listens.
    pub fn new(
        setup: GateSetup,
        sockets: LinkSockets,
        spring: Option<NamespacedSocketFactory>,
        pool: ResolverPool,
        broker: Option<GateBroker>,
    ) -> io::Result<Self> {
        let GateSetup { rules, names, exposed, network, lifeline, control, variable, board, .. } = setup;
        let mut listeners: Vec<_> =
            sockets.listeners.into_iter().map(|(port, fd)| (port, TcpListener::from(fd))).collect();
        let (world, inside) = match network {
            GateNetwork::Namespaces(namespaces) => {
                (namespaces.world, spring.map_or(WorldNetworkRoute::NoNetwork, WorldNetworkRoute::Namespace))
            }
            GateNetwork::HostLoopback(loopback) => {
                listeners.push((0, loopback.entry.try_clone()?));
                (sys::own_namespace(NamespaceKind::Network)?, WorldNetworkRoute::HostLoopback(loopback))
            }
        };
        let entrances = GateListeners {
            listeners,
            exposed,
            resolvers: sockets.resolvers,
            openings: sockets.openings,
            paused: false,
        };
        let gate = Self {
            poller: DescriptorPoller::new()?,
            lifeline,
            control,
            entrances,
            inside,
            rules: Arc::new(rules),
            names,
            pairs: UnpairedQueries::default(),
            recorder: RefusalRecorder::new(world, variable, board),
            pool,
            waiting: HashMap::new(),
            connections: ConnectionTable::new(CONNECTION),
            broker,
        };
        let add = |fd: BorrowedFd<'_>, kind, index| gate.poller.add(fd, token(kind, index), PollInterest::READ);
        add(gate.lifeline.as_fd(), LIFELINE, 0)?;
        add(gate.control.as_fd(), CONTROL, 0)?;
        add(gate.pool.as_fd(), RESOLVED, 0)?;
        gate.broker.iter().try_for_each(|broker| add(broker.as_fd(), BROKER, 0))?;
        gate.entrances.openings.iter().try_for_each(|fd| add(fd.as_fd(), OPENINGS, 0))?;
        for (index, socket) in gate.entrances.resolvers.iter().enumerate() {
            socket.set_nonblocking(true)?;
            add(socket.as_fd(), RESOLVER, index)?;
        }
        for (index, (_, listener)) in gate.entrances.listeners.iter().enumerate() {
            add(listener.as_fd(), LISTENER, index)?;
        }
        for (index, listener) in gate.entrances.exposed.iter().enumerate() {
            listener.set_nonblocking(true)?;
            add(listener.as_fd(), EXPOSED, index)?;
        }
        Ok(gate)
    }

    /// Serves until the world ends.
    pub fn run(&mut self) -> io::Result<()> {
        let mut ready = Vec::new();
        loop {
            let pause = self.entrances.paused.then_some(PAUSE);
            let timeout = [self.connections.timeout(Instant::now()), pause].into_iter().flatten().min();
            self.poller.wait(timeout, &mut ready)?;
            for event in &ready {
                let index = (event.token & u64::from(u32::MAX)) as usize;
                match event.token >> 32 {
                    LIFELINE => return Ok(()),
                    CONTROL => self.on_request(),
                    RESOLVED => self.on_resolved(),
                    OPENINGS => drop(self.on_openings()),
                    RESOLVER => self.on_query(index),
                    LISTENER => drop(self.on_arrivals(index)),
                    EXPOSED => self.on_visitors(index),
                    BROKER => self.on_broker_events(),
                    _ => {
                        let (slot, side) = place_of(index);
                        self.step(slot, |connection, buffer| connection.on_event(side, *event, buffer));
                    }
                }
            }
            for slot in self.connections.expired_slots(Instant::now()) {
                self.step(slot, |connection, _| connection.on_late());
            }
            if self.entrances.paused {
                self.set_paused(self.connections.is_full());
            }
        }
    }

    fn on_request(&mut self) {
        let Some((request, asker)) = control::receive(self.control.as_fd()) else {
            // All processes that could ask are gone. The world may live on.
            if !sys::peer_alive(self.control.as_fd()) {
                self.poller.remove(self.control.as_fd());
            }
            return;
        };
        let answer = match request {
            GateRequest::Started => GateAnswer::Started,
            GateRequest::Certificate => {
                GateAnswer::Certificate(self.secrets().map(|secrets| secrets.certificate().to_owned()))
            }
            GateRequest::Take(mark) => {
                self.catch_up();
                self.on_broker_events();
                GateAnswer::Taken(self.recorder.take(mark.as_deref()))
            }
            GateRequest::Listens(port) => GateAnswer::Listens(self.listens(port)),
            GateRequest::Serve(asked, families) => {
                let port = self.inside.loopback().ok_or(Errno::EADDRNOTAVAIL);
                GateAnswer::Port(
                    port.and_then(|loopback| loopback.add_server(asked, families)).map_err(|errno| errno as i32),
                )
            }
            GateRequest::Reach(journey) => {
                GateAnswer::Address(self.reach_address(journey).map_err(|errno| errno as i32))
            }
            GateRequest::Name(port, peer) => GateAnswer::Address(self.name(port, peer).ok_or(libc::ENOTCONN)),
        };
        control::send_answer(&asker, &answer);
    }

    fn listens(&self, port: u16) -> bool {
        match &self.inside {
            WorldNetworkRoute::HostLoopback(loopback) => loopback.servers_at_port(port).any(sys::listens_at),
            WorldNetworkRoute::NoNetwork | WorldNetworkRoute::Namespace(_) => self.recorder.listens(port),
        }
    }

    /// Returns the address to which a socket of a world without namespaces is connected. A connection that no entry of
    /// the policy allows is refused at once.
    fn reach_address(
        &mut self,
        RequestedConnection { from, to, process }: RequestedConnection,
    ) -> Result<SocketAddr, Errno> {
        let loopback = self.inside.loopback().ok_or(Errno::ENETUNREACH)?;
        if let Some(server) = loopback.server_at(to) {
            return server;
        }
        if !is_resolver(to)
            && let ConnectionDecision::Refuse(RefusedTarget { target, grant }) =
                connection_decision::decide_by_address(&self.rules, &self.names, to)
        {
            let (from, to) = ((loopback.address(), from).into(), Some(without_v4_mapping(to)));
            let attempted = RefusedAttempt { target, grant, transport: InternetTransport::Tcp, from, to };
            self.recorder.record_attempt_of(Pid::from_raw(process), attempted);
            return Err(Errno::ECONNREFUSED);
        }
        Ok(loopback.expect_connection(from, to))
    }

    /// Returns the address that a socket has for its program.
    fn name(&mut self, port: u16, peer: Option<u16>) -> Option<SocketAddr> {
        let loopback = self.inside.loopback()?;
        match peer {
            Some(peer) if loopback.is_gate(peer) => self.connections.to(port),
            Some(peer) => Some(loopback.name(peer)),
            None => Some(loopback.name(port)),
        }
    }

    /// Takes all packets and connections of commands that wait.
    fn catch_up(&mut self) {
        let _ = (0..ROUNDS).all(|_| self.on_openings());
        for index in 0..self.entrances.listeners.len() {
            let _ = (0..ROUNDS).all(|_| self.on_arrivals(index));
        }
    }

    /// Records packets that the kernel refuses because nothing listens. Returns whether there may be more.
    fn on_openings(&mut self) -> bool {
        let mut buffer = [0; 128];
        for _ in 0..TURNS {
            let Some(fd) = &self.entrances.openings else { return false };
            let Ok(length) = nix::unistd::read(fd, &mut buffer) else { return false };
            let Some(opening) = opening_packets::parse(&buffer[..length]) else { continue };
            let to = opening.to;
            let served = match opening.transport {
                InternetTransport::Tcp => self.entrances.listeners.iter().any(|(port, _)| *port == to.port()),
                InternetTransport::Udp => is_resolver(to),
            };
            if !served {
                let (transport, from) = (opening.transport, opening.from);
                let RefusedTarget { target, grant } = RefusedTarget::by_kernel(&self.rules, &self.names, transport, to);
                self.recorder.record_attempt(RefusedAttempt { target, grant, transport, from, to: Some(to) });
            }
        }
        true
    }

    fn on_query(&mut self, index: usize) {
        let mut buffer = [0; QUERY];
        for _ in 0..TURNS {
            let Ok((length, from)) = self.entrances.resolvers[index].recv_from(&mut buffer) else { return };
            if let Some(answer) = self.answer(&buffer[..length], InternetTransport::Udp, from) {
                let _ = self.entrances.resolvers[index].send_to(&answer, from);
            }
        }
    }

    /// Answers a query. A refused name is recorded before the program has its answer and goes on.
    fn answer(&mut self, query: &[u8], transport: InternetTransport, from: SocketAddr) -> Option<Vec<u8>> {
        let v6 = self.entrances.resolvers.len() > 1;
        let looked = WorldResolver { rules: &self.rules, names: &mut self.names, pairs: &mut self.pairs, v6 }
            .answer_query(query)?;
        if let Some(RefusedTarget { target, grant }) = looked.refused {
            self.recorder.record_attempt(RefusedAttempt { target, grant, transport, from, to: None });
        }
        Some(looked.answer)
    }

    /// Accepts connections of the world. Returns whether there may be more.
    fn on_arrivals(&mut self, index: usize) -> bool {
        for _ in 0..TURNS {
            let Some((slot, to)) = self.accept(|entrances| &entrances.listeners[index].1) else { return false };
            let Some(to) = self.destination_of(slot, to) else { continue };
            if is_resolver(to) {
                self.step(slot, |connection, _| connection.become_dns_stream());
                continue;
            }
            match connection_decision::decide_by_address(&self.rules, &self.names, to) {
                ConnectionDecision::Resolve(name) => self.resolve(slot, to.port(), name),
                known => self.go_to(slot, known),
            }
        }
        true
    }

    /// Returns where a connection leads. Without namespaces only its listener knows, which has said it before.
    fn destination_of(&mut self, slot: usize, to: SocketAddr) -> Option<SocketAddr> {
        let Some(loopback) = self.inside.loopback() else { return Some(to) };
        let expected = self.connections.connection_at(slot).and_then(|(connection, _)| {
            connection.to = loopback.take_expected(connection.from)?;
            Some(connection.to)
        });
        if expected.is_none() {
            self.give_up(slot);
        }
        expected
    }

    /// Accepts connections of the host to exposed ports.
    fn on_visitors(&mut self, index: usize) {
        for _ in 0..TURNS {
            let Some((slot, to)) = self.accept(|entrances| &entrances.exposed[index]) else { return };
            let candidates = match &self.inside {
                WorldNetworkRoute::HostLoopback(loopback) => {
                    loopback.servers_at_port(to.port()).map(DialCandidate::inside).collect()
                }
                WorldNetworkRoute::NoNetwork | WorldNetworkRoute::Namespace(_) => DialCandidate::loopback(to.port()),
            };
            self.step(slot, |connection, _| connection.go_to(candidates, None));
        }
    }

    /// Accepts a connection, and gives it a place. Returns the address that it has dialled.
    fn accept(&mut self, listener: impl Fn(&GateListeners) -> &TcpListener) -> Option<(usize, SocketAddr)> {
        if self.connections.is_full() {
            self.set_paused(true);
            return None;
        }
        let accepted = listener(&self.entrances).accept().and_then(|(client, from)| {
            client.set_nonblocking(true)?;
            Ok((client.local_addr()?, from, client))
        });
        match accepted {
            Ok((to, from, client)) => Some((
                self.connections.add(GatedConnection::new(client, without_v4_mapping(from), without_v4_mapping(to))),
                without_v4_mapping(to),
            )),
            Err(error) => {
                // Without free descriptors the listener would be reported again at once.
                let exhausted = [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM];
                if error.raw_os_error().is_some_and(|errno| exhausted.contains(&errno)) {
                    self.set_paused(true);
                }
                None
            }
        }
    }

    /// Stops accepting, or starts again.
    fn set_paused(&mut self, pause: bool) {
        let interest = if pause { PollInterest::NONE } else { PollInterest::READ };
        for (index, (_, listener)) in self.entrances.listeners.iter().enumerate() {
            let _ = self.poller.change(listener.as_fd(), token(LISTENER, index), interest);
        }
        for (index, listener) in self.entrances.exposed.iter().enumerate() {
            let _ = self.poller.change(listener.as_fd(), token(EXPOSED, index), interest);
        }
        self.entrances.paused = pause;
    }

    /// Starts the resolution of a name. The connection waits.
    fn resolve(&mut self, slot: usize, port: u16, name: String) {
        if let Some(addresses) = self.pool.remembered_addresses(&name) {
            return self
                .go_to(slot, connection_decision::decide_by_resolved_name(&self.rules, &name, port, &addresses));
        }
        let Some(serial) = self.connections.serial_of(slot) else { return };
        if let Some(others) = self.waiting.get_mut(&name) {
            others.push((slot, serial));
        } else if self.pool.start_resolving(name.clone()).is_ok() {
            self.waiting.insert(name, vec![(slot, serial)]);
        } else {
            return self.step(slot, |connection, _| connection.on_late());
        }
        self.step(slot, |_, _| ConnectionNeed::Event);
    }

    fn on_resolved(&mut self) {
        for (name, addresses) in self.pool.take() {
            for (slot, serial) in self.waiting.remove(&name).unwrap_or_default() {
                // The program may have given up, and the place may be taken by another connection.
                if self.connections.serial_of(slot) == Some(serial)
                    && let Some(port) = self.connections.connection_at(slot).map(|(connection, _)| connection.to.port())
                {
                    self.go_to(
                        slot,
                        connection_decision::decide_by_resolved_name(&self.rules, &name, port, &addresses),
                    );
                }
            }
        }
    }

    /// Records what happened in opened connections.
    fn on_broker_events(&mut self) {
        let found = |origin: &SharedOrigin| origin.get().cloned().unwrap_or_default();
        let events = self.broker.as_ref().map(GateBroker::take).unwrap_or_default();
        for event in events {
            let (origin, target) = match event {
                BrokerEvent::Used { origin, of } => {
                    self.recorder.record_use(found(&origin).mark, of);
                    continue;
                }
                BrokerEvent::Leaked { origin, name, to } => (origin, leaked_target(&name, &to)),
                BrokerEvent::OtherName { origin, target }
                | BrokerEvent::Distrusted { origin, target }
                | BrokerEvent::AgentRefused { origin, target } => (origin, target),
            };
            let from = (Ipv4Addr::UNSPECIFIED, 0).into();
            let transport = InternetTransport::Tcp;
            let attempted = RefusedAttempt { target, grant: None, transport, from, to: None };
            self.recorder.record_attempt_in(found(&origin), attempted);
        }
    }

    /// Returns the broker of secrets. `None`: there are none.
    fn secrets(&self) -> Option<&SecretBroker> {
        self.broker.as_ref()?.secrets.as_ref()
    }

    /// Gives an open connection to the broker.
    fn open(&mut self, slot: usize) {
        let Some(connection) = self.connections.take(slot) else { return };
        let sides = [RelaySide::Client, RelaySide::Server];
        for (socket, _) in sides.into_iter().filter_map(|side| connection.socket(side)) {
            self.poller.remove(socket.as_fd());
        }
        let (from, port) = (connection.from, connection.to.port());
        let Some(DialledDestination::Name { name, .. }) = connection.dialled.clone() else { return };
        let Some((client, server)) = connection.into_sockets() else { return };
        let origin = SharedOrigin::default();
        // A connection that finds no place is reset, as one that the gate itself has no place for.
        let Some(secrets) = self.secrets() else { return };
        if let Err(TlsConnection { client, server, .. }) =
            secrets.open(TlsConnection { client, server, name, port, origin: Arc::clone(&origin) })
        {
            relay::reset(&client);
            relay::reset(&server);
        }
        // The search takes longer than all else here. Nothing that happens in the connection is read before its end.
        let _ = origin.set(self.recorder.origin(InternetTransport::Tcp, from));
    }

    /// Refuses a connection whose bytes hold the stand-in of a secret.
    fn refuse_leak(&mut self, slot: usize, name: &str) {
        let Some((connection, _)) = self.connections.connection_at(slot) else { return };
        let (from, to) = (connection.from, connection.to);
        let host = match &connection.dialled {
            Some(DialledDestination::Name { name, .. }) => name.clone(),
            _ => to.ip().to_string(),
        };
        let origin = self.recorder.origin(InternetTransport::Tcp, from);
        let refused = Some("the connection is not one in TLS to a host of the secret".to_owned());
        let [method, path] = [(); 2].map(|()| String::new());
        let of = CountedSecretUse {
            name: name.to_owned(),
            host: format!("{host}:{}", to.port()),
            method,
            path,
            count: 1,
            status: None,
            refused,
        };
        self.recorder.record_use(origin.mark, of);
        self.refuse(slot, RefusedTarget { target: leaked_target(name, &format!("{host}:{}", to.port())), grant: None });
    }

    /// Dials for a connection, or refuses it.
    fn go_to(&mut self, slot: usize, destination: ConnectionDecision) {
        match destination {
            ConnectionDecision::Dial(addresses, dialled) => {
                if let (Some(secrets), Some((connection, _))) =
                    (self.broker.as_ref().and_then(|of| of.secrets.as_ref()), self.connections.connection_at(slot))
                {
                    let port = connection.to.port();
                    let opened = match &dialled {
                        DialledDestination::Name { name, .. } if secrets.has_host(name, port) => Some(name),
                        _ => None,
                    };
                    let search = Some(Box::new(secrets.search()));
                    let values = opened.map(|name| Box::new(secrets.value_search(name, port)));
                    let opens = opened.is_some();
                    connection.secrets = SecretGuard { opens, search, values, begun: false };
                }
                let candidates = addresses.into_iter().map(DialCandidate::outside).collect();
                self.step(slot, |connection, _| connection.go_to(candidates, Some(dialled)));
            }
            ConnectionDecision::Refuse(refusal) => self.refuse(slot, refusal),
            ConnectionDecision::Resolve(_) => self.step(slot, |connection, _| connection.on_late()),
        }
    }

    /// Records the refusal and ends a connection. Its program still waits, so it can be found.
    fn refuse(&mut self, slot: usize, RefusedTarget { target, grant }: RefusedTarget) {
        let Some((connection, _)) = self.connections.connection_at(slot) else { return };
        let (from, to) = (connection.from, Some(connection.to));
        connection.reset();
        self.recorder.record_attempt(RefusedAttempt { target, grant, transport: InternetTransport::Tcp, from, to });
        self.connections.remove(slot);
    }

    /// Lets a connection take a step, and serves its next need.
    fn step(&mut self, slot: usize, step: impl FnOnce(&mut GatedConnection, &mut [u8]) -> ConnectionNeed) {
        let Some((connection, buffer)) = self.connections.connection_at(slot) else { return };
        let before = connection.kept_bytes();
        let need = step(connection, buffer);
        let after = connection.kept_bytes();
        match need {
            _ if !self.connections.count_kept_bytes(before, after) => self.give_up(slot),
            ConnectionNeed::Event => {
                if !self.connections.watch(&self.poller, slot) {
                    self.connections.remove(slot);
                }
            }
            ConnectionNeed::Dial => self.dial(slot),
            ConnectionNeed::Answers => self.answer_queries(slot),
            ConnectionNeed::End => self.connections.remove(slot),
            ConnectionNeed::Broker => self.open(slot),
            ConnectionNeed::RefuseLeak(name) => self.refuse_leak(slot, &name),
            ConnectionNeed::Refuse(mismatch) => {
                let Some((connection, _)) = self.connections.connection_at(slot) else { return };
                let refusal = RefusedTarget::of_handshake(connection.dialled.as_ref(), connection.to, mismatch);
                self.refuse(slot, refusal);
            }
        }
    }

    /// Resets a connection. This is no denial.
    fn give_up(&mut self, slot: usize) {
        if let Some((connection, _)) = self.connections.connection_at(slot) {
            connection.reset();
        }
        self.connections.remove(slot);
    }

    /// Dials the next address of a connection that can be dialled.
    fn dial(&mut self, slot: usize) {
        loop {
            let Some((connection, _)) = self.connections.connection_at(slot) else { return };
            let Some(candidate) = connection.next_candidate() else { return self.give_up(slot) };
            let v6 = candidate.address.is_ipv6();
            let socket = match &self.inside {
                WorldNetworkRoute::Namespace(spring) if candidate.inside => spring.new_socket(v6),
                WorldNetworkRoute::HostLoopback(loopback) if candidate.inside => loopback.outgoing_socket(),
                _ => sys::stream_socket(v6),
            };
            if let Ok(server) = socket.and_then(|socket| candidate.dial(socket)) {
                return self.step(slot, |connection, _| connection.dial(server));
            }
        }
    }

    fn answer_queries(&mut self, slot: usize) {
        let mut queries = Vec::new();
        let Some((connection, buffer)) = self.connections.connection_at(slot) else { return };
        let from = connection.from;
        let need = connection.read_queries(buffer, &mut queries);
        let answers: Option<Vec<Vec<u8>>> =
            queries.iter().map(|query| self.answer(query, InternetTransport::Tcp, from)).collect();
        match answers {
            Some(answers) if need => self.step(slot, |connection, _| connection.send_dns_answers(answers)),
            _ => self.connections.remove(slot),
        }
    }
}
