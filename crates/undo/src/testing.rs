//! A directory with a store beside it, and a program that records its changes there.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::change_journal::{ChangeJournal, ComingChange, JournalError};
use super::execution::undo_with;
use super::manifest::{ManifestHeader, ManifestPurpose, VERSION};
use super::path_lookup::RoutedPath;
use super::path_state::{ExtendedAttribute, FileTime};
use super::run_images::{UndoLimits, set_mtime};
use super::store::UndoStore;
use super::{UndoError, UndoOutcome, UndoRequest, path_lookup, undo};
use protocol::task::MachineIdentity;

pub struct UndoScene {
    _dir: TempDir,
    pub root: PathBuf,
    pub store: UndoStore,
}

/// The thing at a path, as far as an undo restores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedThing {
    pub what: String,
    mode: u32,
    owner: (u32, u32),
    xattrs: Vec<ExtendedAttribute>,
    /// The first of all names of the same file.
    first: PathBuf,
}

pub type ObservedTree = BTreeMap<PathBuf, ObservedThing>;

impl UndoScene {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().canonicalize().expect("real");
        let root = base.join("tree");
        fs::create_dir(&root).expect("made");
        let store = UndoStore::open(&base.join("store")).expect("opened");
        Self { _dir: dir, root, store }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    pub fn header(&self, run: &str) -> ManifestHeader {
        let now = FileTime::now();
        ManifestHeader {
            version: VERSION,
            run: run.into(),
            command: "test".into(),
            cwd: self.root.clone(),
            at: u64::try_from(now.seconds * 1000 + now.nanoseconds / 1_000_000).expect("after 1970"),
            machine: MachineIdentity::default(),
            purpose: ManifestPurpose::Undo,
            tree: PathBuf::new(),
        }
    }

    pub fn begin(&self, run: &str) -> RecordedProgram {
        let journal = ChangeJournal::begin(&self.store, self.header(run), UndoLimits::default()).expect("begun");
        RecordedProgram { root: self.root.clone(), journal }
    }

    /// Runs a program and ends its record.
    pub fn run(&self, run: &str, program: impl FnOnce(&mut RecordedProgram)) {
        let mut begun = self.begin(run);
        program(&mut begun);
        begun.journal.finish(Vec::new()).expect("finished");
    }

    pub fn undo(&self, run: &str) -> UndoOutcome {
        undo(&self.store, run, UndoRequest::default()).expect("undone")
    }

    /// Stops an undo before this step, counted from 0. Returns whether it has so many.
    pub fn undo_until(&self, run: &str, step: usize) -> bool {
        let mut count = 0;
        let mut stops = |_: &str| {
            count += 1;
            count > step
        };
        match undo_with(&self.store, run, UndoRequest::default(), &mut stops) {
            Ok(_) => false,
            Err(UndoError::Stopped) => true,
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns the names of all that is in the directory.
    pub fn names(&self) -> Vec<PathBuf> {
        let mut names = Vec::new();
        walk(&self.root, &mut |path| names.push(path.to_owned()));
        names
    }

    pub fn snapshot(&self) -> ObservedTree {
        snapshot(&self.root)
    }
}

/// All that is below a directory.
pub fn snapshot(root: &Path) -> ObservedTree {
    let mut found = ObservedTree::new();
    let mut firsts = HashMap::new();
    walk(root, &mut |path| {
        let data = fs::symlink_metadata(path).expect("there");
        let kind = data.file_type();
        let what = if kind.is_file() {
            format!("file {}", String::from_utf8_lossy(&fs::read(path).expect("read")))
        } else if kind.is_symlink() {
            format!("link {}", fs::read_link(path).expect("read").display())
        } else if kind.is_dir() {
            "directory".to_owned()
        } else {
            "other".to_owned()
        };
        let relative = path.strip_prefix(root).expect("below").to_owned();
        let first = if kind.is_file() {
            firsts.entry(data.ino()).or_insert_with(|| relative.clone()).clone()
        } else {
            PathBuf::new()
        };
        let xattrs = path_lookup::read_state(path).expect("read").meta().expect("there").xattrs.clone();
        let mode = if kind.is_symlink() { 0 } else { data.mode() };
        found.insert(relative, ObservedThing { what, mode, owner: (data.uid(), data.gid()), xattrs, first });
    });
    found
}

fn walk(directory: &Path, visit: &mut dyn FnMut(&Path)) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(directory).expect("read").map(|entry| entry.expect("read").path()).collect();
    entries.sort();
    for path in entries {
        visit(&path);
        if path.is_dir() && !path.is_symlink() {
            walk(&path, visit);
        }
    }
}

/// A program that records each change before it makes it.
pub struct RecordedProgram {
    root: PathBuf,
    pub journal: ChangeJournal,
}

impl RecordedProgram {
    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn touch(&mut self, path: &Path, change: ComingChange<'_>) {
        match self.journal.record_before_change(path, change) {
            Ok(()) | Err(JournalError::NotKept(_)) => {}
            Err(JournalError::System(error)) => panic!("{}: {error}", path.display()),
        }
    }

