//! The lines that are added to the ledger.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::ledger_day::LedgerDay;
use crate::ledger_files;
use crate::ledger_line;

/// Most bytes of one read.
const CHUNK: usize = 4 * 1024 * 1024;

/// The ends of the files, and the lines that were added to them.
#[derive(Debug)]
pub struct LedgerTail {
    directory: PathBuf,
    /// How far each of the latest files was read.
    read: HashMap<LedgerDay, u64>,
    /// The first day to which a record may be added.
    first: Option<LedgerDay>,
    lines: Vec<Box<[u8]>>,
}

impl LedgerTail {
    /// Begins behind these files.
    pub fn behind(directory: PathBuf, files: &[(LedgerDay, u64)]) -> Self {
        // A record that is held up over midnight is added to the file of the day before.
        let first = files.iter().rev().nth(1).or(files.first()).map(|(day, _)| day.clone());
        Self { directory, read: files.iter().cloned().collect(), first, lines: Vec::new() }
    }

    /// Reads the lines that were added since the last call.
    pub fn catch_up(&mut self) {
        for (day, data) in ledger_files::day_files(&self.directory) {
            if self.first.as_ref().is_some_and(|first| day < *first) {
                continue;
            }
            let from = self.read.get(&day).copied().unwrap_or(0);
            if data.len() > from
                && let Ok(read) = self.read_from(&day, from)
            {
                self.read.insert(day, from + read);
            } else if data.len() < from {
                // Another file is in its place.
                self.read.insert(day, 0);
            }
        }
    }

    /// Adds the whole lines of a file from a place on. Returns their bytes.
    fn read_from(&mut self, day: &LedgerDay, from: u64) -> io::Result<u64> {
        let file = ledger_files::open_to_read(&self.directory, day)?;
        let mut bytes = vec![0; CHUNK];
        let count = file.read_at(&mut bytes, from)?;
        let whole = match memchr::memrchr(b'\n', &bytes[..count]) {
            Some(at) => at + 1,
            // Longer than any record.
            None if count == CHUNK => count,
            None => 0,
        };
        let lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        self.lines.extend(lines.map(Box::from));
        Ok(whole as u64)
    }

    /// Returns the texts of the added lines of a run, the latest first.
    pub fn lines_of(&self, run: &str) -> Vec<Box<str>> {
        let is_of = |text: &&str| ledger_line::parse_record(text).is_some_and(|record| record.run == run);
        self.lines.iter().rev().filter_map(|line| ledger_line::check_line(line)).filter(is_of).map(Box::from).collect()
    }

    /// Returns the lines that were added since the last call.
    pub fn take_lines(&mut self) -> Vec<Box<[u8]>> {
        self.catch_up();
        std::mem::take(&mut self.lines)
    }
}
