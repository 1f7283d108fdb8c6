//! All that is asked of a draft besides commands. Each call reads files, and may take long.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use serde::Deserialize;

use super::draft_credentials::DraftCredentials;
use super::draft_entry::DraftEntry;
use super::draft_fault::{DraftFault, DraftReason};
use super::draft_ports::CurrentPolicy;
use super::open_draft::{DraftName, PlainView, finish_commit};
use crate::error::RunError;
use crate::request::{RequestError, drafts_directory, undo_store};
use crate::supervise::{EndingWorlds, HelperProcesses, state_of_worlds};
use confine_policy::{PolicyEnvironment, RawConfine, RawNetwork, RealHost};
use confine_world::{NAMESPACES, outer_git_directories};
use draft::difference::DraftDifference;
use draft::draft_commit::CommitRequest;
use draft::draft_effect::effect_of;
use draft::draft_repositories::DraftRepositories;
use draft::draft_store::{
    DraftRetention, DraftSettings, DraftState, DraftStore, ExposedPorts, LockedDraft, StoredDraft,
};
use draft::layer::{read_file, read_thing};
use draft::patch::{PatchLimits, patch_of};
use protocol::plan::next_mark;
use protocol::task::new_id_of;
use receipt::RepositoryChange;
use receipt::net::NetEffect;
use undo::path_lookup::is_absent;
use undo::path_map::is_within;
use undo::{UndoError, UndoStore};

/// The largest file that is read as a whole, in bytes.
const MOST_READ: u64 = 2 << 30;

/// The most bytes that the changes of a draft take on the disk, unless its options say otherwise.
pub const MOST_BYTES: u64 = 8 << 30;

/// The options with which a draft is opened.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct OpenDraftOptions {
    /// The directory, absolute. `None`: the top of the repository of `cwd`, or `cwd`.
    pub root: Option<PathBuf>,
    /// The directory of the host, absolute.
    pub cwd: PathBuf,
    /// The draft to open. `None`: a new one.
    pub id: Option<String>,
    /// The name for people.
    pub name: Option<String>,
    /// The option `confine` as JSON, without the credentials.
    pub confine: Option<String>,
    /// What its commands may use of this host.
    pub credentials: DraftCredentials,
    /// The ports of the draft that this machine reaches.
    pub expose: Option<ExposedPorts>,
    /// The most bytes that its changes may take on the disk. `None`: [`MOST_BYTES`].
    pub max_bytes: Option<u64>,
    /// How long a draft that is not used is kept, in ms. `None`: as long as a process has it open.
    pub keep_ms: Option<u64>,
    /// The directory of all drafts, absolute. `None`: the user's own.
    pub dir: Option<PathBuf>,
}

/// A draft as it is now.
#[derive(Debug)]
pub struct DraftDescription {
    /// The draft.
    pub stored: StoredDraft,
    /// The directory of all drafts.
    pub dir: PathBuf,
}

/// What a draft has changed.
#[derive(Debug)]
pub struct DraftChanges {
    /// The changes.
    pub effect: NetEffect,
    /// The changes in repositories.
    pub git: Vec<RepositoryChange>,
    /// Bytes on the disk.
    pub bytes: u64,
    /// The paths that were changed beside the draft, each with how.
    pub conflicts: Vec<(PathBuf, &'static str)>,
}

/// A side of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DraftSide {
    /// As its commands see it.
    Draft,
    /// As it is outside.
    Base,
}

/// What a commit has done, or would do.
#[derive(Debug)]
pub struct CommittedDraft {
    /// The paths that were changed.
    pub applied: Vec<PathBuf>,
    /// The paths that stay in the draft, each with the reason.
    pub skipped: Vec<(PathBuf, String)>,
    /// The paths that were changed beside the draft: how, and where the draft has its side.
    pub conflicts: Vec<(PathBuf, String, Option<PathBuf>)>,
    /// The run that an undo takes back. `None`: nothing was changed.
    pub run: Option<String>,
    /// Whether the draft is over, because nothing of it is left.
    pub is_over: bool,
}

