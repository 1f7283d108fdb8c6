//! The gate of a world: the only way from its network to allowed hosts.
//!
//! A world has a network namespace with nothing but its own loopback and a link. At the other end of the link is a
//! second namespace, in which every address is local, so that a listener there accepts a connection to any host of the
//! internet. The gate is a process in the network namespace of the host. It owns these listeners, decides by name, and
//! dials for the world. Programs notice nothing: they need no proxy variables and no library of ours.
//!
//! | file | what |
//! |---|---|
//! | `setup`, `serve`, `control` | the start of a gate, its process, and questions of the supervisor and of shims |
//! | `link`, `link_sockets`, `socket_factory`, `opening_packets` | addresses of the link and of names; sockets in the world's namespaces |
//! | `world_loopback` | the loopback of a world without namespaces |
//! | `server` | the loop |
//! | `allowed_hosts`, `forbidden_addresses`, `name_addresses`, `connection_decision` | names and addresses that may be reached; pure |
//! | `dns`, `resolver_pool` | queries and their answers; the host's resolver, in threads |
//! | `handshake` | the name that a program gives to a server |
//! | `broker_events` | connections to the hosts of secrets, which `confine_broker` opens |
//! | `connection`, `connection_table`, `relay` | the bytes of connections |
//! | `refusals`, `refusal_recorder` | refusals, with the program that tried |
//! | `status_board` | numbers that one process of a world posts for the others |
//!
//! The resolver answers an allowed name with an address that stands for the name, and asks no other resolver. So no
//! query leaves the host for a name that is not allowed. The gate dials connections to that address: it resolves the
//! name on the host and connects to exactly the address that it has checked. That is an address of the internet, unless
//! the caller has mapped the name or allowed the address.
//!
//! A world without namespaces has an address of its own in 127/8 instead. Its listeners connect its sockets to servers
//! at that address, or to the gate, after they have told the gate where the connection leads.
//!
//! It trusts its policy, the supervisor and the resolver of the host. It trusts no byte of a world: no query, no
//! handshake and no head of a request. It never starts a program and opens no file of a command.
//!
//! All bytes, names and connections that the gate keeps for a world are bounded. A busy gate refuses only its own
//! world, and it ends with that world.

mod allowed_hosts;
mod broker_events;
mod connection;
mod connection_decision;
mod connection_table;
mod control;
#[cfg(all(test, target_os = "linux"))]
mod control_tests;
mod dns;
mod forbidden_addresses;
mod handshake;
mod link;
mod link_sockets;
mod name_addresses;
mod opening_packets;
mod refusal_recorder;
mod refusals;
mod relay;
mod resolver_pool;
mod serve;
mod server;
#[cfg(all(test, target_os = "linux"))]
mod server_tests;
mod setup;
mod socket_factory;
mod status_board;
mod world_loopback;

pub use control::{GateControl, RequestedConnection};
pub use link::{GATE_V4, GATE_V6, PREFIX_V4, PREFIX_V6, RESOLV_CONF, WORLD_V4, WORLD_V6, is_resolver};
pub use name_addresses::hosts_lines;
pub use refusals::{ConnectionAttempt, CountedRefusal, GateRefusals};
pub use serve::serve;
pub use setup::{GateError, GateNamespaces, GateNetwork, GateSetup};
pub use status_board::{WorldStatusBoard, WorldStatusSlot};
pub use world_loopback::{AddressFamilies, WorldLoopback, servers_of};
