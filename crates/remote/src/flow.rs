//! How much of a transfer is on its way: what runs beside it does not wait behind all of it.

/// Bytes that a transfer sends before the other side has taken any.
pub const CREDIT: u64 = 1024 * 1024;
/// Most bytes of one message of a transfer. It fits in one frame.
pub const CHUNK: usize = 128 * 1024;

/// The bytes that were sent and not taken.
#[derive(Debug, Default)]
pub struct Untaken(u64);

impl Untaken {
    /// Returns whether more may be sent.
    pub fn has_room(&self) -> bool {
        self.0 < CREDIT
    }

    /// Counts bytes that are sent.
    pub fn sent(&mut self, bytes: usize) {
        self.0 += bytes as u64;
    }

    /// Counts bytes that the other side has taken.
    pub fn taken(&mut self, bytes: u64) {
        self.0 = self.0.saturating_sub(bytes);
    }
}
