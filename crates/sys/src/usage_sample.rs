//! The usage of a process while it runs.

use nix::unistd::Pid;

use super::ResourceUsage;

/// The usage of a process at one moment, or the final usage of a process that has exited and was not reaped yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageSample {
    /// The parent's pid.
    pub parent: Pid,
    /// The usage of the process and of all children that it has reaped. The largest size is the process's current size.
    pub usage: ResourceUsage,
    /// Whether the process has reaped children. Their memory is only known from the kernel's final report.
    pub waited: bool,
    /// Memory in use, in bytes. Shared memory counts for each of its users, on macOS for none.
    pub resident: u64,
}
