//! Targets for JavaScript: machines on which commands run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use napi_derive::napi;
use serde::Serialize;
use tokio::sync::mpsc::unbounded_channel;

use super::bridge::Bridge;
use super::native_event::NativeEvent;
use super::result::NativeError;
use super::thread_calls::ThreadCalls;
use remote::client::{
    ProgramEncoding, ProgramFile, RemoteTarget, TargetAddress, TargetError, TargetErrorReason, TargetProgram,
    TargetSettings, TargetState, TargetStateChange, TargetTransition, TransportOrigin, UnansweredRequest,
    is_scriptable_path, user_registry_directory,
};
use runner::error::RunError;
use runner::run::runtime;

/// Time that `close` may take, whatever the link does.
const CLOSED: Duration = Duration::from_secs(8);

/// A program for targets.
#[napi(object, object_to_js = false)]
pub struct NativeProgram {
    /// The machine, as `uname -m` names it.
    pub machine: String,
    /// The SHA-256 of the program.
    pub sha256: String,
    /// The length of the program.
    pub bytes: f64,
    /// Its files on this machine. Without one it is not sent.
    pub forms: Vec<NativeForm>,
}

/// A file with a program for targets.
#[napi(object, object_to_js = false)]
pub struct NativeForm {
    /// How it is coded.
    #[napi(ts_type = "'xz' | 'gzip' | 'raw'")]
    pub coding: String,
    /// The length of the file.
    pub bytes: f64,
    /// The absolute path of the file.
    pub path: String,
}

/// The options of a target. Ranges have been checked.
#[napi(object, object_to_js = false)]
pub struct NativeTargetOptions {
    /// The address as JSON.
    pub address: String,
    /// The name in results. If left out, it is made of the address.
    pub id: Option<String>,
    /// The number of the target whose program starts the transport.
    pub via: Option<u32>,
    /// Time that work goes on there without a link, ms.
    pub lease_ms: f64,
    /// Silence that counts as a cut, ms.
    pub alive_ms: f64,
    /// Time that an attempt to connect may take, ms.
    pub patience_ms: f64,
    /// The path there of a program that is installed.
    pub installed: Option<String>,
    /// The programs, one for each machine.
    pub programs: Vec<NativeProgram>,
    /// Why there is no program for another machine, and the remedy.
    pub missing: String,
}

/// How busy a machine is.
#[napi(object, object_from_js = false)]
pub struct NativeLoad {
    /// The first number of /proc/loadavg there. 0: not known.
    pub load: f64,
    /// The memory that programs there can still get, bytes. 0: not known.
    pub memory_free: f64,
}

/// `TargetInfo`
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SerializedTargetInfo<'a> {
    machine: &'a str,
    host_name: &'a str,
    platform: &'static str,
    arch: &'a str,
    kernel: &'a str,
    user: &'a str,
    uid: u32,
    home: &'a str,
    pid: i32,
    bash: Option<&'a str>,
    lingers: Option<bool>,
    program: SerializedTargetProgram<'a>,
}

/// `TargetInfo.program`
#[derive(Serialize)]
struct SerializedTargetProgram<'a> {
    path: &'a str,
    sha256: &'a str,
    version: &'a str,
    sent: bool,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the length of a file")]
impl NativeProgram {
    fn program(self) -> TargetProgram {
        let forms = self.forms.into_iter().map(|NativeForm { coding, bytes, path }| {
            let coding = match coding.as_str() {
                "xz" => ProgramEncoding::Xz,
                "gzip" => ProgramEncoding::Gzip,
                _ => ProgramEncoding::Raw,
            };
            ProgramFile { coding, bytes: bytes as u64, path: PathBuf::from(path) }
        });
        TargetProgram { machine: self.machine, sha256: self.sha256, bytes: self.bytes as u64, forms: forms.collect() }
    }
}

