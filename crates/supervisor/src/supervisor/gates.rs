//! The gates of worlds, as the supervisor opens them.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use nix::unistd::Pid;

use confine_gate::{GateControl, GateError, GateNamespaces, GateNetwork, GateSetup, WorldLoopback};
use confine_policy::{ConfinementPart, ConfinementPolicy, MissingPart, NetworkScope, ReportedWorldError, WorldError};
use confine_world::{BlankWorld, ConfinedWorld};
use protocol::plan::MARK;
use sys::ForkOutcome;

/// Returns the network that the gate of a world serves, and the pipe that reports the end of the world. `None`: the
/// world has the network of the host.
pub fn gate_place(world: &ConfinedWorld, policy: &ConfinementPolicy) -> io::Result<Option<(GateNetwork, OwnedFd)>> {
    if let Some((_, keeper)) = world.held.as_ref().filter(|_| policy.network != NetworkScope::Full) {
        let home = world.facts.home.as_deref().unwrap_or(Path::new(""));
        return Ok(Some((GateNetwork::HostLoopback(WorldLoopback::claim(home)?), keeper.ended.try_clone()?)));
    }
    let Some(spaces) = &world.namespaces else { return Ok(None) };
    let Some(network) = &spaces.network else { return Ok(None) };
    let gate = spaces.gate.as_ref().map(OwnedFd::try_clone).transpose()?;
    let namespaces = GateNamespaces { user: Some(spaces.user.try_clone()?), gate, world: network.try_clone()? };
    Ok(Some((GateNetwork::Namespaces(namespaces), spaces.ended.try_clone()?)))
}

/// Starts the gate of a blank world, which knows no hosts and opens nothing.
pub fn open_blank_gate(begun: &BlankWorld) -> Result<(Pid, GateControl), ReportedWorldError> {
    let Some([user, network]) = &begun.network else { return Err(failed("a network", io::ErrorKind::NotFound.into())) };
    let copied = || {
        let namespaces = GateNamespaces { user: Some(user.try_clone()?), gate: None, world: network.try_clone()? };
        io::Result::Ok((namespaces, begun.ended.try_clone()?, begun.board.try_clone()?))
    };
    let (namespaces, lifeline, board) = copied().map_err(|error| failed("the descriptors of its gate", error))?;
    let network = GateNetwork::Namespaces(namespaces);
    let (setup, control) = GateSetup::new(&NetworkScope::None, &[], network, lifeline, MARK).map_err(no_gate)?;
    match sys::fork().map_err(|error| failed("the process of its gate", error))? {
        ForkOutcome::Child => confine_gate::serve(setup.posting_on(board)),
        ForkOutcome::Parent(pid) => Ok((pid, control)),
    }
}

/// Returns whether a gate may start while the first shim of its world is forked: such a gate opens nothing, and only
/// records names.
pub fn opens_late(policy: &ConfinementPolicy) -> bool {
    policy.network == NetworkScope::None && policy.expose.is_empty()
}

/// Returns a step that failed.
pub fn failed(step: &str, source: io::Error) -> ReportedWorldError {
    WorldError::Step { step: step.to_owned(), source }.into()
}

/// Returns why there is no gate, in the terms of a world.
pub fn no_gate(error: GateError) -> ReportedWorldError {
    match error {
        GateError::Expose { .. } => ReportedWorldError::Missing(vec![MissingPart {
            part: ConfinementPart::Network,
            why: error.to_string(),
            remedy: "choose another port, or end the server or the confined session that has it".to_owned(),
        }]),
        GateError::Step { step, source } => {
            ReportedWorldError::Step { step: step.to_owned(), errno: source.raw_os_error().unwrap_or(libc::EIO) }
        }
    }
}
