//! Turns raw options into a request that can be run as it is. Each group of options has a file in `request/`.
//!
//! [`RawOptions`] has the options as the caller wrote them, and [`CommandRequest`] the checked ones. [`PlannedRun`]
//! adds facts that are found until the command starts. Code that reads options alone takes a [`CommandRequest`].

mod command_mode;
mod command_options;
mod confinement_options;
mod error;
#[cfg(test)]
mod field_order;
mod ledger_entry_draft;
mod limit_options;
mod number_option;
mod option_facts;
mod output_options;
mod output_reduction;
mod raw_options;
mod recording_options;
mod safety_options;
mod time_options;

use std::borrow::Cow;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::drafts::DraftUse;
use crate::live::{LiveRun, RunKind, millis};
use crate::proof;
use crate::pty::CommandTerminal;
use crate::registry::{TASK_LIMIT, TaskRegistry};
use crate::reuse::{self, SharedOutputCopy};
use capture::{SanitizeRules, TruncationPolicy};
use command_options::{check_command, check_terminal};
use confine_policy::{CommandDenials, ConfinementReport, OwnedPolicy, WorldFacts};
use ledger::Actor;
use limit_options::check_limits;
use protocol::plan;
use protocol::plan::{CommandEnvironment, InheritedDescriptor, ShellStartup};
use protocol::task::TaskSpec;
use receipt::recording::{CommandRisk, RecordingRequest};
use reduce::class::{PipelineProducer, find_producer, whole_command_producer};

pub use command_mode::CommandMode;
pub use command_options::{MAX_ARGUMENT, MAX_COMMAND};
pub use confinement_options::check_world;
pub use error::RequestError;
pub use ledger_entry_draft::{LedgerEntryDraft, drafts_directory, ledger_directory};
pub use number_option::{MAX_SAFE, NotInRange, NumberOption, NumberWithDefault};
pub use option_facts::facts;
pub use output_options::{
    HEAD_BYTES, MAX_BYTES, MAX_CHARS, MAX_LINES, SNAPSHOT_INTERVAL_MS, SPILL_MAX_BYTES, SPILL_RETENTION_MS,
    SpillOptions, SpillPlace, TAIL_BYTES, check_spill, check_truncate,
};
pub use time_options::{GRACE_MS, MOVING_LIMIT, TIMEOUT_MS, TimeRule};

pub use limit_options::RawLimits;
pub use output_reduction::{OutputReduction, check_reduction};
pub use raw_options::{
    CallerStreamOptions, EvidenceLevel, KeptEnd, OnTimeout, RawEarlier, RawOptions, RawReduction, RawReuse,
    RawSnapshot, RawSpill, RawTruncate, RawUndo, RawWorld, ReceiptLevel, TapSwitch,
};
pub use recording_options::undo_store;
pub use safety_options::{SafetyCriteria, SafetyError, SafetyOptions};

/// The checked options of a command. They never change.
pub struct CommandRequest {
    /// The command.
    pub command: String,
    /// Positional parameters of the command.
    pub args: Vec<String>,
    /// The directory in which the command starts.
    pub cwd: PathBuf,
    /// Variables of the command, inherited and given.
    pub environment: Arc<CommandEnvironment>,
    /// The directory for temporary files.
    pub temp: PathBuf,
    /// The shell that was asked for.
    pub shell: Option<String>,
    /// The mode mask of new files.
    pub umask: u32,
    /// Whether both output streams share one pipe.
    pub merge: bool,
    /// The time limit from the start of the process.
    pub limit: Option<Duration>,
    /// The longest time without output.
    pub idle_limit: Option<Duration>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// The resources that the command may use.
    pub limits: plan::CommandLimits,
    /// The part of each stream that is kept.
    pub truncate: TruncationPolicy,
    /// How output is cleaned. `None`: it is only decoded.
    pub sanitize: Option<SanitizeRules>,
    /// Files for whole output. `None`: no files.
    pub spill: Option<SpillOptions>,
    /// Whether the listener gets live output.
    pub live: bool,
    /// Set if the caller reads and writes the streams itself, and gets events of start and exit.
    pub streams: Option<CallerStreamOptions>,
    /// Time between two live views, if the listener gets live views.
    pub live_view_interval: Option<Duration>,
    /// Whether the listener gets an event when the command is blocked on input.
    pub reports_prompts: bool,
    /// Whether the listener gets an event with the pid when the command runs.
    pub reports_start: bool,
    /// Whether the caller gave the command up before it began.
    pub aborted: bool,
    /// The registry of the command's tasks.
    pub registry: Option<Arc<TaskRegistry>>,
    /// Whether the command moves to the background at its limit.
    pub to_background: bool,
    /// Whether the command starts in the background.
    pub background: bool,
    /// The terminal in which the command runs.
    pub terminal: Option<Arc<CommandTerminal>>,
    /// The world in which the command runs. `None`: it is not confined.
    pub confine: Option<Arc<OwnedPolicy>>,
    /// Whether the world belongs to the registry, whose running tasks may have it already.
    pub joins_registry_world: bool,
    /// The wanted record of the command. `None`: nothing is recorded.
    pub record: Option<Box<RecordingRequest>>,
    /// Most bytes that the store of outputs keeps of a tap.
    pub tap_bytes: u64,
    /// The reduction of the text that a model reads. `None`: no view is made.
    pub reduce: Option<Box<OutputReduction>>,
    /// Who asked for the command.
    pub actor: Option<Actor>,
}

