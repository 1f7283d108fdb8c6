//! agent-bash: runs commands for agents.
//!
//! Layers, from the top: `napi` (JavaScript) → `session` → `snapshot` → `run` (the spine) → `error` → `request` →
//! `registry` → `recording` → `pty` → `pattern` → `supervise` → `undo` → `task` → `shell_state` → `receipt` → `plan` →
//! `confine` → `reduce` → `capture` → `safety`. Each uses only those below it and the crates of `crates/`. The
//! supervisor is built from `supervise` and the layers below it, without the feature `addon`.

pub mod error;
pub mod napi;
mod pattern;
pub mod pty;
pub mod registry;
pub mod request;
pub mod run;
pub mod session;
pub mod shell_state;
pub mod snapshot;
pub mod supervise;
