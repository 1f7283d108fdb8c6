//! Targets for JavaScript: machines on which commands run.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use serde::Serialize;
use tokio::sync::mpsc::unbounded_channel;

use super::bridge::Bridge;
use super::calls::Calls;
use super::events::NativeEvent;
use super::result::NativeError;
use remote::client::{
    Address, Distant, DistantRun, Program, Reason, Settings, State, Target, TargetError, Unanswered, is_writable,
};
use remote::{Ask, OfSession, Order, Place};
use runner::error::Error;
use runner::request::{RawOptions, RequestError};
use runner::run::{Judged, judged, runtime};

/// Time that `close` may take, whatever the link does.
const CLOSED: Duration = Duration::from_secs(8);

/// A program that can be sent to a target.
#[napi(object, object_to_js = false)]
pub struct NativeProgram {
    /// The machine, as `uname -m` names it.
    pub machine: String,
    /// The SHA-256 of the program.
    pub sha256: String,
    /// The length of the program.
    pub bytes: f64,
    /// The file on this machine, absolute.
    pub path: String,
}

/// The options of a target. Ranges have been checked.
#[napi(object, object_to_js = false)]
pub struct NativeTargetOptions {
    /// The address as JSON.
    pub address: String,
    /// The name in results. If left out, it is made of the address.
    pub id: Option<String>,
    /// Time that work goes on there without a link, ms.
    pub lease_ms: f64,
    /// Silence that counts as a cut, ms.
    pub alive_ms: f64,
    /// Time that an attempt to connect may take, ms.
    pub patience_ms: f64,
    /// The directory there in which relative paths begin. If left out, it is the home.
    pub cwd: Option<String>,
    /// The path there of a program that is installed.
    pub installed: Option<String>,
    /// The programs that can be sent.
    pub programs: Vec<NativeProgram>,
}

/// `TargetInfo`
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Info<'a> {
    machine: &'a str,
    host_name: &'a str,
    platform: &'static str,
    arch: &'a str,
    kernel: &'a str,
    user: &'a str,
    uid: u32,
    home: &'a str,
    cwd: &'a str,
    pid: i32,
    bash: Option<&'a str>,
    program: InfoProgram<'a>,
}

/// `TargetInfo.program`
#[derive(Serialize)]
struct InfoProgram<'a> {
    path: &'a str,
    version: &'a str,
    sent: bool,
}

impl NativeTargetOptions {
    fn settings(self) -> Result<Settings, Error> {
        let address: Address =
            serde_json::from_str(&self.address).map_err(|error| Error::InvalidArg(error.to_string()))?;
        address.check().map_err(|error| Error::InvalidArg(error.to_string()))?;
        if let Some(path) = self.installed.as_deref().filter(|path| !is_writable(path)) {
            let problem = "is no absolute path, or has a quote, a backslash, `!` or a control character";
            return Err(Error::InvalidArg(format!("hostProgram {problem}: {path:?}")));
        }
        let millis = |ms: f64| Duration::from_secs_f64(ms.max(0.0) / 1000.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the length of a file")]
        let program = |NativeProgram { machine, sha256, bytes, path }| Program {
            machine,
            sha256,
            bytes: bytes as u64,
            path: PathBuf::from(path),
        };
        Ok(Settings {
            id: self.id.unwrap_or_else(|| address.id()),
            address,
            lease: millis(self.lease_ms),
            alive: millis(self.alive_ms),
            patience: millis(self.patience_ms),
            cwd: self.cwd,
            installed: self.installed,
            programs: self.programs.into_iter().map(program).collect(),
        })
    }
}

#[napi]
impl Bridge {
    /// Connects to a target; answered by `connected`.
    #[napi]
    pub fn connect(&self, options: NativeTargetOptions) -> u32 {
        let id = self.calls.number();
        let started = options.settings().and_then(|settings| Ok((settings, runtime()?)));
        let Some((settings, runtime)) = self.calls.started(id, started) else { return id };
        let calls = Arc::clone(&self.calls);
        let (give_up, given_up) = tokio::sync::oneshot::channel();
        Arc::clone(&self.calls).call(id, runtime, None, Some(give_up), async move {
            tokio::select! {
                target = Target::connect(settings) => match target {
                    Ok(target) => NativeEvent::Connected { target_kind: kind(&target), id: target.id().to_owned(), target: calls.add_target(target) },
                    Err(error) => error.into(),
                },
                Ok(()) = given_up => Error::Aborted.into(),
            }
        });
        id
    }

