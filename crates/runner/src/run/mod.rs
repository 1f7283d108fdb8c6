//! The spine, the whole way of a command.
//!
//! | stage | where | what |
//! |---|---|---|
//! | request | `request/`, `run/base.rs` | options to a request, once the shell state to begin with is known |
//! | safety | `run/guard/` | refuses the command, or adds a note |
//! | plan | `run/plan.rs`, `run/warm.rs` | all that describes its process, and the warm shell that may run it |
//! | start | [`Begun`] | a shim runs it, or a warm shell |
//! | capture | `run/drive/` | one loop over its pipes, its shim, its caller and the clock |
//! | outcome | `run/completion.rs`, `run/status.rs`, `run/outcome.rs` | its end in the terms of the contract |

mod base;
mod blocked;
mod completion;
mod drive;
mod facts;
mod guard;
mod listener;
pub mod outcome;
mod plan;
mod record;
mod status;
pub mod view;
mod warm;
mod warm_up;

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;

pub use base::{Base, BaseState, request_of};
pub use completion::ShellAfter;
pub use facts::facts;
pub use listener::{Listener, LiveView, Prompt, Reply, aborted};
pub use warm_up::warm_up;

use crate::error::Error;
use crate::registry::Reservation;
use crate::request::{RawOptions, Request};
use crate::supervise::{Admission, Begun, Child, Helpers, ShimEvent, Slot, Started};
use base::request;
use completion::NotStarted;
use confine::WorldFacts;
use drive::Drive;
use drive::complete::complete;
use outcome::Outcome;
use plan::{StartupFiles, no_world, order_of, refusal, script_of};
use protocol::Order;
use protocol::plan::{ShellKind, Startup};
use receipt::recording::{Prepared, Recording};

/// Time a terminal may take to close, when as many are open as there is room for.
const TERMINAL_PLACE: Duration = Duration::from_secs(10);
/// Time any shell takes at most to start up.
const STARTED_UP: Duration = Duration::from_secs(10);

/// A command that has ended.
pub struct Finished {
    /// How it ended.
    pub outcome: Outcome,
    /// Its shell, as far as a session needs it.
    pub shell: ShellAfter,
}

impl From<Outcome> for Finished {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, shell: ShellAfter::default() }
    }
}

/// Why an attempt to run a command gave no outcome.
enum AttemptError {
    /// Nothing was started: another attempt may be made.
    NotStarted(NotStarted),
    /// The command cannot be run.
    Final(Error),
}

impl From<Error> for AttemptError {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

/// A command on its way, perhaps before the state that it begins with is read.
pub enum Start<B> {
    /// The command has begun.
    Begun(Box<Run>),
    /// Its state is still to be read.
    Unread(Box<(RawOptions, B)>),
}

impl<B: Base> Start<B> {
    /// Starts a command as [`Run::begin`] does, if the state that it begins with is known.
    ///
    /// # Errors
    /// When nothing could be run.
    pub fn begin(raw: RawOptions) -> Result<Self, Error> {
        Ok(match B::of(&raw)?.known() {
            Ok(state) => Self::Begun(Box::new(Run::begin(request::<B>(raw, state)?)?)),
            Err(base) => Self::Unread(Box::new((raw, base))),
        })
    }

    /// Drives [`Start::finish`].
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn runtime(&self) -> Result<&'static Handle, Error> {
        match self {
            Self::Begun(run) => Ok(run.runtime()),
            Self::Unread(_) => Run::anywhere(),
        }
    }

    /// Sees the command through to its outcome.
    ///
    /// # Errors
    /// When nothing could be run.
    pub async fn finish(
        self,
        listener: impl Listener,
        mut replies: UnboundedReceiver<Reply>,
    ) -> Result<Finished, Error> {
        let run = match self {
            Self::Begun(run) => *run,
            Self::Unread(unread) => {
                let (mut raw, base) = *unread;
                let state = BaseState::Unread(base).resolve(&mut raw, &mut replies).await;
                Run::begin(request::<B>(raw, state)?)?
            }
        };
        run.finish(listener, replies).await
    }
}

/// A command that has begun, or is ready to.
pub struct Run {
    request: Request,
    order: Order,
    helpers: &'static Helpers,
    begun: Option<(Begun, Slot)>,
    /// The files that a cold shell reads before the command.
    startup_files: StartupFiles,
    /// The place among the open terminals, if the command has one.
    terminal_slot: Option<Slot>,
    /// How the command is recorded.
    prepared: Prepared,
    /// The recording of the command, from right before its start.
    recording: Option<Recording>,
    /// Holds a place among the running tasks until the task counts itself.
    _reservation: Option<Reservation>,
}

