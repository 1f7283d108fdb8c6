//! Reads what is in the ledger, the newest entry first.

use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::PathBuf;

use super::backward_reader::BackwardReader;
use super::ledger_entry::{LaterRecords, LedgerEntry};
use super::ledger_query::LedgerFilter;
use super::ledger_tail::LedgerTail;
use super::shim_liveness::ShimLiveness;
use crate::ledger_day::LedgerDay;
use crate::ledger_files;
use crate::ledger_line::{self, LineBeginning};
use crate::ledger_record::{LedgerRecord, LedgerRunState};

/// Time by which a record may be late, ms. Entries are held so long that they come in order.
const LATE: u64 = 5_000;
/// Once a start is older by this time than all that are wanted, the lines in front of it are taken for older, too; ms.
const OLDER: u64 = 60_000;
/// Most entries that are held. A clock that was set back would hold all of them.
const MAX_HELD: usize = 20_000;

/// An entry that is held until no newer one can follow.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HeldEntry {
    started_at: u64,
    /// Larger for entries that were written later. It decides between those of one moment.
    number: u64,
    text: String,
}

/// A run without an end, and the line of its start.
pub type OpenRun = (Box<str>, Box<[u8]>);

/// The files of the ledger on their way from the newest record to the oldest.
#[derive(Debug)]
pub struct LedgerHistory {
    directory: PathBuf,
    filter: LedgerFilter,
    /// The files that were not read yet, the newest last, with their lengths at the beginning.
    files: Vec<(LedgerDay, u64)>,
    file: Option<BackwardReader>,
    runs: UnstartedRuns,
    held: BinaryHeap<HeldEntry>,
    /// The start that was read last.
    reached: u64,
    /// Records that were written since the beginning.
    since: LedgerTail,
    /// Runs without an end, for readers that follow.
    open: Option<Vec<OpenRun>>,
    given: u64,
    /// What was passed over.
    pub passed: PassedOverLines,
}

/// What is known of runs whose start was not read yet.
#[derive(Debug, Default)]
struct UnstartedRuns {
    /// The texts of the lines of a run after its start, the latest first.
    later: HashMap<Box<str>, Vec<Box<str>>>,
    /// Runs with a record of their loss, which repeats the start.
    lost: HashSet<Box<str>>,
    shims: ShimLiveness,
}

/// What a reader has passed over.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct PassedOverLines {
    /// Damaged lines.
    pub damaged: u64,
    /// Files that were removed, each with the reason.
    pub removed: Vec<(String, String)>,
}

impl PassedOverLines {
    /// Counts a line whose record is damaged or about a file. Returns the record of a run.
    pub fn run_record_of<'l>(&mut self, record: Option<LedgerRecord<'l>>) -> Option<LedgerRecord<'l>> {
        let Some(record) = record else {
            self.damaged += 1;
            return None;
        };
        if let Some(removed) = &record.removed {
            self.removed.push((removed.file.to_string(), removed.why.to_string()));
            return None;
        }
        Some(record)
    }
}

impl LedgerHistory {
    /// Begins with what is there now. `follows`: [`LedgerHistory::into_live`] is called at the end.
    pub fn new(directory: PathBuf, filter: LedgerFilter, follows: bool) -> Self {
        let files: Vec<_> =
            ledger_files::day_files(&directory).into_iter().map(|(day, data)| (day, data.len())).collect();
        let since = LedgerTail::behind(directory.clone(), &files);
        // A run is in the file of the day on which it started. The clock may have been set back since.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time in ms; saturates")]
        let first = LedgerDay::before(filter.since() as u64, 1);
        let files = files.into_iter().filter(|(day, _)| *day >= first).collect();
        Self {
            directory,
            filter,
            files,
            file: None,
            runs: UnstartedRuns::default(),
            held: BinaryHeap::new(),
            reached: u64::MAX,
            since,
            open: follows.then(Vec::new),
            given: 0,
            passed: PassedOverLines::default(),
        }
    }

    /// Returns the largest number of entries. A reader that gives the oldest first reads more than it gives.
    pub fn limit(&self) -> u64 {
        self.filter.limit()
    }

    /// Returns the filter, the records since the beginning, and the runs without an end.
    pub fn into_live(self) -> (LedgerFilter, LedgerTail, Vec<OpenRun>) {
        (self.filter, self.since, self.open.unwrap_or_default())
    }

