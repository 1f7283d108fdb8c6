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
use confine_listener::{
    DirectoryEntryLocation, FileChangeJournal, JournaledChange, PendingChangeKind, PendingFileChange,
};
use undo::path_lookup::RoutedPath;
use undo::path_map::is_within;
use undo::{ChangeJournal, JournalError, ManifestHeader, ManifestPurpose, UndoLimits, UndoStore, UndoStoreError};

/// The most changes that are listed because they cannot be followed.
const LISTED: usize = 100;

/// A record that has begun.
pub struct BegunJournal {
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
pub struct PendingJournal {
    pub run: u64,
    pub store: PathBuf,
    pub header: ManifestHeader,
    pub limits: UndoLimits,
    pub beyond: Vec<String>,
    pub require: bool,
}

impl PendingJournal {
    fn begin(self) -> Result<BegunJournal, UndoStoreError> {
        let Self { run, store, header, limits, beyond, require } = self;
        let mut recorder = ChangeJournal::begin(&UndoStore::open(&store)?, header, limits)?;
        recorder.expect_announced_changes();
        Ok(BegunJournal { run, recorder, beyond, require, broken: None, missed: HashSet::new() })
    }
}

/// The record of the running command.
#[derive(Default)]
pub enum JournalSlot {
    /// No record.
    #[default]
    Empty,
    /// The record of this run, which arrives with its command. Its changes wait for it.
    Awaited(u64),
    /// A record that begins with the first change. That of a point begins before, while its program starts.
    Pending(Box<PendingJournal>),
    /// A record that has begun.
    Current(Box<BegunJournal>),
    /// A record that could not begin.
    Failed(UndoStoreError),
}

impl JournalSlot {
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
pub struct SharedJournal {
    current: Mutex<JournalSlot>,
    /// Tells that the record of an awaited run has arrived, or does not.
    arrived: Condvar,
    /// Whether the command of a world may make calls that do not come here.
    pub is_busy: AtomicBool,
}

impl SharedJournal {
    /// Waits for the record of a run. Its changes wait as well.
    pub fn expect(&self, run: u64) {
        self.replace(JournalSlot::Awaited(run));
    }

    /// Takes the record of the next command, which may begin later.
    pub fn set_pending(&self, pending: PendingJournal) {
        self.replace(JournalSlot::Pending(Box::new(pending)));
    }

    /// Begins the record of a point that is due: a command can be undone that has changed nothing. Returns `false` if
    /// it could not begin.
    pub fn begin_point(&self) -> bool {
        let mut slot = lock(&self.current);
        if matches!(&*slot, JournalSlot::Pending(pending)if pending.header.purpose==ManifestPurpose::Undo) {
            slot.settle();
        }
        !matches!(*slot, JournalSlot::Failed(_))
    }

    /// Begins a record that is due, before any change.
    pub fn settle(&self) {
        lock(&self.current).settle();
    }

    /// Takes the current record, as far as it has come. Later calls find no record.
    pub fn take_slot(&self) -> JournalSlot {
        self.replace(JournalSlot::Empty)
    }

    fn replace(&self, slot: JournalSlot) -> JournalSlot {
        let earlier = std::mem::replace(&mut *lock(&self.current), slot);
        self.arrived.notify_all();
        earlier
    }

    /// Returns whether this is the running command, which is about to change a file.
    pub fn wake_recorder(&self, run: u64) -> bool {
        match &mut *lock(&self.current) {
            JournalSlot::Awaited(awaited) => *awaited == run,
            JournalSlot::Pending(pending) => pending.run == run,
            JournalSlot::Current(current) if current.run == run => {
                current.recorder.end_rest();
                true
            }
            JournalSlot::Current(_) | JournalSlot::Empty | JournalSlot::Failed(_) => false,
        }
    }

