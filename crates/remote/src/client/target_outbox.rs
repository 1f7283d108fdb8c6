//! Calls for the program there, in the order in which they were made, whether a link is there or not. No more runs
//! begin than the program takes at once.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::flow_control::{MAX_RUNS, MAX_STANDING};
use crate::link_mailbox::{LinkMailbox, PackedRunMessage};
use crate::messages::{TargetCall, TargetRequest};
use wire::WireError;

/// Calls that wait for a link, or for the end of other runs. What a link has begun to carry is kept by its mailbox.
#[derive(Debug, Default)]
pub struct TargetOutbox(Mutex<OutboxState>);

#[derive(Debug, Default)]
struct OutboxState {
    /// The mailbox of the program.
    post: Arc<LinkMailbox>,
    /// Whether a link is there, or was until just now.
    is_open: bool,
    held: VecDeque<HeldCall>,
    held_bytes: usize,
    /// The runs whose first call is held.
    unbegun: HashSet<u64>,
    /// The runs that were posted and have not ended, but for those that stand, with the number of the frame before
    /// their first one.
    running: HashMap<u64, u64>,
    /// The first questions of the runs that go on in each later program.
    standing: BTreeMap<u64, TargetRequest>,
}

/// A call that waits.
#[derive(Debug)]
struct HeldCall {
    run: u64,
    /// Whether its run begins with it.
    is_first: bool,
    packed: PackedRunMessage,
}

impl OutboxState {
    fn send(&mut self, run: u64, call: &TargetCall) -> Result<(), WireError> {
        let packed = PackedRunMessage::pack(call)?;
        // All of it goes into the mailbox in the end.
        let waiting = self.post.waiting_bytes() + self.held_bytes;
        if waiting + packed.queued_len() > packed.max_waiting_bytes() {
            return Err(WireError::Waiting);
        }
        let is_first = call.begins_run();
        if self.is_open && !self.must_wait(run, is_first) {
            self.post.post_reserved(run, &packed);
            return Ok(());
        }
        if is_first {
            self.unbegun.insert(run);
        }
        self.held_bytes += packed.queued_len();
        self.held.push_back(HeldCall { run, is_first, packed });
        Ok(())
    }

    /// Returns whether a call has to wait for the end of other runs. If not, its run has begun.
    fn must_wait(&mut self, run: u64, is_first: bool) -> bool {
        if !is_first || self.standing.contains_key(&run) {
            return self.unbegun.contains(&run);
        }
        let waits = self.running.len() >= MAX_RUNS || !self.unbegun.is_empty();
        if !waits {
            self.running.insert(run, self.post.last_posted());
        }
        waits
    }

    /// Sends what need not wait any longer.
    fn send_held(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.held_bytes = 0;
        self.unbegun.clear();
        for call in held {
            if self.must_wait(call.run, call.is_first) {
                if call.is_first {
                    self.unbegun.insert(call.run);
                }
                self.held_bytes += call.packed.queued_len();
                self.held.push_back(call);
            } else {
                self.post.post_reserved(call.run, &call.packed);
            }
        }
    }

    fn retain(&mut self, stays: impl Fn(&HeldCall) -> bool) {
        self.held.retain(stays);
        self.held_bytes = self.held.iter().map(|held| held.packed.queued_len()).sum();
        self.unbegun = self.held.iter().filter(|held| held.is_first).map(|held| held.run).collect();
    }
}

impl TargetOutbox {
    fn waiting(&self) -> MutexGuard<'_, OutboxState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a call of a run, now or once a link is there.
    ///
    /// # Errors
    /// If the call is too large, or too much is waiting.
    pub fn send(&self, run: u64, call: &TargetCall) -> Result<(), WireError> {
        self.waiting().send(run, call)
    }

    /// Sends the first question of a run that goes on in each later program.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn send_standing(&self, run: u64, ask: TargetRequest) -> Result<(), WireError> {
        let mut waiting = self.waiting();
        if waiting.standing.len() >= MAX_STANDING {
            return Err(WireError::Waiting);
        }
        waiting.standing.insert(run, ask.clone());
        let sent = waiting.send(run, &TargetCall::Ask(ask));
        if sent.is_err() {
            waiting.standing.remove(&run);
        }
        sent
    }

    /// Sets what later programs are asked first, if the run still stands.
    pub fn replace_standing(&self, run: u64, ask: TargetRequest) {
        if let Some(standing) = self.waiting().standing.get_mut(&run) {
            *standing = ask;
        }
    }

    /// Returns the runs that go on in each later program.
    pub fn standing(&self) -> Vec<u64> {
        self.waiting().standing.keys().copied().collect()
    }

    /// Asks a new program first what stands. Calls are still held back.
    pub fn resend_standing(&self, post: &LinkMailbox) {
        let mut waiting = self.waiting();
        let standing = std::mem::take(&mut waiting.standing);
        waiting.retain(|held| !standing.contains_key(&held.run));
        for (run, ask) in &standing {
            // It was sent once already, so it is not too large.
            let _sent = post.send(*run, &TargetCall::Ask(ask.clone()));
        }
        waiting.standing = standing;
    }

    /// Sends what waits, and what comes from now on.
    pub fn open(&self, post: &Arc<LinkMailbox>) {
        let mut waiting = self.waiting();
        (waiting.post, waiting.is_open) = (Arc::clone(post), true);
        waiting.send_held();
    }

    /// A run has ended there. Another one begins, if one waits.
    pub fn on_run_ended(&self, run: u64) {
        let mut waiting = self.waiting();
        if waiting.running.remove(&run).is_some() && waiting.is_open && !waiting.unbegun.is_empty() {
            waiting.send_held();
        }
    }

    /// The program is lost, with its runs and its mailbox. Returns the runs that have never left this side.
    pub fn on_program_lost(&self) -> HashSet<u64> {
        let mut waiting = self.waiting();
        let left = waiting.post.last_given();
        let unsent = waiting.running.drain().filter(|(_, before)| *before >= left).map(|(run, _)| run).collect();
        if !waiting.is_open {
            waiting.post = Arc::default();
        }
        unsent
    }

    /// Holds calls back from now on.
    pub fn hold_back(&self) {
        self.waiting().is_open = false;
    }

    /// Takes the calls of a run back. Returns whether its first one was among them, so that it has never begun.
    pub fn withdraw(&self, run: u64) -> bool {
        let mut waiting = self.waiting();
        let begins = waiting.unbegun.contains(&run);
        if !waiting.held.is_empty() {
            waiting.retain(|held| held.run != run);
        }
        begins
    }

    /// Takes the calls of a run back that is over, or given up. Returns what [`Self::withdraw`] does.
    pub fn forget_run(&self, run: u64) -> bool {
        self.waiting().standing.remove(&run);
        self.withdraw(run)
    }

    /// Returns whether a run has not begun yet.
    pub fn is_unbegun(&self, run: u64) -> bool {
        self.waiting().unbegun.contains(&run)
    }

    /// Returns the runs that have never begun.
    pub fn unbegun(&self) -> Vec<u64> {
        self.waiting().held.iter().filter(|held| held.is_first).map(|held| held.run).collect()
    }
}
