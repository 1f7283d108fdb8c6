//! Sockets of the internet, and readiness of descriptors.

/// The events to report about a descriptor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PollInterest {
    /// Whether to report that the descriptor can be read.
    pub readable: bool,
    /// Whether to report that the descriptor can be written.
    pub writable: bool,
}

impl PollInterest {
    /// Reports that the descriptor can be read.
    pub const READ: Self = Self { readable: true, writable: false };
    /// Reports that the descriptor can be written.
    pub const WRITE: Self = Self { readable: false, writable: true };
    /// Reports nothing but failures.
    pub const NONE: Self = Self { readable: false, writable: false };
}

/// A descriptor that is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollEvent {
    /// The token with which it was added.
    pub token: u64,
    /// Whether a read does not block.
    pub readable: bool,
    /// Whether a write does not block.
    pub writable: bool,
    /// Whether an error is pending, such as a reset of the connection.
    pub failed: bool,
}

/// A transport of the internet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InternetTransport {
    /// Connections.
    Tcp,
    /// Single packets.
    Udp,
}
