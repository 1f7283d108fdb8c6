//! Commands on targets for JavaScript, and sessions there.

use std::sync::Arc;

use napi_derive::napi;
use tokio::sync::mpsc::unbounded_channel;

use super::any_task_registry::AnyTaskRegistry;
use super::native_event::NativeEvent;
use super::owner::add_target;
use super::registry_options::NativeRegistryOptions;
use super::request::NativeRequest;
use super::result::BackgroundTask;
use super::target::NativeTarget;
use super::thread_calls::ThreadCalls;
use remote::client::{DistantRegistry, DistantRun, DistantRunEnd, DistantSession, RemoteTarget, UnansweredRequest};
use remote::{TargetCommand, TargetCommandPlace, TargetRequest, TargetResponse};
use runner::error::RunError;
use runner::registry::RegistryError;
use runner::request::{RawOptions, RequestError, ledger_directory};
use runner::run::outcome::CommandOutcome;
use runner::run::{JudgedDistantCommand, judge_distant, runtime};

#[napi]
impl NativeTarget {
    /// Starts a command and returns its number; answered as `Bridge.start` is.
    #[napi]
    pub fn start(&self, request: NativeRequest) -> u32 {
        let order = TargetCommandInput { request, place: TargetCommandPlace::Shell, task_of: None };
        self.calls.run_on_target(self.number, order, None, RemoteTarget::run, |_| {})
    }

    /// Starts a warm shell for commands like this one; answered by `warm`.
    #[napi]
    pub fn warm_up(&self, request: NativeRequest) -> u32 {
        let given = TargetCommandInput { request, place: TargetCommandPlace::Shell, task_of: None };
        let id = self.calls.next_number();
        let ordered =
            self.target().and_then(|target| Ok((runtime()?, self.calls.judge_order(&target, given, None)?, target)));
        let Some((runtime, (order, ..), target)) = self.calls.start_or_report(id, ordered) else { return id };
        let asked = target.request(TargetRequest::WarmUp(Box::new(order)));
        self.calls.run_call(id, runtime, None, None, async move {
            match asked.await {
                Ok(TargetResponse::Warm(ready)) => NativeEvent::Warm { ready },
                Ok(_) => UnansweredRequest::protocol_violation().into(),
                Err(unanswered) => unanswered.into(),
            }
        });
        id
    }
}

/// A session on a target.
#[napi]
pub struct NativeSessionThere {
    calls: Arc<ThreadCalls>,
    target: u32,
    /// `None`: the target was closed before.
    session: Option<Arc<DistantSession>>,
}

#[napi]
impl NativeSessionThere {
    /// `cwd` is an absolute path there.
    #[napi(constructor)]
    pub fn new(target: &NativeTarget, cwd: String) -> Self {
        let begun = target.target().and_then(|target| DistantSession::begin(&target, cwd, runtime()?));
        Self { calls: Arc::clone(&target.calls), target: target.number, session: begun.ok() }
    }

    /// Returns the directory that the last command has left.
    #[napi(getter)]
    pub fn cwd(&self) -> String {
        self.session.as_ref().map(|session| session.cwd()).unwrap_or_default()
    }

    /// Runs a command when its turn comes, and returns its number. Answered as `Bridge.start` is, with `cwd` in the
    /// result.
    #[napi]
    pub fn run(&self, request: NativeRequest) -> u32 {
        let (session, own) = (self.session.clone(), self.cwd());
        let place = session.as_ref().map_or(TargetCommandPlace::Shell, |session| session.place());
        let order = TargetCommandInput { request, place, task_of: None };
        self.calls.run_on_target(self.target, order, Some(own), RemoteTarget::run, move |ended| {
            if let Some(session) = session {
                session.on_command_end(ended);
            }
        })
    }

    /// Forgets all state when its turn comes. Answered by `done`.
    #[napi]
    pub fn reset(&self) -> u32 {
        let id = self.calls.next_number();
        let asked = self.session.clone().ok_or(RunError::SessionClosed).and_then(|session| Ok((runtime()?, session)));
        let Some((runtime, session)) = self.calls.start_or_report(id, asked) else { return id };
        let reset = session.reset();
        self.calls.run_call(id, runtime, None, None, async move {
            reset.await.map_or_else(NativeEvent::from, |()| NativeEvent::Done)
        });
        id
    }

    /// Refuses further commands.
    #[napi]
    pub fn close(&self) {
        if let (Some(session), Ok(runtime)) = (&self.session, runtime()) {
            session.close(runtime);
        }
    }
}

impl Drop for NativeSessionThere {
    fn drop(&mut self) {
        self.close();
    }
}

/// A command for a target.
pub struct TargetCommandInput {
    /// The command, as it crosses from JavaScript. Its `cwd` is an absolute path there.
    pub request: NativeRequest,
    /// What runs the command.
    pub place: TargetCommandPlace,
    /// The registry in which the command is a task from its start.
    pub task_of: Option<u32>,
}

impl ThreadCalls {
    /// Opens a registry on a target.
    pub fn open_distant_registry(
        &self,
        number: u32,
        options: NativeRegistryOptions,
    ) -> Result<AnyTaskRegistry, RunError> {
        let target = self.target(number)?;
        let registry = DistantRegistry::open(&target, options.there(), runtime()?)?;
        Ok(AnyTaskRegistry::Distant { registry, number, target: target.id().into() })
    }

