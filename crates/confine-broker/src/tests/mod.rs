//! The broker between a program and a host, both real: TLS and HTTP by libraries on each side.

mod answers;
mod connections;
pub(crate) mod fixture;
mod requests;
