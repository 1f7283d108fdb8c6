//! agent-bash: runs commands for agents.
//!
//! Layers, each using only those below it: `napi` (JavaScript) → `session` → `snapshot` → `run` (the spine) and `outcome` → `request`, `error` → `safety` → `pty` →
//! `background` (the addon's side of tasks) → `supervise` → `background` (what shims have of tasks) → `capture`, `plan` →
//! `sys` (the only unsafe code). The supervisor is built from `supervise` and what is below it, without the feature `addon`.

#![cfg_attr(not(feature = "addon"), expect(dead_code, reason = "the supervisor uses a part of what it shares"))]

pub mod background;
pub mod capture;
#[cfg(feature = "addon")]
pub mod error;
#[cfg(feature = "addon")]
pub mod napi;
#[cfg(feature = "addon")]
pub mod outcome;
pub mod plan;
#[cfg(feature = "addon")]
pub mod pty;
#[cfg(feature = "addon")]
pub mod request;
#[cfg(feature = "addon")]
pub mod run;
#[cfg(feature = "addon")]
pub mod safety;
#[cfg(feature = "addon")]
pub mod session;
#[cfg(feature = "addon")]
pub mod snapshot;
pub mod supervise;
mod sys;
