//! The parts of a gate.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::WorldStatusBoard;
use confine_policy::{NetworkScope, WorldSecrets, WorldSsh};

use super::allowed_hosts::AllowedHosts;
use super::control::GateControl;
use super::name_addresses::NameAddressTable;
use super::world_loopback::WorldLoopback;

/// Why a gate could not be made.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// A port that should be exposed is taken on the host, or may not be bound.
    #[error("port {port} of the host's loopback cannot be exposed: {source}")]
    Expose {
        /// The port.
        port: u16,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// A step failed that should not fail on this machine.
    #[error("{step}: {source}")]
    Step {
        /// The step, in words.
        step: &'static str,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
}

impl GateError {
    /// Names the step that failed.
    pub(super) fn at_step(step: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Step { step, source }
    }
}

/// The namespaces of a world, as the gate enters them.
#[derive(Debug)]
pub struct GateNamespaces {
    /// The user namespace that owns the others. `None`: this process has the capabilities of the owner already.
    pub user: Option<OwnedFd>,
    /// The network namespace at the other end of the world's link, in which the gate listens. `None`: the world has no
    /// link, and the gate exposes ports. If no host is allowed, it answers queries, to record their names.
    pub gate: Option<OwnedFd>,
    /// The network namespace of the world.
    pub world: OwnedFd,
}

/// The network of a world, as its gate has it.
#[derive(Debug)]
pub enum GateNetwork {
    /// Namespaces of its own.
    Namespaces(GateNamespaces),
    /// An address of this machine's loopback.
    HostLoopback(WorldLoopback),
}

/// The parts that a gate needs. The supervisor makes them, forks the process of the gate and calls
/// [`serve`](super::serve()) there.
pub struct GateSetup {
    pub(super) rules: AllowedHosts,
    pub(super) names: NameAddressTable,
    pub(super) exposed: Vec<TcpListener>,
    pub(super) network: GateNetwork,
    pub(super) lifeline: OwnedFd,
    pub(super) control: OwnedFd,
    pub(super) variable: String,
    /// Whether no host is allowed at all.
    pub(super) isolated: bool,
    /// The board for the number of refusals.
    pub(super) board: Option<WorldStatusBoard>,
    /// The secrets, and the socket over which the host is asked for their values.
    pub(super) secrets: Option<(WorldSecrets, OwnedFd)>,
    /// The use of the host's ssh agent, and the socket that programs find.
    pub(super) agent: Option<(WorldSsh, UnixListener)>,
}

impl GateSetup {
    /// Prepares a gate, and binds the ports that it exposes. `lifeline` is the read end of the world's lifeline: the
    /// gate ends when no process holds a write end. `variable` is the name of the environment variable whose value
    /// tells to which command a process belongs.
    pub fn new(
        network: &NetworkScope,
        expose: &[u16],
        place: GateNetwork,
        lifeline: OwnedFd,
        variable: &str,
    ) -> Result<(Self, GateControl), GateError> {
        let mut exposed = Vec::new();
        for port in expose {
            exposed.extend(bind(*port).map_err(|source| GateError::Expose { port: *port, source })?);
        }
        let (ours, theirs) = sys::packet_pair().map_err(GateError::at_step("a socket pair could not be made"))?;
        let (rules, names) = (AllowedHosts::new(network), NameAddressTable::new(network));
        let variable = variable.to_owned();
        let isolated = *network == NetworkScope::None;
        Ok((
            Self {
                rules,
                names,
                exposed,
                network: place,
                lifeline,
                control: theirs,
                variable,
                isolated,
                board: None,
                secrets: None,
                agent: None,
            },
            GateControl::new(ours),
        ))
    }

    /// Returns the address of a world without namespaces.
    pub fn loopback(&self) -> Option<Ipv4Addr> {
        match &self.network {
            GateNetwork::HostLoopback(loopback) => Some(loopback.address()),
            GateNetwork::Namespaces(_) => None,
        }
    }

    /// Returns a note on the network of the world, if there is something to say.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        match &self.network {
            GateNetwork::HostLoopback(loopback) => loopback.note(),
            GateNetwork::Namespaces(_) => None,
        }
    }

    /// Lets the gate post the number of refusals that it has recorded.
    #[must_use]
    pub fn posting_on(self, board: WorldStatusBoard) -> Self {
        Self { board: Some(board), ..self }
    }
}

impl GateSetup {
    /// Lets the gate put secrets into requests. Returns the socket over which it asks for their values. `None`: there
    /// are no secrets.
    ///
    /// # Errors
    /// If no socket can be made.
    pub fn with_secrets(mut self, secrets: &WorldSecrets) -> io::Result<(Self, Option<OwnedFd>)> {
        if secrets.rules.is_empty() {
            return Ok((self, None));
        }
        let (host, gate) = sys::packet_pair()?;
        self.secrets = Some((secrets.clone(), gate));
        Ok((self, Some(host)))
    }

    /// Lets the gate stand between programs and the host's ssh agent, with a socket at this path.
    ///
    /// # Errors
    /// If no socket can be made there.
    pub fn with_agent(mut self, ssh: WorldSsh, at: &Path) -> io::Result<Self> {
        self.agent = Some((ssh, UnixListener::bind(at)?));
        Ok(self)
    }

    /// Returns the descriptors that the process of the gate keeps.
    pub(super) fn descriptors(&self) -> Vec<RawFd> {
        let Self { exposed, network, lifeline, control, board, secrets, agent, .. } = self;
        let network: Vec<_> = match network {
            GateNetwork::Namespaces(GateNamespaces { user, gate, world }) => {
                [user, gate].into_iter().flatten().chain([world]).map(AsFd::as_fd).collect()
            }
            GateNetwork::HostLoopback(loopback) => vec![loopback.descriptor()],
        };
        let some = network.into_iter().chain([lifeline, control].map(AsFd::as_fd)).chain(board.iter().map(AsFd::as_fd));
        let some = some.chain(secrets.iter().map(|(_, host)| host.as_fd()));
        let some = some.chain(agent.iter().map(|(_, socket)| socket.as_fd()));
        some.chain(exposed.iter().map(AsFd::as_fd)).map(|fd| fd.as_raw_fd()).collect()
    }
}

/// Listens at a port of the host's loopback. A host may have no IPv6.
fn bind(port: u16) -> io::Result<Vec<TcpListener>> {
    let v4 = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    let v6 = match TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
        other => other.ok(),
    };
    Ok([v4].into_iter().chain(v6).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_named() {
        let taken = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let port = taken.local_addr().expect("an address").port();
        let null = || OwnedFd::from(std::fs::File::open("/dev/null").expect("null"));
        let place = GateNetwork::Namespaces(GateNamespaces { user: None, gate: None, world: null() });
        let error = GateSetup::new(&NetworkScope::None, &[port], place, null(), "MARK").err().expect("an error");
        assert!(matches!(error, GateError::Expose { port: found, .. } if found == port), "{error}");
    }
}
