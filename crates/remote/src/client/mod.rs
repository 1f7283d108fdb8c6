//! The host's side: reaches a machine, starts the program there, and runs commands by it, also through cuts.

pub mod address;
pub mod bootstrap;
pub mod error;
