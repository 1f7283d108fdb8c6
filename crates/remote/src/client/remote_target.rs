//! A target: a machine, and what is known of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::timeout;

use super::program_instance::ProgramInstance;
use super::target_address::TargetKind;
use super::target_changes::{TargetChangeReporter, TargetStateChange, TargetTransition};
use super::target_error::TargetError;
use super::target_outbox::TargetOutbox;
use super::target_run_updates::{RunUpdateReceiver, RunUpdateSender, TARGET_CLOSED, TargetRunUpdate};
use super::target_settings::TargetSettings;
use crate::frame_link::LinkError;
use crate::messages::{MachineLoad, TargetEvent, TargetFacts, decode};

/// Whether commands can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetState {
    /// A link is there.
    Connected,
    /// The link is cut, and the program there goes on. Commands wait.
    Disconnected,
    /// What ran there is gone. The next command connects anew.
    Lost,
    /// Nothing runs there any more.
    Closed,
}

/// Most connections to ports there at once.
const MAX_CONNECTIONS: usize = 256;

/// A run that has not ended.
struct OpenTargetRun {
    teller: RunUpdateSender,
    /// The name of its command. `None`: it is none.
    mark: Option<String>,
    /// The most bytes of one event.
    most_bytes: usize,
}

/// A machine that runs commands. Ends with its last reference, as by [`RemoteTarget::close`].
pub struct RemoteTarget {
    pub(super) settings: TargetSettings,
    pub(super) instance: Mutex<ProgramInstance>,
    pub(super) state: watch::Sender<TargetState>,
    pub(super) outbox: TargetOutbox,
    runs: Mutex<HashMap<u64, OpenTargetRun>>,
    changes: TargetChangeReporter,
    /// Held while a run begins: until then it is neither among the runs nor among the calls, or it is in both.
    beginning: Mutex<()>,
    last_run: AtomicU64,
    /// Notified when a run begins: a target that is lost connects anew.
    pub(super) wanted: Arc<Notify>,
    /// Whether the last transport has ended after the target was closed.
    over: watch::Receiver<bool>,
    /// One permit for each connection to a port there.
    pub(super) connections: Arc<Semaphore>,
}

impl RemoteTarget {
    pub(super) fn new(settings: TargetSettings, instance: ProgramInstance, over: watch::Receiver<bool>) -> Arc<Self> {
        let outbox = TargetOutbox::default();
        outbox.open(&instance.post);
        Arc::new(Self {
            settings,
            instance: Mutex::new(instance),
            state: watch::Sender::new(TargetState::Connected),
            outbox,
            runs: Mutex::default(),
            changes: TargetChangeReporter::default(),
            beginning: Mutex::default(),
            last_run: AtomicU64::new(0),
            wanted: Arc::default(),
            over,
            connections: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
        })
    }

    /// Returns the name in results.
    pub fn id(&self) -> &str {
        &self.settings.id
    }

    /// Returns the kind of its address.
    pub fn kind(&self) -> TargetKind {
        self.settings.address.kind()
    }

    /// Returns whether commands can run.
    pub fn state(&self) -> TargetState {
        *self.state.borrow()
    }

    /// Watches the state.
    pub fn watch(&self) -> watch::Receiver<TargetState> {
        self.state.subscribe()
    }

    /// Returns what the program has told that is connected, or was last, and whether it was sent when it was started.
    pub fn facts(&self) -> (Arc<TargetFacts>, bool) {
        let instance = self.instance();
        (Arc::clone(&instance.facts), instance.sent)
    }

    /// Returns how busy the machine is, as the program has told last.
    pub fn load(&self) -> MachineLoad {
        self.instance().post.load()
    }

    /// Returns the SHA-256 of the program for this processor. Empty if there is none.
    pub fn sha256_for(&self, arch: &str) -> &str {
        let program = self.settings.programs.iter().find(|program| program.machine == arch);
        program.map_or("", |program| &program.sha256)
    }

    /// Waits until the last transport has ended after [`RemoteTarget::close`], at most this long.
    pub async fn wait_until_ended(&self, patience: Duration) {
        let mut over = self.over.clone();
        // An error: the task that would tell is gone, with the runtime.
        let _over = timeout(patience, over.wait_for(|over| *over)).await;
    }

    /// Ends what runs there. Further commands are refused.
    pub fn close(&self) {
        let _none_begins = self.lock_beginning();
        let was_closed = self.state.send_replace(TargetState::Closed) == TargetState::Closed;
        self.outbox.hold_back();
        self.refuse_runs(&TargetError::lost(self.id(), TARGET_CLOSED));
        let mut lost = Vec::new();
        for (_, OpenTargetRun { teller, mark, .. }) in self.runs().drain() {
            teller.send_update(TargetRunUpdate::Lost(TARGET_CLOSED));
            lost.extend(mark);
        }
        if !was_closed {
            self.changes.report(TargetTransition::Closed, TARGET_CLOSED, lost);
        }
    }