    /// Starts a command on a target and returns its number; answered as [`Bridge::start`] is. `cwd` is an absolute path
    /// there.
    #[napi]
    pub fn start_there(
        &self,
        target: u32,
        command: String,
        cwd: String,
        options: String,
        stdin: Option<Uint8Array>,
    ) -> u32 {
        let id = self.calls.number();
        let order = OrderThere { command, cwd, options, stdin, place: Place::Shell };
        self.calls.run_there(id, target, order, None, Target::run, |_| {});
        id
    }

    /// Returns the state of a target.
    #[napi(ts_return_type = "'connected' | 'disconnected' | 'lost' | 'closed'")]
    pub fn target_state(&self, target: u32) -> String {
        let state = self.calls.target(target).map_or(State::Closed, |target| target.state());
        match state {
            State::Connected => "connected",
            State::Disconnected => "disconnected",
            State::Lost => "lost",
            State::Closed => "closed",
        }
        .to_owned()
    }

    /// Returns the `TargetInfo` of a target as JSON. `None` after it was closed.
    #[napi]
    pub fn target_info(&self, target: u32) -> Option<String> {
        let (facts, sent) = self.calls.target(target).ok()?.facts();
        let arch = match facts.arch.as_str() {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            other => other,
        };
        let info = Info {
            machine: &facts.machine,
            host_name: &facts.host_name,
            platform: "linux",
            arch,
            kernel: &facts.kernel,
            user: &facts.user,
            uid: facts.uid,
            home: &facts.home,
            cwd: &facts.cwd,
            pid: facts.pid,
            bash: facts.bash.as_deref(),
            program: InfoProgram { path: &facts.path, version: &facts.version, sent },
        };
        serde_json::to_string(&info).ok()
    }

    /// Ends what runs on a target, and the target; answered by `done`.
    #[napi]
    pub fn close_target(&self, target: u32) -> u32 {
        let id = self.calls.number();
        let taken = self.calls.take_target(target);
        let Some(runtime) = self.calls.started(id, runtime()) else { return id };
        Arc::clone(&self.calls).call(id, runtime, None, None, async move {
            if let Some(target) = taken {
                target.close();
                target.ended(CLOSED).await;
            }
            NativeEvent::Done
        });
        id
    }
}

fn kind(target: &Target) -> String {
    serde_json::to_value(target.kind()).ok().and_then(|kind| Some(kind.as_str()?.to_owned())).unwrap_or_default()
}

/// A session on a target.
#[napi]
pub struct NativeSessionThere {
    calls: Arc<Calls>,
    target: u32,
    number: u64,
    /// The directory that the last command has left.
    cwd: Arc<Mutex<String>>,
}

#[napi]
impl NativeSessionThere {
    /// `cwd` is an absolute path there.
    #[napi(constructor)]
    pub fn new(bridge: &Bridge, target: u32, cwd: String) -> Self {
        let calls = Arc::clone(&bridge.calls);
        let number = u64::from(calls.number());
        let session = Self { calls, target, number, cwd: Arc::new(Mutex::new(cwd.clone())) };
        session.tell(OfSession::Begin(cwd));
        session
    }

