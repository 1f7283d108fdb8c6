//! Warm shells: bash processes started before their command is known.
//!
//! A shim starts one ([`WarmShell`]) and reports the place for the command in its memory. The addon ([`ReadyShell`])
//! writes the command there and resumes the shell, without a round trip to the shim.

#[cfg(feature = "addon")]
mod ready;
mod shell;

#[cfg(feature = "addon")]
pub use ready::{ReadyShell, Stale};
pub use shell::WarmShell;
