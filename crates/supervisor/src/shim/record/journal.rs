//! Keeps each thing as it was before a command changes it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::unistd::getpid;

use crate::tree;
use confine::listener::{Act, Change, Journal, Noted, Spot};
use undo::path_lookup::RoutedPath;
use undo::path_map::is_within;
use undo::{ChangeJournal, JournalError, ManifestHeader, ManifestPurpose, UndoLimits, UndoStore, UndoStoreError};

/// The most changes that are listed because they cannot be followed.
const LISTED: usize = 100;

/// A record that has begun.
pub struct Current {
    pub run: u64,
    pub recorder: ChangeJournal,
    /// Effects that an undo does not cover, as sentences.
    pub beyond: Vec<String>,
    /// Whether a change must not be made that is not kept.
    pub require: bool,
    /// Why the record has a gap that its readers would not notice.
    pub broken: Option<String>,
    /// The changes that could not be followed.
    pub missed: HashSet<(PathBuf, String)>,
}

/// A record that is about to begin.
pub struct Pending {
    pub run: u64,
    pub store: PathBuf,
    pub header: ManifestHeader,
    pub limits: UndoLimits,
    pub beyond: Vec<String>,
    pub require: bool,
}

impl Pending {
    fn begin(self) -> Result<Current, UndoStoreError> {
        let Self { run, store, header, limits, beyond, require } = self;
        let mut recorder = ChangeJournal::begin(&UndoStore::open(&store)?, header, limits)?;
        recorder.expect_announced_changes();
        Ok(Current { run, recorder, beyond, require, broken: None, missed: HashSet::new() })
    }
}

/// The record of the running command.
#[derive(Default)]
pub enum Slot {
    /// No record.
    #[default]
    Empty,
    /// The record of this run, which arrives with its command. Its changes wait for it.
    Awaited(u64),
    /// A record that begins with the first change. That of a point begins before, while its program starts.
    Pending(Box<Pending>),
    /// A record that has begun.
    Current(Box<Current>),
    /// A record that could not begin.
    Failed(UndoStoreError),
}

impl Slot {
    /// Begins a record that is due.
    fn settle(&mut self) {
        *self = match std::mem::take(self) {
            Self::Pending(pending) => match pending.begin() {
                Ok(current) => Self::Current(Box::new(current)),
                Err(error) => Self::Failed(error),
            },
            settled => settled,
        };
    }
}

/// The state that both threads of a shim share.
#[derive(Default)]
pub struct Shared {
    current: Mutex<Slot>,
    /// Tells that the record of an awaited run has arrived, or does not.
    arrived: Condvar,
    /// Whether the command of a world may make calls that do not come here.
    pub is_busy: AtomicBool,
}

impl Shared {
    /// Waits for the record of a run. Its changes wait as well.
    pub fn expect(&self, run: u64) {
        self.replace(Slot::Awaited(run));
    }

    /// Takes the record of the next command, which may begin later.
    pub fn put(&self, pending: Pending) {
        self.replace(Slot::Pending(Box::new(pending)));
    }

    /// Begins the record of a point that is due: a command can be undone that has changed nothing. Returns `false` if
    /// it could not begin.
    pub fn begin_point(&self) -> bool {
        let mut slot = lock(&self.current);
        if matches!(&*slot, Slot::Pending(pending) if pending.header.purpose == ManifestPurpose::Undo) {
            slot.settle();
        }
        !matches!(*slot, Slot::Failed(_))
    }

    /// Begins a record that is due, before any change.
    pub fn settle(&self) {
        lock(&self.current).settle();
    }

    /// Takes the current record, as far as it has come. Later calls find no record.
    pub fn take(&self) -> Slot {
        self.replace(Slot::Empty)
    }

    fn replace(&self, slot: Slot) -> Slot {
        let earlier = std::mem::replace(&mut *lock(&self.current), slot);
        self.arrived.notify_all();
        earlier
    }

