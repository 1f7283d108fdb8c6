//! Changes of other programs in the places that a run changes.
//!
//! The kernel does not say who made a file. What is known of a run tells most of it: the names that its calls could make
//! in directories of its own, the names that it has removed, and the times at which none of its processes could change a
//! file.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use confine::listener::name_key;

use super::Recorder;
use crate::node::{FileId, Node, Time};

/// The most rests of a run that are known. What others do after that counts as the run's own.
const KNOWN: usize = 10_000;

/// A time in which no process of the run made a call that changes a file.
#[derive(Debug)]
struct Rest {
    from: i64,
    /// `i64::MAX`: it goes on.
    until: i64,
    /// The inodes that a process of the run could write to without another call.
    open: HashSet<u64>,
}

/// The rests of a run, in order. Times are those of the clock that dates files, in nanoseconds.
#[derive(Debug, Default)]
struct Rests {
    all: Vec<Rest>,
    /// The lead of that clock over one that is never set.
    lead: Option<i64>,
    /// Whether the clock was set back, so that times tell nothing.
    is_lost: bool,
}

impl Rests {
    fn now(&mut self) -> i64 {
        /// More than the two readings are apart, and less than anybody sets a clock by.
        const APART: i64 = 5_000_000;
        let now = Time::now().since();
        let lead = now.saturating_sub(i64::try_from(sys::monotonic_ns()).unwrap_or(0));
        self.is_lost |= self.lead.is_some_and(|known| lead < known.saturating_sub(APART));
        self.lead = Some(lead);
        now
    }

    fn begin(&mut self, open: HashSet<u64>) {
        let from = self.now();
        if let Some(rest) = self.all.last_mut().filter(|rest| rest.until == i64::MAX) {
            if rest.open == open {
                return;
            }
            rest.until = from;
        }
        if self.all.len() < KNOWN {
            self.all.push(Rest { from, until: i64::MAX, open });
        }
    }

    fn end(&mut self) {
        if self.all.last().is_some_and(|rest| rest.until == i64::MAX) {
            // A file that changes right after this may have a time of the step before.
            let until = self.now().saturating_sub(Time::lag());
            self.all.last_mut().expect("the one above").until = until;
        }
    }

    /// Returns whether the run rested at this time, and could not write to this file.
    fn covers(&self, time: Time, inode: u64) -> bool {
        let time = time.since();
        let rest = self.all[..self.all.partition_point(|rest| rest.from <= time)].last();
        !self.is_lost && rest.is_some_and(|rest| time < rest.until && !rest.open.contains(&inode))
    }
}

/// What tells the changes of a run from those of others.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// Whether each change is told before it is made, and nothing else is a change of the run.
    tells: bool,
    /// Keys of the names that the run may have made in directories that it made. `None`: not all are known.
    names: Option<HashSet<u64>>,
    /// The earlier paths whose things the run has removed or moved away.
    gone: HashMap<PathBuf, Going>,
    rests: Rests,
}

/// The last that a run did where it removed a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Going {
    /// It removed this thing, or failed to.
    Removed(Option<FileId>),
    /// It put something there, or failed to.
    Replaced,
}

/// Whose the thing at a path is at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The run's, as far as can be told.
    Own,
    /// The run's, and another program has changed it since.
    Changed,
    /// Another program's.
    Others,
}

impl Recorder {
    /// From here on each change of the run is told before it is made, and so are the names that it may make in
    /// directories of its own, by [`Recorder::make_names`]. What is there at the end otherwise is another program's.
    pub fn tell_apart(&mut self) {
        (self.others.tells, self.others.names) = (true, Some(HashSet::new()));
    }

    /// Records names that the run may make in directories of its own, by their keys.
    pub fn make_names(&mut self, keys: impl IntoIterator<Item = u64>) {
        if let Some(names) = &mut self.others.names {
            names.extend(keys);
        }
    }

    /// Records that the run may make and remove names which are not told.
    pub fn lose_names(&mut self) {
        (self.others.tells, self.others.names) = (false, None);
    }

    /// Records that no process of the run will change a file without another call, apart from these inodes.
    pub fn rest(&mut self, open: HashSet<u64>) {
        self.others.rests.begin(open);
    }

    /// Records that a process of the run is about to change a file again.
    pub fn wake(&mut self) {
        self.others.rests.end();
    }

    /// Records that the run is about to remove a thing, or to move it away.
    pub(super) fn note_going(&mut self, path: &Path, thing: Option<FileId>) {
        if self.others.tells
            && let Some(entry) = self.entry(path)
        {
            self.others.gone.insert(entry, Going::Removed(thing));
        }
    }

    /// Records that the run may put something at a path.
    pub(super) fn note_coming(&mut self, path: &Path) {
        if !self.others.gone.is_empty()
            && let Some(entry) = self.entry(path)
        {
            self.others.gone.entry(entry).and_modify(|going| *going = Going::Replaced);
        }
    }

    /// Returns whether another program removed the thing that was at an earlier path.
    pub(super) fn is_removed_by_others(&self, entry: &Path, before: &Node) -> bool {
        self.others.tells && !before.is_absent() && !self.others.gone.contains_key(entry)
    }

    /// Returns whose the thing at a path is. `directory` is the inode of its directory, if the run made that.
    pub(super) fn whose(&mut self, path: &Path, node: &Node, directory: Option<u64>) -> Whose {
        let entry = self.entry(path);
        let before = entry.as_ref().and_then(|entry| self.before.get(entry));
        let is_removed = match entry.as_ref().and_then(|entry| self.others.gone.get(entry)) {
            Some(Going::Removed(thing)) if self.others.tells && *thing != node.id() => return Whose::Others,
            going => matches!(going, Some(Going::Removed(_))),
        };
        if let (Some(names), Some(directory), Some(name)) = (&self.others.names, directory, path.file_name())
            && !names.contains(&name_key(directory, name.as_bytes()))
        {
            return Whose::Others;
        }
        let Node::File(file) = node else { return Whose::Own };
        let inode = file.meta.id.inode;
        let is_same = matches!(before, Some(Node::File(before)) if before.is_untouched(file));
        if is_same || !self.others.rests.covers(file.ctime, inode) || !sys::has_own_clock(path) {
            return Whose::Own;
        }
        let is_new = before.is_none_or(Node::is_absent);
        let born = || fs::symlink_metadata(path).and_then(|data| data.created()).ok().map(Time::from);
        let is_made = is_removed || is_new && born().is_some_and(|born| self.others.rests.covers(born, inode));
        if is_made { Whose::Others } else { Whose::Changed }
    }
}
