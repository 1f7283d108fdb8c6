//! The bounds of a child from its first instruction on.

use std::ffi::CString;
use std::os::fd::RawFd;
use std::rc::Rc;

use super::{SyscallFilter, WorldEntrance};

/// The bounds of a child, or a filter that reports its calls.
#[derive(Debug, Default)]
pub enum ChildRestriction {
    /// No bounds.
    #[default]
    None,
    /// The confinement of the child.
    Confined(Rc<ChildConfinement>),
    /// A filter alone.
    Filtered(ListenedFilter),
}

/// A filter of system calls with a listener. A child that has it gains no privileges.
#[derive(Debug)]
pub struct ListenedFilter {
    /// The filter.
    pub filter: Rc<SyscallFilter>,
    /// The socket to the filter's listener, and the message, as in [`ChildConfinement`].
    pub listener: (RawFd, Vec<u8>),
}

/// The confinement of a child from its first instruction on. Its parent keeps the descriptors open.
#[derive(Debug)]
pub struct ChildConfinement {
    /// The namespaces that it enters.
    pub entrance: Option<WorldEntrance>,
    /// The ruleset of Landlock.
    pub landlock: Option<RawFd>,
    /// The profile of Seatbelt, on macOS alone.
    pub profile: Option<CString>,
    /// The filter of system calls.
    pub filter: Option<Rc<SyscallFilter>>,
    /// The socket to the filter's listener, if it has one, and the message that goes there with the filter's
    /// descriptor. The number of the socket is higher than the numbers of inherited descriptors.
    pub listener: Option<(RawFd, Vec<u8>)>,
}