    /// Reads on. `write` turns an entry into text, which `take` receives in the order of the entries. Returns whether
    /// there is more.
    pub fn read(&mut self, write: &impl Fn(&LedgerEntry<'_>) -> String, take: &mut impl FnMut(String)) -> bool {
        // The oldest are known once all are read.
        let limit = if self.open.is_some() { u64::MAX } else { self.filter.limit() };
        let is_over = !self.read_block(write);
        while let Some(held) = self.held.peek() {
            let is_due = is_over || held.started_at >= self.reached.saturating_add(LATE) || self.held.len() > MAX_HELD;
            if !is_due {
                break;
            }
            if self.given >= limit {
                return false;
            }
            self.given += 1;
            if let Some(held) = self.held.pop() {
                take(held.text);
            }
        }
        !is_over && self.given < limit
    }

    /// Reads a block of a file. Returns whether there was one.
    fn read_block(&mut self, write: &impl Fn(&LedgerEntry<'_>) -> String) -> bool {
        loop {
            let Some(mut file) = self.file.take() else {
                let Some((day, length)) = self.files.pop() else { return false };
                // A file that is gone was removed meanwhile.
                self.file = ledger_files::open_to_read(&self.directory, &day)
                    .ok()
                    .map(|file| BackwardReader::new(file, length));
                continue;
            };
            let too_long = file.too_long;
            match file.next_block() {
                Ok(Some(block)) => {
                    let newest = self.read_lines(block, write);
                    self.passed.damaged += file.too_long - too_long;
                    self.file =
                        if newest.is_some_and(|newest| self.is_past(newest, &mut file)) { None } else { Some(file) };
                    return true;
                }
                Ok(None) | Err(_) => self.passed.damaged += file.too_long - too_long,
            }
        }
    }

    /// Returns whether all that is wanted of a file was read. `newest`: the newest start of its last block. Where a
    /// clock was set back, older starts stand behind newer ones: then the file is read to its beginning.
    fn is_past(&self, newest: u64, file: &mut BackwardReader) -> bool {
        let is_older = |at: u64| self.filter.is_before(at.saturating_add(OLDER));
        if file.is_mixed || !is_older(newest) {
            return false;
        }
        file.is_mixed =
            file.has_before(|line| ledger_line::parse_beginning(line).map(|beginning| !is_older(beginning.at)));
        !file.is_mixed
    }

    /// Reads the lines of a block, the last first. Returns the newest start.
    fn read_lines(&mut self, block: &[u8], write: &impl Fn(&LedgerEntry<'_>) -> String) -> Option<u64> {
        let mut newest = None;
        let mut end = block.len();
        while end > 0 {
            let start = memchr::memrchr(b'\n', &block[..end - 1]).map_or(0, |at| at + 1);
            let line = &block[start..end];
            end = start;
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            match ledger_line::check_line(line) {
                Some(text) if let Some(run) = ledger_line::run_of_addition(text) => self.keep_line(run, text),
                Some(text) if let Some(start) = self.unwanted_start(text) => {
                    newest = newest.max(Some(start.at));
                    self.skip_start(&start);
                }
                Some(text) if let Some(record) = self.passed.run_record_of(ledger_line::parse_record(text)) => {
                    newest = newest.max(record.start.as_ref().map(|start| start.at));
                    self.take_record(record, text, write);
                }
                Some(_) => {}
                None => self.passed.damaged += 1,
            }
        }
        newest
    }

    /// Returns the start of a line that cannot be wanted, which most lines are if something is searched for.
    fn unwanted_start<'l>(&self, text: &'l str) -> Option<LineBeginning<'l>> {
        let may_have_text = self.filter.may_have_text(text);
        let start = || ledger_line::parse_beginning(text);
        if may_have_text && !self.filter.has_since() {
            return None;
        }
        start().filter(|start| !may_have_text || self.filter.is_before(start.at))
    }

    /// Passes over the start of a run that is not wanted.
    fn skip_start(&mut self, start: &LineBeginning<'_>) {
        self.reached = start.at;
        self.runs.later.remove(start.run);
        if let Some(shim) = start.shim() {
            self.runs.shims.has_begun(&shim);
        }
    }

    /// Keeps a line until the start of its run is read.
    fn keep_line(&mut self, run: &str, line: &str) {
        if !self.filter.may_want(run) {
            return;
        }
        match self.runs.later.get_mut(run) {
            Some(lines) => lines.push(line.into()),
            None => drop(self.runs.later.insert(run.into(), vec![line.into()])),
        }
    }

    fn take_record(&mut self, record: LedgerRecord<'_>, line: &str, write: &impl Fn(&LedgerEntry<'_>) -> String) {
        let LedgerRecord { run, shim, start, end, note, .. } = record;
        let is_wanted = self.filter.may_want(&run);
        let Some(start) = start else { return self.keep_line(&run, line) };
        self.reached = start.at;
        let is_known = !self.runs.lost.is_empty() && self.runs.lost.contains(&*run);
        let lines = if self.runs.later.is_empty() { None } else { self.runs.later.remove(&*run) };
        if is_wanted && !is_known {
            if end.as_ref().is_some_and(|end| end.state == LedgerRunState::Lost) {
                self.runs.lost.insert(Box::from(&*run));
            }
            let mut lines = lines.unwrap_or_default();
            let mut later = later_of(&lines);
            later.add_earlier(end, note);
            let mut is_lost = false;
            if !later.has_ended() {
                if shim.as_ref().is_some_and(|shim| !self.runs.shims.may_end(shim)) {
                    // The end may have been written after this reader began.
                    self.since.catch_up();
                    drop(later);
                    lines.splice(..0, self.since.lines_of(&run));
                    later = later_of(&lines);
                    is_lost = !later.has_ended();
                } else if let Some(open) = &mut self.open {
                    open.push((Box::from(&*run), line.as_bytes().into()));
                }
            }
            let entry = LedgerEntry::of(&run, &start, &later, is_lost);
            if self.filter.wants(&entry) {
                let number = u64::MAX - self.given - self.held.len() as u64;
                self.held.push(HeldEntry { started_at: start.at, number, text: write(&entry) });
            }
        }
        if let Some(shim) = &shim {
            self.runs.shims.has_begun(shim);
        }
    }
}

/// Puts the texts of the lines of a run together, the latest first.
pub fn later_of(lines: &[Box<str>]) -> LaterRecords<'_> {
    let mut later = LaterRecords::default();
    for record in lines.iter().filter_map(|text| ledger_line::parse_record(text)) {
        later.add_earlier(record.end, record.note);
    }
    later
}
