//! The drafts that this process has open, and the worlds of their commands.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use nix::unistd::Pid;
use serde::Deserialize;
use tokio::task::JoinHandle;

use super::draft_credentials::DraftCredentials;
use super::draft_fault::{DraftFault, DraftReason};
use super::draft_ports::DraftPorts;
use crate::supervise::{EndingWorlds, HelperProcesses, end_worlds, next_owner};
use confine_policy::{
    OwnedPolicy, PolicyError, PolicyFault, RawConfine, RealHost, SecretRule, keep_values, policy_for_owner,
};
use draft::draft_moment::DraftMoment;
use draft::draft_store::{DraftRecord, DraftState, DraftStore, StoredDraft};
use ledger::Actor;
use protocol::SurvivingProcess;
use protocol::plan::{CommandLimits, format_bytes};
use receipt::git::RepositoryComparison;
use receipt::port_listeners::ServersBefore;
use receipt::{ChangeAttribution, ReceiptCompleteness, RunReceipt};
use undo::path_map::is_within;

/// A draft, as JavaScript names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DraftName {
    /// Its id.
    pub id: String,
    /// The directory of all drafts, absolute.
    pub dir: PathBuf,
}

/// A draft that is open in this process. Its worlds end with it.
#[derive(Debug)]
pub struct OpenDraft {
    name: DraftName,
    view: Mutex<Option<DraftView>>,
    /// Held while the base is read at the paths that commands have touched.
    pub(super) noting: Mutex<()>,
    notes: AtomicU8,
    /// Bytes of the changes on the disk when they were counted last: at the opening, after a command or a commit.
    held: AtomicU64,
    /// The number of files that others have changed as well, before the last command.
    edited: AtomicUsize,
    /// The number of files that others changed before the base was read there.
    edited_first: AtomicUsize,
    pub(super) ports: DraftPorts,
    /// Marks the draft as open here.
    mark: Mutex<Option<File>>,
}

/// The confinement of a draft's commands. After a commit they get another one.
#[derive(Debug)]
pub(super) struct DraftView {
    generation: u64,
    owner: u64,
    credentials: DraftCredentials,
    policy: Arc<OwnedPolicy>,
}

/// The confinement of a draft's commands, before there is the draft.
#[derive(Debug)]
pub(super) struct PlainView {
    owner: u64,
    credentials: DraftCredentials,
    pub(super) policy: Arc<OwnedPolicy>,
}

impl PlainView {
    /// Makes the confinement. `confine`: its options as JSON. `dir`: the directory of all drafts.
    pub(super) fn new(
        confine: &str,
        credentials: DraftCredentials,
        (dir, root): (&Path, &Path),
        environment: &str,
    ) -> Result<Self, PolicyError> {
        let (owner, raw) = (next_owner(), credentials.added_to(RawConfine::from_json(confine)?));
        let raw = RawConfine { store: Some(dir.to_string_lossy().into_owned()), ..raw };
        let policy = policy_for_owner(raw, owner, root, &RealHost { environment })?;
        Ok(Self { owner, credentials, policy })
    }

    /// Forgets the confinement of a draft that could not be made.
    pub(super) fn forget(&self) {
        end_worlds(self.owner);
    }
}

impl DraftView {
    fn of(PlainView { owner, credentials, policy }: PlainView, stored: &StoredDraft) -> Self {
        let mut policy = (*policy).clone();
        policy.policy.draft = Some(stored.tree());
        Self { generation: stored.record.generation, owner, credentials, policy: Arc::new(policy) }
    }
}

/// A draft in use by a command.
#[derive(Debug)]
pub struct DraftUse {
    open: Arc<OpenDraft>,
    /// The confinement of the command.
    pub policy: Arc<OwnedPolicy>,
    stored: StoredDraft,
    /// The search for what others have changed.
    edits: Option<JoinHandle<Option<String>>>,
    /// Keeps others from changing the draft, until the helper of the command does.
    pub lock: Arc<OwnedFd>,
}

/// The state right before a command in a draft, for its receipt.
#[derive(Debug)]
pub struct BeforeInDraft {
    moment: io::Result<DraftMoment>,
    servers: Option<ServersBefore>,
}

/// The open drafts, each with the number of its openings.
type OpenDrafts = HashMap<DraftName, (Arc<OpenDraft>, usize)>;

