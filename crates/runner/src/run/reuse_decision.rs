//! A command whose result may be given again: its stored run, or what it takes to store its run.

use std::fs::{File, metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tokio::task::spawn_blocking;
use twox_hash::XxHash3_128;

use super::command_listener::{CallerReplies, CommandListener};
use super::drive::producer_copy::ProducerCopier;
use super::drive::stored_replay::replay;
use super::filtered_reuse::FilteredReuse;
use super::guard::in_context;
use super::launch_plan::order_of;
use super::outcome::{CommandOutcome, CommandStatus};
use super::tapped_output::TappedOutput;
use super::{CommandLaunch, FinishedRun, missing_programs};
use crate::error::RunError;
use crate::live::runs;
use crate::request::{CommandRequest, PlannedRun};
use crate::reuse::{
    self, PipelineSource, ReuseCandidate, ReuseGround, ReuseKey, SourceOutput, StorableRun, StoredRun, WholeOutputCopy,
    is_vouched, only_reads, varies, writes,
};
use capture::OutputStream;
use confine_policy::TmpPlacement;
use evidence::{CommandEvidence, EvidenceCompleteness};
use protocol::plan::ShellStartup;
use protocol::task::now_ms;
use receipt::recording::{ReceiptSource, RunUndoCoverage, UndoCondition};
use receipt::watch::WatchedTrees;
use receipt::{ChangeAttribution, RunReceipt};
use reduce::class::PipelineProducer;
use safety::decide::NamedCommandRules;
use safety::{CommandAnalysis, SafetyPolicy, analyze};

/// Where a command may write by its confinement.
type ConfinedWriteRoots = Vec<String>;

/// What becomes of a command whose result may be given again.
enum ReuseDecision {
    /// The result of this run, in the tree with this root, is given.
    Given(Arc<StoredRun>, PathBuf),
    /// What the first program has written goes through another filter.
    Filtered(Box<FilteredReuse>, Vec<u8>),
    /// It runs, and its run may be stored.
    Runs(Box<ReuseCandidate>),
}

impl CommandLaunch {
    /// Gives the result of the command's stored run, if there is one. Otherwise prepares the command: to run as a
    /// filter, or to have its run stored.
    pub(super) async fn give_again(
        &mut self,
        listener: &impl CommandListener,
        replies: &mut CallerReplies,
    ) -> Result<Option<FinishedRun>, RunError> {
        match self.decide_reuse().await {
            None => {}
            Some(ReuseDecision::Given(stored, root)) => {
                return self.give_stored(stored, &root, listener, replies).await.map(Some);
            }
            Some(ReuseDecision::Filtered(filtered, bytes)) => self.become_filter(filtered, bytes).await?,
            Some(ReuseDecision::Runs(candidate)) => {
                self.request.output_copy = Some(Arc::clone(candidate.copy()));
                self.candidate = Some(candidate);
            }
        }
        Ok(None)
    }

    /// Looks for the stored run of the command. `None`: its result must not be given again.
    async fn decide_reuse(&mut self) -> Option<ReuseDecision> {
        let wanted = self.request.reuse.take()?;
        let (analysis, places) = (analysis(&self.request)?, confined_write_roots(&self.request));
        let (command, cwd) = (self.request.command.clone(), self.request.cwd.clone());
        let surroundings = hash_surroundings(&self.request, &self.order.plan.program);
        let source =
            PipelineSource::of(&command).filter(|source| source.filter.is_some() && self.request.stdin.is_none());
        // With pipefail the exit code would be that of the program, which does not run.
        let may_have_pipefail = self.request.startup.is_some() || self.request.environment.get("SHELLOPTS").is_some();
        let is_filterable = move |written: &SourceOutput| written.part.exit_code == Some(0) || !may_have_pipefail;
        let wants_tap = self.producer().is_some();
        let temp = self.request.temp.clone();
        let looked = spawn_blocking(move || {
            let root = WatchedTrees::root_of(&cwd).ok()?;
            let ground = reuse_ground(&analysis, &wanted.commands, places, &root)?;
            let found = metadata(&cwd).ok()?;
            let key = ReuseKey { command, directory: (found.dev(), found.ino()), surroundings };
            let text = source.as_ref().map(|source| source.text.as_str());
            if !wanted.fresh
                && !runs().has_run_in(&root, None)
                && let Some(stored) = reuse::find_run(&root, &key, text, wanted.max_age)
            {
                // A tap that is wanted is given, too.
                if stored.key == key && (stored.written.is_some() || !wants_tap) {
                    return Some(ReuseDecision::Given(stored, root));
                }
                if let (Some(source), true) = (source, stored.written.as_ref().is_some_and(is_filterable))
                    && let Ok(bytes) = stored.written_bytes()
                {
                    return Some(ReuseDecision::Filtered(
                        Box::new(FilteredReuse { stored, root, source, tap: None }),
                        bytes,
                    ));
                }
            }
            let candidate = ReuseCandidate::begin(key, (&cwd, root), ground, (wanted.store_bytes, &temp));
            Some(ReuseDecision::Runs(Box::new(candidate)))
        });
        looked.await.ok().flatten()
    }

    async fn give_stored(
        &mut self,
        stored: Arc<StoredRun>,
        root: &Path,
        listener: &impl CommandListener,
        replies: &mut CallerReplies,
    ) -> Result<FinishedRun, RunError> {
        self.open_entry();
        let replayed = replay(&self.request, Arc::clone(&stored), listener, replies).await;
        let mut outcome = CommandOutcome::of(&self.request, replayed.map_err(|error| self.unwatchable_error(error))?);
        (outcome.receipt, outcome.undo) = nothing_changed(&self.request);
        if outcome.status == CommandStatus::Exited {
            outcome.evidence = Some(stored.evidence.clone());
            outcome.reused = Some(stored.to_reused(root, false));
            outcome.tap = self.tap_of(&stored).await;
        } else {
            outcome.evidence = CommandOutcome::not_started(&self.request).evidence;
        }
        outcome.notes.extend(missing_programs::program_hints(&self.request, &outcome));
        self.note_reuse(&outcome).await;
        if let Some(world) = self.order.plan.world {
            self.helpers.show_files(world, outcome.files()).await;
        }
        Ok(outcome.into())
    }

    /// Returns a copy of what the source of a stored run has written, if the command is to have a tap.
    async fn tap_of(&self, stored: &Arc<StoredRun>) -> Option<TappedOutput> {
        let request = &self.request;
        let producer = self.producer()?;
        stored.written.as_ref()?;
        let (kept, stored) = (ProducerCopier::new(request), Arc::clone(stored));
        let kept = spawn_blocking(move || kept.copy_of(&stored.written_bytes().map_err(|error| error.to_string())?));
        Some(TappedOutput { command: producer.command.clone(), kept: kept.await.ok()? })
    }

    /// Makes the filter of the command what runs, with what its source has written as input. The evidence is that of
    /// the stored run.
    async fn become_filter(&mut self, mut filtered: Box<FilteredReuse>, bytes: Vec<u8>) -> Result<(), RunError> {
        filtered.tap = self.tap_of(&filtered.stored).await;
        let request = &mut self.request;
        request.filter = filtered.source.filter.as_ref().map(|filter| filter.command.clone());
        request.stdin = Some(bytes);
        (request.evidence, request.producer, request.keeps_tap, request.is_producer) = (None, None, false, false);
        self.order = order_of(request, self.helpers, None)?;
        if let Some(facts) = self.request.world.clone() {
            self.enter_plan(&facts);
        }
        self.filtered = Some(filtered);
        Ok(())
    }

    /// Stores the run of the command, which has just ended, if its result may be given again. The run of a session is
    /// returned instead: it is stored if it leaves the session as it was.
    pub(super) async fn keep_run(&mut self, outcome: &CommandOutcome) -> Option<StorableRun> {
        let storable = self.storable(outcome).await?;
        if self.request.startup.as_ref().is_some_and(ShellStartup::saves_state) {
            return Some(storable);
        }
        let _ = spawn_blocking(move || storable.store()).await;
        None
    }

    async fn storable(&mut self, outcome: &CommandOutcome) -> Option<StorableRun> {
        let candidate = self.candidate.take()?;
        let is_over = outcome.status == CommandStatus::Exited && outcome.ended_by.is_none();
        let is_alone = outcome.survivors.is_empty() && outcome.background.is_none();
        let (code, evidence) = (outcome.exit_code?, outcome.evidence.as_ref()?);
        let by_signal = |signal: &Option<String>| signal.as_ref().is_some_and(|signal| signal != "SIGPIPE");
        let tap = outcome.tap.as_ref().and_then(|tap| tap.kept.as_ref().ok());
        let is_cut = tap.is_some_and(|tap| !tap.complete);
        // 128 + n tells of signal n, perhaps in a shell of the command's own.
        let is_killed = (129..=192).contains(&code) || evidence.parts.iter().any(|part| by_signal(&part.signal));
        if !is_over || !is_alone || is_cut || is_killed || evidence.state != EvidenceCompleteness::Known {
            return None;
        }
        let (evidence, run, cwd) = (evidence.clone(), outcome.run.clone(), self.request.cwd.clone());
        let denials = outcome.confinement.as_ref().map(|held| held.denials.clone()).unwrap_or_default();
        let (at, ended) = (now_ms(), Instant::now());
        let source = self.source();
        let tap = tap.map(|tap| (tap.path.clone(), tap.bytes));
        let own = self.request.live_run.as_ref().map(|run| run.number());
        let stored = move |key, ground, output| {
            let written = source.and_then(|source| source_output(source, &evidence, &output, tap));
            StoredRun { key, run, at, ended, code, evidence, output, written, denials, ground }
        };
        let is_alone = move |root: &Path| !runs().has_run_in(root, own);
        spawn_blocking(move || candidate.end(&cwd, is_alone, stored)).await.ok().flatten()
    }

    /// Returns the producer of the command's tap, if it is to have one.
    fn producer(&self) -> Option<&PipelineProducer> {
        self.request.producer.as_ref().filter(|producer| self.request.keeps_tap && producer.why.is_none())
    }

    /// Returns the source of the command, if nothing else prints, and whether its errors go into the same pipe.
    fn source(&self) -> Option<(PipelineSource, bool)> {
        let request = &self.request;
        // With CDPATH a `cd` prints, too.
        let names_places = |state: &ShellStartup| state.boot.text().contains("CDPATH");
        let cd_prints =
            request.environment.get("CDPATH").is_some() || request.startup.as_ref().is_some_and(names_places);
        PipelineSource::of(&request.command).filter(|_| !cd_prints).map(|source| (source, request.merge))
    }
}

/// Returns what the source of a command has written, by its evidence, its output and its tap. `None`: not all of it is
/// known.
fn source_output(
    (source, merged): (PipelineSource, bool),
    evidence: &CommandEvidence,
    output: &WholeOutputCopy,
    tap: Option<(PathBuf, u64)>,
) -> Option<SourceOutput> {
    let part = evidence.parts.iter().find(|part| part.span == Some(source.span) && part.exit_code.is_some())?;
    let is_filterable = source.takes_errors || !merged && !output.has_output(OutputStream::Stderr);
    let file = match source.filter {
        Some(_) => {
            let (path, length) = tap?;
            Some((File::open(path).ok()?, length))
        }
        None => None,
    };
    Some(SourceOutput { text: source.text, part: part.clone(), file, is_filterable })
}

/// Returns what the engine of safety says about a command. `None`: it is none whose result may be given again.
fn analysis(request: &PlannedRun) -> Option<CommandAnalysis> {
    let is_plain = request.terminal.is_none() && request.streams.is_none() && !request.background;
    is_plain.then(|| in_context(request, |context| analyze(&request.command, context, &SafetyPolicy::default())))
}

/// Returns where a confined command may write, if it reaches no host and has its own place for temporary files.
fn confined_write_roots(request: &CommandRequest) -> Option<ConfinedWriteRoots> {
    let policy = &request.confine.as_ref()?.policy;
    let reach = policy.command_reach(&policy.root);
    (reach.offline && policy.tmp == TmpPlacement::Private).then_some(reach.write)
}

/// Returns why the result of a command may be given again. `None`: it must not.
fn reuse_ground(
    analysis: &CommandAnalysis,
    commands: &NamedCommandRules,
    places: Option<ConfinedWriteRoots>,
    root: &Path,
) -> Option<ReuseGround> {
    if varies(analysis, root) {
        return None;
    }
    if only_reads(analysis) {
        return Some(ReuseGround::ReadsOnly);
    }
    if is_vouched(analysis, commands) {
        return Some(ReuseGround::Vouched);
    }
    let is_inside = places?.iter().all(|place| Path::new(place).starts_with(root));
    (is_inside && analysis.complete && !analysis.commands.iter().any(writes)).then_some(ReuseGround::Confined)
}

/// Returns the receipt and the undo of a run that changed nothing, as far as they are wanted.
fn nothing_changed(request: &PlannedRun) -> (Option<RunReceipt>, Option<RunUndoCoverage>) {
    let Some(wanted) = &request.record else { return (None, None) };
    let attribution = if wanted.receipt == Some(ReceiptSource::Watch) {
        ChangeAttribution::Window
    } else {
        ChangeAttribution::Command
    };
    let is_undone = wanted.undo.is_some_and(|undo| undo.when == UndoCondition::Always);
    let receipt = (wanted.receipt.is_some() || is_undone).then(|| RunReceipt::new(attribution));
    (receipt, is_undone.then(|| RunUndoCoverage { all: true, ..RunUndoCoverage::default() }))
}

/// Returns a hash of all that a command is given besides its text and its directory. The code by which a session saves
/// its state names other files each time, and is none of it.
fn hash_surroundings(request: &PlannedRun, program: &[u8]) -> u128 {
    let PlannedRun { startup, stdin, evidence, .. } = request;
    let CommandRequest { args, cwd, environment, umask, limits, confine, merge, .. } = &**request;
    let state = startup.as_ref().map(|startup| (&startup.boot, &startup.given, startup.saves_state()));
    let given = (program, args, cwd, environment.text(), state, stdin);
    let checks = evidence.as_ref().map(|wanted| &wanted.checks);
    let all = (given, umask, limits, confine, merge, checks);
    XxHash3_128::oneshot(format!("{all:?}").as_bytes())
}