    /// Writes to a file, in place.
    pub fn write(&mut self, name: &str, text: &str) -> io::Result<()> {
        let path = self.path(name);
        if path.is_symlink() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.touch(&path, if path.exists() { ComingChange::Rewrite } else { ComingChange::Create });
        fs::write(path, text)
    }

    /// Writes another file and renames it over the name.
    pub fn replace(&mut self, name: &str, text: &str) -> io::Result<()> {
        let next = format!("{name}.tmp");
        self.write(&next, text)?;
        self.rename(&next, name)
    }

    pub fn remove(&mut self, name: &str) -> io::Result<()> {
        let path = self.path(name);
        self.touch(&path, ComingChange::Remove);
        if path.is_dir() && !path.is_symlink() { fs::remove_dir(path) } else { fs::remove_file(path) }
    }

    /// As `rm -r`.
    pub fn remove_all(&mut self, name: &str) -> io::Result<()> {
        let mut paths = Vec::new();
        if self.path(name).is_dir() && !self.path(name).is_symlink() {
            walk(&self.path(name), &mut |path| paths.push(path.strip_prefix(&self.root).expect("below").to_owned()));
        }
        for path in paths.into_iter().rev() {
            self.remove(path.to_str().expect("text"))?;
        }
        self.remove(name)
    }

    pub fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (self.path(from), self.path(to));
        self.touch(&from, ComingChange::Rename(RoutedPath::from(&to)));
        fs::rename(from, to)
    }

    #[cfg(target_os = "linux")]
    pub fn swap(&mut self, one: &str, other: &str) -> io::Result<()> {
        use std::os::fd::AsFd;
        let (one, other) = (self.path(one), self.path(other));
        if !one.exists() || !other.exists() {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.touch(&one, ComingChange::Swap(RoutedPath::from(&other)));
        let c_string = |path: &Path| std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).expect("no NUL");
        let here = fs::File::open(&self.root)?;
        let (first, second) = (c_string(&one), c_string(&other));
        Ok(sys::rename_file((here.as_fd(), &first), (here.as_fd(), &second), libc::RENAME_EXCHANGE)?)
    }

    /// Tests of swaps run on Linux.
    #[cfg(not(target_os = "linux"))]
    pub fn swap(&mut self, _one: &str, _other: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn make_directory(&mut self, name: &str) -> io::Result<()> {
        let path = self.path(name);
        self.touch(&path, ComingChange::MakeDirectory);
        fs::create_dir(path)
    }

    pub fn link(&mut self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (self.path(from), self.path(to));
        self.touch(&from, ComingChange::Link(RoutedPath::from(&to)));
        fs::hard_link(from, to)
    }

    pub fn symlink(&mut self, target: &str, name: &str) -> io::Result<()> {
        let path = self.path(name);
        self.touch(&path, ComingChange::Create);
        symlink(target, path)
    }

    pub fn set_mode(&mut self, name: &str, mode: u32) -> io::Result<()> {
        let path = self.path(name);
        if path.is_symlink() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.touch(&path, ComingChange::Meta);
        fs::set_permissions(path, Permissions::from_mode(mode))
    }

    /// Sets the time of a file, in seconds since 1970, and nothing else of it.
    pub fn set_time(&mut self, name: &str, seconds: i64) -> io::Result<()> {
        let path = self.path(name);
        self.touch(&path, ComingChange::Times);
        set_mtime(&path, FileTime { seconds, nanoseconds: 0 })
    }

    pub fn set_attribute(&mut self, name: &str, value: &str) -> io::Result<()> {
        let path = self.path(name);
        if path.is_symlink() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.touch(&path, ComingChange::Meta);
        sys::set_attribute(&path, "user.test".as_ref(), value.as_bytes())
    }
}
