//! Linux: subreapers, `/proc`, pidfds, anonymous files.

mod activity;
mod attributes;
mod connections;
#[cfg(feature = "addon")]
mod features;
mod fifo;
mod files;
mod foreign;
mod gate;
mod group;
mod host_pid;
mod landlock;
mod launch;
mod listeners;
mod mounts;
mod namespaces;
mod netlink;
mod oom;
mod paths;
mod pidfd;
mod pipes;
mod platform;
mod proc;
mod proc_root;
mod reach;
mod realtime;
mod seccomp;
#[cfg(feature = "addon")]
mod shared;
mod syscalls;
#[cfg(feature = "addon")]
mod tree_watch;
mod usage;
mod warm;
mod watch_files;

pub use activity::*;
pub use attributes::*;
pub use connections::*;
#[cfg(feature = "addon")]
pub use features::*;
pub use files::*;
pub use foreign::*;
pub use gate::*;
pub use group::*;
pub use host_pid::*;
pub use landlock::*;
pub use launch::*;
pub use listeners::*;
pub use mounts::*;
pub use namespaces::*;
pub use netlink::*;
pub use oom::*;
pub use paths::*;
pub use pidfd::*;
pub use pipes::*;
pub use platform::*;
pub use proc::*;
pub use proc_root::*;
pub use reach::*;
pub use realtime::*;
pub use seccomp::*;
#[cfg(feature = "addon")]
pub use shared::*;
#[cfg(feature = "addon")]
pub use tree_watch::*;
pub use usage::*;
pub use warm::*;
pub use watch_files::*;