    /// Looks whether the running command can change no file without another call. Called by the thread that answers,
    /// while no call waits. Returns whether another look may find more.
    pub fn check_at_rest(&self) -> bool {
        let JournalSlot::Current(current) = &mut *lock(&self.current) else { return false };
        if self.is_busy.load(Ordering::Relaxed) {
            return false;
        }
        let open: Option<Vec<Vec<u64>>> =
            tree::descendants_of(getpid(), |_| true).iter().map(|member| sys::writable_at_rest(member.pid)).collect();
        let Some(open) = open else { return true };
        let open: HashSet<u64> = open.into_iter().flatten().collect();
        let is_open = !open.is_empty();
        current.recorder.begin_rest(open);
        is_open
    }

    /// Records that names may be missing which the command has made in directories of its own.
    pub fn lose_names(&self) {
        if let JournalSlot::Current(current) = &mut *lock(&self.current) {
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
    pub shared: &'a SharedJournal,
    pub run: u64,
}

/// The paths of a spot.
struct LocationPaths<'a> {
    path: PathBuf,
    reach: Cow<'a, Path>,
    is_vacant: bool,
}

impl<'a> LocationPaths<'a> {
    fn of(spot: &'a DirectoryEntryLocation) -> Self {
        Self { path: spot.path(), reach: spot.reachable_path().into(), is_vacant: spot.is_vacant }
    }

    fn from_there(spot: &'a DirectoryEntryLocation) -> Self {
        Self { path: spot.path(), reach: spot.reach_from_there(), is_vacant: spot.is_vacant }
    }

    fn at(&self) -> RoutedPath<'_> {
        RoutedPath { path: &self.path, reach: &self.reach, is_vacant: self.is_vacant }
    }
}

impl BegunJournal {
    fn record_change(&mut self, change: &PendingFileChange) -> Result<(), Errno> {
        let other = match &change.act {
            PendingChangeKind::Link(spot) | PendingChangeKind::Rename(spot) | PendingChangeKind::Swap(spot) => {
                Some(LocationPaths::of(spot))
            }
            _ => None,
        };
        let one =
            if other.is_none() { LocationPaths::from_there(&change.spot) } else { LocationPaths::of(&change.spot) };
        let store = self.recorder.store().path();
        let is_own = |paths: &LocationPaths<'_>| is_within(&paths.path, store);
        if is_own(&one) || other.as_ref().is_some_and(is_own) {
            return self.note_missed(&one.path, "it belongs to the undo store, whose own files are not recorded");
        }
        let other = other.as_ref().map_or_else(|| one.at(), LocationPaths::at);
        let act = match &change.act {
            PendingChangeKind::Rewrite => undo::ComingChange::Rewrite,
            PendingChangeKind::Write => undo::ComingChange::Write,
            PendingChangeKind::Create => undo::ComingChange::Create,
            PendingChangeKind::MakeDirectory => undo::ComingChange::MakeDirectory,
            PendingChangeKind::Remove | PendingChangeKind::Unlink => undo::ComingChange::Remove,
            PendingChangeKind::Meta => undo::ComingChange::Meta,
            PendingChangeKind::Times => undo::ComingChange::Times,
            PendingChangeKind::Link(_) => undo::ComingChange::Link(other),
            PendingChangeKind::Rename(_) => undo::ComingChange::Rename(other),
            PendingChangeKind::Swap(_) => undo::ComingChange::Swap(other),
        };
        let touched = self.recorder.record_before_change(one.at(), act);
        touched.or_else(|error| self.on_error(&one.path, error))
    }

    /// Records a removal, and makes the removal if it can keep the file. Returns whether it did.
    fn record_removal(&mut self, spot: &DirectoryEntryLocation) -> Result<bool, Errno> {
        let one = LocationPaths::from_there(spot);
        if is_within(&one.path, self.recorder.store().path()) {
            return Ok(false);
        }
        let taken = self.recorder.take_removed_file(one.at());
        taken.or_else(|error| self.on_error(&one.path, error).map(|()| false))
    }

