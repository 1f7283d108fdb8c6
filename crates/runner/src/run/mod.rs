//! The spine: the course of a command from its options to its outcome.
//!
//! | stage | where | what |
//! |---|---|---|
//! | request | `request/`, `run/base.rs` | options to a request, once the shell state to begin with is known |
//! | safety | `run/guard/` | refuses the command, or adds a note |
//! | plan | `run/plan.rs`, `run/warm.rs` | all that describes its process, and the warm shell that may run it |
//! | launch | [`CommandLaunch`] | a shim runs it, or a warm shell |
//! | capture | `run/drive/` | one loop over its pipes, its shim, its caller and the clock |
//! | outcome | `run/completion.rs`, `run/status.rs`, `run/outcome.rs` | its end in the terms of the contract |

mod blocked_watch;
mod command_listener;
mod completion;
mod distant_command;
mod drive;
mod exit_status;
mod facts;
mod filtered_reuse;
mod guard;
mod launch_plan;
mod launch_recording;
mod ledger_notes;
mod ledger_opening;
mod live_registration;
mod missing_programs;
pub mod outcome;
pub mod output_readers;
mod recording_choice;
mod reuse_decision;
mod shell_state_source;
pub mod tapped_output;
pub mod view_maker;
mod waiting_watch;
mod warm_form;
mod warm_up;
mod world_owner;

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::block_in_place;

pub use command_listener::{BlockedPrompt, CallerReplies, CallerReply, CommandListener, LiveView, SpillAllocation};
pub use completion::ShellAfter;
pub use distant_command::{DistantEntry, JudgedDistantCommand, LISTED_SURVIVORS, judge_distant};
pub use drive::early_ends::HARD_BOUND;
pub use facts::facts;
pub use ledger_opening::{RefusedCommand, record_refusal};
pub use live_registration::{STOPPED as STOPPED_BY_PERSON, run_ending};
pub use shell_state_source::{ShellStateSource, StartingShellState, known_request, request_of};
pub use warm_up::warm_up;
pub use world_owner::WorldOwner;

use crate::drafts::BeforeInDraft;
use crate::error::RunError;
use crate::proof::TreeBeforeCommand;
use crate::registry::TaskReservation;
use crate::request::{PlannedRun, RawOptions};
use crate::reuse::ReuseCandidate;
use crate::supervise::{
    AdmissionSlot, CommandAdmission, HelperProcesses, RunningCommand, SentCommand, ShimCommand, ShimEvent,
};
use completion::NotStarted;
use confine_policy::WorldFacts;
use drive::CommandDriver;
use drive::settlement::complete;
use filtered_reuse::FilteredReuse;
use launch_plan::{StartupFiles, enter_world, order_of, script_of, start_error, world_error};
use live_registration::given_up;
use outcome::CommandOutcome;
use protocol::CommandOrder;
use protocol::plan::ShellStartup;
use receipt::recording::{PreparedRecording, RunRecord, RunRecording};
use shell_state_source::request_with_state;

/// Time a terminal may take to close, if the maximum of terminals is open.
const TERMINAL_PLACE: Duration = Duration::from_secs(10);
/// Time limit for the start of any shell.
const STARTED_UP: Duration = Duration::from_secs(10);

/// A command that has ended.
pub struct FinishedRun {
    /// The outcome of the command.
    pub outcome: CommandOutcome,
    /// The shell of the command, as far as a session needs it.
    pub shell: ShellAfter,
}

impl From<CommandOutcome> for FinishedRun {
    fn from(outcome: CommandOutcome) -> Self {
        Self { outcome, shell: ShellAfter::default() }
    }
}

/// Why an attempt to run a command gave no outcome.
enum AttemptError {
    /// No process was started. Another attempt may be made.
    NotStarted(NotStarted),
    /// The command cannot be run.
    Final(RunError),
}

impl From<RunError> for AttemptError {
    fn from(error: RunError) -> Self {
        Self::Final(error)
    }
}