    /// Returns whether this is the running command, which is about to change a file.
    pub fn wake(&self, run: u64) -> bool {
        match &mut *lock(&self.current) {
            Slot::Awaited(awaited) => *awaited == run,
            Slot::Pending(pending) => pending.run == run,
            Slot::Current(current) if current.run == run => {
                current.recorder.end_rest();
                true
            }
            Slot::Current(_) | Slot::Empty | Slot::Failed(_) => false,
        }
    }

    /// Looks whether the running command can change no file without another call. Called by the thread that answers,
    /// while no call waits. Returns whether another look may find more.
    pub fn look_at_rest(&self) -> bool {
        let Slot::Current(current) = &mut *lock(&self.current) else { return false };
        if self.is_busy.load(Ordering::Relaxed) {
            return false;
        }
        let open: Option<Vec<Vec<u64>>> =
            tree::below(getpid(), |_| true).iter().map(|member| sys::writable_at_rest(member.pid)).collect();
        let Some(open) = open else { return true };
        let open: HashSet<u64> = open.into_iter().flatten().collect();
        let is_open = !open.is_empty();
        current.recorder.begin_rest(open);
        is_open
    }

    /// Records that names may be missing which the command has made in directories of its own.
    pub fn lose_names(&self) {
        if let Slot::Current(current) = &mut *lock(&self.current) {
            current.recorder.stop_announcements();
        }
    }
}

/// Locks a value that no thread leaves in an intermediate state.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The journal of one command.
pub struct RunJournal<'a> {
    pub shared: &'a Shared,
    pub run: u64,
}

/// The paths of a spot.
struct Paths<'a> {
    path: PathBuf,
    reach: Cow<'a, Path>,
    is_vacant: bool,
}

impl<'a> Paths<'a> {
    fn of(spot: &'a Spot) -> Self {
        Self { path: spot.path(), reach: spot.reach().into(), is_vacant: spot.is_vacant }
    }

    fn from_there(spot: &'a Spot) -> Self {
        Self { path: spot.path(), reach: spot.reach_from_there(), is_vacant: spot.is_vacant }
    }

    fn at(&self) -> RoutedPath<'_> {
        RoutedPath { path: &self.path, reach: &self.reach, is_vacant: self.is_vacant }
    }
}

impl Current {
    fn touch(&mut self, change: &Change) -> Result<(), Errno> {
        let other = match &change.act {
            Act::Link(spot) | Act::Rename(spot) | Act::Swap(spot) => Some(Paths::of(spot)),
            _ => None,
        };
        let one = if other.is_none() { Paths::from_there(&change.spot) } else { Paths::of(&change.spot) };
        let store = self.recorder.store().path();
        let is_own = |paths: &Paths<'_>| is_within(&paths.path, store);
        if is_own(&one) || other.as_ref().is_some_and(is_own) {
            return self.miss(&one.path, "it belongs to the undo store, whose own files are not recorded");
        }
        let other = other.as_ref().map_or_else(|| one.at(), Paths::at);
        let act = match &change.act {
            Act::Rewrite => undo::ComingChange::Rewrite,
            Act::Write => undo::ComingChange::Write,
            Act::Create => undo::ComingChange::Create,
            Act::MakeDirectory => undo::ComingChange::MakeDirectory,
            Act::Remove | Act::Unlink => undo::ComingChange::Remove,
            Act::Meta => undo::ComingChange::Meta,
            Act::Times => undo::ComingChange::Times,
            Act::Link(_) => undo::ComingChange::Link(other),
            Act::Rename(_) => undo::ComingChange::Rename(other),
            Act::Swap(_) => undo::ComingChange::Swap(other),
        };
        let touched = self.recorder.record_before_change(one.at(), act);
        touched.or_else(|error| self.on_error(&one.path, error))
    }