    /// Returns the directory that the last command has left.
    #[napi(getter)]
    pub fn cwd(&self) -> String {
        self.cwd.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs a command when its turn comes, and returns its number. Answered as `Bridge.start` is, with `cwd` in the
    /// result. An empty `cwd` is the session's own.
    #[napi]
    pub fn run(&self, command: String, cwd: String, options: String, stdin: Option<Uint8Array>) -> u32 {
        let id = self.calls.number();
        let place = Place::Session(self.number);
        let order = OrderThere { command, cwd, options, stdin, place };
        let left = Arc::clone(&self.cwd);
        let own = self.cwd();
        self.calls.run_there(id, self.target, order, Some(own), Target::run, move |ended| {
            if let Distant::Outcome(_, Some(cwd)) = ended {
                left.lock().unwrap_or_else(PoisonError::into_inner).clone_from(cwd);
            }
        });
        id
    }

    /// Forgets all state when its turn comes. Answered by `done`.
    #[napi]
    pub fn reset(&self) -> u32 {
        let id = self.calls.number();
        let asked = self.calls.target(self.target).and_then(|target| Ok((runtime()?, target)));
        let Some((runtime, target)) = self.calls.started(id, asked) else { return id };
        let answer = target.ask(Ask::Session(self.number, OfSession::Reset));
        self.calls.call(id, runtime, None, None, async move {
            match answer.await {
                Ok(_) => NativeEvent::Done,
                Err(unanswered) => unanswered.into(),
            }
        });
        id
    }

    /// Refuses further commands.
    #[napi]
    pub fn close(&self) {
        self.tell(OfSession::Close);
    }

    /// Tells the program something whose answer nobody waits for. A target that is closed has no sessions.
    fn tell(&self, what: OfSession) {
        if let (Ok(target), Ok(runtime)) = (self.calls.target(self.target), runtime()) {
            runtime.spawn(target.ask(Ask::Session(self.number, what)));
        }
    }
}

/// A command for a target, as it crosses from JavaScript.
pub struct OrderThere {
    /// The command.
    pub command: String,
    /// An absolute path there.
    pub cwd: String,
    /// The options as JSON.
    pub options: String,
    /// Bytes for standard input.
    pub stdin: Option<Uint8Array>,
    /// What runs the command.
    pub place: Place,
}

impl Calls {
    /// Runs a command on its target. `own_cwd`: the directory that it is judged by, if its own is empty. `start` gives
    /// it to the target, and `on_end` sees how it ended.
    pub fn run_there(
        self: &Arc<Self>,
        id: u32,
        target: u32,
        order: OrderThere,
        own_cwd: Option<String>,
        start: impl FnOnce(&Arc<Target>, Order, Judged) -> Result<DistantRun, Error>,
        on_end: impl FnOnce(&Distant) + Send + 'static,
    ) {
        let OrderThere { command, cwd, options, stdin, place } = order;
        let started = self.target(target).and_then(|target| {
            let (facts, _) = target.facts();
            let stdin: Option<Vec<u8>> = stdin.map(|stdin| stdin.to_vec());
            let given = RawOptions::from_json(&options)?;
            let raw = RawOptions {
                command: command.clone(),
                cwd: if cwd.is_empty() { own_cwd.unwrap_or_default() } else { cwd.clone() },
                host_env: facts.environment.clone(),
                umask: facts.umask,
                stdin: stdin.clone(),
                guard: given.safety.guard().map_err(RequestError::from)?,
                ..given
            };
            let judged = judged(raw)?;
            if judged.aborted {
                return Ok((runtime()?, Err(judged.outcome)));
            }
            let order = Order { command, cwd, options, stdin, place, registry: None, background: false };
            Ok((runtime()?, Ok(start(&target, order, judged)?)))
        });
        let Some((runtime, started)) = self.started(id, started) else { return };
        let run = match started {
            Ok(run) => run,
            Err(outcome) => return self.emitter(id).emit(NativeEvent::result(outcome, None)),
        };
        let (reply, inbox) = unbounded_channel();
        let emitter = self.emitter(id);
        self.call(id, runtime, Some(reply), None, async move {
            let ended = run.finish(emitter, inbox).await;
            on_end(&ended);
            match ended {
                Distant::Outcome(outcome, cwd) => NativeEvent::result(*outcome, cwd),
                Distant::Failed(error) => error.into(),
                Distant::Unreachable(error) => error.into(),
            }
        });
    }
}

impl From<Unanswered> for NativeEvent {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Failed(error) => error.into(),
            Unanswered::Unreachable(error) => error.into(),
            Unanswered::Lost(why) => {
                let message = format!("the target is lost, and it is not known whether this was done: {why}");
                TargetError { reason: Reason::Lost, message, stderr: String::new() }.into()
            }
        }
    }
}

impl From<TargetError> for NativeEvent {
    fn from(error: TargetError) -> Self {
        let reason = serde_json::to_value(error.reason).ok().and_then(|reason| Some(reason.as_str()?.to_owned()));
        Self::Error {
            error: NativeError {
                code: "ERR_BASH_TARGET".to_owned(),
                message: error.message,
                errno: None,
                findings: None,
                missing: None,
                reason,
                stderr: Some(error.stderr),
            },
        }
    }
}
