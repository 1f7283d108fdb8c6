//! Linux: subreapers, `/proc`, pidfds, anonymous files.

mod activity;
#[cfg(feature = "addon")]
mod features;
mod fifo;
mod files;
mod group;
mod launch;
mod oom;
mod pidfd;
mod pipes;
mod platform;
mod proc;
mod realtime;
#[cfg(feature = "addon")]
mod shared;
mod syscalls;
mod usage;
mod warm;

pub use activity::*;
#[cfg(feature = "addon")]
pub use features::*;
pub use files::*;
pub use group::*;
pub use launch::*;
pub use oom::*;
pub use pidfd::*;
pub use pipes::*;
pub use platform::*;
pub use proc::*;
pub use realtime::*;
#[cfg(feature = "addon")]
pub use shared::*;
pub use usage::*;
pub use warm::*;
