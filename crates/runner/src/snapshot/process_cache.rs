//! The snapshots that this process has. Each snapshot is read once, for the first command that wants it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::OnceCell;

use super::error::SnapshotError;
use super::snapshot_code::SnapshotCode;
use super::snapshot_request::SnapshotRequest;
use super::{disk_cache, rc_reader, snapshot_trial};
use crate::request::PlannedRun;
use crate::snapshot_paths;

/// The most snapshots that are kept. The snapshot that was wanted last comes last.
const MAX_SNAPSHOTS: usize = 8;
/// Variables that make bash read other files first, or none.
const UNFIT: [&str; 2] = ["BASH_ENV", "POSIXLY_CORRECT"];

/// The code, or why there is none. A failure is kept as long as the files do not change, so that hanging rc files cost
/// their time only once.
type SnapshotCodeResult = Result<Arc<SnapshotCode>, Arc<SnapshotError>>;
type SnapshotCell = Arc<OnceCell<SnapshotCodeResult>>;

static KNOWN: Mutex<Vec<KnownSnapshot>> = Mutex::new(Vec::new());

struct KnownSnapshot {
    key: u128,
    since: Instant,
    taken: SnapshotCell,
}

/// A snapshot for one command, or why the command gets none.
#[derive(Clone)]
pub struct CommandSnapshot {
    code: SnapshotCodeResult,
    own_path: bool,
}

impl SnapshotRequest {
    /// Returns the snapshot, if this process has it.
    pub fn find_in_process(&self) -> Option<CommandSnapshot> {
        let code = self.snapshot_cell().get()?.clone();
        Some(CommandSnapshot { code, own_path: self.own_path })
    }

    /// Reads the snapshot unless this process has it. The reading goes on if the command is aborted.
    pub async fn take_snapshot(self) -> CommandSnapshot {
        let (place, own_path) = (self.snapshot_cell(), self.own_path);
        let taking = tokio::spawn(async move {
            place.get_or_init(|| async { find_or_read(self).await.map_err(Arc::new) }).await.clone()
        });
        let code = taking.await.unwrap_or_else(|fault| Err(Arc::new(SnapshotError::ReadFault(fault))));
        CommandSnapshot { code, own_path }
    }

    fn snapshot_cell(&self) -> SnapshotCell {
        let mut known = known();
        known.retain(|known| known.since.elapsed() < disk_cache::MAX_SNAPSHOT_AGE);
        let found = known.iter().position(|known| known.key == self.key).map(|at| known.remove(at));
        let one = found.unwrap_or_else(|| KnownSnapshot {
            key: self.key,
            since: Instant::now(),
            taken: SnapshotCell::default(),
        });
        let taken = Arc::clone(&one.taken);
        if known.len() == MAX_SNAPSHOTS {
            known.remove(0);
        }
        known.push(one);
        taken
    }
}

fn known() -> MutexGuard<'static, Vec<KnownSnapshot>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn find_or_read(wanted: SnapshotRequest) -> Result<Arc<SnapshotCode>, SnapshotError> {
    // Home directories may be on slow or remote disks.
    let (wanted, found) = tokio::task::spawn_blocking(move || {
        let found = disk_cache::find(&wanted);
        (wanted, found)
    })
    .await
    .map_err(SnapshotError::SearchFault)?;
    if let Some(code) = found {
        snapshot_paths::remember_path(code.path());
        return Ok(Arc::new(code));
    }
    let code = rc_reader::read(&wanted).await?;
    let plain = code.plain();
    let code = match snapshot_trial::try_out(&wanted, &plain).await {
        Ok(()) => Arc::new(plain),
        Err(_) => {
            snapshot_trial::try_out(&wanted, &code).await?;
            Arc::new(code)
        }
    };
    snapshot_paths::remember_path(code.path());
    let keep = Arc::clone(&code);
    tokio::task::spawn_blocking(move || disk_cache::store(&wanted, &keep));
    Ok(code)
}

impl CommandSnapshot {
    /// Returns a snapshot that a command cannot have.
    pub fn unavailable(why: SnapshotError) -> Self {
        Self { code: Err(Arc::new(why)), own_path: false }
    }

    /// Returns whether a function or alias of the snapshot may set a trap.
    pub fn mentions_trap(&self) -> bool {
        self.code.as_ref().is_ok_and(|code| code.mentions_trap)
    }

    /// Returns the code that the shell of this command reads first. If there is no code, the command gets a note with
    /// the reason.
    pub fn boot(&self, request: &mut PlannedRun) -> Arc<[u8]> {
        let unfit = UNFIT.iter().find(|name| request.environment.get(name).is_some());
        let why = match (&self.code, unfit) {
            (Ok(code), None) => return code.boot(self.own_path),
            (Ok(_), Some(variable)) => Arc::new(SnapshotError::OtherFiles { variable }),
            (Err(why), _) => Arc::clone(why),
        };
        request.notes.push(format!("the command ran without the snapshot of the user's shell: {why}"));
        Arc::from([])
    }
}