    /// Records a removal, and makes the removal if it can keep the file. Returns whether it did.
    fn take(&mut self, spot: &Spot) -> Result<bool, Errno> {
        let one = Paths::from_there(spot);
        if is_within(&one.path, self.recorder.store().path()) {
            return Ok(false);
        }
        let taken = self.recorder.take_removed_file(one.at());
        taken.or_else(|error| self.on_error(&one.path, error).map(|()| false))
    }

    /// Returns whether the run made the directories of a change, in which it may make names.
    fn has_made(&mut self, change: &Change) -> [bool; 2] {
        let other = match &change.act {
            Act::Link(to) | Act::Rename(to) | Act::Swap(to) => Some(to),
            _ => None,
        };
        let own = [Some(&change.spot), other].map(|spot| spot.is_some_and(|spot| self.recorder.has_made(&spot.parent)));
        let makes = matches!(change.act, Act::Write | Act::Create | Act::MakeDirectory | Act::Swap(_));
        let named = [Some(&change.spot).filter(|_| own[0] && makes), other.filter(|_| own[1])];
        self.recorder.announce_names(named.into_iter().flatten().filter_map(Spot::key));
        own
    }

    fn on_error(&mut self, path: &Path, error: JournalError) -> Result<(), Errno> {
        match error {
            JournalError::NotKept(_) => self.unkept(),
            // The call of the command fails in the same way.
            JournalError::System(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            JournalError::System(error) => {
                if is_of_store(&error) {
                    self.broken.get_or_insert_with(|| format!("its record could not be written: {error}"));
                }
                self.miss(path, &error.to_string())
            }
        }
    }

    fn miss(&mut self, path: &Path, why: &str) -> Result<(), Errno> {
        self.recorder.stop_announcements();
        // The change is not made.
        if self.require {
            return self.unkept();
        }
        if self.missed.len() < LISTED
            && self.missed.insert((path.to_owned(), why.to_owned()))
            && let Err(error) = self.recorder.record_gap(path, why)
        {
            self.broken.get_or_insert_with(|| format!("its record could not be written: {error}"));
        }
        self.unkept()
    }

    fn unkept(&self) -> Result<(), Errno> {
        if self.require { Err(Errno::EDQUOT) } else { Ok(()) }
    }
}

/// Returns whether writing the record may have failed with this error, after which a reader finds no later entry.
fn is_of_store(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG | libc::EIO | libc::EROFS) | None)
}

impl RunJournal<'_> {
    fn with<T: Default>(&self, note: impl FnOnce(&mut Current) -> Result<T, Errno>) -> Result<T, Errno> {
        let Shared { current, arrived, .. } = self.shared;
        let is_awaited = |slot: &mut Slot| matches!(slot, Slot::Awaited(run) if *run == self.run);
        let mut slot = arrived.wait_while(lock(current), is_awaited).unwrap_or_else(PoisonError::into_inner);
        slot.settle();
        match &mut *slot {
            Slot::Current(current) if current.run == self.run => {
                current.recorder.end_rest();
                note(current)
            }
            _ => Ok(T::default()),
        }
    }
}

impl Journal for RunJournal<'_> {
    fn before(&self, change: &Change) -> Result<Noted, Errno> {
        self.with(|current| current.touch(change).map(|()| Noted { made: false, own: current.has_made(change) }))
    }

    fn make(&self, change: &Change) -> Result<Noted, Errno> {
        self.with(|current| current.take(&change.spot).map(|made| Noted { made, own: current.has_made(change) }))
    }

    fn run(&self) -> u64 {
        self.run
    }

    fn make_names(&self, keys: Vec<u64>) {
        let _always = self.with(|current| {
            current.recorder.announce_names(keys);
            Ok(())
        });
    }

    fn rest(&self, rests: bool) {
        self.shared.is_busy.store(!rests, Ordering::Relaxed);
        if !rests {
            self.shared.wake(self.run);
        }
    }

    fn miss(&self, path: &Path, why: &str) -> Result<(), Errno> {
        self.with(|current| current.miss(path, why))
    }
}
