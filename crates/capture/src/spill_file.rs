//! The file that holds the whole of a stream that is too long to keep.

use std::fs::File;

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc;

use super::spill_dir::{SpillDir, SpillError};
use super::spill_writer::{SpillWriterThread, write_counted};
use super::truncation_notice::{MAX_ERROR, shorten_error};

/// Size from which a file is worth a thread of its own.
const LARGE: u64 = 1024 * 1024;

/// An open file that takes the sanitized stream from its first byte to its limit.
#[derive(Debug)]
pub struct SpillFile {
    target: SpillTarget,
    /// Size from which a thread writes. `None` means never.
    thread_from: Option<u64>,
    path: PathBuf,
    artifact_id: Option<String>,
    written: u64,
    max_bytes: u64,
    error: Option<String>,
    /// Whether the error is the file's limit.
    full: bool,
}

#[derive(Debug)]
enum SpillTarget {
    Direct(File),
    Thread(SpillWriterThread),
    /// Nothing more is written.
    Closed,
}

impl SpillFile {
    /// Creates a file with mode 0600 and a random name, never an existing one. `stem` (letters, digits, `-`, `_`; the
    /// stream's name) is part of the name.
    pub fn create(dir: &SpillDir, stem: &str, max_bytes: u64) -> Result<Self, SpillError> {
        let (file, path) = dir.create_file(stem)?;
        Ok(Self::new(file, path, None, max_bytes))
    }

    /// Opens the file that a host's artifact store named. An existing regular file is overwritten and keeps its mode; a
    /// new one gets 0600. A symlink and anything but a regular file are refused, without waiting for a reader of a
    /// pipe.
    pub fn open_artifact(path: &Path, artifact_id: String, max_bytes: u64) -> Result<Self, SpillError> {
        let failed = |source| SpillError::File { path: path.to_owned(), source };
        let path = std::path::absolute(path).map_err(failed)?;
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK)
            .open(&path)
            .map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(SpillError::NotRegular { path });
        }
        // Only now: opening must not empty a file of another kind.
        file.set_len(0).map_err(failed)?;
        Ok(Self::new(file, path, Some(artifact_id), max_bytes))
    }

    fn new(file: File, path: PathBuf, artifact_id: Option<String>, max_bytes: u64) -> Self {
        Self {
            target: SpillTarget::Direct(file),
            thread_from: None,
            path,
            artifact_id,
            written: 0,
            max_bytes,
            error: None,
            full: false,
        }
    }

    /// Lets a thread write the file once it is large. Not for a process that forks.
    #[must_use]
    pub fn with_thread(self) -> Self {
        self.with_thread_from(LARGE)
    }

    pub(super) fn with_thread_from(self, bytes: u64) -> Self {
        Self { thread_from: Some(bytes), ..self }
    }

    /// Returns the absolute path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the id of the artifact store, if it gave one.
    pub fn artifact_id(&self) -> Option<&str> {
        self.artifact_id.as_deref()
    }

    /// Returns why the file is incomplete, in at most 80 bytes, or `None` while it is whole. Errors of the writing
    /// thread are known after [`SpillFile::close`].
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the number of bytes that are written or on their way.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns whether the file holds the stream up to its limit.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Appends text. The first failure, or the limit, closes the file. Later calls do nothing.
    pub fn write(&mut self, text: &str) {
        let room = usize::try_from(self.max_bytes - self.written).unwrap_or(usize::MAX);
        self.write_up_to(text.as_bytes(), text.floor_char_boundary(room));
    }

    /// Like [`SpillFile::write`], for bytes that are no text.
    pub fn write_bytes(&mut self, bytes: &[u8]) {
        let room = usize::try_from(self.max_bytes - self.written).unwrap_or(usize::MAX);
        self.write_up_to(bytes, bytes.len().min(room));
    }

    /// Appends the part that fits.
    fn write_up_to(&mut self, bytes: &[u8], fits: usize) {
        if matches!(self.target, SpillTarget::Closed) {
            return;
        }
        self.append(&bytes[..fits]);
        if fits < bytes.len() {
            self.close();
            // A failure of the disk before the limit is the better reason.
            self.full = self.error.is_none();
            if self.full {
                self.fail(&format!("stopped at its limit of {} bytes", self.max_bytes));
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        if let SpillTarget::Direct(file) = &self.target
            && self.thread_from.is_some_and(|from| self.written >= from)
        {
            match SpillWriterThread::start(file) {
                Ok(writer) => self.target = SpillTarget::Thread(writer),
                Err(_) => self.thread_from = None,
            }
        }
        match &mut self.target {
            SpillTarget::Direct(file) => {
                let (written, result) = write_counted(file, bytes);
                self.written += written;
                if let Err(error) = result {
                    self.target = SpillTarget::Closed;
                    self.fail(&error.to_string());
                }
            }
            SpillTarget::Thread(writer) => {
                if writer.push(bytes) {
                    self.written += bytes.len() as u64;
                } else {
                    self.close();
                }
            }
            SpillTarget::Closed => {}
        }
    }

    /// Waits until everything is written, and closes the file. A second call does nothing.
    pub fn close(&mut self) {
        let SpillTarget::Thread(writer) = std::mem::replace(&mut self.target, SpillTarget::Closed) else { return };
        let (unwritten, error) = writer.finish();
        self.written -= unwritten;
        if let Some(error) = error {
            self.fail(&error.to_string());
        }
    }

    /// Makes every write fail, as on a full disk: a read-only descriptor takes the place of the file.
    #[cfg(test)]
    pub(super) fn break_for_test(&mut self) {
        self.target = SpillTarget::Direct(File::open(&self.path).expect("it was just made"));
    }

    fn fail(&mut self, error: &str) {
        self.error = Some(shorten_error(error, MAX_ERROR));
    }
}