static OPEN: LazyLock<Mutex<OpenDrafts>> = LazyLock::new(Mutex::default);

fn all_open() -> MutexGuard<'static, OpenDrafts> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DraftName {
    /// Returns the store of the draft.
    pub fn store(&self) -> DraftStore {
        DraftStore::at(self.dir.clone())
    }

    /// Opens a draft of this name in this process once more, until [`DraftName::close`].
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn open(&self, stored: &StoredDraft) -> Result<Arc<OpenDraft>, DraftFault> {
        let mark = stored.open_here()?;
        let made = || OpenDraft {
            name: self.clone(),
            view: Mutex::default(),
            noting: Mutex::default(),
            notes: AtomicU8::new(IDLE),
            held: AtomicU64::new(stored.bytes()),
            edited: AtomicUsize::new(0),
            edited_first: AtomicUsize::new(0),
            ports: DraftPorts::default(),
            mark: Mutex::new(Some(mark)),
        };
        let mut all = all_open();
        let (open, openings) = all.entry(self.clone()).or_insert_with(|| (Arc::new(made()), 0));
        *openings += 1;
        Ok(Arc::clone(open))
    }

    /// Returns the draft, if it is open in this process.
    pub(super) fn if_open(&self) -> Option<Arc<OpenDraft>> {
        all_open().get(self).map(|(open, _)| Arc::clone(open))
    }

    /// Returns the draft as this process has it open.
    ///
    /// # Errors
    /// If it has not.
    pub(super) fn opened(&self) -> Result<Arc<OpenDraft>, DraftFault> {
        let gone = format!("the draft {} is not open in this process", self.id);
        self.if_open().ok_or_else(|| DraftFault::new(DraftReason::Unknown, gone))
    }

    /// Returns whether commands of the draft see a directory at a path.
    pub fn shows_directory(&self, path: &Path) -> bool {
        let Ok(stored) = self.store().find(&self.id) else { return false };
        match stored.record.layers.iter().find(|layer| is_within(path, &layer.base)) {
            Some(layer) => layer.find(path).is_ok_and(|place| place.is_some_and(|place| place.is_dir())),
            None => path.is_dir(),
        }
    }

    /// Closes the draft once. The last close ends its worlds, and removes a draft that is kept only while it is open.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn close(&self) -> Result<(), DraftFault> {
        let mut all = all_open();
        let Some((_, openings)) = all.get_mut(self) else { return Ok(()) };
        *openings -= 1;
        if *openings > 0 {
            return Ok(());
        }
        let last = all.remove(self);
        drop(all);
        if let Some((open, _)) = last {
            open.end_worlds().wait();
            // The base may still be read in the background.
            *open.mark.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        Ok(self.store().remove_if_expired(&self.id)?)
    }

    /// Forgets a draft that is over.
    pub(super) fn forget(&self) {
        let forgotten = all_open().remove(self);
        drop(forgotten);
    }

    /// Opens the draft for a command, which may use these credentials.
    ///
    /// # Errors
    /// If there is no such draft, it is being committed, forked or discarded, or its confinement is impossible here.
    pub fn use_for_command(&self, credentials: &DraftCredentials, environment: &str) -> Result<DraftUse, DraftFault> {
        let open = self.opened()?;
        let enter = || self.store().enter(&self.id).map_err(DraftFault::from);
        let (mut stored, mut held) = enter()?;
        if stored.record.state == DraftState::Committing {
            drop(held);
            finish_commit(stored)?;
            (stored, held) = enter()?;
        }
        let (used, most) = (open.held.load(Ordering::Relaxed), stored.record.settings.max_bytes);
        if used > most {
            let [used, most] = [used, most].map(format_bytes);
            let message = format!("the draft {} holds {used}, over its maxBytes of {most}", self.id);
            return Err(DraftFault::new(DraftReason::Space, message));
        }
        let policy = open.view(&stored, credentials, environment);
        let policy = policy.map_err(|error| DraftFault::new(DraftReason::Unsupported, error.to_string()))?;
        Ok(DraftUse { open, policy, stored, edits: None, lock: Arc::new(held.into()) })
    }
}

