//! Answers questions about files.

use std::fs::{self, File, FileType, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nix::libc;
use tokio::sync::RwLock;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::access_refusal::TargetAccessRefusal;
use super::file_replacement::{FileReplacement, MODE_BITS};
use super::request_transfer::RequestTransfer;
use super::session_table::ResponseFuture;
use crate::flow_control::CHUNK;
use crate::messages::{
    FileStat, MAX_ENTRIES, MAX_READ, TargetDirectoryEntry, TargetFileKind, TargetFileRequest, TargetFileResponse,
    TargetResponse, TransferPart, encode,
};
use reduce::recall::RecallSelection;
use runner::error::RunError;
use runner::recall::{RecallError, recall};

/// Time that writes which are given up may take to remove what they have written.
const WRITE_CLEANUP_TIMEOUT: Duration = Duration::from_secs(2);

/// Answers questions about files.
pub struct FileRequestHandler {
    /// The mode mask of new files.
    umask: u32,
    /// Each write reads this.
    writes: Arc<RwLock<()>>,
}

impl FileRequestHandler {
    pub fn new(umask: u32) -> Self {
        Self { umask, writes: Arc::default() }
    }

    /// Waits for the end of the writes that were given up, so that nothing of them stays.
    pub async fn wait_for_writes(&self) {
        // A file system that hangs keeps its file.
        let _hangs = timeout(WRITE_CLEANUP_TIMEOUT, self.writes.write()).await;
    }

    /// Answers a question about the file at this path.
    pub fn handle_request(&self, path: &str, of: TargetFileRequest, exchange: RequestTransfer) -> ResponseFuture {
        // A slash at the end would follow a link.
        let path: PathBuf = Path::new(path).components().collect();
        let (umask, writes) = (self.umask, Arc::clone(&self.writes));
        Box::pin(async move {
            let about = match of {
                TargetFileRequest::Read => read(path, exchange).await,
                TargetFileRequest::Write { bytes, mode } => {
                    let _writes = writes.read().await;
                    write(path, bytes, mode, umask, exchange).await
                }
                TargetFileRequest::List => list(path, exchange).await,
                TargetFileRequest::Stat => blocking(move || stat(&path)).await,
                TargetFileRequest::Remove(recursive) => blocking(move || remove(&path, recursive)).await,
                TargetFileRequest::Recall { is_raw, wanted } => recall_lines(path, is_raw, wanted, exchange).await,
            };
            about.map(TargetResponse::File)
        })
    }
}

/// Runs work that may wait for a disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TargetAccessRefusal> + Send + 'static,
) -> Result<T, RunError> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(RunError::from),
        Err(_panic) => Err(RunError::spawn("a fault of agent-bash itself", "")),
    }
}

/// Returns what a step of the system gives. `None`: there is no such file.
fn present<T>(path: &Path, done: &'static str, step: io::Result<T>) -> Result<Option<T>, TargetAccessRefusal> {
    match step {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(system_refusal(path, done, source)),
    }
}

fn system_refusal(path: &Path, done: &'static str, source: io::Error) -> TargetAccessRefusal {
    TargetAccessRefusal::System { what: path.display().to_string(), done, source }
}

async fn read(path: PathBuf, mut exchange: RequestTransfer) -> Result<TargetFileResponse, RunError> {
    let opened = {
        let path = path.clone();
        blocking(move || open(&path, MAX_READ as u64)).await?
    };
    let Some(mut file) = opened else { return Ok(TargetFileResponse::Missing) };
    let mut total = 0;
    loop {
        let (bytes, next) = {
            let path = path.clone();
            blocking(move || {
                let mut bytes = Vec::with_capacity(CHUNK);
                let count = (&file).take(CHUNK as u64).read_to_end(&mut bytes);
                count.map_err(|error| system_refusal(&path, "read", error))?;
                Ok((bytes, file))
            })
            .await?
        };
        total += bytes.len();
        if total > MAX_READ {
            return Err(TargetAccessRefusal::TooLong(path.display().to_string()).into());
        }
        if bytes.is_empty() {
            return Ok(TargetFileResponse::Done);
        }
        exchange.send(bytes).await?;
        file = next;
    }
}

async fn recall_lines(
    path: PathBuf,
    is_raw: bool,
    wanted: RecallSelection,
    mut exchange: RequestTransfer,
) -> Result<TargetFileResponse, RunError> {
    let lines = blocking(move || {
        let Some(file) = open(&path, u64::MAX)? else { return Ok(None) };
        recall(file, is_raw, &wanted).map(Some).map_err(|error| match error {
            RecallError::Unreadable(error) => system_refusal(&path, "read", error),
            RecallError::Unsearchable(error) => TargetAccessRefusal::Unsearchable(error),
        })
    });
    let Some(lines) = lines.await? else { return Ok(TargetFileResponse::Missing) };
    if !lines.is_empty() {
        exchange.send(lines.into_bytes()).await?;
    }
    Ok(TargetFileResponse::Done)
}

