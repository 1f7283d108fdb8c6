//! The records of the ledger, without their form as lines.
//!
//! A record has the parts of a run that its writer knows: start, end, note. A refusal has start and end in one record,
//! and so has a run whose shim was killed. A record without a run is about the ledger itself.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use protocol::CommandStatus;
use protocol::task::MachineIdentity;
use sys::ResourceUsage;

/// Longest record with its newline, bytes.
pub const MAX_RECORD: usize = 32 * 1024;

/// How a run ended, or that it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LedgerRunState {
    /// The run goes on.
    Running,
    /// The shell exited by itself.
    Exited,
    /// A signal ended the shell.
    Signaled,
    /// The time limit ended the run.
    TimedOut,
    /// The caller ended the run.
    Aborted,
    /// The run goes on in the background.
    Backgrounded,
    /// The safety engine or a person has refused the command, and nothing was started.
    Refused,
    /// The end is not known, because the shim was killed.
    Lost,
}

impl From<CommandStatus> for LedgerRunState {
    fn from(status: CommandStatus) -> Self {
        match status {
            CommandStatus::Exited => Self::Exited,
            CommandStatus::Signaled => Self::Signaled,
            CommandStatus::TimedOut => Self::TimedOut,
            CommandStatus::Aborted => Self::Aborted,
            CommandStatus::Backgrounded => Self::Backgrounded,
            CommandStatus::Lost => Self::Lost,
        }
    }
}

/// Who asked for a command, in the words of the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Actor {
    /// The name of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The call of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// The process that runs a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRunHost<'a> {
    /// The pid of the process.
    pub pid: u32,
    /// The program, as people know it: `node agent.js`.
    #[serde(borrow)]
    pub program: Cow<'a, str>,
}

/// The task of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRunTask<'a> {
    /// The id of the task.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The path of the task's log.
    #[serde(borrow)]
    pub log: Cow<'a, str>,
}

/// All that is known of a command when it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerRunStart<'a> {
    /// Unix time, ms.
    pub at: u64,
    /// The command, without its secrets.
    #[serde(borrow)]
    pub command: Cow<'a, str>,
    /// Whether a secret was taken out of the command.
    #[serde(default, skip_serializing_if = "is_false")]
    pub redacted: bool,
    /// The directory in which the command starts.
    #[serde(borrow)]
    pub cwd: Cow<'a, str>,
    /// The process that runs the command.
    #[serde(borrow)]
    pub host: LedgerRunHost<'a>,
    /// Who asked for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<Cow<'a, Actor>>,
    /// The verdict of the safety engine. `None`: nothing was found, or the command was not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Cow<'a, str>>,
    /// The rules of the findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Cow<'a, str>>,
    /// Where a person has approved the command, or refused it: `host` or `page`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Cow<'a, str>>,
    /// The profile of the confinement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Cow<'a, str>>,
    /// The task that the run is from its start on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<LedgerRunTask<'a>>,
    /// The target that runs the command. `None`: this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Cow<'a, str>>,
    /// The draft in which the command runs, or that is committed or discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Cow<'a, str>>,
    /// Whether the host adds a note after the end.
    #[serde(default, skip_serializing_if = "is_false")]
    pub noted: bool,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgerRunEnd<'a> {
    /// Unix time, ms.
    pub at: u64,
    /// How the run ended.
    pub state: LedgerRunState,
    /// The exit code, as in the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended the shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<Cow<'a, str>>,
    /// Time to the exit of the shell, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// CPU time in user mode and in the kernel in µs, and the largest resident size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<[u64; 3]>,
}

impl LedgerRunEnd<'_> {
    /// Returns the end of a run of which nothing else is known.
    #[must_use]
    pub fn with_state(at: u64, state: LedgerRunState) -> Self {
        Self { at, state, code: None, signal: None, ms: None, usage: None }
    }

    /// Adds what the run took.
    #[must_use]
    pub fn with_costs(self, duration: Duration, usage: ResourceUsage) -> Self {
        let usage = Some([usage.user_us, usage.system_us, usage.max_rss]);
        Self { ms: Some(in_milliseconds(duration)), usage, ..self }
    }
}

