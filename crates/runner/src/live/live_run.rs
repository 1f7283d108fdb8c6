//! One command of this process, from its registration to its end.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::output_tail::OutputTail;
use super::run_description::{
    LiveRunState, RunDescription, RunKind, RunWait, cut, shown_actor, shown_command, shown_directory,
};
use super::run_usage::RunUsageSample;
use super::watcher_order::{WatcherInputError, WatcherOrder, WatcherOrderQueue};
use super::watcher_queue::WatcherQueue;
use crate::pty::CommandTerminal;
use capture::OutputStream;
use ledger::Actor;

/// Bytes of a command that are kept: more than are shown, so that a secret at the end of those is recognized.
const COMMAND_KEPT: usize = 32 * 1024;
/// Longest last line and longest question, bytes.
pub(super) const MAX_LINE_BYTES: usize = 512;
/// Most input that a run may leave unread, bytes.
const MAX_UNREAD_INPUT: usize = 64 * 1024;

/// The facts of a command when it is registered.
pub struct RunRegistration {
    /// `BashResult.runId`, until a warm shell brings its own.
    pub run_id: String,
    #[expect(missing_docs, reason = "see its type")]
    pub kind: RunKind,
    /// The beginning of the command as its caller gave it.
    pub command: String,
    /// The directory that it starts in.
    pub cwd: String,
    /// The target that runs it. `None`: it runs on this machine.
    pub target: Option<String>,
    /// Who asked for it.
    pub actor: Option<Actor>,
    /// Unix time, ms.
    pub started_at: u64,
    /// The time limit from the start.
    pub limit: Option<Duration>,
    /// The limit on silence.
    pub idle_limit: Option<Duration>,
    /// The profile of its confinement.
    pub confinement: Option<&'static str>,
    /// Whether it is recorded for an undo.
    pub undo: bool,
    /// Whether its standard input stays open for more.
    pub is_fed: bool,
    /// Its terminal.
    pub terminal: Option<Arc<CommandTerminal>>,
}

impl RunRegistration {
    /// Returns the beginning of a command, as much as is kept.
    pub fn beginning_of(command: &str) -> String {
        command[..command.floor_char_boundary(COMMAND_KEPT)].to_owned()
    }
}

/// A command of this process that has not ended.
pub struct LiveRun {
    number: u64,
    facts: RunRegistration,
    orders: WatcherOrderQueue,
    /// The shell; 0 before its start.
    pid: AtomicI32,
    /// The command without its secrets, once it was asked for.
    command: OnceLock<String>,
    seen: Mutex<ReportedRunState>,
    followers: OutputFollowers,
    input: UnreadPersonInput,
}

/// The facts that a run last reported.
#[derive(Debug, Clone, Default)]
struct ReportedRunState {
    run_id: Option<String>,
    last_line: String,
    waiting: Option<RunWait>,
}

/// The watchers of its output.
#[derive(Default)]
struct OutputFollowers {
    /// Whether there is a watcher or a tail. A read of output checks nothing else.
    any: AtomicBool,
    taps: Mutex<FollowerQueues>,
}

#[derive(Default)]
struct FollowerQueues {
    /// The command is driven, and takes orders.
    begun: bool,
    ended: bool,
    /// The end of the output as it was written, if the run has been watched since its start.
    tail: Option<OutputTail>,
    /// The output held at the end, for watchers who come a moment later.
    last: Option<Arc<WatcherQueue>>,
    taps: Vec<Arc<WatcherQueue>>,
    /// Taps on their way to the command, which passes them the output it holds.
    sent: Vec<Arc<WatcherQueue>>,
}

/// Input of a person that the run has not read.
#[derive(Default)]
struct UnreadPersonInput {
    /// Bytes on their way.
    sent: AtomicUsize,
    /// Bytes that could not be written yet.
    unwritten: AtomicUsize,
    /// An order to look is on its way.
    looks: AtomicBool,
    stopped: AtomicBool,
}

impl LiveRun {
    pub(super) fn new(number: u64, facts: RunRegistration) -> Arc<Self> {
        Arc::new(Self {
            number,
            facts,
            orders: WatcherOrderQueue::default(),
            pid: AtomicI32::new(0),
            command: OnceLock::new(),
            seen: Mutex::default(),
            followers: OutputFollowers::default(),
            input: UnreadPersonInput::default(),
        })
    }