/// Opens a file of at most so many bytes to read it, and does not wait for a writer of a pipe.
fn open(path: &Path, most: u64) -> Result<Option<File>, TargetAccessRefusal> {
    let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path);
    let Some(file) = present(path, "read", opened)? else { return Ok(None) };
    let data = file.metadata().map_err(|error| system_refusal(path, "read", error))?;
    if data.len() > most {
        return Err(TargetAccessRefusal::TooLong(path.display().to_string()));
    }
    if data.is_file() || data.is_dir() {
        return Ok(Some(file));
    }
    Err(TargetAccessRefusal::NotRegular { path: path.display().to_string(), done: "read" })
}

async fn write(
    path: PathBuf,
    announced: u64,
    mode: Option<u32>,
    umask: u32,
    mut exchange: RequestTransfer,
) -> Result<TargetFileResponse, RunError> {
    let mut left = announced;
    let mut new = {
        let path = path.clone();
        blocking(move || FileReplacement::begin(&path, mode, umask)).await?
    };
    while left > 0 {
        let bytes = exchange.receive().await?;
        let count = bytes.len() as u64;
        left = left.checked_sub(count).ok_or_else(|| TargetAccessRefusal::Announced(path.display().to_string()))?;
        let path = path.clone();
        new = blocking(move || {
            new.write(&bytes).map_err(|error| system_refusal(&path, "written", error))?;
            Ok(new)
        })
        .await?;
        exchange.send_part(TransferPart::Taken(count))?;
    }
    blocking(move || new.commit().map_err(|error| system_refusal(&path, "replaced", error))).await?;
    Ok(TargetFileResponse::Done)
}

async fn list(path: PathBuf, mut exchange: RequestTransfer) -> Result<TargetFileResponse, RunError> {
    let Some(lists) = blocking(move || entries(&path)).await? else { return Ok(TargetFileResponse::Missing) };
    for list in lists {
        exchange.send(list).await?;
    }
    Ok(TargetFileResponse::Done)
}

/// Returns the entries of a directory by their names, as lists that each fit into a chunk.
fn entries(path: &Path) -> Result<Option<Vec<Vec<u8>>>, TargetAccessRefusal> {
    /// Most entries of one list. A byte of a name that is no text becomes three, and a length and a kind are added.
    const AT_ONCE: usize = CHUNK / (3 * 255 + 3) - 1;
    let Some(read) = present(path, "listed", fs::read_dir(path))? else { return Ok(None) };
    let mut entries = Vec::new();
    for entry in read {
        let step = entry.and_then(|entry| Ok((entry.file_type()?, entry.file_name())));
        // One that was removed meanwhile is no entry any more.
        let Some((kind, name)) = present(path, "listed", step)? else { continue };
        if entries.len() == MAX_ENTRIES {
            return Err(TargetAccessRefusal::TooMany(path.display().to_string()));
        }
        entries.push(TargetDirectoryEntry { name: name.to_string_lossy().into_owned(), kind: kind_of(kind) });
    }
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let lists = entries.chunks(AT_ONCE).map(|list| encode(&list)).collect::<Result<_, _>>();
    lists.map(Some).map_err(|error| system_refusal(path, "listed", io::Error::other(error)))
}

fn kind_of(kind: FileType) -> TargetFileKind {
    if kind.is_file() {
        TargetFileKind::File
    } else if kind.is_dir() {
        TargetFileKind::Directory
    } else if kind.is_symlink() {
        TargetFileKind::Link
    } else {
        TargetFileKind::Other
    }
}

fn stat(path: &Path) -> Result<TargetFileResponse, TargetAccessRefusal> {
    let data = present(path, "examined", fs::symlink_metadata(path))?;
    Ok(data.map_or(TargetFileResponse::Missing, |data| TargetFileResponse::Stat(about(&data))))
}

fn about(data: &Metadata) -> FileStat {
    let modified_ms = data.mtime().saturating_mul(1000).saturating_add(data.mtime_nsec() / 1_000_000);
    FileStat { kind: kind_of(data.file_type()), bytes: data.len(), mode: data.mode() & MODE_BITS, modified_ms }
}

fn remove(path: &Path, recursive: bool) -> Result<TargetFileResponse, TargetAccessRefusal> {
    if path.file_name().is_none() {
        return Err(TargetAccessRefusal::NoName(path.display().to_string()));
    }
    let Some(data) = present(path, "removed", fs::symlink_metadata(path))? else {
        return Ok(TargetFileResponse::Missing);
    };
    let removed = match (data.is_dir(), recursive) {
        (false, _) => fs::remove_file(path),
        (true, false) => fs::remove_dir(path),
        (true, true) => fs::remove_dir_all(path),
    };
    // Another may have been faster.
    Ok(present(path, "removed", removed)?.map_or(TargetFileResponse::Missing, |()| TargetFileResponse::Done))
}