impl NativeTargetOptions {
    fn settings(self, calls: &ThreadCalls) -> Result<TargetSettings, RunError> {
        let address = checked_address(&self.address)?;
        if let Some(path) = self.installed.as_deref().filter(|path| !is_scriptable_path(path)) {
            let problem = "is no absolute path, or has a quote, a backslash, `!` or a control character";
            return Err(RunError::InvalidArg(format!("hostProgram {problem}: {path:?}")));
        }
        let via = self.via.map(|number| calls.target(number)).transpose()?;
        let via = via.map(|via| via as Arc<dyn TransportOrigin>);
        let millis = |ms: f64| Duration::from_secs_f64(ms.max(0.0) / 1000.0);
        Ok(TargetSettings {
            id: self.id.unwrap_or_else(|| address.id()),
            address,
            lease: millis(self.lease_ms),
            alive: millis(self.alive_ms),
            patience: millis(self.patience_ms),
            via,
            cwd: None,
            installed: self.installed,
            programs: self.programs.into_iter().map(NativeProgram::program).collect(),
            missing: self.missing,
        })
    }
}

/// Returns the name of a target with this address, as JSON, that has no name of its own.
///
/// # Errors
/// For a name in the address that a client could take for an option.
#[napi]
pub fn target_id(address: String) -> napi::Result<String> {
    checked_address(&address).map(|address| address.id()).map_err(|error| napi::Error::from_reason(error.to_string()))
}

fn checked_address(address: &str) -> Result<TargetAddress, RunError> {
    let address: TargetAddress =
        serde_json::from_str(address).map_err(|error| RunError::InvalidArg(error.to_string()))?;
    address.check().map_err(|error| RunError::InvalidArg(error.to_string()))?;
    Ok(address)
}

#[napi]
impl Bridge {
    /// Connects to a target; answered by `connected`.
    #[napi]
    pub fn connect(&self, options: NativeTargetOptions) -> u32 {
        let id = self.calls.next_number();
        let started = options.settings(&self.calls).and_then(|settings| Ok((settings, runtime()?)));
        let Some((settings, runtime)) = self.calls.start_or_report(id, started) else { return id };
        let calls = Arc::clone(&self.calls);
        let (give_up, given_up) = tokio::sync::oneshot::channel();
        Arc::clone(&self.calls).run_call(id, runtime, None, Some(give_up), async move {
            tokio::select! {
                target = RemoteTarget::connect(settings) => match target {
                    Ok(target) => calls.connected(target),
                    Err(error) => error.into(),
                },
                Ok(()) = given_up => RunError::Aborted.into(),
            }
        });
        id
    }
}

/// A target that is connected, or was.
#[napi]
pub struct NativeTarget {
    pub(super) calls: Arc<ThreadCalls>,
    pub(super) number: u32,
}

#[napi]
impl NativeTarget {
    /// `number` as `connected` has it.
    #[napi(constructor)]
    pub fn new(bridge: &Bridge, number: u32) -> Self {
        Self { calls: Arc::clone(&bridge.calls), number }
    }

    /// Returns its number, for the option `target` of a registry.
    #[napi(getter)]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns whether it is connected.
    #[napi(getter, ts_return_type = "'connected' | 'disconnected' | 'lost' | 'closed'")]
    pub fn state(&self) -> String {
        let state = self.target().map_or(TargetState::Closed, |target| target.state());
        match state {
            TargetState::Connected => "connected",
            TargetState::Disconnected => "disconnected",
            TargetState::Lost => "lost",
            TargetState::Closed => "closed",
        }
        .to_owned()
    }

    /// Returns its `TargetInfo` without `cwd` and `rttMs` as JSON. `None` after it was closed.
    #[napi]
    pub fn info(&self) -> Option<String> {
        let target = self.target().ok()?;
        let (facts, sent) = target.facts();
        let arch = match facts.arch.as_str() {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            other => other,
        };
        let info = SerializedTargetInfo {
            machine: &facts.machine,
            host_name: &facts.host_name,
            platform: "linux",
            arch,
            kernel: &facts.kernel,
            user: &facts.user,
            uid: facts.uid,
            home: &facts.home,
            pid: facts.pid,
            bash: facts.bash.as_deref(),
            lingers: facts.lingers,
            program: SerializedTargetProgram {
                path: &facts.path,
                sha256: target.sha256_for(&facts.arch),
                version: &facts.version,
                sent,
            },
        };
        serde_json::to_string(&info).ok()
    }

