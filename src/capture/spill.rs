//! The file that a stream is written to whole when it does not fit.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc;

use super::notice::{MAX_ERROR, short};
use super::spill_dir::SpillDir;
use super::writer::{Writer, write_counted};

/// From here on a file is worth a thread of its own.
const LARGE: u64 = 1024 * 1024;

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum SpillError {
    /// The folder is a symlink, a file, or cannot be made or opened.
    #[error("cannot use the output folder {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The private folder belongs to somebody else.
    #[error("the output folder {} belongs to another user", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// The file cannot be made or opened.
    #[error("cannot create {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The place that was given is a folder, a device, a pipe or a socket.
    #[error("{} is not a regular file", path.display())]
    NotRegular {
        /// The place.
        path: PathBuf,
    },
}

impl SpillError {
    /// The error in at most 80 bytes and without the path, which the notice has already.
    pub fn brief(&self) -> String {
        let text = match self {
            Self::Folder { source, .. } => format!("output folder: {source}"),
            Self::NotOurs { .. } => "output folder belongs to another user".to_owned(),
            Self::File { source, .. } => source.to_string(),
            Self::NotRegular { .. } => "not a regular file".to_owned(),
        };
        short(&text, MAX_ERROR)
    }
}

/// An open file that takes the sanitized stream from its first byte to its limit.
#[derive(Debug)]
pub struct SpillFile {
    target: Target,
    /// Bytes from which on a thread writes; `None`: never.
    thread_from: Option<u64>,
    path: PathBuf,
    artifact_id: Option<String>,
    written: u64,
    max_bytes: u64,
    error: Option<String>,
    /// The error is that the limit was reached.
    full: bool,
}

#[derive(Debug)]
enum Target {
    Direct(File),
    Thread(Writer),
    /// Nothing more is to be written.
    Closed,
}

impl SpillFile {
    /// A new file with mode 0600 and a random name, never one that was there. `stem` (letters, digits, `-`, `_`; the
    /// stream's name) is part of the name.
    pub fn create(dir: &SpillDir, stem: &str, max_bytes: u64) -> Result<Self, SpillError> {
        let (file, path) = dir.create_file(stem)?;
        Ok(Self::new(file, path, None, max_bytes))
    }

    /// The file a host's artifact store named; a regular one that is there is overwritten and keeps its mode, a new one
    /// gets 0600. A symlink and anything but a regular file are refused, without waiting for a reader of a pipe.
    pub fn at(path: &Path, artifact_id: String, max_bytes: u64) -> Result<Self, SpillError> {
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
        // Only now: opening must not empty what turns out to be something else.
        file.set_len(0).map_err(failed)?;
        Ok(Self::new(file, path, Some(artifact_id), max_bytes))
    }

    fn new(file: File, path: PathBuf, artifact_id: Option<String>, max_bytes: u64) -> Self {
        Self {
            target: Target::Direct(file),
            thread_from: None,
            path,
            artifact_id,
            written: 0,
            max_bytes,
            error: None,
            full: false,
        }
    }

    /// Once the file is large, a thread writes it while the caller goes on. Not for a process that forks.
    #[must_use]
    pub fn with_thread(self) -> Self {
        self.with_thread_from(LARGE)
    }

    pub(super) fn with_thread_from(self, bytes: u64) -> Self {
        Self { thread_from: Some(bytes), ..self }
    }

    /// Where it lies, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The id the artifact store gave it, if one did.
    pub fn artifact_id(&self) -> Option<&str> {
        self.artifact_id.as_deref()
    }

    /// Why it is incomplete, in at most 80 bytes; `None` while it is whole. Of what a thread writes it is known after
    /// [`SpillFile::close`].
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Bytes in it, or on their way there.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// True when it holds the beginning of the stream up to its limit.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Appends text. The first failure, or the limit, closes the file; later calls do nothing.
    pub fn write(&mut self, text: &str) {
        if matches!(self.target, Target::Closed) {
            return;
        }
        let room = usize::try_from(self.max_bytes - self.written).unwrap_or(usize::MAX);
        let fits = text.floor_char_boundary(room);
        self.append(&text.as_bytes()[..fits]);
        if fits < text.len() {
            self.close();
            // A failure of the disk before the limit is the better reason.
            self.full = self.error.is_none();
            if self.full {
                self.fail(&format!("stopped at its limit of {} bytes", self.max_bytes));
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        if let Target::Direct(file) = &self.target
            && self.thread_from.is_some_and(|from| self.written >= from)
        {
            match Writer::start(file) {
                Ok(writer) => self.target = Target::Thread(writer),
                Err(_) => self.thread_from = None,
            }
        }
        match &mut self.target {
            Target::Direct(file) => {
                let (written, result) = write_counted(file, bytes);
                self.written += written;
                if let Err(error) = result {
                    self.target = Target::Closed;
                    self.fail(&error.to_string());
                }
            }
            Target::Thread(writer) => {
                if writer.push(bytes) {
                    self.written += bytes.len() as u64;
                } else {
                    self.close();
                }
            }
            Target::Closed => {}
        }
    }

    /// Waits until all of it is in the file; nothing more is taken. A second call does nothing.
    pub fn close(&mut self) {
        let Target::Thread(writer) = std::mem::replace(&mut self.target, Target::Closed) else { return };
        let (unwritten, error) = writer.finish();
        self.written -= unwritten;
        if let Some(error) = error {
            self.fail(&error.to_string());
        }
    }

    /// Lets every write fail, as on a full disk: a read-only descriptor takes the place of the file.
    #[cfg(test)]
    pub(super) fn break_for_test(&mut self) {
        self.target = Target::Direct(File::open(&self.path).expect("it was just made"));
    }

    fn fail(&mut self, error: &str) {
        self.error = Some(short(error, MAX_ERROR));
    }
}
