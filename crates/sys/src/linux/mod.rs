//! Linux: subreapers, `/proc`, pidfds, anonymous files.

mod activity;
mod clone;
mod connections;
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
mod shared;
mod syscalls;
mod tree_watch;
mod usage;
mod warm;
mod watch_files;

pub use activity::*;
pub use clone::*;
pub use connections::*;
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
pub use shared::*;
pub use tree_watch::*;
pub use usage::*;
pub use warm::*;
pub use watch_files::*;

/// Converts an error of rustix into one of nix.
fn errno(error: rustix::io::Errno) -> nix::errno::Errno {
    nix::errno::Errno::from_raw(error.raw_os_error())
}
