//! The gate of a world: the only way from its network to allowed hosts.
//!
//! A world has a network namespace with nothing but its own loopback and a link. At the other end of the link is a
//! second namespace, in which every address is local, so that a listener there accepts a connection to any host of the
//! internet. The gate is a process in the network namespace of the host. It owns these listeners, decides by name, and
//! dials for the world. Programs notice nothing: they need no proxy variables and no library of ours.
//!
//! | file | what |
//! |---|---|
//! | `setup`, `serve` | how the supervisor makes a gate, and its process |
//! | `control` | questions of the supervisor and of shims |
//! | `link` | the addresses of the link, and those that stand for names |
//! | `sockets`, `spring`, `openings` | its sockets in the namespaces of the world |
//! | `server` | the loop |
//! | `rules`, `addresses`, `names`, `destination` | names and addresses that may be reached; pure |
//! | `dns` | queries and their answers |
//! | `handshake` | the name that a program gives to a server |
//! | `resolve` | the host's resolver, in threads |
//! | `connection`, `connections`, `relay` | the bytes of connections |
//! | `refusals`, `recorder` | refusals, with the program that tried |
//!
//! **What a name means.** The resolver answers an allowed name with an address that stands for it and asks no other
//! resolver, so no query leaves the host for a name that is not allowed. A connection to that address is dialled by the
//! gate, which resolves the name on the host and connects to exactly the address that it has checked: one of the
//! internet, unless the caller has mapped the name or allowed the address.
//!
//! **What a program notices.** A connection to a port that no entry has is refused at once. At other ports the kernel
//! accepts before the gate has decided, so a connection that is refused there, or whose server cannot be reached, is
//! reset. Proxies of the host cannot be reached, so variables that name them have to be removed from the environment.
//!
//! **What a world can do to the host.** All bytes, names and connections that are kept for it are bounded. A gate that
//! is busy refuses its own world, and it ends with it.

mod addresses;
mod connection;
mod connections;
mod control;
#[cfg(all(test, target_os = "linux"))]
mod control_tests;
mod destination;
mod dns;
mod handshake;
mod link;
mod names;
mod openings;
mod recorder;
mod refusals;
mod relay;
mod resolve;
mod rules;
mod serve;
mod server;
#[cfg(all(test, target_os = "linux"))]
mod server_tests;
mod setup;
mod sockets;
mod spring;

pub use control::GateControl;
pub use link::{GATE_V4, GATE_V6, PREFIX_V4, PREFIX_V6, RESOLV_CONF, WORLD_V4, WORLD_V6, is_resolver};
pub use refusals::{Attempt, Refusals, Refused};
pub use serve::serve;
pub use setup::{GateError, GateNamespaces, GateSetup};
