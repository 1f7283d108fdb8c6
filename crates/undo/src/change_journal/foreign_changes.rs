//! Changes of other programs in the places that a run changes.
//!
//! The kernel does not say which process made a file. Three facts about a run tell most of it: the names that its calls
//! could make in directories of its own, the names that it has removed, and the times at which none of its processes
//! could change a file. Pure, apart from the clock.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::path_state::{FileIdentity, FileTime};

/// The most rests of a run that are remembered. Changes of other programs after that count as the run's own.
const KNOWN: usize = 10_000;

/// A time in which no process of the run made a call that changes a file.
#[derive(Debug)]
struct RestPeriod {
    from: i64,
    /// `i64::MAX`: it goes on.
    until: i64,
    /// The inodes that a process of the run could write to without another call.
    open: HashSet<u64>,
}

/// The rests of a run, in order. Times are those of the clock that dates files, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct RestPeriods {
    all: Vec<RestPeriod>,
    /// The lead of that clock over one that is never set.
    lead: Option<i64>,
    /// Whether the clock was set back, so that times tell nothing.
    is_lost: bool,
}

impl RestPeriods {
    fn now(&mut self) -> i64 {
        /// More than the two readings are apart, and less than anybody sets a clock by.
        const APART: i64 = 5_000_000;
        let now = FileTime::now().as_nanoseconds();
        let lead = now.saturating_sub(i64::try_from(sys::monotonic_ns()).unwrap_or(0));
        self.is_lost |= self.lead.is_some_and(|known| lead < known.saturating_sub(APART));
        self.lead = Some(lead);
        now
    }

    pub fn begin(&mut self, open: HashSet<u64>) {
        let from = self.now();
        if let Some(rest) = self.all.last_mut().filter(|rest| rest.until == i64::MAX) {
            if rest.open == open {
                return;
            }
            rest.until = from;
        }
        if self.all.len() < KNOWN {
            self.all.push(RestPeriod { from, until: i64::MAX, open });
        }
    }

    pub fn end(&mut self) {
        if self.all.last().is_some_and(|rest| rest.until == i64::MAX) {
            // A file that changes right after this may have a time of the step before.
            let until = self.now().saturating_sub(FileTime::clock_lag());
            self.all.last_mut().expect("the one above").until = until;
        }
    }

    /// Returns whether the run rested at this time, and could not write to this file.
    pub fn covers(&self, time: FileTime, inode: u64) -> bool {
        let time = time.as_nanoseconds();
        let rest = self.all[..self.all.partition_point(|rest| rest.from <= time)].last();
        !self.is_lost && rest.is_some_and(|rest| time < rest.until && !rest.open.contains(&inode))
    }
}

/// The facts that tell the changes of a run from those of other programs.
#[derive(Debug, Default)]
pub(super) struct ForeignChanges {
    /// Whether each change of the run is announced before it is made, so that all other changes are another program's.
    pub tells: bool,
    /// Keys of the names that the run may have made in directories that it made. `None`: not all are known.
    pub names: Option<HashSet<u64>>,
    /// The earlier paths whose things the run has removed or moved away.
    pub gone: HashMap<PathBuf, RemovalKind>,
    pub rests: RestPeriods,
}

/// The last that a run did where it removed a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemovalKind {
    /// The run removed this thing, or tried to.
    Removed(Option<FileIdentity>),
    /// The run put something there afterwards, or tried to.
    Replaced,
}