/// A command that was given to this process. Its launch begins once the shell state that it starts with is read.
pub enum SubmittedCommand<B> {
    /// The state is known.
    Launched(Box<CommandLaunch>),
    /// The state has to be read first.
    Unread(Box<(RawOptions, B)>),
}

impl<B: ShellStateSource> SubmittedCommand<B> {
    /// Starts the command as [`CommandLaunch::start`] does, if its shell state is known.
    ///
    /// # Errors
    /// If no command could be run.
    pub fn start(raw: RawOptions) -> Result<Self, RunError> {
        Ok(match B::of(&raw)?.into_known() {
            Ok(state) => Self::Launched(Box::new(CommandLaunch::start(request_with_state::<B>(raw, state)?)?)),
            Err(base) => Self::Unread(Box::new((raw, base))),
        })
    }

    /// Runs the command to its outcome.
    ///
    /// # Errors
    /// If no command could be run.
    pub async fn finish(
        self,
        listener: impl CommandListener,
        replies: impl Into<CallerReplies>,
    ) -> Result<FinishedRun, RunError> {
        let mut replies = replies.into();
        let launch = match self {
            Self::Launched(launch) => *launch,
            Self::Unread(unread) => {
                let (mut raw, base) = *unread;
                let state = StartingShellState::Unread(base).resolve(&mut raw, &mut replies).await;
                CommandLaunch::start(request_with_state::<B>(raw, state)?)?
            }
        };
        launch.finish(listener, replies).await
    }
}

/// The launch of one command: its request, its order for a shim, and the process if it has started already.
pub struct CommandLaunch {
    request: PlannedRun,
    order: CommandOrder,
    helpers: &'static HelperProcesses,
    launched: Option<(SentCommand, AdmissionSlot)>,
    /// The files that a cold shell reads before the command.
    startup_files: StartupFiles,
    /// The place among the open terminals, if the command has one.
    terminal_slot: Option<AdmissionSlot>,
    /// How the command is recorded, once that is chosen.
    prepared: Option<PreparedRecording>,
    /// The recording of the command, from right before its start.
    recording: Option<RunRecording>,
    /// What its draft had changed right before the start, if its receipt is to say what the command changed.
    draft_before: Option<BeforeInDraft>,
    /// The tree right before the start, if the evidence is to say what changed.
    before: Option<TreeBeforeCommand>,
    /// What labels the result, if only the filter of the command runs.
    filtered: Option<Box<FilteredReuse>>,
    /// What it takes to store the run, if its result may be given again.
    candidate: Option<Box<ReuseCandidate>>,
    /// Holds a place among the running tasks until the task counts itself.
    _reservation: Option<TaskReservation>,
}

impl CommandLaunch {
    /// Starts a command without waiting. If a shim is free, the command runs when this returns. Otherwise
    /// [`CommandLaunch::finish`] starts it.
    ///
    /// # Errors
    /// If no command could be run.
    pub fn start(mut request: PlannedRun) -> Result<Self, RunError> {
        let takes_long = guard::takes_long(&request);
        if !takes_long && !request.aborted {
            guard::judge(&mut request).map_err(|error| ledger_opening::record_refused(&request, error))?;
        }
        let is_listed = request.entry.is_some();
        if let Some(mut draft) = request.draft.take() {
            draft.begin_run(is_listed, request.actor.as_ref())?;
            request.draft = Some(draft);
        }
        let helpers = HelperProcesses::shared().map_err(|error| RunError::helper(error, &request.command))?;
        let task = if request.background && !request.aborted { request.own_task() } else { None };
        let reservation = request.registry.as_ref().zip(task.as_ref());
        let reservation = reservation.map(|(registry, task)| registry.reserve(&task.id)).transpose()?;
        let order = order_of(&request, helpers, task)?;
        let facts = order.plan.world.and_then(|world| helpers.world_facts(world));
        let mut launch = Self {
            request,
            order,
            helpers,
            launched: None,
            startup_files: StartupFiles::default(),
            terminal_slot: None,
            prepared: None,
            recording: None,
            draft_before: None,
            before: None,
            filtered: None,
            candidate: None,
            _reservation: reservation,
        };
        if let Some(facts) = facts {
            launch.enter_world(facts);
        }
        if !takes_long
            && launch.can_start_now()
            && let Some(slot) = CommandAdmission::shared().try_enter()
        {
            launch.open_entry();
            // Descriptors may become free before it is this command's turn.
            launch.launched =
                SentCommand::start_now(helpers, &launch.order).ok().flatten().map(|launched| (launched, slot));
        }
        Ok(launch)
    }

