//! Messages between the addon and a shim.

use std::os::fd::OwnedFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::BUILD;
use super::descriptors::{PipelineTapEnds, RunDescriptors, TaskInput, WarmShellEnds};
use super::frames::{DecodeFrame, MessageFrame, ProtocolMessage};
use super::task::FromTask;
use super::task::ToTask;
use crate::BlockedProcess;
use crate::LedgerOpening;
use crate::SurvivingProcess;
use crate::plan::{ChangeJournalOutcome, ChangeJournalPlan, ChildPlan, WarmShellKind};
use crate::task::TaskSpec;
use crate::{EndedBy, ExceededLimit, LimitKind};
use confine_policy::CommandDenials;
use sys::{ChildExit, DeviceInode, LaunchError, ResourceUsage, Signal};

/// From the addon to a shim.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToShim {
    /// Starts a command.
    Run(Box<ShimOrder>),
    /// Signals the process group of the shell, and the foreground process group of the terminal.
    Signal {
        /// The signal.
        signal: Signal,
        /// The foreground process group of the terminal.
        foreground: Option<i32>,
    },
    /// Terminates the tree: SIGTERM, grace, SIGKILL.
    End {
        /// Whether the addon asks because the time limit is reached.
        at_limit: bool,
    },
    /// Reports that the addon has drained the pipes. With a transfer, the survivors that hold the pipes become a task.
    /// Answered by [`FromShim::Released`], followed by [`FromTask::Task`] if they became a task, or by
    /// [`FromShim::Refused`].
    Release(Option<TaskTransfer>),
    /// Moves the running command to a task. Answered by [`FromTask::Task`] or [`FromShim::Refused`].
    HandOver {
        /// The task, and how far the addon has read each pipe.
        transfer: TaskTransfer,
        /// The rest of the command's input.
        #[serde(skip)]
        input: Option<TaskInput>,
    },
    /// Gives the shim the ends of the command's tap, before [`ToShim::HandOver`] and [`ToShim::Release`]. From here on
    /// the shim moves what flows through it.
    Tap {
        /// The ends.
        #[serde(skip)]
        ends: Option<PipelineTapEnds>,
    },
    /// Starts a warm shell. Answered by [`FromShim::Prepared`].
    Prepare {
        /// Kind of the shell.
        kind: Box<WarmShellKind>,
        /// The files of the kind's plan, which the shell inherits.
        #[serde(skip)]
        files: Vec<OwnedFd>,
    },
    /// Asks to protect the paths that are new in the world of the shim since its last command, and to begin the record
    /// of the next one if that is required, before the warm shell gets its command. Answered by
    /// [`FromShim::Protected`].
    Protect(Option<Box<ChangeJournalPlan>>),
    /// Asks for the denials of the running command so far. Answered by [`FromShim::Denied`], unless the command has
    /// just ended.
    Denials,
    /// Gives the shim the lock on the draft in which the warm shell is about to get a command. While the message is
    /// under way it holds the lock as well.
    HoldDraft {
        /// The open lock.
        #[serde(skip)]
        lock: Option<OwnedFd>,
    },
    /// Reports that the addon has given the warm shell its command.
    WarmStart(WarmCommandStart),
    /// Dismisses the warm shell, which is no longer needed.
    Dismiss,
    /// Scans for a blocked process. Answered by [`FromShim::Blocked`].
    Scan,
    /// Reports that the addon has read the prompt of the process that was blocked at the limit. The tree may be
    /// signalled now.
    Acknowledged,
}

/// A command to start.
#[derive(Debug, Serialize, Deserialize)]
pub struct ShimOrder {
    /// The plan of the command.
    pub plan: ChildPlan,
    /// The task to start, if the command is a task from its start.
    pub task: Option<TaskSpec>,
    /// The start of the command's entry in the ledger, if it gets one.
    pub opening: Option<LedgerOpening>,
    /// The pipes, the terminal and the script of the command.
    #[serde(skip)]
    pub descriptors: RunDescriptors,
}

/// A task to create, and how far the addon has read each pipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTransfer {
    #[expect(missing_docs, reason = "see its type")]
    pub spec: TaskSpec,
    /// For each pipe, the bytes that bring a cleaner to the state of the addon's cleaner.
    #[serde(with = "crate::plan::bytes::list")]
    pub resume: Vec<Vec<u8>>,
}