/// Opens a draft, or makes one.
///
/// # Errors
/// If there is none, or the directory cannot be drafted.
pub fn open(options: OpenDraftOptions, environment: &str) -> Result<DraftDescription, RunError> {
    let OpenDraftOptions { root, cwd, id, name, confine, credentials, expose, max_bytes, keep_ms, dir } = options;
    let confine = confine.unwrap_or_else(|| "{}".to_owned());
    check_confinement(&confine, expose.is_some())?;
    if sys::HAS_SEATBELT || NAMESPACES.is_off() {
        let off = format!("they are turned off by {}", NAMESPACES.words());
        let why = if sys::HAS_SEATBELT { "this system has no overlays" } else { &off };
        let message = format!("drafts need Linux with user namespaces: {why}");
        return Err(DraftFault::new(DraftReason::Unsupported, message).into());
    }
    let dir = store_directory(dir, environment)?;
    let store = DraftStore::at(dir.clone());
    let resolve = |root: &Path| {
        root.canonicalize().map_err(|error| DraftFault::new(DraftReason::Root, format!("{}: {error}", root.display())))
    };
    let (stored, plain) = if let Some(id) = id {
        let mut stored = store.find(&id).map_err(DraftFault::from)?;
        let asked = root.as_deref().map(resolve).transpose()?;
        if asked.is_some_and(|root| root != stored.record.root) {
            let (id, root) = (&stored.record.id, stored.record.root.display());
            return Err(DraftFault::new(DraftReason::Unknown, format!("the draft {id} is one of {root}")).into());
        }
        if stored.record.state == DraftState::Committing {
            finish_commit(stored)?;
            stored = store.find(&id).map_err(DraftFault::from)?;
        }
        (stored, None)
    } else {
        let root = resolve(&root.unwrap_or_else(|| default_root(&cwd)))?;
        check_root(&root, environment)?;
        let plain = PlainView::new(&confine, credentials.clone(), (&dir, &root), environment);
        let plain = plain.map_err(RequestError::from)?;
        // Git writes there, too.
        let outer = outer_git_directories(&plain.policy.policy, &state_of_worlds());
        let bases: Vec<_> = std::iter::once(root).chain(outer).collect();
        let keep = keep_ms.map_or(DraftRetention::Hosts, DraftRetention::Unused);
        let settings = DraftSettings { name, confine, expose, keep, max_bytes: max_bytes.unwrap_or(MOST_BYTES) };
        let made = store.begin(&new_id_of('d'), settings, &bases).inspect_err(|_| plain.forget());
        (made.map_err(DraftFault::from)?, Some(plain))
    };
    let name = DraftName { id: stored.record.id.clone(), dir: dir.clone() };
    let open = name.open(&stored)?;
    if let Some(plain) = plain {
        open.begin_with(plain, &stored);
    } else if let Err(error) = open.view(&stored, &credentials, environment) {
        let _of_another_process = name.close();
        return Err(RequestError::from(error).into());
    }
    Ok(DraftDescription { stored, dir })
}

/// Lists the drafts, the newest first: all, or those of one root.
///
/// # Errors
/// If the user has no directory of drafts.
pub fn list(root: Option<&Path>, dir: Option<PathBuf>, environment: &str) -> Result<Vec<DraftDescription>, RunError> {
    let dir = store_directory(dir, environment)?;
    let store = DraftStore::at(dir.clone());
    store.sweep();
    let root = root.map(|root| root.canonicalize().unwrap_or_else(|_| root.to_owned()));
    let is_asked = |stored: &StoredDraft| root.as_ref().is_none_or(|root| stored.record.root == *root);
    let found = store.list().into_iter().filter(is_asked);
    Ok(found.map(|stored| DraftDescription { stored, dir: dir.clone() }).collect())
}