/// Returns a time in ms, to the µs.
pub fn in_milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1000.0
}

/// What a command changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRunChanges<'a> {
    /// `known`, `partial` or `unknown`.
    #[serde(borrow)]
    pub state: Cow<'a, str>,
    /// The numbers of things created, modified, deleted and renamed.
    pub counts: [u64; 4],
    /// The paths, as many as a record can hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Cow<'a, str>>,
}

/// A silence that was the limit of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerRunSilence<'a> {
    /// The longest silence that was allowed, ms.
    pub ms: u64,
    /// What the command waited for, in words, without output and arguments. `None`: not known.
    #[serde(default)]
    pub waited_for: Option<Cow<'a, str>>,
}

impl LedgerRunSilence<'static> {
    /// Returns a silence of this length. `waited_for`: what the command waited for, in words.
    #[must_use]
    pub fn of(most: Duration, waited_for: Option<String>) -> Self {
        let ms = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        Self { ms, waited_for: waited_for.map(Cow::Owned) }
    }
}

/// What a run used a secret for, at one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRunSecret<'a> {
    /// The name of the secret.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The host, with its port unless that is 443.
    #[serde(borrow)]
    pub host: Cow<'a, str>,
    /// The number of requests.
    pub count: u64,
    /// The number of these into which the secret was not put.
    pub refused: u64,
}

/// What becomes known of a run after its start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LedgerRunNote<'a> {
    /// What the command changed.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub changes: Option<LedgerRunChanges<'a>>,
    /// The file with the whole output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Cow<'a, str>>,
    /// The task that the run became.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub task: Option<LedgerRunTask<'a>>,
    /// The end as the result has it, where the shim has seen another one.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub end: Option<LedgerRunEnd<'a>>,
    /// The silence that was the limit.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub silence: Option<LedgerRunSilence<'a>>,
    /// What the command proved: `passed`, `failed` or `unproven`.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Cow<'a, str>>,
    /// The run whose result was given again in place of this one.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub reused: Option<Cow<'a, str>>,
    /// What secrets were used for.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<LedgerRunSecret<'a>>,
}

/// A file of the ledger that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedLedgerFile<'a> {
    /// Unix time, ms.
    pub at: u64,
    /// The name of the file.
    #[serde(borrow)]
    pub file: Cow<'a, str>,
    /// The length of the file, bytes.
    pub bytes: u64,
    /// The reason, in words.
    #[serde(borrow)]
    pub why: Cow<'a, str>,
}

/// The shim of a run: its pid on the host, its start in ticks since boot, and the tag of its machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShimId<'a>(pub i32, pub u64, #[serde(borrow)] pub Cow<'a, str>);

/// Returns this process as the shim of a run.
pub fn own_shim() -> ShimId<'static> {
    let pid = sys::own_host_pid();
    let started = sys::identity_on_host(pid).map_or(0, |identity| identity.started);
    ShimId(pid.as_raw(), started, MachineIdentity::here().tag().into())
}

/// A record as it is read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct LedgerRecord<'a> {
    /// The run.
    #[serde(default, borrow)]
    pub run: Cow<'a, str>,
    /// The shim of the run.
    #[serde(default, borrow)]
    pub shim: Option<ShimId<'a>>,
    /// The start of the run.
    #[serde(default, borrow)]
    pub start: Option<Box<LedgerRunStart<'a>>>,
    /// The end of the run.
    #[serde(default, borrow)]
    pub end: Option<LedgerRunEnd<'a>>,
    /// What became known of the run later.
    #[serde(default, borrow)]
    pub note: Option<Box<LedgerRunNote<'a>>>,
    /// A file that was removed.
    #[serde(default, borrow)]
    pub removed: Option<RemovedLedgerFile<'a>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
