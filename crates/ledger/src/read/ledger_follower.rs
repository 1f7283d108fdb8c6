//! Reads what is added to the ledger.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::ledger_entry::{LaterRecords, LedgerEntry};
use super::ledger_history::{LedgerHistory, PassedOverLines, later_of};
use super::ledger_query::LedgerFilter;
use super::ledger_tail::LedgerTail;
use super::shim_liveness;
use crate::ledger_line;
use crate::ledger_record::{LedgerRecord, LedgerRunState};

/// Time between two scans for shims that were killed.
const SCAN: Duration = Duration::from_secs(1);
/// Time a host may take to add its note after the end of a run.
const NOTE: Duration = Duration::from_secs(2);

/// A run that was given without its end.
#[derive(Debug)]
struct UnendedRun {
    /// The line with the start.
    start: Box<[u8]>,
    /// The texts of the lines after it, the latest first.
    later: Vec<Box<str>>,
    /// When the note of the host is no longer awaited. `None`: the run goes on.
    until: Option<Instant>,
}

impl UnendedRun {
    fn new(start: Box<[u8]>) -> Self {
        Self { start, later: Vec::new(), until: None }
    }

    /// Returns the record with the start.
    fn record(&self) -> Option<LedgerRecord<'_>> {
        ledger_line::read_line(&self.start)
    }

    /// Returns whether the host adds a note after the end.
    fn is_noted(&self) -> bool {
        self.record().and_then(|record| record.start).is_some_and(|start| start.noted)
    }
}

/// Gives entries as they are written: a run when it starts, and again when it has ended.
#[derive(Debug)]
pub struct LedgerFollower {
    filter: LedgerFilter,
    tail: LedgerTail,
    open: HashMap<Box<str>, UnendedRun>,
    scanned: Instant,
    given: u64,
    /// What was passed over.
    pub passed: PassedOverLines,
}

impl LedgerFollower {
    /// Goes on where a history ended, of which `given` entries were given.
    pub fn behind(history: LedgerHistory, given: u64) -> Self {
        let passed = history.passed.clone();
        let (filter, tail, open) = history.into_live();
        let open = open.into_iter().map(|(run, start)| (run, UnendedRun::new(start))).collect();
        Self { filter, tail, open, scanned: Instant::now(), given, passed }
    }

    /// Gives the entries that were written since the last call. Returns whether more are wanted.
    pub fn read(&mut self, write: &impl Fn(&LedgerEntry<'_>) -> String, take: &mut impl FnMut(String)) -> bool {
        for line in self.tail.take_lines() {
            self.take_line(line, write, take);
        }
        let now = Instant::now();
        for run in self.runs_where(|open| open.until.is_some_and(|until| now >= until)) {
            self.give_ended(&run, false, write, take);
        }
        if now >= self.scanned + SCAN {
            self.scanned = now;
            self.find_lost(write, take);
        }
        self.given < self.filter.limit()
    }

    fn take_line(
        &mut self,
        line: Box<[u8]>,
        write: &impl Fn(&LedgerEntry<'_>) -> String,
        take: &mut impl FnMut(String),
    ) {
        let Some(LedgerRecord { run, start, end, note, .. }) = self.passed.run_record_of(ledger_line::read_line(&line))
        else {
            return;
        };
        if !self.filter.may_want(&run) {
            return;
        }
        let run: Box<str> = Box::from(&*run);
        let (has_end, has_note) = (end.is_some(), note.is_some());
        match (start, self.open.get_mut(&run)) {
            (Some(start), None) => {
                // A refused command has never run.
                if end.is_none_or(|end| end.state != LedgerRunState::Refused) {
                    self.give_entry(&LedgerEntry::of(&run, &start, &LaterRecords::default(), false), write, take);
                }
                self.open.insert(run.clone(), UnendedRun::new(line));
            }
            // A record of a loss repeats the start.
            (_, Some(open)) => open.later.insert(0, ledger_line::check_line(&line).map(Box::from).unwrap_or_default()),
            (None, None) => return,
        }
        let Some(open) = self.open.get_mut(&run) else { return };
        if has_end && open.is_noted() {
            open.until = Some(Instant::now() + NOTE);
        } else if has_end || has_note && open.until.is_some() {
            self.give_ended(&run, false, write, take);
        }
    }

    /// Gives a run as it has ended, and forgets it.
    fn give_ended(
        &mut self,
        run: &str,
        is_lost: bool,
        write: &impl Fn(&LedgerEntry<'_>) -> String,
        take: &mut impl FnMut(String),
    ) {
        let Some(open) = self.open.remove(run) else { return };
        let Some(LedgerRecord { start: Some(start), end, note, .. }) = open.record() else { return };
        let mut later = later_of(&open.later);
        later.add_earlier(end, note);
        self.give_entry(&LedgerEntry::of(run, &start, &later, is_lost), write, take);
    }

    fn give_entry(
        &mut self,
        entry: &LedgerEntry<'_>,
        write: &impl Fn(&LedgerEntry<'_>) -> String,
        take: &mut impl FnMut(String),
    ) {
        if self.given < self.filter.limit() && self.filter.wants(entry) {
            self.given += 1;
            take(write(entry));
        }
    }

    /// Gives the runs whose shims were killed.
    fn find_lost(&mut self, write: &impl Fn(&LedgerEntry<'_>) -> String, take: &mut impl FnMut(String)) {
        let is_dead = |open: &UnendedRun| {
            let shim = open.record().and_then(|record| record.shim);
            open.until.is_none() && shim.is_some_and(|shim| !shim_liveness::shim_lives(&shim))
        };
        let dead = self.runs_where(is_dead);
        if dead.is_empty() {
            return;
        }
        // A shim may have written the end just before it exited.
        loop {
            let lines = self.tail.take_lines();
            if lines.is_empty() {
                break;
            }
            for line in lines {
                self.take_line(line, write, take);
            }
        }
        for run in dead {
            if self.open.get(&run).is_some_and(|open| open.until.is_none()) {
                self.give_ended(&run, true, write, take);
            }
        }
    }

    fn runs_where(&self, is_meant: impl Fn(&UnendedRun) -> bool) -> Vec<Box<str>> {
        self.open.iter().filter(|(_, open)| is_meant(open)).map(|(run, _)| run.clone()).collect()
    }
}
