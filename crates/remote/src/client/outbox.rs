//! Calls for the program there, in the order in which they were made, whether a link is there or not.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::messages::{Ask, Call};
use crate::post::{Packed, Post};
use wire::WireError;

/// Calls that wait for a link. What a link has begun to carry is kept by its mailbox.
#[derive(Debug, Default)]
pub struct Outbox(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// The mailbox of the program.
    post: Arc<Post>,
    /// Whether a link is there, or was until just now.
    is_open: bool,
    held: VecDeque<Held>,
    held_bytes: usize,
    /// The first questions of the runs that go on in each later program.
    standing: BTreeMap<u64, Ask>,
}

/// A call that waits for a link.
#[derive(Debug)]
struct Held {
    run: u64,
    /// Whether its run begins with it.
    is_first: bool,
    packed: Packed,
}

impl Waiting {
    fn send(&mut self, run: u64, call: &Call) -> Result<(), WireError> {
        let packed = Packed::of(call)?;
        if self.is_open {
            return self.post.post(run, &packed);
        }
        // When a link is there, all of it goes into the mailbox.
        let waiting = self.post.waiting_bytes() + self.held_bytes;
        if waiting + packed.cost() > packed.most_waiting() {
            return Err(WireError::Waiting);
        }
        self.held_bytes += packed.cost();
        self.held.push_back(Held { run, is_first: call.is_first(), packed });
        Ok(())
    }

    fn retain(&mut self, stays: impl Fn(&Held) -> bool) {
        self.held.retain(stays);
        self.held_bytes = self.held.iter().map(|held| held.packed.cost()).sum();
    }
}

impl Outbox {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a call of a run, now or once a link is there.
    ///
    /// # Errors
    /// If the call is too large, or too much is waiting.
    pub fn send(&self, run: u64, call: &Call) -> Result<(), WireError> {
        self.waiting().send(run, call)
    }

    /// Sends the first question of a run that goes on in each later program.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn stand(&self, run: u64, ask: Ask) -> Result<(), WireError> {
        let mut waiting = self.waiting();
        waiting.send(run, &Call::Ask(ask.clone()))?;
        waiting.standing.insert(run, ask);
        Ok(())
    }

    /// Sets what later programs are asked first, if the run still stands.
    pub fn stand_as(&self, run: u64, ask: Ask) {
        if let Some(standing) = self.waiting().standing.get_mut(&run) {
            *standing = ask;
        }
    }

    /// Returns the runs that go on in each later program.
    pub fn standing(&self) -> Vec<u64> {
        self.waiting().standing.keys().copied().collect()
    }

    /// Asks a new program first what stands. Calls are still held back.
    pub fn renew(&self, post: &Post) {
        let mut waiting = self.waiting();
        let standing = std::mem::take(&mut waiting.standing);
        waiting.retain(|held| !standing.contains_key(&held.run));
        for (run, ask) in &standing {
            // It was sent once already, so it is not too large.
            let _sent = post.send(*run, &Call::Ask(ask.clone()));
        }
        waiting.standing = standing;
    }

    /// Sends what waits, and what comes from now on.
    pub fn open(&self, post: &Arc<Post>) {
        let mut waiting = self.waiting();
        waiting.held_bytes = 0;
        for Held { run, packed, .. } in waiting.held.drain(..) {
            // It has room, as was seen when it was made.
            let _sent = post.post(run, &packed);
        }
        (waiting.post, waiting.is_open) = (Arc::clone(post), true);
    }

    /// Holds calls back from now on.
    pub fn shut(&self) {
        self.waiting().is_open = false;
    }

    /// Takes the calls of a run back. Returns whether its first one was among them, so that it has never begun.
    pub fn take_back(&self, run: u64) -> bool {
        let mut waiting = self.waiting();
        let begins = waiting.held.iter().any(|held| held.run == run && held.is_first);
        waiting.retain(|held| held.run != run);
        begins
    }

    /// Takes the calls of a run back that is over, or given up. Returns what [`Self::take_back`] does.
    pub fn forget(&self, run: u64) -> bool {
        self.waiting().standing.remove(&run);
        self.take_back(run)
    }

    /// Returns the runs that have never begun.
    pub fn unbegun(&self) -> Vec<u64> {
        self.waiting().held.iter().filter(|held| held.is_first).map(|held| held.run).collect()
    }
}