/// Returns what a draft has changed at these paths and below; without paths everywhere.
///
/// # Errors
/// If there is no such draft, or something cannot be read.
pub fn changes(name: &DraftName, paths: &[PathBuf]) -> Result<DraftChanges, DraftFault> {
    let stored = find(name)?;
    let all = chosen_differences(&stored, paths)?;
    let conflicts = all.iter().filter_map(|one| Some((one.path.clone(), one.conflict?))).collect();
    let repositories = DraftRepositories::read(&stored.record.layers, all.iter().map(|one| &*one.path));
    let git = repositories.since(&DraftRepositories::default()).into_iter().map(|compared| compared.change).collect();
    let effect = effect_of(&in_root(&stored, all)).map_err(|error| unreadable(&stored, &error))?;
    Ok(DraftChanges { effect, git, bytes: stored.bytes(), conflicts })
}

/// Returns the changes at these paths and below as a patch for `git apply`.
///
/// # Errors
/// As [`changes`].
pub fn diff(name: &DraftName, paths: &[PathBuf], limits: PatchLimits) -> Result<String, DraftFault> {
    let stored = find(name)?;
    let all = in_root(&stored, chosen_differences(&stored, paths)?);
    let renamed = effect_of(&all).map_err(|error| unreadable(&stored, &error))?.renamed;
    patch_of(&all, &renamed, &stored.record.root, limits).map_err(|error| unreadable(&stored, &error))
}

/// Returns the contents of a file, or `None` if there is no file.
///
/// # Errors
/// If there is no such draft, the path lies in no drafted directory, or the file cannot be read.
pub fn read(name: &DraftName, path: &Path, side: DraftSide) -> Result<Option<Vec<u8>>, RunError> {
    let stored = find(name)?;
    let layer = stored.record.layers.iter().find(|layer| is_within(path, &layer.base));
    let Some(layer) = layer else { return Err(outside(&stored, path)) };
    let place = if side == DraftSide::Base {
        Some(path.to_owned())
    } else {
        layer.find(path).map_err(|error| unreadable(&stored, &error))?
    };
    let Some(place) = place else { return Ok(None) };
    match read_file(&place, MOST_READ) {
        Ok(bytes) => Ok(Some(bytes)),
        // Another thing than a file, or one behind a link.
        Err(error) if is_absent(&error) || error.kind() == io::ErrorKind::InvalidInput => Ok(None),
        Err(error) => Err(unreadable(&stored, &error).into()),
    }
}

/// Moves the changes of a draft, or a part of them, into its directory. A draft of which nothing is left is over.
///
/// # Errors
/// If there is no such draft, a command runs in it, or nothing can be recorded for an undo.
pub fn commit(name: &DraftName, request: &CommitRequest, environment: &str) -> Result<CommittedDraft, RunError> {
    let mut locked = lock(name)?;
    locked.go_on(&mut |_| false).map_err(DraftFault::from)?;
    let dir = undo_store(None, environment).ok_or(UndoError::NoStore)?;
    let undo = UndoStore::open(&dir).map_err(UndoError::from)?;
    let outside_path = request.paths.iter().find(|path| !is_drafted(locked.stored(), path));
    if let Some(path) = outside_path {
        return Err(outside(locked.stored(), path));
    }
    let run = next_mark();
    let entry = if request.dry_run { None } else { DraftEntry::begin("commit", locked.stored()) };
    let made = locked.commit(request, (&undo, &run), &mut |_| false).map_err(DraftFault::from)?;
    let place = |path: &Path| {
        let place = locked.stored().record.layers.iter().find_map(|layer| layer.place_of(path))?;
        let is_there = read_thing(&place).ok()?.is_some_and(|thing| !thing.state.is_absent());
        is_there.then_some(place)
    };
    let with_place = |(path, why): (PathBuf, String)| {
        let place = place(&path);
        (path, why, place)
    };
    let conflicts: Vec<_> = made.conflicts.into_iter().map(with_place).collect();
    // All of it is read again, since the draft is removed if nothing is left.
    let left = || locked.stored().differences().map(|all| all.iter().any(|layer| !layer.is_empty()));
    let is_over = !request.dry_run && conflicts.is_empty() && !left().map_err(DraftFault::from)?;
    if made.run.is_some() {
        end_worlds(name);
        name.if_open().iter().for_each(|open| open.count(locked.stored()));
    }
    if let Some(entry) = entry {
        entry.end(&run, i32::from(!conflicts.is_empty()), environment);
    }
    if is_over {
        locked.discard().map_err(DraftFault::from)?;
        name.forget();
    }
    Ok(CommittedDraft { applied: made.applied, skipped: made.skipped, conflicts, run: made.run, is_over })
}

