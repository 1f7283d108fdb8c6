//! agent-bash: runs commands for agents.
//!
//! Layers, from the top: `napi` (JavaScript) → `session` → `snapshot` → `run` (the spine) → `error` → `request` →
//! `registry` → `recording` → `pty` → `pattern` → `supervise` → `undo` → `task` → `shell_state` → `receipt` → `plan` →
//! `confine` → `reduce` → `capture` → `safety`. Each uses only those below it and the crates of `crates/`. The
//! supervisor is built from `supervise` and the layers below it, without the feature `addon`.

#[cfg(feature = "addon")]
pub mod error;
#[cfg(feature = "addon")]
pub mod napi;
#[cfg(feature = "addon")]
mod pattern;
#[cfg(feature = "addon")]
pub mod pty;
#[cfg(feature = "addon")]
pub mod registry;
#[cfg(feature = "addon")]
pub mod request;
#[cfg(feature = "addon")]
pub mod run;
#[cfg(feature = "addon")]
pub mod session;
#[cfg(feature = "addon")]
pub mod shell_state;
#[cfg(feature = "addon")]
pub mod snapshot;
pub mod supervise;