/// The part of a warm shell's command that the shim has to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmCommandStart {
    /// The time limit of the plan.
    pub limit: Option<Duration>,
    /// The grace of the plan.
    pub grace: Duration,
    /// When the addon gave the command to the shell, by the machine's monotonic clock, ns.
    pub at: u64,
    /// The start of the command's entry in the ledger, if it gets one.
    pub opening: Option<LedgerOpening>,
    /// The record of its changes, if one is wanted that has not begun. They wait for this message.
    pub record: Option<Box<ChangeJournalPlan>>,
}

/// From a shim to the addon.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromShim {
    /// The program runs, with this pid.
    Started(i32),
    /// The program could not be started.
    Failed(LaunchError),
    /// The program was not started, because the world is gone. A shim of another world can start it.
    WorldGone,
    /// The denials of the command since the last message of this kind. Sent before [`FromShim::Ended`] if there are
    /// any.
    Denied(CommandDenials),
    /// The shell has exited.
    Ended(ShellExitReport),
    /// Survivors have exceeded a limit, between [`FromShim::Ended`] and [`FromShim::Released`].
    LimitExceeded(ExceededLimit),
    /// The result of a scan.
    Blocked {
        /// Whether the scan was made at the time limit, before any signal.
        at_limit: bool,
        /// The blocked process, if the command is blocked.
        process: Option<BlockedProcess>,
    },
    /// The survivors are on their own now, or a task. Until this message they belong to the host.
    Released(ReleasedSurvivors),
    /// The command, or its survivors, could not become a task and belong to the host as before. The number is an errno.
    Refused(i32),
    /// A warm shell is ready, or has exited.
    Prepared(WarmShellReport),
    /// The answer to [`ToShim::Protect`]: whether a command may start.
    Protected(bool),
}

/// Report on a warm shell.
#[derive(Debug, Serialize, Deserialize)]
pub struct WarmShellReport {
    /// The mark that the shell was started with.
    pub mark: String,
    /// The place for the shell's command. `None` if the shell did not start or has exited.
    pub place: Option<WarmCommandPlace>,
    /// The number of the guards of the shell's world when the shell was ready.
    pub guards: u64,
    /// The number of descriptors that show whether the guards are current, in [`WarmShellEnds::freshness`]. 0: nothing
    /// shows it.
    pub fresh: usize,
    /// The addon's ends of the shell's pipes.
    #[serde(skip)]
    pub ends: WarmShellEnds,
}

/// The place for the command of a warm shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmCommandPlace {
    /// The pid of the shell.
    pub shell: i32,
    /// The address of the command in the memory of the shell.
    pub command: u64,
    /// The directory of the shell.
    pub directory: DeviceInode,
    /// The program of the shell.
    pub program: DeviceInode,
}

/// The exit of a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellExitReport {
    /// Exit code or signal of the shell.
    pub end: ChildExit,
    /// Usage of the tree: processes that have exited, and those that are alive.
    pub usage: ResourceUsage,
    /// Time from the start of the shell to its exit.
    pub duration: Duration,
    /// Why the tree was terminated.
    pub cause: TerminationCause,
    /// Whether a process of the tree is alive.
    pub alive: bool,
    /// Whether the shim takes no further command because its supervisor is gone.
    pub last: bool,
    /// The outcome of the record of the command's changes. While a process is alive, the record goes on, and
    /// [`ReleasedSurvivors`] has its outcome.
    pub record: ChangeJournalOutcome,
    /// Why the ledger lacks a part of the command's entry.
    pub unwritten: Option<String>,
}

/// Why a tree was terminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TerminationCause {
    /// The tree was not terminated: the command exited by itself.
    Itself,
    /// The time limit.
    Limit,
    /// The addon asked for it.
    Abort,
    /// The host is gone.
    Host,
    /// The supervisor is gone.
    Supervisor,
    /// The tree exceeded a limit over the whole tree.
    LimitExceeded(ExceededLimit),
}

impl TerminationCause {
    /// Returns the cause in the words of results. `silent`: the limit was the one on silence.
    #[must_use]
    pub fn ended_by(self, silent: bool) -> Option<EndedBy> {
        Some(match self {
            Self::Itself => return None,
            Self::Limit if silent => EndedBy::Silence,
            Self::Limit => EndedBy::Timeout,
            Self::Abort => EndedBy::Abort,
            Self::Host => EndedBy::Host,
            Self::Supervisor => EndedBy::Helper,
            Self::LimitExceeded(exceeded) => match exceeded.limit {
                LimitKind::Cpu => EndedBy::Cpu,
                LimitKind::Memory => EndedBy::Memory,
                LimitKind::Processes => EndedBy::Processes,
                LimitKind::Draft | LimitKind::Disk => EndedBy::Space,
            },
        })
    }
}

