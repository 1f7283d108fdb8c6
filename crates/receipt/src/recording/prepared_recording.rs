//! Prepares the record of a run: finds obstacles, chooses, and makes room.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant, SystemTime};

use super::command_risk::CommandRisk;
use super::recording_method::{NotUndoable, RecordingFacts, RecordingMethod, choose};
use super::recording_request::{ReceiptSource, RecordingRequest, RequestedUndo, UndoCondition};
use crate::watch::WatchedTrees;
use protocol::plan::{ChangeJournalLimits, ChangeJournalPlan, ChangeJournalPurpose};
use protocol::task::now_ms;
use undo::{EvictedFiles, UndoLimits, UndoStore, UndoStoreError, no_point_for};

/// Time for which nothing is recorded after a failed record.
const AFTER_FAILURE: Duration = Duration::from_secs(60);

/// The last failed record in each store, and the reason.
static FAILURES: LazyLock<Mutex<HashMap<PathBuf, (Instant, String)>>> = LazyLock::new(Mutex::default);

/// The command of a run.
#[derive(Debug, Clone)]
pub struct RecordedCommand {
    /// The text of the command, as the caller gave it.
    pub command: String,
    /// Directory of the command.
    pub cwd: PathBuf,
    /// Home of the user.
    pub home: Option<PathBuf>,
    /// Meaning of the command's words.
    pub risk: CommandRisk,
}

/// How a run is recorded.
#[derive(Debug)]
pub struct PreparedRecording {
    /// The chosen method.
    pub way: RecordingMethod,
    /// The order for the shim, if every change is recorded.
    pub record: Option<ChangeJournalPlan>,
    /// Wishes that cannot be met, for the notes of the result.
    pub notes: Vec<String>,
    /// The directory of the command, and the directories in which it runs git.
    pub(super) directories: Vec<PathBuf>,
    /// The store of the record.
    pub(super) store: Option<UndoStore>,
}

/// Prepares the record of a run. Blocks.
///
/// # Errors
/// [`NotUndoable`]
pub fn prepare(wanted: &RecordingRequest, subject: RecordedCommand) -> Result<PreparedRecording, NotUndoable> {
    let RecordedCommand { command, cwd, home, risk } = subject;
    let is_risky = wanted.undo.is_some_and(|undo| undo.when == UndoCondition::Risky) && risk.is_risky();
    let undo = wanted.undo.filter(|undo| undo.when == UndoCondition::Always || is_risky);
    let needs_record = undo.is_some() || wanted.receipt == Some(ReceiptSource::Exact);
    let store = needs_record.then(|| store_of(wanted, undo, &cwd)).transpose();
    let no_point = undo.and_then(|_| undo_obstacle(&cwd, home.as_deref()));
    let obstacle = if needs_record { recording_obstacle(&risk, wanted.store.as_deref()) } else { None };
    let tree = undo.filter(|_| matches!(store, Ok(Some(_)))).and_then(|_| snapshot_tree(&cwd, home.as_deref()));
    let known = RecordingFacts {
        is_risky,
        no_point,
        no_record: obstacle.or_else(|| store.as_ref().err().map(NoUndoStore::to_string)),
        tree: tree.as_ref().map(|tree| tree.display().to_string()),
    };
    let (way, notes) = choose(wanted, known)?;
    let point = matches!(way, RecordingMethod::Exact { point: true } | RecordingMethod::Snapshot);
    let store =
        store.ok().flatten().filter(|_| matches!(way, RecordingMethod::Exact { .. } | RecordingMethod::Snapshot));
    let record = store.as_ref().map(|store| {
        let UndoLimits { file_bytes, run_bytes, store_bytes } = undo.map_or(UndoLimits::DEFAULT, |undo| undo.limits);
        ChangeJournalPlan {
            purpose: if point { ChangeJournalPurpose::Undo } else { ChangeJournalPurpose::Receipt },
            store: store.path().to_owned(),
            limits: ChangeJournalLimits { file_bytes, run_bytes, store_bytes },
            require: point && undo.is_some_and(|undo| undo.require),
            command,
            at: now_ms(),
            beyond: risk.reversal.beyond,
            tree: tree.filter(|_| point).unwrap_or_default(),
            only_tree: way == RecordingMethod::Snapshot,
        }
    });
    let directories = std::iter::once(cwd).chain(risk.reversal.git.into_iter().map(PathBuf::from)).collect();
    Ok(PreparedRecording { way, record, notes, directories, store })
}