    /// Sends each further change of the state to this channel.
    pub fn report_changes_to(&self, changes: UnboundedSender<TargetStateChange>) {
        self.changes.set(changes);
    }

    pub(super) fn instance(&self) -> MutexGuard<'_, ProgramInstance> {
        lock(&self.instance)
    }

    pub(super) fn lock_beginning(&self) -> MutexGuard<'_, ()> {
        lock(&self.beginning)
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<u64, OpenTargetRun>> {
        lock(&self.runs)
    }

    /// Registers a run, a command by its name. Returns its number, and what happens to it.
    pub(super) fn add_run(&self, mark: Option<String>, most_bytes: usize) -> (u64, RunUpdateReceiver) {
        let run = self.last_run.fetch_add(1, Ordering::Relaxed) + 1;
        let (teller, happenings) = RunUpdateReceiver::new();
        self.runs().insert(run, OpenTargetRun { teller, mark, most_bytes });
        (run, happenings)
    }

    pub(super) fn remove_run(&self, run: u64) {
        self.runs().remove(&run);
    }

    /// Passes an event on to its run. A run that was given up hears nothing.
    ///
    /// # Errors
    /// If it is no event, longer than one of this run can be, or if too much waits for the run already.
    pub(super) fn on_message(&self, run: u64, payload: &[u8]) -> Result<(), LinkError> {
        let bytes = payload.len();
        // Small things of a long message take many times its length once they are read.
        if self.runs().get(&run).is_some_and(|run| bytes > run.most_bytes) {
            return Err(LinkError::Unexpected("a result that is longer than its options allow"));
        }
        let event: TargetEvent = decode(payload)?;
        if event.ends_run() {
            self.outbox.on_run_ended(run);
        }
        self.runs().get(&run).map_or(Ok(()), |run| run.teller.send_event(event, bytes))
    }

    /// Goes on with a new program.
    pub(super) fn switch_program(&self, instance: ProgramInstance) {
        self.outbox.resend_standing(&instance.post);
        *self.instance() = instance;
    }

    /// Tells the runs that have begun that they are lost. Standing requests continue in the next program. A call whose
    /// message never left this side has not begun.
    pub(super) fn lose_runs(&self, why: &'static str) {
        let _none_begins = self.lock_beginning();
        let unsent = self.outbox.on_program_lost();
        let (unbegun, standing) = (self.outbox.unbegun(), self.outbox.standing());
        let mut lost = Vec::new();
        self.runs().retain(|number, run| {
            let is_unbegun = unbegun.contains(number);
            if !is_unbegun {
                if unsent.contains(number) {
                    run.teller.send_update(TargetRunUpdate::Unreachable(TargetError::lost(self.id(), why)));
                } else {
                    run.teller.send_update(TargetRunUpdate::Lost(why));
                    lost.extend(run.mark.take());
                }
            }
            is_unbegun || standing.contains(number)
        });
        self.changes.report(TargetTransition::Lost, why, lost);
    }

    /// Tells the runs that have not begun that they never will. Those that stand begin in the next program.
    pub(super) fn refuse_runs(&self, error: &TargetError) {
        let standing = self.outbox.standing();
        for number in self.outbox.unbegun() {
            self.outbox.withdraw(number);
            let mut runs = self.runs();
            let Some(run) = runs.get(&number) else { continue };
            run.teller.send_update(TargetRunUpdate::Unreachable(error.clone()));
            if !standing.contains(&number) {
                runs.remove(&number);
            }
        }
    }

    /// Sets the state, unless the target was closed. `why` says why a link is cut.
    pub(super) fn set_state(&self, new: TargetState, why: &str) {
        if self.state() == TargetState::Closed {
            return;
        }
        if new == TargetState::Connected {
            self.outbox.open(&self.instance().post);
        } else {
            self.outbox.hold_back();
        }
        let differs = self.state.send_if_modified(|state| {
            let differs = *state != TargetState::Closed && *state != new;
            if differs {
                *state = new;
            }
            differs
        });
        match new {
            TargetState::Connected if differs => self.changes.report(TargetTransition::Connected, "", Vec::new()),
            TargetState::Disconnected if differs => {
                self.changes.report(TargetTransition::Disconnected, why, Vec::new())
            }
            // Told with the runs that are lost.
            TargetState::Connected | TargetState::Disconnected | TargetState::Lost | TargetState::Closed => {}
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