impl CommandRequest {
    /// Returns whether the command moves to the background at its limit.
    pub fn may_move(&self) -> bool {
        self.to_background
    }

    /// Returns whether standard input is written while the command runs.
    pub fn is_fed(&self) -> bool {
        self.streams.is_some_and(|streams| streams.fed)
    }

    /// Returns the limit that the shim keeps. A command that moves is handed over at the caller's own limit.
    pub fn shim_limit(&self) -> Option<Duration> {
        if self.may_move() { Some(TASK_LIMIT) } else { self.limit }
    }
}

/// A command before its start: its request, readable through [`Deref`], and facts that later steps add.
pub struct PlannedRun {
    request: CommandRequest,
    /// Name of the command in files, and mark of its processes.
    pub mark: String,
    /// The bytes for standard input. `None`: `/dev/null`.
    pub stdin: Option<Vec<u8>>,
    /// The safety rules, until the command is judged.
    pub guard: Option<SafetyCriteria>,
    /// Facts known before the start, for the notes of the outcome.
    pub notes: Vec<String>,
    /// The code that the shell reads first and runs at its exit, unless it is a plain shell.
    pub startup: Option<ShellStartup>,
    /// The pipe on which the shell reports the exit code before its own exit.
    pub exit_report_pipe: Option<OwnedFd>,
    /// The draft in which it runs. `None`: it runs in none.
    pub draft: Option<DraftUse>,
    /// The facts of the world, once it is made.
    pub world: Option<Arc<WorldFacts>>,
    /// Files that the shell inherits, if it is confined.
    pub inherited_files: Vec<(InheritedDescriptor, Arc<OwnedFd>)>,
    /// The facts known of the command once it is judged, if they count for the record.
    pub risk: Option<Box<CommandRisk>>,
    /// The wanted evidence of the command. `None`: its parts are not watched.
    pub evidence: Option<Arc<proof::EvidenceRequest>>,
    /// The wanted re-use of a result. `None`: the command runs.
    pub reuse: Option<Box<reuse::ReuseRequest>>,
    /// The copy of the output, if the result may be given again.
    pub output_copy: Option<SharedOutputCopy>,
    /// What the shell gets in place of the command, if only its filter runs.
    pub filter: Option<String>,
    /// The entry of the command in the ledger. `None`: it gets none.
    pub entry: Option<Box<LedgerEntryDraft>>,
    /// What people who watch see it as. `None`: they do not see it, or see its task.
    pub shown_as: Option<RunKind>,
    /// The command among the runs of this process, once it is registered.
    pub live_run: Option<Arc<LiveRun>>,
    /// Whether a warm shell may run the command.
    pub warm: bool,
    /// Whether the whole output of a pipeline's first program is kept.
    pub keeps_tap: bool,
    /// The first program of the command's pipeline, if its output is kept or would be worth that.
    pub producer: Option<PipelineProducer>,
    /// Whether the command itself is that program: its caller has taken the rest of the pipeline away.
    pub is_producer: bool,
}

impl Deref for PlannedRun {
    type Target = CommandRequest;

    fn deref(&self) -> &CommandRequest {
        &self.request
    }
}

