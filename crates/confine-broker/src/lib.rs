//! Opens the connections of a world to the hosts of its secrets, and puts the values in.
//!
//! A program speaks TLS with a host. If a secret names that host, the gate gives the connection to the broker, which
//! ends the TLS of the program with a certificate of the world's own authority, and speaks TLS with the host itself. In
//! between it reads HTTP/1.1 or HTTP/2: a stand-in that may stand where it stands becomes the value, and a value in an
//! answer becomes the stand-in.
//!
//! | step | where |
//! |---|---|
//! | the thread, connections that arrive, events | `broker.rs`, `broker_events.rs` |
//! | TLS on both sides, HTTP towards the program | `opened_connection.rs`, `authority.rs` |
//! | TLS and HTTP towards the host | `upstream.rs` |
//! | a request and its answer | `exchange.rs` |
//! | values in a request | `request_secrets.rs`, `host_secrets.rs`, `sig_v4.rs`, `text_forms.rs` |
//! | bodies | `secret_body.rs`, `stream_replacer.rs`, `body_decoder.rs`, `memory_budget.rs` |
//! | values in the memory of the gate | `secret_vault.rs` |
//! | authorities in Java's form | `java_store.rs` |
//! | what is kept of hosts | `kept_by_host.rs` |
//!
//! It also stands between a world and the ssh agent of the host: `ssh_agent.rs` has the socket, and `agent_session.rs`
//! says what a program may ask.
//!
//! It trusts the rules, the host process that it asks for values, and the system's authorities. It trusts no byte of a
//! program and none of a host. TLS, certificates, HTTP and compression come from libraries: rustls with ring, rcgen,
//! hyper, flate2, brotli-decompressor and libzstd.
//!
//! Memory is bounded: connections, heads and windows have limits, bodies that are opened or kept share a budget.

mod agent_session;
mod authority;
mod body_decoder;
mod broker;
mod broker_events;
mod exchange;
mod host_secrets;
mod java_store;
mod kept_by_host;
mod memory_budget;
mod opened_connection;
mod request_secrets;
mod secret_body;
mod secret_vault;
mod sig_v4;
mod ssh_agent;
mod stream_replacer;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod text_forms;
mod upstream;

pub use broker::{SecretBroker, StandInSearch, ValueSearch};
pub use broker_events::{BrokerEvent, ConnectionOrigin, EventSink, SharedOrigin};
pub use java_store::java_store;
pub use opened_connection::TlsConnection;
pub use ssh_agent::serve_ssh_agent;
