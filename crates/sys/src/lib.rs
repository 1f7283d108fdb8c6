//! The only unsafe code: operating system calls behind functions with the same signatures everywhere.
//!
//! `linux` and `macos` are twins. The rest of the crate names no platform.

#![expect(unsafe_code, reason = "this module is the border to the operating system")]

#[cfg(target_env = "musl")]
mod allocator;

mod activity;
mod attributes;
mod cgroup;
mod child_restriction;
mod clock;
mod confinement;
mod descriptors;
mod disk_space;
mod environment;
mod feature_switch;
mod features;
mod fork;
mod listening_socket;
mod living;
mod machine;
mod pipe_forwarder;
mod pipes;
mod poll_event;
mod processes;
mod regular;
mod renames;
mod signals;
mod status;
mod swap;
mod syscall_filter;
mod terminal;
mod tree_watch;
#[cfg(test)]
mod twins_tests;
mod usage_sample;
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
pub use cgroup::*;
pub use child_restriction::*;
pub use clock::*;
pub use confinement::*;
pub use descriptors::*;
pub use disk_space::*;
pub use environment::*;
pub use feature_switch::*;
pub use features::*;
pub use fork::*;
pub use listening_socket::*;
pub use living::*;
pub use machine::*;
pub use pipe_forwarder::*;
pub use pipes::*;
pub use poll_event::*;
pub use processes::*;
pub use regular::*;
pub use renames::*;
pub use signals::*;
pub use status::*;
pub use swap::*;
pub use syscall_filter::*;
pub use terminal::*;
pub use tree_watch::*;
pub use usage_sample::*;
#[cfg(feature = "tokio")]
pub use watch::*;
pub use witness::*;