impl PlannedRun {
    /// Checks every value.
    ///
    /// # Errors
    /// A [`RequestError`] that names the option, its value and the valid values.
    pub fn check(mut raw: RawOptions) -> Result<Self, RequestError> {
        check_command(&raw)?;
        let entry = LedgerEntryDraft::of(&mut raw);
        let mode = raw.mode;
        let place = TimeRule::of(&raw, mode);
        check_terminal(&raw, place)?;
        let limit = time_options::limit(raw.timeout_ms, mode, place)?;
        let idle_limit = time_options::idle_limit(raw.idle_timeout_ms, place)?;
        let limits = raw.limits.as_ref().map_or(Ok(plan::CommandLimits::default()), check_limits)?;
        let interval = SNAPSHOT_INTERVAL_MS.get_millis(raw.snapshot_interval_ms)?;
        let truncate = raw.truncate.as_ref().map_or(Ok(TruncationPolicy::default()), check_truncate)?;
        let record = recording_options::check_record(&raw)?;
        let evidence = recording_options::check_evidence(&raw)?;
        let reuse = recording_options::check_reuse(&raw)?;
        let in_foreground = !matches!(place, TimeRule::Terminal | TimeRule::Background);
        let taps = raw.taps == TapSwitch::On && evidence.is_some() && in_foreground;
        let found = if taps { find_producer(&raw.command) } else { None };
        let own = (taps && raw.is_producer && found.is_none()).then(|| whole_command_producer(&raw.command)).flatten();
        let is_producer = own.is_some();
        let spill = raw.spill.map(check_spill).transpose()?;
        let in_terminal = place == TimeRule::Terminal;
        let reduce = output_reduction::reduction_for(raw.reduce, place, raw.streams)?;
        let draft = raw.draft.as_ref().map(|name| name.use_for_command(&raw.credentials, &raw.host_env)).transpose()?;
        let confine = raw.confine.as_ref().map(|world| check_world(world, &raw.cwd, &raw.host_env)).transpose()?;
        let confine = draft.as_ref().map(|draft| Arc::clone(&draft.policy)).or(confine);
        let limits = draft.as_ref().map_or(limits, |draft| draft.bound(limits));
        let environment = plan::cached_environment(raw.host_env, raw.inherit, raw.env, in_terminal)?;
        let warm = raw.warm != Some(false) && !environment.cold && !in_terminal;
        let request = CommandRequest {
            command: raw.command,
            args: raw.args,
            cwd: raw.cwd.into(),
            terminal: raw.terminal,
            temp: environment.host_temp.as_deref().unwrap_or("/tmp").into(),
            environment,
            shell: raw.shell,
            umask: raw.umask & 0o777,
            merge: raw.merge,
            limit,
            idle_limit,
            grace: GRACE_MS.get_millis(raw.grace_ms)?,
            limits,
            truncate,
            sanitize: raw.sanitize,
            spill,
            live: raw.live,
            streams: raw.streams,
            live_view_interval: raw.snapshots.then_some(interval),
            reports_prompts: raw.prompts,
            reports_start: raw.starts || in_terminal || raw.streams.is_some(),
            aborted: raw.aborted,
            registry: raw.registry,
            to_background: place == TimeRule::Moving,
            background: place == TimeRule::Background,
            confine,
            joins_registry_world: raw.confine.as_ref().is_some_and(|world| world.joins),
            record,
            tap_bytes: raw.tap_bytes.unwrap_or(u64::MAX),
            reduce,
            actor: raw.actor.filter(|actor| *actor != Actor::default()),
        };
        Ok(Self {
            request,
            warm,
            keeps_tap: taps,
            producer: found.or(own),
            is_producer,
            entry,
            mark: raw.mark.unwrap_or_else(plan::next_mark),
            stdin: if raw.streams.is_some_and(|streams| streams.fed) { Some(Vec::new()) } else { raw.stdin },
            guard: raw.guard,
            notes: Vec::new(),
            startup: raw.startup,
            exit_report_pipe: None,
            draft,
            world: None,
            inherited_files: Vec::new(),
            risk: None,
            evidence,
            reuse,
            output_copy: None,
            filter: None,
            shown_as: shown_as(place),
            live_run: None,
        })
    }

