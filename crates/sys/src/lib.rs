//! The only unsafe code: operating system calls behind functions with the same signatures everywhere.
//!
//! `linux` and `macos` are twins. The rest of the crate names no platform.

#![expect(unsafe_code, reason = "this module is the border to the operating system")]

mod activity;
mod attributes;
mod bounds;
mod clock;
mod confinement;
mod descriptors;
mod environment;
mod features;
mod filter;
mod fork;
mod group;
mod listeners;
mod living;
mod machine;
mod passing;
mod pipes;
mod processes;
mod readiness;
mod regular;
mod renames;
mod sample;
mod signals;
mod status;
mod switch;
mod terminal;
mod tree_watch;
#[cfg(feature = "tokio")]
mod watch;
mod witness;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub use macos::*;

pub use activity::*;
pub use attributes::*;
pub use bounds::*;
pub use clock::*;
pub use confinement::*;
pub use descriptors::*;
pub use environment::*;
pub use features::*;
pub use filter::*;
pub use fork::*;
pub use group::*;
pub use listeners::*;
pub use living::*;
pub use machine::*;
pub use passing::*;
pub use pipes::*;
pub use processes::*;
pub use readiness::*;
pub use regular::*;
pub use renames::*;
pub use sample::*;
pub use signals::*;
pub use status::*;
pub use switch::*;
pub use terminal::*;
pub use tree_watch::*;
#[cfg(feature = "tokio")]
pub use watch::*;
pub use witness::*;
