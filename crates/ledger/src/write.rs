//! Appends records: one write each, without a lock.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::day::Day;
use super::place::{self, LedgerError};

/// The largest size of the file of one day, bytes.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// Appends to the files of one directory. The file of the last record stays open.
#[derive(Debug)]
pub struct Writer {
    directory: PathBuf,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    day: Day,
    path: PathBuf,
    file: File,
    /// Device and inode.
    id: (u64, u64),
}

impl Writer {
    /// Makes a writer, which opens nothing before its first record.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, open: None }
    }

    /// Returns the directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Appends a record to the file of the day of this moment (ms since 1970). Another process may have removed or
    /// replaced the file, or left half a line in it.
    ///
    /// # Errors
    /// If the file cannot be used, or the system refuses the write. A part of the record may be in the file then.
    pub fn append(&mut self, at: u64, record: &[u8]) -> Result<(), LedgerError> {
        let (open, length) = self.ready(Day::of(at))?;
        let failed = |source| LedgerError::System { path: open.path.clone(), source };
        if length + record.len() as u64 > MAX_FILE {
            return Err(LedgerError::Full { path: open.path.clone(), limit: MAX_FILE });
        }
        let mut last = [0];
        let is_torn =
            length > 0 && open.file.read_at(&mut last, length - 1).is_ok_and(|count| count == 1) && last != *b"\n";
        let line;
        let bytes = if is_torn {
            line = [b"\n", record].concat();
            &line[..]
        } else {
            record
        };
        let written = loop {
            match (&open.file).write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => break written,
            }
        };
        match written.map_err(failed)? {
            count if count == bytes.len() => Ok(()),
            // The rest has no room. Readers pass over the line, and the next writer ends it.
            _ => Err(failed(io::ErrorKind::StorageFull.into())),
        }
    }

    /// Returns the file of a day as it is now, and its length.
    fn ready(&mut self, day: Day) -> Result<(&Open, u64), LedgerError> {
        let same = |open: &Open| {
            let data = fs::symlink_metadata(&open.path).ok()?;
            let is_same = (data.dev(), data.ino()) == open.id && place::strangeness(&data).is_none();
            is_same.then_some(data.len())
        };
        let known = self.open.take().filter(|open| open.day == day);
        if let Some((open, length)) = known.and_then(|open| same(&open).map(|length| (open, length))) {
            return Ok((self.open.insert(open), length));
        }
        let path = self.directory.join(day.file());
        let file = place::open_file(&self.directory, &day)?;
        let data = file.metadata().map_err(|source| LedgerError::System { path: path.clone(), source })?;
        let open = Open { day, path, file, id: (data.dev(), data.ino()) };
        Ok((self.open.insert(open), data.len()))
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
