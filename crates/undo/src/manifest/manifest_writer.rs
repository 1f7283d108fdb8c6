//! Writes a manifest. Each record is a single write, so a killed writer loses no record.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::manifest_records::{ManifestHeader, ManifestRecord};
use super::record_frames::encode;

/// The beginning of the file.
pub(super) const MAGIC: &[u8] = b"agent-bash undo\n";
/// The writer of a manifest. It holds a lock on the file, which shows other processes that the run still goes on.
#[derive(Debug)]
pub struct ManifestWriter {
    file: File,
    buffer: Vec<u8>,
    /// Records that are written with the next record.
    queued: Vec<u8>,
}

/// Bytes of queued records that are written at once.
const QUEUED: usize = 64 * 1024;

impl ManifestWriter {
    /// Creates a manifest, which must not exist.
    ///
    /// # Errors
    /// If the file cannot be created, locked or written.
    pub fn create(path: &Path, header: ManifestHeader) -> io::Result<Self> {
        let mut file = File::options().append(true).create_new(true).mode(0o600).open(path)?;
        file.lock()?;
        file.write_all(MAGIC)?;
        let mut writer = Self { file, buffer: Vec::new(), queued: Vec::new() };
        writer.append(&ManifestRecord::Header(header))?;
        Ok(writer)
    }

    /// Continues a manifest after its last whole record, which ends at `length`.
    ///
    /// # Errors
    /// As [`ManifestWriter::create`], and if another process writes the manifest.
    pub fn resume(path: &Path, length: u64) -> io::Result<Self> {
        let file = File::options().append(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
        file.try_lock().map_err(|error| match error {
            std::fs::TryLockError::Error(error) => error,
            std::fs::TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
        })?;
        if file.metadata()?.len() > length {
            file.set_len(length)?;
        }
        Ok(Self { file, buffer: Vec::new(), queued: Vec::new() })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// If the record cannot be written, in whole or in part. Readers recognise a part.
    pub fn append(&mut self, record: &ManifestRecord) -> io::Result<()> {
        encode(record, &mut self.buffer)?;
        if self.queued.is_empty() {
            return self.file.write_all(&self.buffer);
        }
        self.queued.extend_from_slice(&self.buffer);
        self.flush()
    }

    /// Adds a record that may be lost until another record is added with [`ManifestWriter::append`].
    ///
    /// # Errors
    /// As [`ManifestWriter::append`].
    pub fn queue(&mut self, record: &ManifestRecord) -> io::Result<()> {
        encode(record, &mut self.buffer)?;
        self.queued.extend_from_slice(&self.buffer);
        if self.queued.len() < QUEUED { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.file.write_all(&self.queued);
        self.queued.clear();
        written
    }

    /// Returns the length of the file.
    ///
    /// # Errors
    /// If the system refuses to tell.
    pub fn length(&self) -> io::Result<u64> {
        self.file.metadata().map(|data| data.len())
    }

    /// Makes the records survive a crash of the machine.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
