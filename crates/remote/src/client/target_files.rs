//! Files of a target.

use std::path::Path;
use std::sync::Arc;

use super::connect::TargetRunHandle;
use super::remote_target::RemoteTarget;
use super::target_requests::{TransferOrResponse, UnansweredRequest};
use crate::flow_control::{CHUNK, TransferWindow};
use crate::messages::{
    FileStat, MAX_ENTRIES, MAX_READ, TargetDirectoryEntry, TargetFileRequest, TargetFileResponse, TargetRequest,
    TargetResponse, TransferPart, clean_output, decode,
};
use reduce::recall::{LARGEST, RecallSelection};
use runner::error::RunError;

/// What a target does that no program of ours does.
const PROTOCOL_VIOLATION: UnansweredRequest = UnansweredRequest::protocol_violation();

/// Relative paths begin at the directory of the target. All of these wait through cuts, and fail with the error of the
/// system there (`EACCES`), or if the target is lost.
impl RemoteTarget {
    /// Reads a file. `None`: it is missing. One of more than [`MAX_READ`] bytes is refused.
    pub fn read_file(
        self: &Arc<Self>,
        path: &str,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, UnansweredRequest>> + Send + use<> {
        let begun = self.begin_file_request(path, TargetFileRequest::Read);
        async move {
            let mut content = Vec::new();
            let about = begun?.receive(|bytes| {
                content.extend(bytes);
                content.len() <= MAX_READ
            });
            Ok(file_exists(&about.await?)?.then_some(content))
        }
    }

    /// Replaces a file at once: it has its old content or the new one. Makes it and its parents if they are missing. A
    /// link is followed and stays. The file keeps its mode, and `mode` is that of a new one. `None`: as the mask there
    /// has it.
    pub fn write_file(
        self: &Arc<Self>,
        path: &str,
        content: Vec<u8>,
        mode: Option<u32>,
    ) -> impl Future<Output = Result<(), UnansweredRequest>> + Send + use<> {
        let begun = self.begin_file_request(path, TargetFileRequest::Write { bytes: content.len() as u64, mode });
        async move {
            let mut begun = begun?;
            let (mut chunks, mut untaken) = (content.chunks(CHUNK), TransferWindow::default());
            loop {
                while untaken.has_room()
                    && let Some(chunk) = chunks.next()
                {
                    untaken.count_sent(chunk.len());
                    begun.send_part(TransferPart::Bytes(chunk.to_vec()))?;
                }
                match begun.next_part_or_response().await? {
                    TransferOrResponse::Part(TransferPart::Taken(bytes)) => untaken.count_taken(bytes),
                    TransferOrResponse::Answer(TargetResponse::File(TargetFileResponse::Done)) => return Ok(()),
                    TransferOrResponse::Part(_) | TransferOrResponse::Answer(_) => return Err(PROTOCOL_VIOLATION),
                }
            }
        }
    }

    /// Returns what a file is, and does not follow a link. `None`: it is missing.
    pub fn stat(
        self: &Arc<Self>,
        path: &str,
    ) -> impl Future<Output = Result<Option<FileStat>, UnansweredRequest>> + Send + use<> {
        let begun = self.begin_file_request(path, TargetFileRequest::Stat);
        async move {
            match begun?.receive(|_| false).await? {
                TargetFileResponse::Stat(stat) => Ok(Some(stat)),
                TargetFileResponse::Missing => Ok(None),
                TargetFileResponse::Done => Err(PROTOCOL_VIOLATION),
            }
        }
    }

    /// Lists a directory by the names of its entries. `None`: it is missing. One with more than [`MAX_ENTRIES`] is
    /// refused.
    pub fn list(
        self: &Arc<Self>,
        path: &str,
    ) -> impl Future<Output = Result<Option<Vec<TargetDirectoryEntry>>, UnansweredRequest>> + Send + use<> {
        let begun = self.begin_file_request(path, TargetFileRequest::List);
        async move {
            let (mut entries, mut total) = (Vec::new(), 0);
            let about = begun?.receive(|bytes| {
                total += bytes.len();
                let Ok(more) = decode::<Vec<TargetDirectoryEntry>>(&bytes) else { return false };
                let are_names = more.iter().all(|entry| is_name(&entry.name));
                entries.extend(more);
                are_names && total <= MAX_READ && entries.len() <= MAX_ENTRIES
            });
            Ok(file_exists(&about.await?)?.then_some(entries))
        }
    }

    /// Removes a file, a link or an empty directory, or a directory with all that is in it if `recursive`. Follows no
    /// link. `false`: it is missing.
    pub fn remove(
        self: &Arc<Self>,
        path: &str,
        recursive: bool,
    ) -> impl Future<Output = Result<bool, UnansweredRequest>> + Send + use<> {
        let begun = self.begin_file_request(path, TargetFileRequest::Remove(recursive));
        async move { file_exists(&begun?.receive(|_| false).await?) }
    }

    /// Returns lines of a whole output, cleaned again. `None`: the file is missing. `is_raw`: it has bytes as a program
    /// wrote them.
    pub fn recall(
        self: &Arc<Self>,
        path: &str,
        is_raw: bool,
        wanted: RecallSelection,
    ) -> impl Future<Output = Result<Option<String>, UnansweredRequest>> + Send + use<> {
        let begun = self.begin_file_request(path, TargetFileRequest::Recall { is_raw, wanted });
        async move {
            let mut text = Vec::new();
            let about = begun?.receive(|bytes| {
                text.extend(bytes);
                text.len() <= LARGEST
            });
            if !file_exists(&about.await?)? {
                return Ok(None);
            }
            let mut text = String::from_utf8(text).map_err(|_| PROTOCOL_VIOLATION)?;
            clean_output(&mut text);
            Ok(Some(text))
        }
    }

    fn begin_file_request(
        self: &Arc<Self>,
        path: &str,
        of: TargetFileRequest,
    ) -> Result<TargetRunHandle, UnansweredRequest> {
        let refused = |message: &str| UnansweredRequest::Failed(RunError::InvalidArg(message.to_owned()));
        if path.is_empty() {
            return Err(refused("the path is empty: give the path of a file"));
        }
        let cwd = self.settings.cwd.clone().unwrap_or_else(|| self.instance().facts.home.clone());
        let path = Path::new(&cwd).join(path).to_string_lossy().into_owned();
        self.begin_request(TargetRequest::File(path, of)).map_err(UnansweredRequest::Failed)
    }
}

impl TargetRunHandle {
    /// Waits for the answer about a file. `take` takes the bytes before it, and returns whether they may be.
    async fn receive(mut self, mut take: impl FnMut(Vec<u8>) -> bool) -> Result<TargetFileResponse, UnansweredRequest> {
        loop {
            match self.next_part_or_response().await? {
                TransferOrResponse::Part(TransferPart::Bytes(bytes)) => {
                    let count = bytes.len();
                    if count == 0 || count > CHUNK || !take(bytes) {
                        return Err(PROTOCOL_VIOLATION);
                    }
                    self.send_part(TransferPart::Taken(count as u64))?;
                }
                TransferOrResponse::Answer(TargetResponse::File(about)) => return Ok(about),
                TransferOrResponse::Part(_) | TransferOrResponse::Answer(_) => return Err(PROTOCOL_VIOLATION),
            }
        }
    }
}

fn file_exists(about: &TargetFileResponse) -> Result<bool, UnansweredRequest> {
    match about {
        TargetFileResponse::Done => Ok(true),
        TargetFileResponse::Missing => Ok(false),
        TargetFileResponse::Stat(_) => Err(PROTOCOL_VIOLATION),
    }
}

/// Returns whether this names an entry of a directory, and no other place.
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
