//! Records that are on their way, for which a reader in the same process waits.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Default)]
struct PendingRecordTickets {
    next: u64,
    open: BTreeSet<u64>,
}

static TICKETS: Mutex<PendingRecordTickets> = Mutex::new(PendingRecordTickets { next: 0, open: BTreeSet::new() });
static CLOSED: Condvar = Condvar::new();

fn tickets() -> MutexGuard<'static, PendingRecordTickets> {
    TICKETS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A record on its way, until this is dropped.
#[derive(Debug)]
pub struct PendingLedgerRecord(u64);

impl PendingLedgerRecord {
    /// Announces a record.
    #[must_use]
    pub fn begin() -> Self {
        let mut tickets = tickets();
        tickets.next += 1;
        let number = tickets.next;
        tickets.open.insert(number);
        Self(number)
    }
}

impl Drop for PendingLedgerRecord {
    fn drop(&mut self) {
        tickets().open.remove(&self.0);
        CLOSED.notify_all();
    }
}

/// Waits until all records that were announced before are written, or for this long. Returns whether they are written.
pub fn wait_for_pending(most: Duration) -> bool {
    let tickets = tickets();
    let last = tickets.next;
    let waits = |tickets: &mut PendingRecordTickets| tickets.open.first().is_some_and(|first| *first <= last);
    let (mut tickets, _) = CLOSED.wait_timeout_while(tickets, most, waits).unwrap_or_else(PoisonError::into_inner);
    !waits(&mut tickets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_waits_for_what_was_announced_and_not_for_ever() {
        let pending = PendingLedgerRecord::begin();
        assert!(!wait_for_pending(Duration::from_millis(1)), "it is still on its way");
        let waits = std::thread::spawn(|| wait_for_pending(Duration::from_secs(60)));
        drop(pending);
        assert!(waits.join().expect("settled"));
    }
}
