/// What the kernel offers a process like ours, for `agent-bash doctor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offers {
    /// A process can be held so that a signal never hits another one.
    pub pidfd: bool,
    /// All descriptors can be closed at once.
    pub close_range: bool,
    /// The version of Landlock's interface; 0 where there is none.
    pub landlock: u32,
    /// A child can have a user namespace of its own.
    pub user_namespaces: bool,
}