    /// Returns whether the start is so short that it may be done on the caller's thread.
    fn can_start_now(&self) -> bool {
        let request = &self.request;
        // A terminal takes time to make, and waits for a place of its own. A script is megabytes long.
        let slow = request.terminal.is_some() || request.is_script();
        let writes_files = request.startup.is_some() && self.order.warm.is_none();
        let unmade = request.confine.is_some() && request.world.is_none();
        let reads_tree = request.evidence.as_ref().is_some_and(|wanted| wanted.tree);
        !request.aborted && !slow && !writes_files && !unmade && !reads_tree && request.record.is_none()
    }

    /// Handles the facts of the command's world.
    fn enter_world(&mut self, facts: Arc<WorldFacts>) {
        if self.request.world.is_none() {
            self.request.notes.extend(facts.notes.iter().cloned());
            self.enter_plan(&facts);
            self.request.world = Some(facts);
            if let Some(task) = &mut self.order.task {
                task.confinement = self.request.confinement();
            }
        }
    }

    /// Gives the plan the variables of the command's world.
    fn enter_plan(&mut self, facts: &WorldFacts) {
        if enter_world(&mut self.order.plan, facts) {
            self.order.warm = warm_form::of(&self.request, &self.order.plan, self.helpers);
        }
    }

    /// Waits until the command's world is made, if it has one.
    async fn wait_for_world(&mut self) -> Result<(), RunError> {
        let Some(world) = self.order.plan.world else { return Ok(()) };
        match self.helpers.world_made(world).await {
            Ok(facts) => self.enter_world(facts),
            Err(failure) => return Err(world_error(failure, &self.request)),
        }
        if let Some(terminals) = self.helpers.world_terminals(world) {
            launch_plan::move_terminal(&self.request, &mut self.order, &terminals)?;
        }
        Ok(())
    }

    /// Runs the command to its outcome.
    ///
    /// # Errors
    /// If no command could be run.
    pub async fn finish(
        mut self,
        listener: impl CommandListener,
        replies: impl Into<CallerReplies>,
    ) -> Result<FinishedRun, RunError> {
        if self.request.aborted {
            return Ok(CommandOutcome::not_started(&self.request).into());
        }
        guard::judge(&mut self.request).map_err(|error| ledger_opening::record_refused(&self.request, error))?;
        let mut replies = replies.into();
        if let Some(given) = self.give_again(&listener, &mut replies).await? {
            return Ok(given);
        }
        self.order.script = script_of(&self.request)?;
        let shown = live_registration::register_run(&mut self.request);
        let finished = self.run_attempts(&listener, &mut replies).await;
        if let Some(shown) = shown {
            shown.end(|| live_registration::run_ending(finished.as_ref().ok().map(|finished| &finished.outcome)));
        }
        finished
    }