/// Removes a draft with all its changes.
///
/// # Errors
/// If there is no such draft, or a command runs in it.
pub fn discard(name: &DraftName, environment: &str) -> Result<(), DraftFault> {
    let locked = lock(name)?;
    let entry = DraftEntry::begin("discard", locked.stored());
    end_worlds(name).wait();
    locked.discard()?;
    name.forget();
    if let Some(entry) = entry {
        entry.end(&next_mark(), 0, environment);
    }
    Ok(())
}

/// Begins another draft with the changes of this one.
///
/// # Errors
/// If there is no such draft, or a command runs in it.
pub fn fork(name: &DraftName, people_call_it: Option<String>) -> Result<DraftDescription, DraftFault> {
    let locked = lock(name)?;
    let stored = locked.fork(&name.store(), &new_id_of('d'), people_call_it)?;
    DraftName { id: stored.record.id.clone(), dir: name.dir.clone() }.open(&stored)?;
    Ok(DraftDescription { stored, dir: name.dir.clone() })
}

/// Returns the port of this machine at which a port of a draft is reached. `None`: the draft does not expose it, or, if
/// it exposes all, no server listens there.
///
/// # Errors
/// If the draft is not open, or the system refuses a port.
pub fn port(name: &DraftName, port: u16) -> Result<Option<u16>, RunError> {
    let open = name.opened()?;
    let helpers = HelperProcesses::shared().map_err(|error| RunError::helper(error, ""))?;
    // No connection is made: a server may take only one.
    let has_server =
        |policy: Arc<_>| matches!(helpers.runtime().block_on(helpers.reach_server(&policy, port)), Ok(Some(_)));
    let is_exposed = match find(name)?.record.settings.expose {
        Some(ExposedPorts::Listed(ports)) => ports.contains(&port),
        Some(ExposedPorts::Any(_)) => open.current_policy().is_some_and(has_server),
        None => false,
    };
    if !is_exposed {
        return Ok(None);
    }
    let draft = Arc::downgrade(&open);
    let policy: CurrentPolicy = Arc::new(move || draft.upgrade()?.current_policy());
    let here = open.ports.here(port, policy, helpers);
    Ok(Some(here.map_err(|error| DraftFault::new(DraftReason::Unsupported, format!("port {port}: {error}")))?))
}

impl DraftDescription {
    /// Returns how many paths the draft has changed.
    ///
    /// # Errors
    /// If something cannot be read.
    pub fn effect(&self) -> Result<NetEffect, DraftFault> {
        let all = in_root(&self.stored, chosen_differences(&self.stored, &[])?);
        effect_of(&all).map_err(|error| unreadable(&self.stored, &error))
    }
}

/// Returns the directory of all drafts: the given one, or that of the user.
fn store_directory(given: Option<PathBuf>, environment: &str) -> Result<PathBuf, DraftFault> {
    let none = || {
        DraftFault::new(
            DraftReason::Unsupported,
            "neither HOME nor XDG_STATE_HOME names a directory for drafts; give dir",
        )
    };
    let dir = given.or_else(|| drafts_directory(environment)).ok_or_else(none)?;
    // It may be missing so far.
    let real = dir.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let resolved = real.and_then(|(above, real)| Some(real.join(dir.strip_prefix(above).ok()?)));
    Ok(resolved.unwrap_or(dir))
}

