//! The directory of all drafts of a user.
//!
//! | entry | what |
//! |---|---|
//! | `ID/draft.json` | the draft: [`DraftRecord`] |
//! | `ID/memory` | the base as the draft found it, one record per path ([`BaseMemory`]) |
//! | `ID/ancestors` | contents of files of the base, one after another, for merges |
//! | `ID/lock` | held shared while a command of the draft runs, and alone while it is committed, forked or discarded |
//! | `ID/world-N` | names the world in which hosts run the draft's commands, after its Nth commit |
//! | `ID/runs` | a byte per command: `1`, or `L` if it is in the ledger. The time of the file is that of the last one |
//! | `ID/actor` | who asked for the first command of which that is known, as JSON |
//! | `ID/hosts/PID` | held by a process that has the draft open |
//! | `ID/0/`, `ID/1/` … | `upper` and `work` of each drafted directory, if they are here: see `layer_room.rs` |

use std::fs::{self, DirBuilder, File};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::base_memory::{BaseMemory, BaseThing, MOST_KEPT};
use super::copy::LayerCopier;
use super::difference::{DraftDifference, differences};
use super::draft_error::{DraftError, system_error};
use super::layer::{DraftLayer, LayerChange};
use super::layer_room::{HALF_MADE, make_room, remove_all};
use confine_policy::{DraftedDirectory, DraftedTree};
use protocol::task::now_ms;
use sys::DiskUsageCount;
use undo::path_lookup::hash_bytes;
use undo::path_map::is_within;
use undo::path_state::FileTime;

const RECORD: &str = "draft.json";
const MEMORY: &str = "memory";
const ANCESTORS: &str = "ancestors";
const RUNS: &str = "runs";
const ACTOR: &str = "actor";
const HOSTS: &str = "hosts";
const UPPER: &str = "upper";

/// The longest memory that is read before each command, in bytes. A path takes about 200.
const MOST_NOTED: u64 = 256 << 10;

/// A command in the file of runs that is in the ledger.
const LISTED: &[u8] = b"L";

/// Time for the last command of a draft to be gone, after its result.
const LAST_COMMAND: Duration = Duration::from_millis(500);
const TRY_EVERY: Duration = Duration::from_millis(2);
/// The state of a draft on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DraftState {
    /// Commands may run in it.
    Open,
    /// A commit has begun.
    Committing,
}

/// How long a draft is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DraftRetention {
    /// As long as a process has it open.
    Hosts,
    /// Until it was not used for this long, in ms.
    Unused(u64),
}

/// The ports of a draft that this machine reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ExposedPorts {
    /// These.
    Listed(Vec<u16>),
    /// Each one at which a server listens.
    Any(AnyPort),
}

/// The word for [`ExposedPorts::Any`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnyPort {
    #[expect(missing_docs, reason = "see its type")]
    #[serde(rename = "auto")]
    Auto,
}

/// What a draft is opened with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DraftSettings {
    /// Its name for people.
    pub name: Option<String>,
    /// What else its commands may do: the option `confine` as JSON. Secrets and the ssh agent are not in it: hosts keep
    /// them in memory.
    pub confine: String,
    #[expect(missing_docs, reason = "see its type")]
    pub expose: Option<ExposedPorts>,
    /// How long it is kept.
    pub keep: DraftRetention,
    /// The most bytes that its changes may take on the disk.
    pub max_bytes: u64,
}

/// A draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DraftRecord {
    /// Its id.
    pub id: String,
    #[expect(missing_docs, reason = "see its type")]
    #[serde(flatten)]
    pub settings: DraftSettings,
    /// The directory that it was opened for.
    pub root: PathBuf,
    /// The drafted directories: the root, and what belongs to it elsewhere.
    pub layers: Vec<DraftLayer>,
    /// When it was opened, in ms since 1970.
    pub created_at: u64,
    /// The time from which on changes of the base were made beside the draft.
    pub began: FileTime,
    /// How often it was committed.
    pub generation: u64,
    /// Whether a commit has begun.
    pub state: DraftState,
    /// The commit that has begun.
    pub commit: Option<BegunCommit>,
}