/// Returns why a command in this directory gets no undo point, if it gets none.
pub fn undo_obstacle(cwd: &Path, home: Option<&Path>) -> Option<String> {
    let directory = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    no_point_for(&directory, home).map(str::to_owned)
}

/// Returns the tree for a snapshot of a directory.
pub fn snapshot_tree(cwd: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let root = WatchedTrees::root_of(cwd).ok()?;
    let is_whole = undo_obstacle(&root, home).is_none();
    if is_whole { Some(root) } else { cwd.canonicalize().ok().filter(|cwd| undo_obstacle(cwd, home).is_none()) }
}

/// Returns why the changes of a command cannot be recorded, if they cannot. A recent failure of a record counts for its
/// store, and for runs without a named store.
pub fn recording_obstacle(risk: &CommandRisk, store: Option<&Path>) -> Option<String> {
    static CAN_RECORD: LazyLock<bool> = LazyLock::new(|| sys::kernel_features().notifications);
    if let Some(why) = risk.obstacle() {
        return Some(why);
    }
    if !*CAN_RECORD {
        return Some("this system has no way to see each change of a command (seccomp notifications)".to_owned());
    }
    let failures = FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut recent = failures.iter().filter(|(of, (at, _))| {
        let concerns = store.is_none_or(|store| store == of.as_path());
        concerns && at.elapsed() < AFTER_FAILURE
    });
    recent.next().map(|(_, (_, why))| format!("the last record failed: {why}"))
}

/// Why a run has no store, so that its changes cannot be recorded.
#[derive(Debug, thiserror::Error)]
enum NoUndoStore {
    #[error("there is no directory for it: set XDG_STATE_HOME or HOME")]
    NoDirectory,
    #[error("its directory is in the undo store, whose own files are not recorded")]
    InStore,
    #[error(transparent)]
    Store(#[from] UndoStoreError),
}

/// Opens the store, and makes room in it for the run.
fn store_of(wanted: &RecordingRequest, undo: Option<RequestedUndo>, cwd: &Path) -> Result<UndoStore, NoUndoStore> {
    let dir = wanted.store.as_deref().ok_or(NoUndoStore::NoDirectory)?;
    if is_below(cwd, dir) {
        return Err(NoUndoStore::InStore);
    }
    let store = UndoStore::open(dir)?;
    if let Some(undo) = undo {
        remove_in_background(store.make_room(undo.limits, SystemTime::now())?)?;
    }
    Ok(store)
}

/// Removes the files of evicted points. If the disk has room, they are removed while the command runs.
///
/// # Errors
/// If the disk has no room, and something cannot be removed.
pub fn remove_in_background(evicted: EvictedFiles) -> Result<(), UndoStoreError> {
    if evicted.is_urgent {
        return evicted.remove();
    }
    if !evicted.runs.is_empty() {
        // Files that stay are found by the next stocktaking of the store.
        let _thread = Builder::new().name("undo-evict".to_owned()).spawn(|| evicted.remove());
    }
    Ok(())
}

/// Returns whether a path is a directory or below it, whatever links lead there.
fn is_below(path: &Path, directory: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(path).starts_with(real(directory))
}

/// Records that a record in a store has failed, so that the next commands with that store are watched.
pub fn note_failure(store: &Path, why: &str) {
    let mut failures = FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
    failures.retain(|_, (at, _)| at.elapsed() < AFTER_FAILURE);
    failures.insert(store.to_owned(), (Instant::now(), why.to_owned()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_failed_is_a_reason_for_its_store_alone() {
        let store = |name: &str| PathBuf::from(format!("/nowhere/{name}"));
        let risk = CommandRisk::default();
        let without = recording_obstacle(&risk, Some(&store("other")));
        note_failure(&store("one"), "no room");
        assert_eq!(recording_obstacle(&risk, Some(&store("other"))), without);
        if without.is_none() {
            let why = Some("the last record failed: no room".to_owned());
            assert_eq!(recording_obstacle(&risk, Some(&store("one"))), why);
        }
    }
}
