/// Kernel features for `agent-bash doctor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelFeatures {
    /// A pidfd can hold a process, so that a signal never reaches another one.
    pub pidfd: bool,
    /// All descriptors can be closed at once.
    pub close_range: bool,
    /// The version of Landlock's interface, or 0 without Landlock.
    pub landlock: u32,
    /// A child can have a user namespace of its own.
    pub user_namespaces: bool,
    /// A process can answer the system calls of another one (seccomp).
    pub notifications: bool,
    /// gVisor runs this process, and is its kernel.
    pub gvisor: bool,
}