/// Refuses a root whose draft would be of more than a project.
fn check_root(root: &Path, environment: &str) -> Result<(), DraftFault> {
    let own = RealHost { environment }.variable("HOME").map(str::to_owned);
    let mut homes = own.into_iter().chain(sys::home()).filter_map(|home| Path::new(&home).canonicalize().ok());
    let refused =
        |why: &str| Err(DraftFault::new(DraftReason::Root, format!("{} cannot be drafted: {why}", root.display())));
    if !root.is_dir() {
        return refused("it is no directory");
    }
    if root.to_str().is_none() {
        return refused("its path is no text (UTF-8)");
    }
    if homes.any(|home| is_within(&home, root)) {
        return refused("it is or holds your home");
    }
    Ok(())
}

fn find(name: &DraftName) -> Result<StoredDraft, DraftFault> {
    Ok(name.store().find(&name.id)?)
}

/// Takes a draft for this process alone, once its commands are noted.
fn lock(name: &DraftName) -> Result<LockedDraft, DraftFault> {
    let open = name.if_open();
    let _noted = open.as_ref().map(|open| open.noting.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(find(name)?.lock()?)
}

fn end_worlds(name: &DraftName) -> EndingWorlds {
    name.if_open().map(|open| open.end_worlds()).unwrap_or_default()
}

fn is_drafted(stored: &StoredDraft, path: &Path) -> bool {
    stored.record.layers.iter().any(|layer| is_within(path, &layer.base))
}

fn outside(stored: &StoredDraft, path: &Path) -> RunError {
    let root = stored.record.root.display();
    RunError::InvalidArg(format!("{} is not below {root}, which the draft {} is of", path.display(), stored.record.id))
}

fn unreadable(stored: &StoredDraft, error: &std::io::Error) -> DraftFault {
    DraftFault::new(DraftReason::Unsupported, format!("the draft {} cannot be read: {error}", stored.record.id))
}

/// Returns the differences at these paths and below, sorted by path.
fn chosen_differences(stored: &StoredDraft, paths: &[PathBuf]) -> Result<Vec<DraftDifference>, DraftFault> {
    let mut all: Vec<_> = stored.differences()?.into_iter().flatten().collect();
    all.retain(|one| paths.is_empty() || paths.iter().any(|path| is_within(&one.path, path)));
    all.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(all)
}

/// Returns the differences in the root: a git directory elsewhere is drafted, and not shown.
fn in_root(stored: &StoredDraft, mut all: Vec<DraftDifference>) -> Vec<DraftDifference> {
    all.retain(|one| is_within(&one.path, &stored.record.root));
    all
}

/// Checks the options of the confinement of a draft's commands, of which nothing may reach out of the draft.
///
/// # Errors
/// [`RunError::InvalidArg`]
fn check_confinement(options: &str, exposes: bool) -> Result<(), RunError> {
    let raw = RawConfine::from_json(options).map_err(|error| RunError::InvalidArg(format!("confine: {error}")))?;
    let refused = |option: &str, why: &str| Err(RunError::InvalidArg(format!("confine.{option}: {why}")));
    let workspace = "commands of a draft may change its root and nothing else";
    match &raw {
        RawConfine { secrets, ssh, .. } if !secrets.is_empty() || ssh.is_some() => {
            refused("secrets", "credentials are never kept with a draft")
        }
        RawConfine { profile: Some(profile), .. } if profile != "workspace" => refused("profile", workspace),
        RawConfine { write, .. } if !write.is_empty() => refused("write", workspace),
        RawConfine { tmp: Some(tmp), .. } if tmp != "private" => refused("tmp", workspace),
        RawConfine { expose, .. } if !expose.is_empty() => refused("expose", "give the draft the option expose"),
        RawConfine { network: Some(RawNetwork::Word(word)), .. } if exposes && word == "full" => {
            refused("network", "with 'full' every port is the host's own already; leave expose out")
        }
        _ => Ok(()),
    }
}

/// Returns the top of the repository of a directory, or the directory itself.
fn default_root(cwd: &Path) -> PathBuf {
    cwd.ancestors().find(|above| above.join(".git").exists()).unwrap_or(cwd).to_owned()
}
