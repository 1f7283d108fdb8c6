//! A target: a machine, and what is known of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

use super::error::TargetError;
use super::keep::keep;
use super::reach::{Reached, reach};
use super::settings::Settings;
use crate::messages::{Begin, Event, Facts, ToProgram};
use crate::post::Post;

/// Whether commands can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A link is there.
    Connected,
    /// The link is cut, and the program there goes on. Commands wait.
    Disconnected,
    /// What ran there is gone. The next command connects anew.
    Lost,
    /// Nothing runs there any more.
    Closed,
}

/// What happens to a run there.
pub(super) enum Happened {
    /// An event of the program.
    Event(Event),
    /// The run is lost, with the reason.
    Lost(&'static str),
}

/// The program that runs the commands now.
pub(super) struct Instance {
    /// What waits for it, and what it has sent.
    pub post: Arc<Post>,
    /// What it has told of itself.
    pub facts: Arc<Facts>,
    /// Whether it was sent when it was started.
    pub sent: bool,
}

/// A machine that runs commands. Ends with its last reference, as by [`Target::close`].
pub struct Target {
    pub(super) settings: Settings,
    pub(super) instance: Mutex<Instance>,
    pub(super) state: watch::Sender<State>,
    runs: Mutex<HashMap<u64, UnboundedSender<Happened>>>,
    last_run: AtomicU64,
    /// One attempt to connect anew at a time.
    pub(super) healing: tokio::sync::Mutex<()>,
}

impl Target {
    /// Reaches a machine, and starts the program there.
    ///
    /// # Errors
    /// If the machine cannot be reached, or takes no program. Nothing is left there.
    pub async fn connect(settings: Settings) -> Result<Arc<Self>, TargetError> {
        let reached = reach(&settings).await?;
        let (instance, begun) = begin(&settings, reached).await?;
        let target = Arc::new(Self {
            settings,
            instance: Mutex::new(instance),
            state: watch::Sender::new(State::Connected),
            runs: Mutex::default(),
            last_run: AtomicU64::new(0),
            healing: tokio::sync::Mutex::default(),
        });
        tokio::spawn(keep(Arc::downgrade(&target), begun));
        Ok(target)
    }

    /// Returns the name in results.
    pub fn id(&self) -> &str {
        &self.settings.id
    }

    /// Returns whether commands can run.
    pub fn state(&self) -> State {
        *self.state.borrow()
    }

    /// Watches the state.
    pub fn watch(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// Returns what the program has told that is connected, or was last, and whether it was sent when it was started.
    pub fn facts(&self) -> (Arc<Facts>, bool) {
        let instance = self.instance();
        (Arc::clone(&instance.facts), instance.sent)
    }

    /// Ends what runs there. Further commands are refused.
    pub fn close(&self) {
        self.state.send_replace(State::Closed);
    }

    pub(super) fn instance(&self) -> MutexGuard<'_, Instance> {
        lock(&self.instance)
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<u64, UnboundedSender<Happened>>> {
        lock(&self.runs)
    }

    /// Registers a run. Returns its number, and what happens to it.
    pub(super) fn add_run(&self) -> (u64, UnboundedReceiver<Happened>) {
        let run = self.last_run.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, receiver) = unbounded_channel();
        self.runs().insert(run, sender);
        (run, receiver)
    }

    pub(super) fn remove_run(&self, run: u64) {
        self.runs().remove(&run);
    }

    /// Passes an event on to its run. A run that was given up hears nothing.
    pub(super) fn happened(&self, run: u64, event: Event) {
        if let Some(sender) = self.runs().get(&run) {
            // The run may just have ended.
            let _gone = sender.send(Happened::Event(event));
        }
    }

    /// Tells all runs that they are lost.
    pub(super) fn lose_runs(&self, why: &'static str) {
        for (_, sender) in self.runs().drain() {
            let _gone = sender.send(Happened::Lost(why));
        }
    }

    /// Waits until commands can run. Connects anew if the target is lost.
    ///
    /// # Errors
    /// If the target was closed, or cannot be reached again.
    pub(super) async fn ready(self: &Arc<Self>) -> Result<(), NotReady> {
        let mut state = self.state.subscribe();
        loop {
            let now = *state.borrow_and_update();
            match now {
                State::Connected => return Ok(()),
                State::Closed => return Err(NotReady::Closed),
                State::Disconnected => {}
                State::Lost => {
                    self.heal().await?;
                    continue;
                }
            }
            if state.changed().await.is_err() {
                return Err(NotReady::Closed);
            }
        }
    }

    async fn heal(self: &Arc<Self>) -> Result<(), NotReady> {
        let _one = self.healing.lock().await;
        if self.state() != State::Lost {
            return Ok(());
        }
        let reached = reach(&self.settings).await.map_err(NotReady::Unreachable)?;
        let (instance, begun) = begin(&self.settings, reached).await.map_err(NotReady::Unreachable)?;
        *self.instance() = instance;
        let was_lost = self.state.send_if_modified(|state| {
            let was_lost = *state == State::Lost;
            if was_lost {
                *state = State::Connected;
            }
            was_lost
        });
        if was_lost {
            tokio::spawn(keep(Arc::downgrade(self), begun));
        }
        Ok(())
    }
}

/// Why no command can run.
pub(super) enum NotReady {
    /// The target was closed.
    Closed,
    /// The target cannot be reached again.
    Unreachable(TargetError),
}

/// Makes a program ours.
pub(super) async fn begin(
    settings: &Settings,
    reached: Reached,
) -> Result<(Instance, super::transport::Transport), TargetError> {
    let Reached { mut transport, facts, sent } = reached;
    let millis = |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let begin = Begin { lease_ms: millis(settings.lease), alive_ms: millis(settings.alive) };
    if let Err(error) = transport.link.greet(&ToProgram::Begin(begin)).await {
        let reason = super::error::Reason::Unreachable;
        return Err(TargetError::new(&settings.id, reason, &error.to_string(), transport.said()));
    }
    Ok((Instance { post: Arc::default(), facts: Arc::new(facts), sent }, transport))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