    /// Returns whether the run made the directories of a change, in which it may make names.
    fn has_made(&mut self, change: &PendingFileChange) -> [bool; 2] {
        let other = match &change.act {
            PendingChangeKind::Link(to) | PendingChangeKind::Rename(to) | PendingChangeKind::Swap(to) => Some(to),
            _ => None,
        };
        let own = [Some(&change.spot), other].map(|spot| spot.is_some_and(|spot| self.recorder.has_made(&spot.parent)));
        let makes = matches!(
            change.act,
            PendingChangeKind::Write
                | PendingChangeKind::Create
                | PendingChangeKind::MakeDirectory
                | PendingChangeKind::Swap(_)
        );
        let named = [Some(&change.spot).filter(|_| own[0] && makes), other.filter(|_| own[1])];
        self.recorder.announce_names(named.into_iter().flatten().filter_map(DirectoryEntryLocation::key_of_name));
        own
    }

    fn on_error(&mut self, path: &Path, error: JournalError) -> Result<(), Errno> {
        match error {
            JournalError::NotKept(_) => self.refuse_if_required(),
            // The call of the command fails in the same way.
            JournalError::System(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            JournalError::System(error) => {
                if is_of_store(&error) {
                    self.broken.get_or_insert_with(|| format!("its record could not be written: {error}"));
                }
                self.note_missed(path, &error.to_string())
            }
        }
    }

    fn note_missed(&mut self, path: &Path, why: &str) -> Result<(), Errno> {
        self.recorder.stop_announcements();
        // The change is not made.
        if self.require {
            return self.refuse_if_required();
        }
        if self.missed.len() < LISTED
            && self.missed.insert((path.to_owned(), why.to_owned()))
            && let Err(error) = self.recorder.record_gap(path, why)
        {
            self.broken.get_or_insert_with(|| format!("its record could not be written: {error}"));
        }
        self.refuse_if_required()
    }

    fn refuse_if_required(&self) -> Result<(), Errno> {
        if self.require { Err(Errno::EDQUOT) } else { Ok(()) }
    }
}

/// Returns whether writing the record may have failed with this error, after which a reader finds no later entry.
fn is_of_store(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG | libc::EIO | libc::EROFS) | None)
}

impl RunJournal<'_> {
    fn with_begun_journal<T: Default>(
        &self,
        note: impl FnOnce(&mut BegunJournal) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let SharedJournal { current, arrived, .. } = self.shared;
        let is_awaited = |slot: &mut JournalSlot| matches!(slot, JournalSlot::Awaited(run) if *run == self.run);
        let mut slot = arrived.wait_while(lock(current), is_awaited).unwrap_or_else(PoisonError::into_inner);
        slot.settle();
        match &mut *slot {
            JournalSlot::Current(current) if current.run == self.run => {
                current.recorder.end_rest();
                note(current)
            }
            _ => Ok(T::default()),
        }
    }
}

impl FileChangeJournal for RunJournal<'_> {
    fn record_before(&self, change: &PendingFileChange) -> Result<JournaledChange, Errno> {
        self.with_begun_journal(|current| {
            current.record_change(change).map(|()| JournaledChange { made: false, own: current.has_made(change) })
        })
    }

    fn record_or_make(&self, change: &PendingFileChange) -> Result<JournaledChange, Errno> {
        self.with_begun_journal(|current| {
            current.record_removal(&change.spot).map(|made| JournaledChange { made, own: current.has_made(change) })
        })
    }

    fn run_number(&self) -> u64 {
        self.run
    }

    fn record_own_names(&self, keys: Vec<u64>) {
        let _always = self.with_begun_journal(|current| {
            current.recorder.announce_names(keys);
            Ok(())
        });
    }

    fn set_resting(&self, rests: bool) {
        self.shared.is_busy.store(!rests, Ordering::Relaxed);
        if !rests {
            self.shared.wake_recorder(self.run);
        }
    }

    fn record_unfollowed(&self, path: &Path, why: &str) -> Result<(), Errno> {
        self.with_begun_journal(|current| current.note_missed(path, why))
    }
}