impl OpenDraft {
    /// Returns the confinement of commands, as the draft is now. Those without credentials share the world of others,
    /// and what these may use.
    pub(super) fn view(
        &self,
        stored: &StoredDraft,
        credentials: &DraftCredentials,
        environment: &str,
    ) -> Result<Arc<OwnedPolicy>, PolicyError> {
        let generation = stored.record.generation;
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |view: &&DraftView| {
            view.generation == generation && (credentials.is_empty() || view.credentials == *credentials)
        };
        if let Some(view) = view.as_ref().filter(is_known) {
            // A function may have returned another value since.
            keep_values(view.owner, &view.policy.policy.secrets.rules, &credentials.secrets);
            return Ok(Arc::clone(&view.policy));
        }
        let DraftRecord { settings, root, .. } = &stored.record;
        let plain = PlainView::new(&settings.confine, credentials.clone(), (&self.name.dir, root), environment)?;
        check_files(&plain.policy.policy.secrets.rules, stored).inspect_err(|_| plain.forget())?;
        let made = DraftView::of(plain, stored);
        let policy = Arc::clone(&made.policy);
        if let Some(earlier) = view.replace(made) {
            end_worlds(earlier.owner);
        }
        Ok(policy)
    }

    /// Takes the confinement that was made for a new draft.
    pub(super) fn begin_with(&self, plain: PlainView, stored: &StoredDraft) {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        view.get_or_insert_with(|| DraftView::of(plain, stored));
    }

    /// Returns the confinement of the commands that began last.
    pub(super) fn current_policy(&self) -> Option<Arc<OwnedPolicy>> {
        let view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        view.as_ref().map(|view| Arc::clone(&view.policy))
    }

    /// Returns a note if others have changed more files of the draft than before the last command.
    fn note_on_edits(&self, stored: &StoredDraft) -> Option<String> {
        let count = stored.changed_outside()? + self.edited_first.load(Ordering::Relaxed);
        let is_more = count > self.edited.swap(count, Ordering::Relaxed);
        let files =
            if count == 1 { "1 file of the draft was".to_owned() } else { format!("{count} files of the draft were") };
        is_more.then(|| format!("{files} changed outside of it as well, so a commit may have conflicts"))
    }

    /// Counts what the draft holds.
    pub(super) fn count(&self, stored: &StoredDraft) {
        self.held.store(stored.bytes(), Ordering::Relaxed);
    }

    /// Ends the worlds of the draft's commands. The next command gets another world.
    pub fn end_worlds(&self) -> EndingWorlds {
        let view = self.view.lock().unwrap_or_else(PoisonError::into_inner).take();
        view.map(|view| end_worlds(view.owner)).unwrap_or_default()
    }

    /// Reads the base in the background at the paths that a command has touched. Commands that end meanwhile have one
    /// more reading together.
    fn note_touched(self: &Arc<Self>) {
        if self.notes.swap(AGAIN, Ordering::SeqCst) != IDLE {
            return;
        }
        let Ok(helpers) = HelperProcesses::shared() else { return };
        let open = Arc::clone(self);
        drop(helpers.runtime().spawn_blocking(move || {
            let _noting = open.noting.lock().unwrap_or_else(PoisonError::into_inner);
            while open.notes.swap(NOTING, Ordering::SeqCst) == AGAIN {
                // A commit, a fork or a discard that is under way has read the base itself.
                let Ok((stored, _held)) = open.name.store().enter(&open.name.id) else { break };
                if let Ok(edited_first) = stored.note_touched() {
                    open.edited_first.store(edited_first, Ordering::Relaxed);
                }
                open.count(&stored);
                if open.notes.compare_exchange(NOTING, IDLE, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                    return;
                }
            }
            open.notes.store(IDLE, Ordering::SeqCst);
        }));
    }
}

/// No reading of the base is under way.
const IDLE: u8 = 0;
/// One is under way.
const NOTING: u8 = 1;
/// One has to begin.
const AGAIN: u8 = 2;

impl Drop for OpenDraft {
    fn drop(&mut self) {
        self.end_worlds();
    }
}

impl DraftUse {
    /// Returns the id of the draft.
    pub fn id(&self) -> &str {
        &self.open.name.id
    }

