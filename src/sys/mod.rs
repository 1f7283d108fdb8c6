//! The only unsafe code: operating system calls behind functions with the same signatures everywhere.
//!
//! `linux` and `macos` are twins. The rest of the crate names no platform.

#![expect(unsafe_code, reason = "this module is the border to the operating system")]

mod activity;
#[cfg(all(test, feature = "addon"))]
mod allocated;
mod attributes;
mod bounds;
mod confinement;
mod descriptors;
#[cfg(feature = "addon")]
mod environment;
#[cfg(feature = "addon")]
mod features;
mod filter;
mod fork;
mod group;
mod listeners;
mod living;
mod machine;
mod pipes;
mod processes;
mod readiness;
mod sample;
mod signals;
mod terminal;
#[cfg(feature = "addon")]
mod tree_watch;
#[cfg(feature = "addon")]
mod watch;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub use macos::*;

pub use activity::*;
#[cfg(all(test, feature = "addon"))]
pub use allocated::*;
pub use attributes::*;
pub use bounds::*;
pub use confinement::*;
pub use descriptors::*;
#[cfg(feature = "addon")]
pub use environment::*;
#[cfg(feature = "addon")]
pub use features::*;
pub use filter::*;
pub use fork::*;
pub use group::*;
pub use listeners::*;
pub use living::*;
pub use machine::*;
pub use pipes::*;
pub use processes::*;
pub use readiness::*;
pub use sample::*;
pub use signals::*;
pub use terminal::*;
#[cfg(feature = "addon")]
pub use tree_watch::*;
#[cfg(feature = "addon")]
pub use watch::*;