    /// Returns how busy its machine is, as the last heartbeat has told.
    #[napi]
    pub fn load(&self) -> NativeLoad {
        let load = self.target().map(|target| target.load()).unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "no machine has as many bytes")]
        NativeLoad { load: f64::from(load.hundredths) / 100.0, memory_free: load.memory_free as f64 }
    }

    /// Returns the directory there of the user's own registry. `None`: the user has no home there.
    #[napi]
    pub fn own_directory(&self) -> Option<String> {
        let (facts, _) = self.target().ok()?.facts();
        Some(user_registry_directory(&facts)?.to_string_lossy().into_owned())
    }

    /// Ends what runs there, and the target; answered by `done`.
    #[napi]
    pub fn close(&self) -> u32 {
        let id = self.calls.next_number();
        let taken = self.calls.take_target(self.number);
        let Some(runtime) = self.calls.start_or_report(id, runtime()) else { return id };
        self.calls.run_call(id, runtime, None, None, async move {
            if let Some(target) = taken {
                target.close();
                target.wait_until_ended(CLOSED).await;
            }
            NativeEvent::Done
        });
        id
    }

    /// Removes what is ours there, and closes the target; answered by `done`.
    #[napi]
    pub fn uninstall(&self) -> u32 {
        let id = self.calls.next_number();
        let asked = self.target().and_then(|target| Ok((runtime()?, target)));
        let Some((runtime, target)) = self.calls.start_or_report(id, asked) else { return id };
        self.calls.take_target(self.number);
        self.calls.run_call(id, runtime, None, None, async move {
            let removed = target.uninstall().await;
            target.wait_until_ended(CLOSED).await;
            removed.map_or_else(NativeEvent::from, |()| NativeEvent::Done)
        });
        id
    }

    pub(super) fn target(&self) -> Result<Arc<RemoteTarget>, RunError> {
        self.calls.target(self.number)
    }
}

impl ThreadCalls {
    /// Adds a target, whose changes are told from now on.
    fn connected(&self, target: Arc<RemoteTarget>) -> NativeEvent {
        let (changes, mut changed) = unbounded_channel();
        target.report_changes_to(changes);
        let (target_kind, id) = (kind(&target), target.id().to_owned());
        let number = self.add_target(target);
        let emitter = self.emitter(number);
        tokio::spawn(async move {
            while let Some(change) = changed.recv().await {
                emitter.emit(change.into());
            }
        });
        NativeEvent::Connected { target: number, id, target_kind }
    }
}

impl From<TargetStateChange> for NativeEvent {
    fn from(TargetStateChange { turn, reason, down, lost }: TargetStateChange) -> Self {
        let turn = match turn {
            TargetTransition::Connected => "connected",
            TargetTransition::Disconnected => "disconnected",
            TargetTransition::Reconnected => "reconnected",
            TargetTransition::Lost => "lost",
            TargetTransition::Closed => "closed",
        };
        Self::TargetChanged {
            turn: turn.to_owned(),
            reason,
            down_ms: down.map(|down| down.as_secs_f64() * 1_000.0),
            lost,
        }
    }
}

fn kind(target: &RemoteTarget) -> String {
    serde_json::to_value(target.kind()).ok().and_then(|kind| Some(kind.as_str()?.to_owned())).unwrap_or_default()
}

impl From<UnansweredRequest> for NativeEvent {
    fn from(unanswered: UnansweredRequest) -> Self {
        match unanswered {
            UnansweredRequest::Failed(error) => error.into(),
            UnansweredRequest::Unreachable(error) => error.into(),
            UnansweredRequest::Lost(why) => {
                let message = format!("the target is lost, and it is not known whether this was done: {why}");
                unusable(None, TargetErrorReason::Lost, message, String::new())
            }
        }
    }
}

impl From<TargetError> for NativeEvent {
    fn from(TargetError { target, reason, message, stderr }: TargetError) -> Self {
        unusable(Some(target), reason, message, stderr)
    }
}

fn unusable(target: Option<String>, reason: TargetErrorReason, message: String, stderr: String) -> NativeEvent {
    let reason = serde_json::to_value(reason).ok().and_then(|reason| Some(reason.as_str()?.to_owned()));
    let (code, stderr) = ("ERR_BASH_TARGET".to_owned(), Some(stderr));
    let error = NativeError { code, message, errno: None, findings: None, missing: None, target, reason, stderr };
    NativeEvent::Error { error }
}