impl Run {
    /// Starts a command as far as that needs no waiting: if a shim is free, the command is on its way when this
    /// returns.
    ///
    /// # Errors
    /// When nothing could be run.
    pub fn begin(mut request: Request) -> Result<Self, Error> {
        let takes_long = guard::takes_long(&request);
        if !takes_long && !request.aborted {
            guard::judge(&mut request)?;
        }
        let helpers = Helpers::shared().map_err(|error| Error::helper(error, &request.command))?;
        let task = if request.background && !request.aborted { request.own_task() } else { None };
        let reservation = request.registry.as_ref().zip(task.as_ref());
        let reservation = reservation.map(|(registry, task)| registry.reserve(&task.id)).transpose()?;
        let order = order_of(&request, helpers, task)?;
        let facts = order.plan.world.and_then(|world| helpers.world_facts(world));
        let mut run = Self {
            request,
            order,
            helpers,
            begun: None,
            startup_files: StartupFiles::default(),
            terminal_slot: None,
            prepared: Prepared::default(),
            recording: None,
            _reservation: reservation,
        };
        if let Some(facts) = facts {
            run.enter(facts);
        }
        if !takes_long
            && run.can_start_now()
            && let Some(slot) = Admission::shared().try_enter()
        {
            // Without descriptors now there may be some when it is this command's turn.
            run.begun = Begun::now(helpers, &run.order).ok().flatten().map(|begun| (begun, slot));
        }
        Ok(run)
    }

    /// Whether starting takes so little that it may be done on the caller's thread.
    fn can_start_now(&self) -> bool {
        let request = &self.request;
        // A terminal takes its time to make, and waits for a place of its own. A script is megabytes long.
        let slow = request.terminal.is_some() || request.is_script();
        let writes_files = request.startup.is_some() && self.order.warm.is_none();
        let unmade = request.confine.is_some() && request.world.is_none();
        !request.aborted && !slow && !writes_files && !unmade && request.record.is_none()
    }

    /// Learns the facts of its world, if it has one.
    fn enter(&mut self, facts: Arc<WorldFacts>) {
        if self.request.world.is_none() {
            self.request.notes.extend(facts.notes.iter().cloned());
            self.request.world = Some(facts);
            if let Some(task) = &mut self.order.task {
                task.confinement = self.request.confinement();
            }
        }
    }

    /// Waits until its world is made, if it has one.
    async fn wait_for_world(&mut self) -> Result<(), Error> {
        let Some(world) = self.order.plan.world else { return Ok(()) };
        match self.helpers.world_made(world).await {
            Ok(facts) => self.enter(facts),
            Err(failure) => return Err(no_world(failure, &self.request)),
        }
        if let Some(terminals) = self.helpers.world_terminals(world) {
            plan::move_terminal(&self.request, &mut self.order, &terminals)?;
        }
        Ok(())
    }

