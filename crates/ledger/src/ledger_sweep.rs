//! Removes files that are too old, and the oldest of too many. Each removal is a record.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nix::unistd::{UnlinkatFlags, unlinkat};

use super::ledger_day::{DAY_MS, LedgerDay};
use super::ledger_files;
use super::ledger_line::LedgerLine;
use super::ledger_record::RemovedLedgerFile;
use super::ledger_writer::LedgerWriter;

/// Days that a file is kept.
pub const KEEP_DAYS: u64 = 90;
/// Most bytes of all files together.
const KEEP_BYTES: u64 = 256 * 1024 * 1024;

/// Tells when the files of a ledger are due for a sweep: when a process first writes, and when the day changes.
pub struct LedgerSweepSchedule(Mutex<Vec<(PathBuf, u64)>>);

impl LedgerSweepSchedule {
    /// Makes every ledger due.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns whether the directory is due at this moment (ms since 1970). It is not due again on that day.
    pub fn is_due(&self, directory: &Path, now: u64) -> bool {
        let today = now / DAY_MS;
        let mut swept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, day)) = swept.iter_mut().find(|(known, _)| known == directory) {
            return std::mem::replace(day, today) != today;
        }
        swept.push((directory.to_owned(), today));
        true
    }
}

impl Default for LedgerSweepSchedule {
    fn default() -> Self {
        Self::new()
    }
}

/// Removes files at this moment (ms since 1970). The file of the day stays, and so does every other file than those of
/// the ledger. If several processes remove the same file, one of them records that.
pub fn sweep_files(directory: &Path, now: u64) {
    let (today, oldest) = (LedgerDay::of(now), LedgerDay::before(now, KEEP_DAYS));
    let files = ledger_files::day_files(directory);
    // A directory without such files may have been removed, and to open it would make it again.
    if files.first().is_none_or(|(day, _)| *day >= today) {
        return;
    }
    let Ok(folder) = ledger_files::open_directory(directory) else { return };
    let mut total: u64 = files.iter().map(|(_, data)| data.len()).sum();
    let mut writer = LedgerWriter::new(directory.to_owned());
    for (day, data) in files.iter().filter(|(day, _)| *day < today) {
        let why = if *day < oldest {
            format!("older than {KEEP_DAYS} days")
        } else if total > KEEP_BYTES {
            format!("the ledger holds at most {KEEP_BYTES} bytes")
        } else {
            break;
        };
        if unlinkat(&folder, day.file_name(), UnlinkatFlags::NoRemoveDir).is_err() {
            continue;
        }
        total -= data.len();
        let removed = RemovedLedgerFile { at: now, file: day.file_name().into(), bytes: data.len(), why: why.into() };
        // The disk has more room now. If the write fails all the same, only the record is missing.
        let _ = writer.append(now, &LedgerLine::removed(&removed).finish());
    }
}