    fn seen(&self) -> MutexGuard<'_, ReportedRunState> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn taps(&self) -> MutexGuard<'_, FollowerQueues> {
        self.followers.taps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns its number among all of this process.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the name of the run among all of this process.
    pub fn key(&self) -> String {
        format!("c{}", self.number)
    }

    /// Returns the time of its start, Unix ms.
    pub fn started_at(&self) -> u64 {
        self.facts.started_at
    }

    /// Returns the pid of the shell. `None` before its start.
    pub fn pid(&self) -> Option<i32> {
        Some(self.pid.load(Ordering::Relaxed)).filter(|pid| *pid != 0)
    }

    /// Returns the directory of this machine that it started in. `None`: a target runs it.
    pub(super) fn local_cwd(&self) -> Option<&str> {
        self.facts.target.is_none().then_some(&self.facts.cwd)
    }

    /// Returns its terminal.
    pub fn terminal(&self) -> Option<&Arc<CommandTerminal>> {
        self.facts.terminal.as_ref()
    }

    // ---- from the command

    /// Records the start of the shell.
    pub fn on_start(&self, pid: i32) {
        self.pid.store(pid, Ordering::Relaxed);
    }

    /// Gives the run the mark of the warm shell that runs it.
    pub fn set_run_id(&self, run_id: &str) {
        self.seen().run_id = Some(run_id.to_owned());
    }

    /// Waits for the next order of a person. No order is lost if the future is dropped.
    pub async fn next_order(&self) -> WatcherOrder {
        self.orders.next().await
    }

    /// Waits until a person stops the run, and leaves the orders where they are.
    pub async fn stopped(&self) {
        while !self.input.stopped.load(Ordering::Relaxed) {
            self.orders.changed().await;
        }
    }

    /// Records that the command takes orders from here on.
    pub fn on_driven(&self) {
        self.taps().begun = true;
    }

    /// Returns whether the run has a watcher or a tail that takes its output.
    pub fn takes_output(&self) -> bool {
        self.followers.any.load(Ordering::Relaxed)
    }

    /// Passes output to the watchers and to the tail.
    pub fn on_output(&self, stream: OutputStream, bytes: &[u8]) {
        let mut taps = self.taps();
        taps.taps.iter().for_each(|tap| tap.push(stream, bytes));
        taps.tail.iter_mut().for_each(|tail| tail.push(stream, bytes));
    }

    /// Adds a tap that has the output held so far, unless its watcher has gone.
    pub fn attach(&self, tap: Arc<WatcherQueue>) {
        let mut taps = self.taps();
        if taps.sent.iter().any(|sent| Arc::ptr_eq(sent, &tap)) {
            self.add_queue(&mut taps, tap);
        }
    }

    fn add_queue(&self, taps: &mut FollowerQueues, tap: Arc<WatcherQueue>) {
        if taps.ended {
            return tap.end();
        }
        taps.sent.retain(|sent| !Arc::ptr_eq(sent, &tap));
        taps.taps.push(tap);
        self.update_has_followers(taps);
    }

    fn update_has_followers(&self, taps: &FollowerQueues) {
        self.followers.any.store(!taps.taps.is_empty() || taps.tail.is_some(), Ordering::Relaxed);
    }

    /// Gives the run a tail before anything is written, unless the process has too many. A terminal needs none: it has
    /// a screen.
    pub(super) fn keep_tail(&self, tails: &'static AtomicUsize) {
        if self.facts.terminal.is_none() {
            let mut taps = self.taps();
            taps.tail = OutputTail::new(tails);
            self.update_has_followers(&taps);
        }
    }

    /// Returns whether the run has a tail.
    pub fn has_tail(&self) -> bool {
        self.taps().tail.is_some()
    }

    /// Drops the tail.
    pub(super) fn drop_tail(&self) {
        let mut taps = self.taps();
        taps.tail = None;
        self.update_has_followers(&taps);
    }

    /// Records the answer to [`WatcherOrder::ReportStatus`]. Returns whether it differs from the last one.
    pub fn on_look(&self, last_line: String, waiting: Option<RunWait>) -> bool {
        self.input.looks.store(false, Ordering::Relaxed);
        let waiting = waiting.map(|waiting| RunWait { text: cut(waiting.text, MAX_LINE_BYTES), ..waiting });
        let last_line = cut(last_line, MAX_LINE_BYTES);
        let mut seen = self.seen();
        let differs = seen.last_line != last_line || seen.waiting != waiting;
        (seen.last_line, seen.waiting) = (last_line, waiting);
        differs
    }

    /// Records that input of a person was taken, or dropped.
    pub fn on_input(&self, bytes: usize) {
        self.input.sent.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Records how much of its input is not written yet.
    pub fn set_unwritten(&self, bytes: usize) {
        self.input.unwritten.store(bytes, Ordering::Relaxed);
    }

    /// Keeps the output held at the end.
    pub fn keep_last_output(&self, last: Arc<WatcherQueue>) {
        self.taps().last = Some(last);
    }

    pub(super) fn end(&self) {
        let (taps, sent, last) = {
            let mut taps = self.taps();
            taps.ended = true;
            (std::mem::take(&mut taps.taps), std::mem::take(&mut taps.sent), taps.last.clone())
        };
        // The command has ended before it took their orders.
        sent.iter().for_each(|tap| last.iter().for_each(|last| tap.copy_from(last)));
        taps.iter().chain(&sent).for_each(|tap| tap.end());
    }

    // ---- from a watcher

    /// Passes the output to a tap, beginning with the tail, or without one with the output still held. The tap of a
    /// terminal only reports the end: the screen takes the place of output.
    pub fn follow(&self, tap: Arc<WatcherQueue>) {
        let mut taps = self.taps();
        if let Some(tail) = &mut taps.tail {
            tail.copy_to(&tap);
        } else if taps.ended {
            taps.last.iter().for_each(|last| tap.copy_from(last));
        } else if taps.begun && self.facts.terminal.is_none() {
            taps.sent.push(Arc::clone(&tap));
            drop(taps);
            return self.orders.push(WatcherOrder::Follow(tap));
        }
        self.add_queue(&mut taps, tap);
    }

    /// Forgets the tap of a watcher that has gone.
    pub fn unfollow(&self, tap: &Arc<WatcherQueue>) {
        let mut taps = self.taps();
        taps.taps.retain(|known| !Arc::ptr_eq(known, tap));
        taps.sent.retain(|known| !Arc::ptr_eq(known, tap));
        self.update_has_followers(&taps);
    }

    /// Asks for its last line, unless it was asked already.
    pub fn request_status(&self) {
        if self.taps().begun && !self.input.looks.swap(true, Ordering::Relaxed) {
            self.orders.push(WatcherOrder::ReportStatus);
        }
    }

    /// Terminates the whole tree.
    pub fn stop(&self) {
        if !self.input.stopped.swap(true, Ordering::Relaxed) {
            self.orders.push(WatcherOrder::Stop);
        }
    }

    /// Gives it input of a person: keys for a terminal, bytes for a standard input.
    ///
    /// # Errors
    /// [`WatcherInputError`]
    pub fn give_input(&self, text: &str) -> Result<(), WatcherInputError> {
        if let Some(terminal) = &self.facts.terminal {
            if terminal.untyped_bytes() + text.len() > MAX_UNREAD_INPUT {
                return Err(WatcherInputError::Full);
            }
            // As the key Enter does.
            let keys = text.replace("\r\n", "\r").replace('\n', "\r");
            return terminal.write(keys.into_bytes()).map(drop).map_err(|_| WatcherInputError::Gone);
        }
        if !self.facts.is_fed {
            return Err(WatcherInputError::ReadsNoInput);
        }
        if !self.taps().begun {
            return Err(WatcherInputError::Full);
        }
        let waits = self.input.sent.load(Ordering::Relaxed) + self.input.unwritten.load(Ordering::Relaxed);
        if waits + text.len() > MAX_UNREAD_INPUT {
            return Err(WatcherInputError::Full);
        }
        self.input.sent.fetch_add(text.len(), Ordering::Relaxed);
        self.orders.push(WatcherOrder::Input(text.as_bytes().to_vec()));
        Ok(())
    }

    /// Returns its description.
    pub fn describe(&self, usage: Option<&RunUsageSample>) -> RunDescription {
        let RunRegistration { run_id, kind, command, cwd, actor, started_at, limit, idle_limit, .. } = &self.facts;
        let RunRegistration { target, confinement, undo, is_fed, terminal, .. } = &self.facts;
        let ReportedRunState { run_id: renamed, last_line, waiting } = self.seen().clone();
        RunDescription {
            key: self.key(),
            run_id: renamed.unwrap_or_else(|| run_id.clone()),
            kind: *kind,
            command: self.command.get_or_init(|| shown_command(command)).clone(),
            cwd: shown_directory(cwd.clone()),
            target: target.clone(),
            actor: actor.clone().map(shown_actor),
            started_at: *started_at,
            state: if waiting.is_some() { LiveRunState::Waiting } else { LiveRunState::Running },
            waiting,
            last_line,
            limit_ms: limit.map(millis),
            idle_ms: idle_limit.map(millis),
            confinement: *confinement,
            size: terminal.as_ref().map(|terminal| terminal.size()).map(|size| [size.cols, size.rows]),
            processes: usage.map(|usage| usage.processes),
            cpu_ms: usage.map(|usage| usage.cpu_ms),
            memory: usage.map(|usage| usage.memory),
            pid: self.pid(),
            task_id: None,
            ports: usage.map(|usage| usage.ports.clone()).unwrap_or_default(),
            undo: *undo,
            stdin: *is_fed || terminal.is_some(),
        }
    }
}

/// Returns a time in whole ms.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
impl LiveRun {
    /// Returns the next order, if there is one.
    pub(super) fn take_order(&self) -> Option<WatcherOrder> {
        self.orders.take()
    }
}