/// The processes that a command left running. Its record covers all that ran until they were listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleasedSurvivors {
    /// The processes.
    pub survivors: Vec<SurvivingProcess>,
    /// The outcome of the record of the command's changes.
    pub record: ChangeJournalOutcome,
}

impl ProtocolMessage for ToShim {
    const PROTOCOL: u32 = BUILD;

    fn take_descriptors(&mut self) -> Vec<OwnedFd> {
        match self {
            Self::Run(run) => std::mem::take(&mut run.descriptors).into_list(),
            Self::HandOver { input, .. } => TaskInput::into_list(input.take()).collect(),
            Self::Tap { ends } => PipelineTapEnds::into_list(ends.take()).collect(),
            Self::Prepare { files, .. } => std::mem::take(files),
            Self::HoldDraft { lock } => lock.take().into_iter().collect(),
            Self::Signal { .. }
            | Self::End { .. }
            | Self::Release(_)
            | Self::Protect(_)
            | Self::Denials
            | Self::WarmStart(_)
            | Self::Dismiss
            | Self::Scan
            | Self::Acknowledged => Vec::new(),
        }
    }

    fn attach(&mut self, descriptors: Vec<OwnedFd>) {
        match self {
            Self::Run(run) => run.descriptors = RunDescriptors::of(&run.plan, descriptors).unwrap_or_default(),
            Self::HandOver { input, .. } => *input = TaskInput::of(descriptors),
            Self::Tap { ends } => *ends = PipelineTapEnds::of(descriptors),
            Self::Prepare { files, .. } => *files = descriptors,
            Self::HoldDraft { lock } => *lock = descriptors.into_iter().next(),
            Self::Signal { .. }
            | Self::End { .. }
            | Self::Release(_)
            | Self::Protect(_)
            | Self::Denials
            | Self::WarmStart(_)
            | Self::Dismiss
            | Self::Scan
            | Self::Acknowledged => {}
        }
    }
}

impl ProtocolMessage for FromShim {
    const PROTOCOL: u32 = BUILD;

    fn take_descriptors(&mut self) -> Vec<OwnedFd> {
        match self {
            Self::Prepared(prepared) => std::mem::take(&mut prepared.ends).into_list(),
            Self::Started(_)
            | Self::Failed(_)
            | Self::WorldGone
            | Self::Denied(_)
            | Self::Ended(_)
            | Self::LimitExceeded(_)
            | Self::Blocked { .. }
            | Self::Released(_)
            | Self::Refused(_)
            | Self::Protected(_) => Vec::new(),
        }
    }

    fn attach(&mut self, descriptors: Vec<OwnedFd>) {
        match self {
            Self::Prepared(prepared) => prepared.ends = WarmShellEnds::of(descriptors, prepared.fresh),
            Self::Started(_)
            | Self::Failed(_)
            | Self::WorldGone
            | Self::Denied(_)
            | Self::Ended(_)
            | Self::LimitExceeded(_)
            | Self::Blocked { .. }
            | Self::Released(_)
            | Self::Refused(_)
            | Self::Protected(_) => {}
        }
    }
}

/// A message on the socket between the addon and a shim, whose command may just have become a task.
#[derive(Debug)]
pub enum FromShimOrTask {
    /// A message of the shim.
    Shim(FromShim),
    /// A message of the task server.
    Task(FromTask),
}

impl DecodeFrame for FromShimOrTask {
    fn decode(frame: MessageFrame) -> Option<Self> {
        if frame.protocol == FromTask::PROTOCOL {
            FromTask::decode(frame).map(Self::Task)
        } else {
            FromShim::decode(frame).map(Self::Shim)
        }
    }
}

/// A message to a task server. The host may have sent a shim's message before it knew of the task.
#[derive(Debug)]
pub enum FromTaskClient {
    /// A message for the task server.
    Task(ToTask),
    /// A message for the shim.
    Shim(Box<ToShim>),
}

impl DecodeFrame for FromTaskClient {
    fn decode(frame: MessageFrame) -> Option<Self> {
        if frame.protocol == ToTask::PROTOCOL {
            ToTask::decode(frame).map(Self::Task)
        } else {
            ToShim::decode(frame).map(Box::new).map(Self::Shim)
        }
    }
}
