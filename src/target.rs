//! Targets for JavaScript: machines on which commands run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use napi_derive::napi;
use serde::Serialize;
use tokio::sync::mpsc::unbounded_channel;

use super::bridge::Bridge;
use super::calls::Calls;
use super::events::NativeEvent;
use super::request::NativeRequest;
use super::result::NativeError;
use remote::client::{Address, Distant, Program, Settings, State, Target, TargetError, is_writable};
use remote::{Order, Place};
use runner::error::Error;
use runner::request::RawOptions;
use runner::run::{judged, runtime};

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

impl Calls {
    /// Runs a command on its target.
    pub fn run_there(self: &Arc<Self>, native: NativeRequest, target: u32) -> u32 {
        let id = self.number();
        let options = native.options.clone();
        let started = self.target(target).and_then(|target| {
            let raw = native.read()?;
            let (facts, _) = target.facts();
            let order = Order {
                command: raw.command.clone(),
                cwd: raw.cwd.clone(),
                options,
                stdin: raw.stdin.clone(),
                place: Place::Shell,
            };
            let judged = judged(RawOptions { host_env: facts.environment.clone(), umask: facts.umask, ..raw })?;
            Ok((runtime()?, target, order, judged))
        });
        let Some((runtime, target, order, judged)) = self.started(id, started) else { return id };
        if judged.aborted {
            self.emitter(id).emit(NativeEvent::result(judged.outcome, None));
            return id;
        }
        let Some(run) = self.started(id, target.run(order, judged)) else { return id };
        let (reply, inbox) = unbounded_channel();
        let emitter = self.emitter(id);
        self.call(id, runtime, Some(reply), None, async move {
            match run.finish(emitter, inbox).await {
                Distant::Outcome(outcome, cwd) => NativeEvent::result(*outcome, cwd),
                Distant::Failed(error) => error.into(),
                Distant::Unreachable(error) => error.into(),
            }
        });
        id
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
