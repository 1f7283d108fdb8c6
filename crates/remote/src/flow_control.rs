//! How much of a transfer is on its way: what runs beside it does not wait behind all of it.

/// Bytes that a transfer sends before the other side has taken any.
pub const TRANSFER_CREDIT: u64 = 1024 * 1024;
/// What an event costs beside its text: small ones take memory, too.
const EVENT_COST: u64 = 64;
/// Most that waits on a host for one run. A program that sends more does not keep to the credit.
pub const MOST_UNREAD: u64 = 4 * TRANSFER_CREDIT;
/// Most bytes of one message of a transfer. It fits in one frame.
pub const CHUNK: usize = 128 * 1024;

/// Most runs at once. A host lets more wait.
pub const MAX_RUNS: usize = 1024;
/// Most runs of a host that go on for as long as it has a registry.
pub const MAX_STANDING: usize = 1024;

/// Returns what an event with this much text costs of the credit.
pub fn credit_cost(bytes: usize) -> u64 {
    bytes as u64 + EVENT_COST
}

/// The bytes that were sent and not taken.
#[derive(Debug, Default)]
pub struct TransferWindow(u64);

impl TransferWindow {
    /// Returns whether more may be sent.
    pub fn has_room(&self) -> bool {
        self.0 < TRANSFER_CREDIT
    }

    /// Counts bytes that are sent.
    pub fn count_sent(&mut self, bytes: usize) {
        self.0 += bytes as u64;
    }

    /// Counts an event of this length.
    pub fn count_sent_event(&mut self, bytes: usize) {
        self.0 += credit_cost(bytes);
    }

    /// Counts bytes that the other side has taken.
    pub fn count_taken(&mut self, bytes: u64) {
        self.0 = self.0.saturating_sub(bytes);
    }
}