    /// Starts the command, again if no process was started, and drives it to its end or until it becomes a task.
    async fn run_attempts(
        &mut self,
        listener: &impl CommandListener,
        replies: &mut CallerReplies,
    ) -> Result<FinishedRun, RunError> {
        let mut tries = 0;
        let mut searched_again = false;
        loop {
            match self.run_attempt(listener, replies).await {
                Ok(finished) => return Ok(finished),
                Err(AttemptError::Final(error)) => return Err(error),
                Err(AttemptError::NotStarted(NotStarted::HelpersKilled)) if SentCommand::may_retry(tries).await => {
                    tries += 1;
                    if self.is_recorded() {
                        self.plan_again()?;
                    }
                }
                Err(AttemptError::NotStarted(NotStarted::HelpersKilled)) => return Err(self.helpers_killed()),
                // The shell that was found before is gone, but another may exist.
                Err(AttemptError::NotStarted(NotStarted::Failed(failure)))
                    if launch_plan::is_shell_gone(&failure) && !searched_again =>
                {
                    searched_again = true;
                    protocol::plan::forget_shells();
                    self.plan_again()?;
                }
                Err(AttemptError::NotStarted(NotStarted::Failed(failure))) => {
                    return Err(start_error(&self.request, &self.order.plan, &failure));
                }
            }
        }
    }

    /// Starts the command, unless it has begun, and drives it to its end or until it becomes a task.
    async fn run_attempt(
        &mut self,
        listener: &impl CommandListener,
        replies: &mut CallerReplies,
    ) -> Result<FinishedRun, AttemptError> {
        let (launched, slot) = match self.launched.take() {
            Some(launched) => launched,
            None => {
                let run = self.request.live_run.clone();
                tokio::select! {
                    biased;
                    by = given_up(replies, run.as_deref()) => return Ok(live_registration::not_started(&mut self.request, by).into()),
                    launched = self.start_later() => launched?,
                }
            }
        };
        let mut running = launched.follow().map_err(|error| self.unwatchable_error(error))?;
        if let Some(wanted) = &self.request.evidence {
            running.child.set_evidence_request(wanted, self.before.take());
        }
        let finished = if self.request.background {
            self.become_task(running.child).await?
        } else {
            self.drive(running, listener, replies).await?
        };
        if let Some((registry, task)) = self.request.registry.as_ref().zip(finished.outcome.task_id()) {
            registry.count_descriptors(task, CommandAdmission::shared().keep_for_task(slot));
        }
        Ok(finished)
    }

    /// Starts the command once a shim, descriptors and a place among the running commands are free.
    async fn start_later(&mut self) -> Result<(SentCommand, AdmissionSlot), RunError> {
        self.wait_for_world().await?;
        let closed = || RunError::spawn("no place among the running commands", &self.request.command);
        if self.request.terminal.is_some() && self.terminal_slot.is_none() {
            let full = "as many terminals are open as this process has descriptors for; end one first";
            let slot = CommandAdmission::shared().enter_terminal(TERMINAL_PLACE).await;
            self.terminal_slot = Some(slot.ok_or_else(|| RunError::spawn(full, &self.request.command))?);
        }
        let slot = CommandAdmission::shared().enter().await.ok_or_else(closed)?;
        self.begin_record()?;
        self.startup_files.write(&self.request, &mut self.order)?;
        self.read_tree().await;
        self.open_entry();
        let launched = SentCommand::start_later(self.helpers, &self.order).await;
        let launched = launched.map_err(|error| RunError::helper(error, &self.request.command))?;
        Ok((launched, slot))
    }