/// A commit that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BegunCommit {
    /// The run of undo that records it.
    pub run: String,
    /// The store that has the run.
    pub undo: PathBuf,
    /// The paths that are committed. Empty: all.
    pub paths: Vec<PathBuf>,
}

/// A record of the file `memory`. A path need not be text.
#[derive(Serialize, Deserialize)]
struct MemoryRecord {
    #[serde(with = "protocol::plan::bytes::path")]
    path: PathBuf,
    thing: BaseThing,
}

/// The directory of all drafts. Cheap to clone, and holds nothing open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftStore {
    path: PathBuf,
}

/// A draft on disk.
#[derive(Debug, Clone)]
pub struct StoredDraft {
    path: PathBuf,
    #[expect(missing_docs, reason = "the draft")]
    pub record: DraftRecord,
}

/// A draft that no other process uses.
#[derive(Debug)]
pub struct LockedDraft {
    pub(super) draft: StoredDraft,
    _lock: File,
}

impl DraftStore {
    /// Names the store. Creates nothing.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Begins a draft of directories, the first of which is its root.
    ///
    /// # Errors
    /// If a directory cannot be drafted, or nothing can be written.
    pub fn begin(&self, id: &str, settings: DraftSettings, bases: &[PathBuf]) -> Result<StoredDraft, DraftError> {
        let root = bases.first().cloned().unwrap_or_default();
        self.check_root(&root)?;
        self.make(id, bases, |path, layers| {
            let began = wait_for_next_time(path).map_err(system_error(path))?;
            let (id, created_at, state) = (id.to_owned(), now_ms(), DraftState::Open);
            Ok(DraftRecord { id, settings, root, layers, created_at, began, generation: 0, state, commit: None })
        })
    }

