//! The decisions of a filter about one call, depending on its registers.

/// `O_CREAT`
pub const CREATES: u32 = 0o100;
/// `O_WRONLY`, `O_RDWR` and `O_TRUNC`
pub const WRITES: u32 = 0o1003;

/// The purpose of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyscallFilterMode {
    /// Confines without a listener: calls that depend on memory are only bounded by mounts and Landlock, and no denial
    /// is recorded.
    Silent,
    /// Confines with a listener: it answers calls that depend on memory, such as a path or the name of a socket.
    Confined,
    /// Like `Confined`, and the listener is asked about each call that can change a file.
    ConfinedAndRecorded,
    /// Like `Confined`, without mounts that bound changes and reads: the listener performs whatever opens, changes or
    /// names a file.
    Performed,
    /// Like `Performed`, and the listener is asked about each call that can change a file.
    PerformedAndRecorded,
    /// Asks about each call that can change a file, and refuses nothing.
    Recorded,
}

impl SyscallFilterMode {
    /// Returns whether the filter passes calls on to a listener.
    pub fn has_listener(self) -> bool {
        self != Self::Silent
    }

    /// Returns whether the listener performs what opens, changes or names a file.
    pub fn performs(self) -> bool {
        matches!(self, Self::Performed | Self::PerformedAndRecorded)
    }

    /// Returns the filter for commands whose changes are recorded.
    pub fn with_recording(self) -> Self {
        if self.performs() { Self::PerformedAndRecorded } else { Self::ConfinedAndRecorded }
    }
}

/// A decision of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyscallAction {
    /// Lets the kernel perform the call.
    Allow,
    /// Lets the call fail with this error number.
    Refuse(u16),
    /// Asks the listener, which records the call and lets it fail. Without a listener the call fails.
    Deny,
    /// Asks the listener. Without a listener the kernel performs the call.
    Ask,
}

/// A fact that the registers of a call show. For arguments that the kernel reads as `int`, only the lower half counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterTest {
    /// No condition.
    Always,
    /// The first argument is `AT_FDCWD`.
    AtCurrent,
    /// An argument has at least one of these bits.
    Bits(usize, u32),
    /// An argument has this value.
    Is(usize, u32),
    /// An argument has this value in these bits.
    Masked(usize, u32, u32),
    /// An argument is a null pointer.
    Null(usize),
}

/// An action, if all tests hold.
#[derive(Debug)]
pub struct SyscallCase(pub &'static [RegisterTest], pub SyscallAction);

/// The first case whose tests hold decides. If no case holds, the call is allowed.
pub type SyscallRule = &'static [SyscallCase];
