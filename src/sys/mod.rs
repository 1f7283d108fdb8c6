//! The only unsafe code: what the operating systems offer, behind functions with the same signatures.
//!
//! `unix` holds for every platform; `linux` and `macos` are twins. Nothing else in the crate names a platform.

#![expect(unsafe_code, reason = "this module is the border to the operating system")]

mod descriptors;
mod doing;
#[cfg(feature = "addon")]
mod offers;
mod processes;
mod sample;
mod signals;
mod terminal;
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

pub use descriptors::*;
pub use doing::*;
#[cfg(feature = "addon")]
pub use offers::*;
pub use processes::*;
pub use sample::*;
pub use signals::*;
pub use terminal::*;
#[cfg(feature = "addon")]
pub use watch::*;