    /// Begins the command: counts it, and looks for what others have changed. `is_listed`: whether it is in the ledger.
    /// `actor`: who asked for it.
    ///
    /// # Errors
    /// If nothing can be written to the draft.
    pub fn begin_run(&mut self, is_listed: bool, actor: Option<&Actor>) -> Result<(), DraftFault> {
        self.stored.count_run(is_listed, actor)?;
        if !self.stored.has_noted() && self.open.edited_first.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let (open, stored) = (Arc::clone(&self.open), self.stored.clone());
        let helpers = HelperProcesses::shared().ok();
        self.edits = helpers.map(|helpers| helpers.runtime().spawn_blocking(move || open.note_on_edits(&stored)));
        Ok(())
    }

    /// Returns what the result of the command says of the changes of others.
    pub async fn note_on_edits(&mut self) -> Option<String> {
        self.edits.take()?.await.ok().flatten()
    }

    /// Returns limits under which no single file takes more than the draft may. The system refuses more.
    pub fn bound(&self, limits: CommandLimits) -> CommandLimits {
        let most = self.stored.record.settings.max_bytes;
        CommandLimits { file_bytes: Some(limits.file_bytes.map_or(most, |own| own.min(most))), ..limits }
    }

    /// Reads what the receipt of a command that begins now is compared with. Blocks.
    pub fn before(&self) -> BeforeInDraft {
        BeforeInDraft { moment: self.moment(), servers: ServersBefore::read(true) }
    }

    fn moment(&self) -> io::Result<DraftMoment> {
        DraftMoment::read(&self.stored.record.layers)
    }

    /// Returns the receipt of a command that has left these processes. Blocks.
    pub fn receipt_since(&self, before: BeforeInDraft, survivors: &[SurvivingProcess]) -> RunReceipt {
        let BeforeInDraft { moment: then, servers } = before;
        let mut receipt = RunReceipt::new(ChangeAttribution::Window);
        let compare = |then: DraftMoment| {
            let now = self.moment()?;
            Ok((then.changes_until(&now)?, then.repositories_until(&now)))
        };
        match then.and_then(compare) {
            Ok((effect, repositories)) => {
                if let Some(doubt) = effect.doubt_sentence() {
                    receipt.lower(ReceiptCompleteness::Partial, doubt);
                }
                effect.fill(&mut receipt);
                for RepositoryComparison { change, unknown, doubt } in repositories {
                    unknown.into_iter().for_each(|why| receipt.lower(ReceiptCompleteness::Unknown, why));
                    doubt.into_iter().for_each(|why| receipt.lower(ReceiptCompleteness::Partial, why));
                    receipt.git.push(change);
                }
            }
            Err(error) => receipt.lower(ReceiptCompleteness::Unknown, format!("the draft cannot be read: {error}")),
        }
        let tree: Vec<_> = survivors.iter().map(|survivor| Pid::from_raw(survivor.pid)).collect();
        receipt.add_ports(servers.as_ref(), &tree);
        receipt.add_survivors(survivors);
        receipt
    }

    /// Returns the fault of a draft whose view could not be made.
    pub fn without_view(why: &str, errno: Option<i32>) -> DraftFault {
        if errno == Some(libc::EBUSY) {
            return DraftFault::new(DraftReason::Busy, format!("the draft cannot be used here now: {why}"));
        }
        let message = format!("drafts need user namespaces and an overlay on the file system of their store: {why}");
        DraftFault::new(DraftReason::Unsupported, message)
    }
}

impl Drop for DraftUse {
    fn drop(&mut self) {
        self.open.note_touched();
    }
}

/// Checks that the draft has the files of secrets: in the place of one that it has removed, something would have to be
/// made.
fn check_files(rules: &[SecretRule], stored: &StoredDraft) -> Result<(), PolicyError> {
    for SecretRule { name, file, .. } in rules {
        let Some((at, _)) = file else { continue };
        let Some(layer) = stored.record.layers.iter().find(|layer| is_within(at, &layer.base)) else { continue };
        let found = layer.find(at).ok().flatten().and_then(|place| place.symlink_metadata().ok());
        if !found.is_some_and(|found| found.is_file()) {
            return Err(PolicyError::invalid("confine.secrets", name, PolicyFault::FileNotInDraft));
        }
    }
    Ok(())
}

/// Finishes a commit that was killed.
///
/// # Errors
/// If a command runs in the draft, or the record of the commit cannot be read.
pub(super) fn finish_commit(stored: StoredDraft) -> Result<(), DraftFault> {
    let mut locked = stored.lock()?;
    locked.go_on(&mut |_| false)?;
    Ok(())
}
