//! Linux: subreapers, `/proc`, pidfds, anonymous files.

mod activity;
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
mod realtime;
mod seccomp;
#[cfg(feature = "addon")]
mod shared;
mod syscalls;
mod usage;
mod warm;
mod watch_files;

pub use activity::*;
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
pub use realtime::*;
pub use seccomp::*;
#[cfg(feature = "addon")]
pub use shared::*;
pub use usage::*;
pub use warm::*;
pub use watch_files::*;
