//! The network of a world: a loopback, and a link to the gate if hosts are allowed.
//!
//! The link leads to a second network namespace, in which the gate listens. That namespace has every address, so that
//! the gate accepts connections to any address. The world has another namespace, so its own servers never conflict with
//! the gate's.

use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};

use super::step_failure::{StepContext, WorldStepFailure};
use confine_gate::{GATE_V4, GATE_V6, PREFIX_V4, PREFIX_V6, WORLD_V4, WORLD_V6};
use confine_policy::{ConfinementPolicy, NetworkScope};
use sys::{LOOPBACK, NamespaceKind, NetworkSettings, RouteKind};

/// The name and the index of the link's devices at both ends. Other devices of a new namespace have smaller numbers.
const NAME: &str = "world0";
const INDEX: u32 = 1000;

/// The step that needs a kernel with such devices.
pub(super) const DEVICES: &str = "a pair of network devices (veth)";

/// Starts the loopback of this process's network namespace. Returns the settings of the namespace.
pub(super) fn start_loopback() -> Result<NetworkSettings, WorldStepFailure> {
    let settings = NetworkSettings::open().at_step(|| "rtnetlink".into())?;
    settings.start(LOOPBACK).at_step(|| "the start of the loopback".into())?;
    Ok(settings)
}

/// Returns the namespace of the gate, if the policy needs one. This process's network namespace is `own`.
pub(super) fn connect_gate(
    policy: &ConfinementPolicy,
    settings: &NetworkSettings,
    own: &OwnedFd,
) -> Result<Option<OwnedFd>, WorldStepFailure> {
    if !matches!(policy.network, NetworkScope::Allow { .. }) {
        return Ok(None);
    }
    sys::new_network().at_step(|| "the network of the gate".into())?;
    let gate = sys::own_namespace(NamespaceKind::Network).at_step(|| "the network of the gate".into())?;
    let linked = link(settings, own);
    sys::enter_namespace(own.as_fd()).at_step(|| "the network namespace".into())?;
    linked.map(|()| Some(gate))
}

/// Links the namespace of `world`, to which `own` belongs, with this process's namespace.
fn link(world: &NetworkSettings, own: &OwnedFd) -> Result<(), WorldStepFailure> {
    let gate = NetworkSettings::open().at_step(|| "rtnetlink".into())?;
    gate.create_pair(NAME, INDEX, own.as_fd()).at_step(|| DEVICES.into())?;
    for (settings, index) in [(&gate, LOOPBACK), (&gate, INDEX), (world, INDEX)] {
        settings.start(index).at_step(|| "the start of a network device".into())?;
    }
    let address = |settings: &NetworkSettings, address: IpAddr, prefix| {
        settings.add_address(INDEX, address, prefix).at_step(|| format!("the address {address}"))
    };
    let route =
        |settings: &NetworkSettings, index, kind| settings.add_default_route(index, kind).at_step(|| "a route".into());
    address(&gate, GATE_V4.into(), PREFIX_V4)?;
    address(world, WORLD_V4.into(), PREFIX_V4)?;
    route(&gate, LOOPBACK, RouteKind::ToThisHost { v6: false })?;
    route(world, INDEX, RouteKind::Through(GATE_V4.into()))?;
    // A kernel without IPv6 has no IPv6 addresses to protect.
    if address(&gate, GATE_V6.into(), PREFIX_V6).is_ok() && address(world, WORLD_V6.into(), PREFIX_V6).is_ok() {
        route(&gate, LOOPBACK, RouteKind::ToThisHost { v6: true })?;
        route(world, INDEX, RouteKind::Through(GATE_V6.into()))?;
    }
    Ok(())
}
