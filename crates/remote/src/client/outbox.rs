//! Calls for the program there, in the order in which they were made, whether a link is there or not.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::messages::{Ask, Call};
use crate::post::Post;
use wire::WireError;

/// Calls that wait for a link. What a link has begun to carry is kept by its mailbox.
#[derive(Debug, Default)]
pub struct Outbox(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// The mailbox of the program. `None` while no link is there.
    post: Option<Arc<Post>>,
    held: VecDeque<(u64, Call)>,
    /// The first questions of the runs that go on in each later program.
    standing: BTreeMap<u64, Ask>,
}

impl Waiting {
    fn send(&mut self, run: u64, call: Call) -> Result<(), WireError> {
        if let Some(post) = &self.post {
            return post.send(run, &call);
        }
        self.held.push_back((run, call));
        Ok(())
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
    pub fn send(&self, run: u64, call: Call) -> Result<(), WireError> {
        self.waiting().send(run, call)
    }

    /// Sends the first question of a run that goes on in each later program.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn stand(&self, run: u64, ask: Ask) -> Result<(), WireError> {
        let mut waiting = self.waiting();
        waiting.standing.insert(run, ask.clone());
        waiting.send(run, Call::Ask(ask))
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
        let Waiting { held, standing, .. } = &mut *self.waiting();
        held.retain(|(run, _)| !standing.contains_key(run));
        for (run, ask) in standing {
            // It was sent once already, so it is not too large.
            let _sent = post.send(*run, &Call::Ask(ask.clone()));
        }
    }

    /// Sends what waits, and what comes from now on. A call that is too large for any link is dropped: it belongs to a
    /// run that was told.
    pub fn open(&self, post: &Arc<Post>) {
        let mut waiting = self.waiting();
        for (run, call) in waiting.held.drain(..) {
            let _too_large = post.send(run, &call);
        }
        waiting.post = Some(Arc::clone(post));
    }

    /// Holds calls back from now on.
    pub fn shut(&self) {
        self.waiting().post = None;
    }

    /// Takes the calls of a run back. Returns whether its first one was among them, so that it has never begun.
    pub fn take_back(&self, run: u64) -> bool {
        let mut waiting = self.waiting();
        let begins = waiting.held.iter().any(|(number, call)| *number == run && call.is_first());
        waiting.held.retain(|(number, _)| *number != run);
        begins
    }

    /// Takes the calls of a run back that is over, or given up. Returns what [`Self::take_back`] does.
    pub fn forget(&self, run: u64) -> bool {
        self.waiting().standing.remove(&run);
        self.take_back(run)
    }

    /// Returns the runs that have never begun.
    pub fn unbegun(&self) -> Vec<u64> {
        self.waiting().held.iter().filter(|(_, call)| call.is_first()).map(|(run, _)| *run).collect()
    }
}