    async fn drive(
        &mut self,
        running: RunningCommand,
        listener: &impl CommandListener,
        replies: &mut CallerReplies,
    ) -> Result<FinishedRun, AttemptError> {
        let RunningCommand { mut child, pipes, shell, files } = running;
        let tap = child.take_tap();
        let pid = shell.map(|(pid, mark)| {
            if let Some(run) = &self.request.live_run {
                run.set_run_id(&mark);
            }
            if let Some(recording) = &mut self.recording {
                recording.set_run(&mark);
            }
            self.request.mark = mark;
            pid
        });
        if let Some(files) = files.as_ref().filter(|_| self.request.exit_report_pipe.is_some()) {
            // The warm shell reports over a pipe of its own.
            self.request.exit_report_pipe =
                Some(files.report().try_clone().map_err(|error| self.unwatchable_error(error))?);
        }
        let drive = CommandDriver::new(&self.request, (child, pipes), pid, listener, replies);
        let drive = drive.and_then(|drive| drive.with_tap(tap)).map_err(|error| self.unwatchable_error(error))?;
        // The shell of a session may be another shell after the command.
        let saves = self.request.startup.as_ref().is_some_and(ShellStartup::saves_state);
        let kind = self.order.warm.as_ref().map(|warm| &warm.kind);
        let completed = complete(drive, self.helpers, kind.filter(|_| !saves), self.recording.take()).await;
        let (mut completion, recorded) = completed.map_err(AttemptError::NotStarted)?;
        let (evidence, tap) = completion.evidence(&self.request).await.unzip();
        let mut shell = ShellAfter { kind: kind.cloned(), files, ..std::mem::take(&mut completion.shell) };
        let (seen, silent) = (completion.seen, completion.silent.clone());
        let drafted = self.request.draft.as_ref().zip(self.draft_before.take());
        let recorded = drafted.map_or(recorded, |(draft, before)| {
            Some(RunRecord::of(block_in_place(|| draft.receipt_since(before, &completion.survivors))))
        });
        let mut outcome = CommandOutcome::of(&self.request, completion);
        outcome.add_record(recorded);
        if let Some(draft) = &mut self.request.draft {
            outcome.notes.extend(draft.note_on_edits().await);
        }
        outcome.evidence = evidence;
        outcome.tap = tap.flatten();
        if let Some(filtered) = self.filtered.take() {
            filtered.label(&mut outcome);
        }
        shell.storable = self.keep_run(&outcome).await;
        outcome.notes.extend(missing_programs::program_hints(&self.request, &outcome));
        self.note_end(&outcome, seen, silent).await;
        outcome.background.iter().for_each(|(task, _)| self.note_facts_of(task));
        if let Some(world) = self.order.plan.world {
            self.helpers.on_command_end(world);
            self.helpers.show_files(world, outcome.files()).await;
        }
        Ok(FinishedRun { outcome, shell })
    }

    /// Hands the command to its registry. From its start on, the command belongs to its shim.
    async fn become_task(&mut self, mut child: ShimCommand) -> Result<FinishedRun, AttemptError> {
        self.startup_files.drop_after(STARTED_UP);
        match (child.next_event().await, &self.request.registry) {
            (ShimEvent::Task(task), Some(registry)) => {
                registry.follow_own_recorded(child.into_link(), (*task).clone(), self.recording.take());
                self.note_facts_of(&task);
                self.order.plan.world.iter().for_each(|world| self.helpers.on_command_end(*world));
                self.helpers.request_replacement(self.order.plan.world);
                Ok(CommandOutcome::of_task(&self.request, *task).into())
            }
            // The shim had begun with the command. The registry's directory shows its outcome.
            (ShimEvent::Lost { untaken: false }, Some(registry)) => {
                let task = match &self.order.task {
                    Some(spec) => registry.find_lost_task(&spec.id).await,
                    None => None,
                };
                let task = task.ok_or_else(|| self.helpers_killed())?;
                Ok(CommandOutcome::of_task(&self.request, task).into())
            }
            (ShimEvent::Lost { .. }, _) => Err(AttemptError::NotStarted(NotStarted::HelpersKilled)),
            (ShimEvent::Failed(failure), _) => Err(AttemptError::NotStarted(NotStarted::Failed(failure))),
            _ => Err(self.helpers_killed().into()),
        }
    }

    fn unwatchable_error(&self, error: std::io::Error) -> RunError {
        RunError::system("the pipes could not be watched", error, &self.request.command)
    }

    fn helpers_killed(&self) -> RunError {
        RunError::spawn("the helper processes were killed", &self.request.command)
    }
}

/// Returns the runtime that drives commands, and work without a command.
///
/// # Errors
/// If the system creates no threads.
pub fn runtime() -> Result<&'static Handle, RunError> {
    HelperProcesses::shared().map(HelperProcesses::runtime).map_err(|error| RunError::helper(error, ""))
}