    /// Returns the run with another reduction.
    #[cfg(test)]
    pub fn with_reduction(mut self, reduce: OutputReduction) -> Self {
        self.request.reduce = Some(Box::new(reduce));
        self
    }

    /// Returns whether the command's words have to be analysed for its record, and were not yet.
    pub fn needs_risk(&self) -> bool {
        self.risk.is_none() && self.record.as_ref().is_some_and(|wanted| wanted.needs_analysis())
    }

    /// Returns whether the first pipe of the command gets a tap, if its shell can have one.
    pub fn wants_tap(&self) -> bool {
        !self.is_producer && self.producer.as_ref().is_some_and(|producer| producer.why.is_none())
    }

    /// Returns the id of the draft in which the command runs.
    pub fn draft_id(&self) -> Option<String> {
        self.draft.as_ref().map(|draft| draft.id().to_owned())
    }

    /// Returns the description of the task that the command may become. It has the limit of tasks, and may be silent.
    pub fn later_task(&self) -> Option<TaskSpec> {
        let registry = self.registry.as_ref()?;
        let spec = registry.task_spec(&self.command, &self.cwd.to_string_lossy(), self.sanitize, None);
        Some(TaskSpec { confinement: self.confinement(), draft: self.draft_id(), ..spec })
    }

    /// Returns the description of the task that the command is from its start.
    pub fn own_task(&self) -> Option<TaskSpec> {
        let registry = self.registry.as_ref()?;
        let spec = registry.task_spec(&self.command, &self.cwd.to_string_lossy(), self.sanitize, self.limit);
        let idle_ms = self.idle_limit.map(millis);
        let (confinement, draft) = (self.confinement(), self.draft_id());
        Some(TaskSpec { idle_ms, confinement, draft, joins: self.joins_registry_world, ..spec })
    }

    /// Returns the confinement of the command, as far as it is known, without denials.
    pub fn confinement(&self) -> Option<ConfinementReport> {
        let profile = self.confine.as_ref()?.policy.profile;
        let WorldFacts { held, missing, way, write, tmp, .. } = self.world.as_deref().cloned().unwrap_or_default();
        Some(ConfinementReport { profile, held, missing, way, write, denials: CommandDenials::default(), tmp })
    }

    /// Returns the text that the shell gets.
    pub fn shell_text(&self) -> Cow<'_, str> {
        let command = self.filter.as_ref().unwrap_or(&self.command);
        match self.startup.as_ref().and_then(|startup| startup.tail.as_ref()) {
            // After an aborted `eval`, bash recognises no reserved word on the very next line.
            Some(tail) => Cow::Owned(format!("{command}\n\n{tail}")),
            None => Cow::Borrowed(command),
        }
    }

    /// Returns whether the command is too long for an argument and reaches the shell as a script.
    pub fn is_script(&self) -> bool {
        self.shell_text().len() > MAX_ARGUMENT
    }

    /// Returns the shell's arguments, and the index of the path of the script among them.
    pub fn argv(&self) -> (Vec<Vec<u8>>, Option<u32>) {
        // Messages of bash begin with its name. Other shells go by their own names, and a busybox by its name alone.
        let name = self.shell.as_deref().and_then(|shell| shell.rsplit('/').next()).unwrap_or("bash");
        let mut argv: Vec<Vec<u8>> = vec![name.as_bytes().to_vec()];
        if name == "bash" && self.environment.over_ssh {
            argv.push(b"--norc".to_vec());
        }
        let script_at = if self.is_script() {
            argv.push(Vec::new());
            u32::try_from(argv.len() - 1).ok()
        } else {
            argv.push(b"-c".to_vec());
            if self.shell_text().starts_with(['-', '+']) {
                argv.push(b"--".to_vec());
            }
            argv.push(self.shell_text().into_owned().into_bytes());
            if !self.args.is_empty() {
                argv.push(name.as_bytes().to_vec());
            }
            None
        };
        argv.extend(self.args.iter().map(|argument| argument.clone().into_bytes()));
        (argv, script_at)
    }
}

/// Returns what people see a command as. A command in the background is a task from its start.
fn shown_as(place: TimeRule) -> Option<RunKind> {
    match place {
        TimeRule::Background => None,
        TimeRule::Terminal => Some(RunKind::Terminal),
        _ => Some(RunKind::Command),
    }
}