    /// Drives work that needs no command.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn anywhere() -> Result<&'static Handle, Error> {
        Helpers::shared().map(Helpers::runtime).map_err(|error| Error::helper(error, ""))
    }

    /// The shell kind that can run the command; `None` if it starts cold.
    pub fn kind(&self) -> Option<Arc<ShellKind>> {
        self.order.warm.as_ref().map(|warm| Arc::clone(&warm.kind))
    }

    /// Drives [`Run::finish`].
    pub fn runtime(&self) -> &'static Handle {
        self.helpers.runtime()
    }

    /// Sees the command through to its outcome.
    ///
    /// # Errors
    /// When nothing could be run.
    pub async fn finish(
        mut self,
        listener: impl Listener,
        mut replies: UnboundedReceiver<Reply>,
    ) -> Result<Finished, Error> {
        if self.request.aborted {
            return Ok(Outcome::not_started(&self.request).into());
        }
        guard::judge(&mut self.request)?;
        self.choose_record().await?;
        self.order.script = script_of(&self.request)?;
        let mut tries = 0;
        let mut searched_again = false;
        loop {
            match self.attempt(&listener, &mut replies).await {
                Ok(finished) => return Ok(finished),
                Err(AttemptError::Final(error)) => return Err(error),
                Err(AttemptError::NotStarted(NotStarted::HelpersKilled)) if Begun::may_retry(tries).await => {
                    tries += 1;
                    if self.is_recorded() {
                        self.plan_again()?;
                    }
                }
                Err(AttemptError::NotStarted(NotStarted::HelpersKilled)) => return Err(self.helpers_killed()),
                // The shell that was found before is gone: there may be another one.
                Err(AttemptError::NotStarted(NotStarted::Failed(failure)))
                    if plan::is_shell_gone(&failure) && !searched_again =>
                {
                    searched_again = true;
                    protocol::plan::forget();
                    self.plan_again()?;
                }
                Err(AttemptError::NotStarted(NotStarted::Failed(failure))) => {
                    return Err(refusal(&self.request, &self.order.plan, &failure));
                }
            }
        }
    }

    /// Starts the command, unless it has begun, and drives it to its end or to its life as a task.
    async fn attempt(
        &mut self,
        listener: &impl Listener,
        replies: &mut UnboundedReceiver<Reply>,
    ) -> Result<Finished, AttemptError> {
        let (begun, slot) = match self.begun.take() {
            Some(begun) => begun,
            None => tokio::select! {
                biased;
                () = aborted(replies) => return Ok(Outcome::not_started(&self.request).into()),
                begun = self.begin_later() => begun?,
            },
        };
        let started = begun.follow().map_err(|error| self.unwatched(error))?;
        let finished = if self.request.background {
            self.become_task(started.child).await?
        } else {
            self.drive(started, listener, replies).await?
        };
        if let Some((registry, task)) = self.request.registry.as_ref().zip(finished.outcome.task_id()) {
            registry.count(task, Admission::shared().keep_for_task(slot));
        }
        Ok(finished)
    }

    /// Starts the command once a shim, descriptors and a place among the running commands are free.
    async fn begin_later(&mut self) -> Result<(Begun, Slot), Error> {
        self.wait_for_world().await?;
        let closed = || Error::spawn("no place among the running commands", &self.request.command);
        if self.request.terminal.is_some() && self.terminal_slot.is_none() {
            let full = "as many terminals are open as this process has descriptors for; end one first";
            let slot = Admission::shared().enter_terminal(TERMINAL_PLACE).await;
            self.terminal_slot = Some(slot.ok_or_else(|| Error::spawn(full, &self.request.command))?);
        }
        let slot = Admission::shared().enter().await.ok_or_else(closed)?;
        self.startup_files.write(&self.request, &mut self.order)?;
        self.begin_record().await;
        let begun = Begun::later(self.helpers, &self.order).await;
        let begun = begun.map_err(|error| Error::helper(error, &self.request.command))?;
        Ok((begun, slot))
    }

    async fn drive(
        &mut self,
        started: Started,
        listener: &impl Listener,
        replies: &mut UnboundedReceiver<Reply>,
    ) -> Result<Finished, AttemptError> {
        let Started { child, pipes, shell, files } = started;
        let pid = shell.map(|(pid, mark)| {
            self.request.mark = mark;
            pid
        });
        if let Some(files) = files.as_ref().filter(|_| self.request.report.is_some()) {
            // The warm shell reports over a pipe of its own.
            self.request.report = Some(files.report().try_clone().map_err(|error| self.unwatched(error))?);
        }
        let drive = Drive::new(&self.request, (child, pipes), pid, listener, replies);
        let drive = drive.map_err(|error| self.unwatched(error))?;
        // The shell of a session may be another one after the command.
        let saves = self.request.startup.as_ref().is_some_and(Startup::saves);
        let kind = self.order.warm.as_ref().map(|warm| &warm.kind).filter(|_| !saves);
        let completed = complete(drive, self.helpers, kind, self.recording.take()).await;
        let (mut completion, recorded) = completed.map_err(AttemptError::NotStarted)?;
        let shell = ShellAfter { files, ..std::mem::take(&mut completion.shell) };
        let mut outcome = Outcome::of(&self.request, completion);
        outcome.record(recorded);
        if let Some(world) = self.order.plan.world {
            self.helpers.show(world, outcome.files()).await;
        }
        Ok(Finished { outcome, shell })
    }

    /// Hands the command to its registry: from its start on it belongs to its shim.
    async fn become_task(&mut self, mut child: Child) -> Result<Finished, AttemptError> {
        self.startup_files.drop_after(STARTED_UP);
        match (child.next_event().await, &self.request.registry) {
            (ShimEvent::Task(task), Some(registry)) => {
                registry.own_recorded(child.into_link(), (*task).clone(), self.recording.take());
                self.helpers.replace(self.order.plan.world);
                Ok(Outcome::started(&self.request, *task).into())
            }
            // The shim had begun with the command: the registry's directory says what became of it.
            (ShimEvent::Lost { untaken: false }, Some(registry)) => {
                let task = match &self.order.task {
                    Some(spec) => registry.lost(&spec.id).await,
                    None => None,
                };
                let task = task.ok_or_else(|| self.helpers_killed())?;
                Ok(Outcome::started(&self.request, task).into())
            }
            (ShimEvent::Lost { .. }, _) => Err(AttemptError::NotStarted(NotStarted::HelpersKilled)),
            (ShimEvent::Failed(failure), _) => Err(AttemptError::NotStarted(NotStarted::Failed(failure))),
            _ => Err(self.helpers_killed().into()),
        }
    }

    fn unwatched(&self, error: std::io::Error) -> Error {
        Error::system("the pipes could not be watched", error, &self.request.command)
    }

    fn helpers_killed(&self) -> Error {
        Error::spawn("the helper processes were killed", &self.request.command)
    }
}