    /// Runs a command on its target, and returns the number of the call. `own_cwd`: the directory that it is judged by,
    /// if its own is empty. `start` gives it to the target, and `on_end` sees how it ended.
    pub fn run_on_target(
        self: &Arc<Self>,
        target: u32,
        order: TargetCommandInput,
        own_cwd: Option<String>,
        start: impl FnOnce(&Arc<RemoteTarget>, TargetCommand, JudgedDistantCommand) -> Result<DistantRun, RunError>,
        on_end: impl FnOnce(&mut DistantRunEnd) + Send + 'static,
    ) -> u32 {
        let id = self.next_number();
        let as_task = order.task_of.is_some();
        let ordered = self.target(target).and_then(|target| Ok((self.judge_order(&target, order, own_cwd)?, target)));
        let started = ordered.and_then(|((order, judged, registry), target)| {
            if judged.aborted {
                return Ok((runtime()?, Err(judged.outcome), registry, target));
            }
            let run = start(&target, order, judged)?;
            Ok((runtime()?, Ok(run), registry, target))
        });
        let Some((runtime, started, registry, target)) = self.start_or_report(id, started) else { return id };
        let name: Arc<str> = target.id().into();
        let run = match started {
            Ok(run) => run,
            Err(_) if as_task => {
                self.emitter(id).emit(RunError::Aborted.into());
                return id;
            }
            Err(outcome) => {
                self.emitter(id).emit(NativeEvent::result(outcome, None, Some(&name)));
                return id;
            }
        };
        let (reply, inbox) = unbounded_channel();
        let emitter = self.emitter(id);
        self.run_call(id, runtime, Some(reply), None, async move {
            let mut ended = run.finish(emitter, inbox).await;
            on_end(&mut ended);
            match ended {
                DistantRunEnd::Outcome(outcome, cwd) => {
                    if let (Some(registry), Some(_)) = (&registry, outcome.task_id()) {
                        // Without an answer, the tasks are as they were last known.
                        let _unanswered = registry.refresh().await;
                    }
                    last_event(*outcome, cwd, &name, as_task)
                }
                // A registry that could not be opened counts as closed there.
                DistantRunEnd::Failed(error) => match registry.filter(|_| error.code() == "ERR_BASH_CLOSED") {
                    Some(registry) => registry.wait_until_open().await.err().unwrap_or(error).into(),
                    None => error.into(),
                },
                DistantRunEnd::Unreachable(error) => error.into(),
            }
        });
        id
    }

    /// Judges a command, and returns it as the program takes it, with the registry of its tasks there.
    fn judge_order(
        &self,
        target: &Arc<RemoteTarget>,
        given: TargetCommandInput,
        own_cwd: Option<String>,
    ) -> Result<(TargetCommand, JudgedDistantCommand, Option<Arc<DistantRegistry>>), RunError> {
        let TargetCommandInput { request: NativeRequest { command, cwd, options, stdin, .. }, place, task_of } = given;
        let (facts, _) = target.facts();
        let stdin: Option<Vec<u8>> = stdin.map(|stdin| stdin.to_vec());
        let given = RawOptions::from_json(&options)?;
        let options = if given.actor.is_some() { without_actor(&options) } else { options };
        let registry = task_of.or(given.registry_number).map(|number| self.distant_registry(number)).transpose()?;
        let owner = given.confine.as_ref().map(|world| world.owner);
        let raw = RawOptions {
            command: command.clone(),
            cwd: if cwd.is_empty() { own_cwd.unwrap_or_default() } else { cwd.clone() },
            host_env: facts.environment.clone(),
            umask: facts.umask,
            stdin: stdin.clone(),
            guard: given.safety.guard().map_err(RequestError::from)?,
            ..given
        };
        let judged = judge_distant(raw, target.id(), ledger_directory(&sys::environment()))?;
        if let Some(owner) = owner.filter(|owner| *owner != 0) {
            add_target(owner, target);
        }
        let number = registry.as_ref().map(|registry| registry.number());
        let mark = judged.outcome.run.clone();
        let order = TargetCommand {
            mark,
            command,
            cwd,
            options,
            stdin,
            place,
            registry: number,
            background: task_of.is_some(),
        };
        Ok((order, judged, registry))
    }

    fn distant_registry(&self, number: u32) -> Result<Arc<DistantRegistry>, RunError> {
        match self.registries().get(&number) {
            Some(AnyTaskRegistry::Distant { registry, .. }) => Ok(Arc::clone(registry)),
            Some(AnyTaskRegistry::Local(_)) => {
                Err(RunError::InvalidArg("registry: it is one of this machine".to_owned()))
            }
            None => Err(RegistryError::Closed.into()),
        }
    }
}

/// Returns options without the words for the ledger of this machine. They name its users and sessions.
fn without_actor(options: &str) -> String {
    let mut options: serde_json::Map<String, serde_json::Value> = serde_json::from_str(options).unwrap_or_default();
    options.remove("actor");
    serde_json::Value::from(options).to_string()
}

/// Returns the last event of a command that has an outcome.
fn last_event(mut outcome: CommandOutcome, cwd: Option<String>, target: &str, as_task: bool) -> NativeEvent {
    match outcome.background.take() {
        Some((task, store)) if as_task => NativeEvent::Task { task: BackgroundTask::of(task, &store, Some(target)) },
        None if as_task => RunError::Aborted.into(),
        background => NativeEvent::result(CommandOutcome { background, ..outcome }, cwd, Some(target)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_actor_is_sent() {
        let options = r#"{"actor":{"session":"s"},"timeoutMs":1.5,"env":[["A","1"]],"safety":{"onAsk":"deny"}}"#;
        assert_eq!(without_actor(options), r#"{"env":[["A","1"]],"safety":{"onAsk":"deny"},"timeoutMs":1.5}"#);
    }
}
