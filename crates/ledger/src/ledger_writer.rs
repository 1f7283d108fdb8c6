//! Appends records: one write each, without a lock.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::ledger_day::LedgerDay;
use super::ledger_files::{self, LedgerError};

/// The largest size of the file of one day, bytes.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// Appends to the files of one directory. The file of the last record stays open.
#[derive(Debug)]
pub struct LedgerWriter {
    directory: PathBuf,
    open: Option<OpenDayFile>,
    /// A record that was written before the file was checked.
    unchecked: Option<(u64, Vec<u8>)>,
}

#[derive(Debug)]
struct OpenDayFile {
    day: LedgerDay,
    path: PathBuf,
    file: File,
    /// Device and inode.
    id: (u64, u64),
}

impl OpenDayFile {
    /// Returns the length of the file. `None` if its path leads elsewhere by now, or it is strange.
    fn length(&self) -> Option<u64> {
        let data = fs::symlink_metadata(&self.path).ok()?;
        let is_same = (data.dev(), data.ino()) == self.id && ledger_files::foreign_file_reason(&data).is_none();
        is_same.then_some(data.len())
    }

    fn write(&self, bytes: &[u8]) -> Result<(), LedgerError> {
        let failed = |source| LedgerError::System { path: self.path.clone(), source };
        let written = loop {
            match (&self.file).write(bytes) {
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

    /// Returns the length of the file, if the record that was just written is a line of its own, in a file that others
    /// can find.
    fn length_with(&self, record: &[u8]) -> Option<u64> {
        let end = (&self.file).stream_position().ok()?;
        let mut before = [0];
        let is_line = |start: u64| {
            start == 0 || self.file.read_at(&mut before, start - 1).is_ok_and(|count| count == 1) && before == *b"\n"
        };
        self.length().filter(|_| end.checked_sub(record.len() as u64).is_some_and(is_line))
    }
}

impl LedgerWriter {
    /// Makes a writer, which opens nothing before its first record.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, open: None, unchecked: None }
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
        let (open, length) = self.open_day_file(LedgerDay::of(at))?;
        if length + record.len() as u64 > MAX_FILE {
            let path = open.path.clone();
            self.open = None;
            return Err(LedgerError::Full { path, limit: MAX_FILE });
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
        open.write(bytes)
    }

    /// Appends a record as [`LedgerWriter::append`] does, but checks the file only in
    /// [`LedgerWriter::check_last_record`], which takes longer than the write.
    ///
    /// # Errors
    /// The errors of [`LedgerWriter::append`].
    pub fn append_unchecked(&mut self, at: u64, record: Vec<u8>) -> Result<(), LedgerError> {
        let day = LedgerDay::of(at);
        let Some(open) = self.open.as_ref().filter(|open| open.day == day) else { return self.append(at, &record) };
        open.write(&record)?;
        self.unchecked = Some((at, record));
        Ok(())
    }

    /// Checks the file of the last record, and writes the record again if it has gone to a file that others cannot
    /// find, or behind half a line.
    pub fn check_last_record(&mut self) {
        let Some((at, record)) = self.unchecked.take() else { return };
        match self.open.as_ref().and_then(|open| open.length_with(&record)) {
            Some(length) if length < MAX_FILE => {}
            // The next record is checked first, and refused.
            Some(_) => self.open = None,
            // The first time has succeeded, so there is no failure to report.
            None => drop(self.append(at, &record)),
        }
    }

    /// Returns the file of a day as it is now, and its length.
    fn open_day_file(&mut self, day: LedgerDay) -> Result<(&OpenDayFile, u64), LedgerError> {
        let known = self.open.take().filter(|open| open.day == day);
        if let Some((open, length)) = known.and_then(|open| open.length().map(|length| (open, length))) {
            return Ok((self.open.insert(open), length));
        }
        let path = self.directory.join(day.file_name());
        let file = ledger_files::open_file(&self.directory, &day)?;
        let data = file.metadata().map_err(|source| LedgerError::System { path: path.clone(), source })?;
        let open = OpenDayFile { day, path, file, id: (data.dev(), data.ino()) };
        Ok((self.open.insert(open), data.len()))
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