    /// Makes a draft in a directory of its own, with a room for each base. If that fails, nothing is left.
    fn make(
        &self,
        id: &str,
        bases: &[PathBuf],
        fill: impl FnOnce(&Path, Vec<DraftLayer>) -> Result<DraftRecord, DraftError>,
    ) -> Result<StoredDraft, DraftError> {
        let path = self.path.join(id);
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path).map_err(system_error(&path))?;
        DirBuilder::new().mode(0o700).create(&path).map_err(system_error(&path))?;
        let mut layers = Vec::new();
        let fill_rooms = || {
            for (number, base) in bases.iter().enumerate() {
                layers.push(make_room(&path, number, base)?);
            }
            let draft = StoredDraft { path: path.clone(), record: fill(&path, layers.clone())? };
            let lock = DraftedTree::lock_of(&path);
            File::options().write(true).create_new(true).mode(0o600).open(&lock).map_err(system_error(&lock))?;
            draft.save().map(|()| draft)
        };
        let made = fill_rooms();
        if made.is_err() {
            for room in layers.iter().map(|layer| &layer.room).chain([&path]) {
                let _not_more = remove_all(room);
            }
        }
        made
    }

    /// Fails if a directory cannot be drafted.
    fn check_root(&self, root: &Path) -> Result<(), DraftError> {
        let refused = |why| Err(DraftError::Root { root: root.to_owned(), why });
        if root.parent().is_none() {
            return refused("it is the root of the file system");
        }
        if self.path.starts_with(root) {
            return refused("it holds the store of drafts");
        }
        let is_below = |draft: &StoredDraft| draft.record.root != root && draft.record.root.starts_with(root);
        if self.list().iter().any(is_below) {
            return refused("a draft of a directory in it is open");
        }
        Ok(())
    }

    /// Opens a draft.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn find(&self, id: &str) -> Result<StoredDraft, DraftError> {
        let path = self.path_of(id)?;
        let record = read_record(&path)?.ok_or_else(|| DraftError::Unknown(id.to_owned()))?;
        Ok(StoredDraft { path, record })
    }

    fn path_of(&self, id: &str) -> Result<PathBuf, DraftError> {
        let is_name = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if is_name { Ok(self.path.join(id)) } else { Err(DraftError::Unknown(id.to_owned())) }
    }

    /// Opens a draft for a command, and marks it as used until the file is closed in all processes.
    ///
    /// # Errors
    /// If there is none, or it is being committed, forked or discarded.
    pub fn enter(&self, id: &str) -> Result<(StoredDraft, File), DraftError> {
        let held = open_lock(&self.path_of(id)?, id)?;
        held.try_lock_shared().map_err(|_| DraftError::Busy(id.to_owned()))?;
        Ok((self.find(id)?, held))
    }

    /// Removes a draft that is no longer kept.
    ///
    /// # Errors
    /// If a command runs in it, or something cannot be removed.
    pub fn remove_if_expired(&self, id: &str) -> Result<(), DraftError> {
        match self.find(id) {
            Ok(draft) if draft.is_expired() => draft.lock()?.discard(),
            Ok(_) | Err(DraftError::Unknown(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes the drafts that are no longer kept, and what a process left that was killed while it made or removed
    /// one. One that is in use stays.
    pub fn sweep(&self) {
        let names = fs::read_dir(&self.path).into_iter().flatten().flatten();
        for entry in names.filter_map(|entry| entry.file_name().into_string().ok()) {
            match self.find(&entry) {
                Ok(_) => {
                    let _in_use = self.remove_if_expired(&entry);
                }
                Err(DraftError::Unknown(_)) => {
                    let path = self.path.join(&entry);
                    let age = fs::metadata(&path).and_then(|data| data.modified()).ok();
                    if age.and_then(|since| since.elapsed().ok()).is_some_and(|age| age > HALF_MADE) {
                        let _not_more = remove_all(&path);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns all drafts, the newest first. Those that cannot be read are left out.
    pub fn list(&self) -> Vec<StoredDraft> {
        let names = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut drafts: Vec<_> = names.filter_map(|entry| self.find(entry.file_name().to_str()?).ok()).collect();
        drafts.sort_by_key(|draft| std::cmp::Reverse(draft.record.created_at));
        drafts
    }
}

impl StoredDraft {
    /// Returns the draft as the policy of its commands has it.
    pub fn tree(&self) -> DraftedTree {
        let directory = |layer: &DraftLayer| DraftedDirectory {
            base: layer.base.clone(),
            upper: layer.upper(),
            work: layer.work(),
        };
        let directories = self.record.layers.iter().map(directory).collect();
        let DraftRecord { generation, settings: DraftSettings { max_bytes, .. }, .. } = self.record;
        DraftedTree { room: self.path.clone(), generation, max_bytes, directories }
    }

    fn failed(&self, name: &str) -> impl Fn(io::Error) -> DraftError + use<> {
        system_error(&self.path.join(name))
    }

    /// Writes the record.
    pub(super) fn save(&self) -> Result<(), DraftError> {
        let text = serde_json::to_vec(&self.record).map_err(|error| self.failed(RECORD)(error.into()))?;
        let next = self.path.join(".draft.json");
        let written = File::options().write(true).create(true).truncate(true).mode(0o600).open(&next);
        let written = written.and_then(|mut file| file.write_all(&text));
        written.and_then(|()| fs::rename(&next, self.path.join(RECORD))).map_err(self.failed(RECORD))
    }

    /// Takes the draft for this process alone. A command that is ending is awaited.
    ///
    /// # Errors
    /// If a command runs in it.
    pub fn lock(self) -> Result<LockedDraft, DraftError> {
        let file = open_lock(&self.path, &self.record.id)?;
        let give_up = Instant::now() + LAST_COMMAND;
        while file.try_lock().is_err() {
            if Instant::now() >= give_up {
                return Err(DraftError::Busy(self.record.id));
            }
            thread::sleep(TRY_EVERY);
        }
        // Another process may have committed it meanwhile.
        let record = read_record(&self.path)?.ok_or_else(|| DraftError::Unknown(self.record.id.clone()))?;
        Ok(LockedDraft { draft: Self { record, ..self }, _lock: file })
    }

    /// Counts a command, which begins now. `is_listed`: whether it is in the ledger. `actor`: who asked for it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn count_run(&self, is_listed: bool, actor: Option<&impl Serialize>) -> Result<(), DraftError> {
        if let Some(actor) = actor {
            let first = File::options().write(true).create_new(true).mode(0o600).open(self.path.join(ACTOR));
            let _is_known = first.and_then(|file| Ok(serde_json::to_writer(file, actor)?));
        }
        let file = File::options().append(true).create(true).mode(0o600).open(self.path.join(RUNS));
        file.and_then(|mut file| file.write_all(if is_listed { LISTED } else { b"1" })).map_err(self.failed(RUNS))
    }

    /// Returns whether a command of the draft is in the ledger.
    pub fn is_listed(&self) -> bool {
        fs::read(self.path.join(RUNS)).is_ok_and(|runs| runs.contains(&LISTED[0]))
    }

    /// Returns who asked for the first command of which that is known.
    pub fn actor<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&fs::read(self.path.join(ACTOR)).ok()?).ok()
    }

    /// Returns how many commands have begun, and when the last one did, in ms since 1970. Without one, when the draft
    /// was opened.
    pub fn use_of(&self) -> (u64, u64) {
        let of = |data: fs::Metadata| {
            let since = data.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            Some((data.len(), u64::try_from(since.as_millis()).ok()?))
        };
        let (runs, last) = fs::metadata(self.path.join(RUNS)).ok().and_then(of).unwrap_or_default();
        // The clock of files ticks later.
        (runs, last.max(self.record.created_at))
    }

    /// Marks the draft as open in this process, until the file is closed.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn open_here(&self) -> Result<File, DraftError> {
        let hosts = self.path.join(HOSTS);
        let opened = || {
            DirBuilder::new().recursive(true).mode(0o700).create(&hosts)?;
            let mut options = File::options();
            options.write(true).create(true).truncate(false).mode(0o600);
            let file = sys::open_regular(&hosts.join(std::process::id().to_string()), &mut options)?;
            file.lock_shared()?;
            io::Result::Ok(file)
        };
        opened().map_err(self.failed(HOSTS))
    }

    /// Returns the processes that have the draft open, sorted.
    pub fn hosts(&self) -> Vec<u32> {
        let entries = fs::read_dir(self.path.join(HOSTS)).into_iter().flatten().flatten();
        let is_open = |entry: &fs::DirEntry| {
            let file = sys::open_regular(&entry.path(), File::options().read(true));
            file.is_ok_and(|file| file.try_lock().is_err())
        };
        let open = entries.filter(is_open).filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut open: Vec<u32> = open.collect();
        open.sort_unstable();
        open
    }

    /// Returns whether the time for which the draft is kept is over.
    fn is_expired(&self) -> bool {
        match self.record.settings.keep {
            DraftRetention::Hosts => self.hosts().is_empty(),
            DraftRetention::Unused(most) => now_ms().saturating_sub(self.use_of().1) > most && self.hosts().is_empty(),
        }
    }

    /// Returns the bytes on the disk of what the draft has changed.
    pub fn bytes(&self) -> u64 {
        let uppers: Vec<_> = self.record.layers.iter().map(DraftLayer::upper).collect();
        DiskUsageCount::of(uppers.iter().map(PathBuf::as_path)).advance(usize::MAX).unwrap_or_default()
    }

    /// Reads what the draft has found in its base. A record that was not written to its end is left out.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn memory(&self) -> Result<BaseMemory, DraftError> {
        let bytes = match fs::read(self.path.join(MEMORY)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(self.failed(MEMORY))?,
        };
        let mut memory = BaseMemory::default();
        let mut rest = bytes.as_slice();
        while let Ok((MemoryRecord { path, thing }, left)) = postcard::take_from_bytes(rest) {
            memory.insert(path, thing);
            rest = left;
        }
        Ok(memory)
    }

    /// Appends things of the base to the memory.
    pub(super) fn remember(&self, found: &[(PathBuf, BaseThing)]) -> Result<(), DraftError> {
        if found.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for (path, thing) in found {
            let record = MemoryRecord { path: path.clone(), thing: thing.clone() };
            bytes =
                postcard::to_extend(&record, bytes).map_err(|error| self.failed(MEMORY)(io::Error::other(error)))?;
        }
        let file = File::options().append(true).create(true).mode(0o600).open(self.path.join(MEMORY));
        file.and_then(|mut file| file.write_all(&bytes)).map_err(self.failed(MEMORY))
    }

    /// Keeps contents of the base. Returns their place; `None`: they cannot be written.
    pub(super) fn keep(&self, contents: &[u8]) -> Option<u64> {
        let mut file = File::options().append(true).create(true).mode(0o600).open(self.path.join(ANCESTORS)).ok()?;
        file.write_all(contents).ok()?;
        // Another process may write to it as well.
        file.stream_position().ok()?.checked_sub(contents.len() as u64)
    }

    /// Returns the contents of a thing of the base, if they were kept.
    pub(super) fn kept(&self, thing: &BaseThing) -> Option<Vec<u8>> {
        let (place, file) = thing.kept.zip(thing.state.file())?;
        let mut contents = vec![0; usize::try_from(file.size.min(MOST_KEPT)).ok()?];
        File::open(self.path.join(ANCESTORS)).ok()?.read_exact_at(&mut contents, place).ok()?;
        (Some(hash_bytes(&contents)) == thing.contents).then_some(contents)
    }

    /// Remembers the base at the paths that commands have touched for the first time. Returns how many files cannot be
    /// remembered, since others changed them first.
    ///
    /// # Errors
    /// If something cannot be read or written.
    pub fn note_touched(&self) -> Result<usize, DraftError> {
        let mut memory = self.memory()?;
        let of = |layer: &DraftLayer| {
            let changes = layer.changes(&|_| false).map_err(self.failed(UPPER))?;
            self.note(&changes, &mut memory)
        };
        self.record.layers.iter().map(of).sum()
    }

    /// Remembers the base at those of these changes that are not in the memory yet. Returns how many cannot be
    /// remembered, since others changed them first.
    fn note(&self, changes: &[LayerChange], memory: &mut BaseMemory) -> Result<usize, DraftError> {
        let (found, changed) = memory.unnoted(changes, self.record.began, &mut |bytes| self.keep(bytes));
        self.remember(&found)?;
        found.into_iter().for_each(|(path, thing)| memory.insert(path, thing));
        Ok(changed)
    }

    /// Returns whether the draft has noted anything of its base.
    pub fn has_noted(&self) -> bool {
        self.path.join(MEMORY).exists()
    }

    /// Returns how many files that the draft has changed were changed in the base as well, as far as that was noted.
    /// `None`: the draft has changed too many for an answer between two commands.
    pub fn changed_outside(&self) -> Option<usize> {
        let noted = fs::metadata(self.path.join(MEMORY)).map_or(0, |data| data.len());
        let memory = if noted <= MOST_NOTED { self.memory().ok()? } else { return None };
        let is_in_draft = |path: &&Path| {
            let place = self.record.layers.iter().find_map(|layer| layer.place_of(path));
            place.is_some_and(|place| fs::symlink_metadata(place).is_ok())
        };
        Some(memory.changed_files(self.record.began).filter(is_in_draft).count())
    }

    /// Returns the differences of each layer.
    ///
    /// # Errors
    /// If something cannot be read.
    pub fn differences(&self) -> Result<Vec<Vec<DraftDifference>>, DraftError> {
        self.differences_within(&|_| true)
    }

    /// Returns the differences that a commit of these paths has to know, without paths a commit of all: a directory
    /// that the base does not have is moved as a whole, however much is in it.
    ///
    /// # Errors
    /// As [`StoredDraft::differences`].
    pub fn differences_to_commit(&self, paths: &[PathBuf]) -> Result<Vec<Vec<DraftDifference>>, DraftError> {
        self.differences_within(&|directory| paths.iter().any(|path| path != directory && is_within(path, directory)))
    }

    /// Returns the differences of each layer. `into`: whether those in a new directory are wanted. What others have put
    /// in the place of a directory is no reason to leave its entries out.
    fn differences_within(&self, into: &dyn Fn(&Path) -> bool) -> Result<Vec<Vec<DraftDifference>>, DraftError> {
        let mut memory = self.memory()?;
        let of = |layer: &DraftLayer| {
            let was_directory = |path: &Path| memory.get(path).is_some_and(|seen| seen.state.is_directory());
            let changes = layer.changes(&|path| into(path) || was_directory(path)).map_err(self.failed(UPPER))?;
            self.note(&changes, &mut memory)?;
            differences(layer, changes, self.record.began, &memory).map_err(self.failed(UPPER))
        };
        self.record.layers.iter().map(of).collect()
    }
}

impl LockedDraft {
    /// Removes the draft with all its changes.
    ///
    /// # Errors
    /// If something cannot be removed. The draft is unknown from then on.
    pub fn discard(self) -> Result<(), DraftError> {
        let StoredDraft { path, record } = self.draft;
        fs::remove_file(path.join(RECORD)).map_err(system_error(&path))?;
        for room in record.layers.iter().map(|layer| &layer.room) {
            remove_all(room).map_err(system_error(room))?;
        }
        fs::remove_dir_all(&path).map_err(system_error(&path))
    }

    /// Begins another draft with the changes of this one.
    ///
    /// # Errors
    /// If something cannot be read or written. Nothing of the new draft is left then.
    pub fn fork(&self, store: &DraftStore, id: &str, name: Option<String>) -> Result<StoredDraft, DraftError> {
        let StoredDraft { path: from, record } = &self.draft;
        let bases: Vec<_> = record.layers.iter().map(|layer| layer.base.clone()).collect();
        store.make(id, &bases, |path, layers| {
            for (from, to) in record.layers.iter().zip(&layers) {
                LayerCopier::for_layer().copy_entries(&from.upper(), &to.upper()).map_err(system_error(&to.room))?;
            }
            for name in [MEMORY, ANCESTORS] {
                match fs::copy(from.join(name), path.join(name)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(system_error(path)(error)),
                    _ => {}
                }
            }
            let settings = DraftSettings { name, ..record.settings.clone() };
            Ok(DraftRecord { id: id.to_owned(), settings, layers, created_at: now_ms(), ..record.clone() })
        })
    }
}

/// Opens the file that is locked by those who use a draft.
fn open_lock(path: &Path, id: &str) -> Result<File, DraftError> {
    let mut options = File::options();
    options.read(true).write(true);
    let lock = DraftedTree::lock_of(path);
    match sys::open_regular(&lock, &mut options) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(DraftError::Unknown(id.to_owned())),
        opened => opened.map_err(system_error(&lock)),
    }
}

/// Reads the record of a draft. `None`: there is none.
fn read_record(path: &Path) -> Result<Option<DraftRecord>, DraftError> {
    let read = match fs::read(path.join(RECORD)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.and_then(|text| Ok(serde_json::from_slice(&text)?)),
    };
    read.map(Some).map_err(system_error(path))
}

/// Returns a time, and waits until files that change get a later one.
fn wait_for_next_time(directory: &Path) -> io::Result<FileTime> {
    let began = FileTime::now();
    let probe = directory.join(RUNS);
    loop {
        fs::write(&probe, "")?;
        let data = fs::metadata(&probe)?;
        if (FileTime { seconds: data.ctime(), nanoseconds: data.ctime_nsec() }) > began {
            return Ok(began);
        }
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
}
