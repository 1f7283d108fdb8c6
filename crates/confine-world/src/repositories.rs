//! The git repositories below the write roots, kept up to date.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::dir::{Dir, Type};
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;

use sys::{DirectoryWatch, DirectoryWatchEvent, WatchId};

/// The repositories that were found, as directories and files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RepositoryFiles {
    /// Directories that contain `.git`.
    pub worktrees: BTreeSet<PathBuf>,
    /// Directories with `HEAD`, `config` and `hooks`, in repositories, submodules and worktrees.
    pub git: BTreeSet<PathBuf>,
    /// Files with the name `.git`, which lead to a repository.
    pub links: BTreeSet<PathBuf>,
    /// Directories in which registries keep their tasks.
    pub registries: BTreeSet<PathBuf>,
    /// Undo stores.
    pub stores: BTreeSet<PathBuf>,
}

/// Directories that one call scans before it returns. The rest of a large tree is scanned while commands run.
const AT_ONCE: usize = 500;
/// Directories that are scanned between two checks for waiting commands.
const MEANWHILE: usize = 50;
/// Directories that are scanned after all others, because they are large and rarely contain a repository.
const LATER: [&str; 4] = ["node_modules", "target", ".venv", "vendor"];

/// Finds repositories, and watches all directories in which a repository could appear.
#[derive(Debug)]
pub(super) struct RepositoryFinder {
    roots: Vec<PathBuf>,
    /// Git directories that are known, and lie below no root.
    known: Vec<PathBuf>,
    pub found: RepositoryFiles,
    /// Whether a watch is wanted.
    watches: bool,
    /// The watch. `None`: it is not wanted, or the kernel permits no more, so everything is scanned again each time.
    watch: Option<DirectoryWatch>,
    /// Whether the first watch, which other processes know, was replaced.
    replaced: bool,
    paths: HashMap<WatchId, PathBuf>,
    /// Directories to scan recursively, upper directories first. The second queue has the directories of [`LATER`].
    queues: [VecDeque<PathBuf>; 2],
}

impl RepositoryFinder {
    /// Scans the directories below these roots, and these git directories.
    pub fn scan_below(roots: Vec<PathBuf>, known: Vec<PathBuf>, watches: bool) -> Self {
        let queues = [VecDeque::new(), VecDeque::new()];
        let mut all = Self {
            roots,
            known,
            found: RepositoryFiles::default(),
            watches,
            watch: watches.then(DirectoryWatch::new).and_then(Result::ok),
            replaced: false,
            paths: HashMap::new(),
            queues,
        };
        all.begin_scan();
        all.scan_some(AT_ONCE);
        all
    }

    /// Handles the changes since the last call. Returns whether there were any.
    pub fn update(&mut self) -> bool {
        let changes = self.watch.as_ref().map(DirectoryWatch::take_changes);
        let changed = match changes {
            Some(Ok(DirectoryWatchEvent::Nothing)) => false,
            Some(Ok(DirectoryWatchEvent::Changed(changes))) => {
                let known: BTreeSet<PathBuf> =
                    changes.into_iter().filter_map(|(directory, name)| self.on_change(directory, &name)).collect();
                known.iter().for_each(|git| self.add_git(git));
                true
            }
            // Some changes were lost, or there is no watch.
            Some(Ok(DirectoryWatchEvent::Lost) | Err(_)) | None => {
                self.begin_scan();
                true
            }
        };
        self.scan_some(AT_ONCE) || changed
    }

    /// Returns the watch, if all changes since the beginning show in it.
    pub fn complete_watch(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().filter(|_| !self.replaced).map(AsFd::as_fd)
    }

    /// Returns whether there are directories that were not scanned yet.
    pub fn is_behind(&self) -> bool {
        self.queues.iter().any(|queue| !queue.is_empty())
    }

    /// Scans some of these directories.
    pub fn scan_queued(&mut self) {
        self.scan_some(MEANWHILE);
    }

    /// Scans at most this many directories. Returns whether any directory was scanned.
    fn scan_some(&mut self, most: usize) -> bool {
        let was_behind = self.is_behind();
        for _ in 0..most {
            let [first, later] = &mut self.queues;
            let Some(directory) = first.pop_front().or_else(|| later.pop_front()) else { break };
            self.scan(&directory, true);
        }
        was_behind
    }

    /// Handles a change. Returns the known repository that may have got a work tree or submodule by it.
    fn on_change(&mut self, directory: WatchId, name: &OsStr) -> Option<PathBuf> {
        let directory = self.paths.get(&directory).cloned()?;
        if name == ".git" || is_part_of_git(name) || PARTS_OF_OURS.iter().any(|part| name == *part) {
            self.forget_gone();
            self.scan(&directory, false);
        }
        let path = directory.join(name);
        if !path.symlink_metadata().is_ok_and(|data| data.is_dir()) {
            return None;
        }
        self.queues[0].push_back(path);
        self.found.git.iter().find(|git| directory.starts_with(git)).cloned()
    }

    /// Begins to scan everything.
    fn begin_scan(&mut self) {
        if self.watch.is_none() {
            self.watch = self.watches.then(DirectoryWatch::new).and_then(Result::ok);
            self.replaced = true;
        }
        self.paths.clear();
        self.forget_gone();
        self.queues = [self.roots.iter().cloned().collect(), VecDeque::new()];
        for git in self.known.clone() {
            self.add_git(&git);
        }
    }

    /// Forgets repositories that were removed.
    fn forget_gone(&mut self) {
        let RepositoryFiles { worktrees, git, links, registries, stores } = &mut self.found;
        registries.retain(|registry| registry.is_dir());
        stores.retain(|store| store.is_dir());
        worktrees.retain(|worktree| worktree.join(".git").symlink_metadata().is_ok());
        git.retain(|git| git.is_dir());
        links.retain(|link| link.is_file());
    }

    /// Scans a directory. If `below`, puts its subdirectories into the queues.
    fn scan(&mut self, directory: &Path, below: bool) {
        // The watch comes before the scan, so that no new entry is missed.
        self.watch_directory(directory);
        // The entries of a bare repository that were seen, one bit each.
        let mut bare = 0;
        let mut ours = [false; PARTS_OF_OURS.len()];
        let is_later = directory.components().any(|part| LATER.iter().any(|name| part.as_os_str() == *name));
        let scanned = for_each_entry(directory, |name, is_directory| {
            if let Some(bit) = BARE.iter().position(|part| name == *part) {
                bare |= 1 << bit;
            }
            if let Some(at) = PARTS_OF_OURS.iter().position(|part| is_directory && name == *part) {
                ours[at] = true;
            }
            if name == ".git" {
                self.add_worktree(directory, is_directory);
            } else if is_directory && below {
                let is_later = is_later || LATER.iter().any(|later| name == *later);
                self.queues[usize::from(is_later)].push_back(directory.join(name));
            }
        });
        if scanned.is_ok() && bare == (1 << BARE.len()) - 1 {
            self.add_git(directory);
        }
        let [running, points, kept] = ours;
        if running && directory.file_name().is_some_and(|name| name == TASKS) && is_private(directory) {
            self.found.registries.insert(directory.to_owned());
        }
        if points && kept && is_private(directory) {
            self.found.stores.insert(directory.to_owned());
        }
    }

    fn watch_directory(&mut self, directory: &Path) {
        match self.watch.as_ref().map(|watch| watch.add(directory)) {
            Some(Ok(id)) => {
                self.paths.insert(id, directory.to_owned());
            }
            // The directory is gone or may not be read. A command cannot create a repository there either.
            Some(Err(error)) if error.raw_os_error() != Some(libc::ENOSPC) => {}
            Some(Err(_)) | None => self.watch = None,
        }
    }

    fn add_worktree(&mut self, directory: &Path, is_directory: bool) {
        self.found.worktrees.insert(directory.to_owned());
        let git = directory.join(".git");
        if is_directory {
            self.add_git(&git);
        } else {
            self.found.links.insert(git);
        }
    }

    /// Adds the directory of a repository, and the directories of its submodules and worktrees.
    fn add_git(&mut self, git: &Path) {
        self.watch_directory(git);
        self.found.git.insert(git.to_owned());
        let worktrees = git.join("worktrees");
        self.watch_directory(&worktrees);
        for worktree in subdirectories(&worktrees) {
            self.watch_directory(&worktree);
            self.add_modules(&worktree.join("modules"));
            self.found.git.insert(worktree);
        }
        self.add_modules(&git.join("modules"));
    }

    /// Adds the directories of submodules. A submodule's name may have slashes.
    fn add_modules(&mut self, modules: &Path) {
        self.watch_directory(modules);
        for module in subdirectories(modules) {
            if module.join("HEAD").exists() { self.add_git(&module) } else { self.add_modules(&module) }
        }
    }
}

/// Entries of a bare repository.
const BARE: [&str; 3] = ["HEAD", "objects", "refs"];

/// The name of the directory in which a registry keeps its tasks.
const TASKS: &str = "tasks";
/// Directories by which our own are known: the one in that of a registry, and those of an undo store.
const PARTS_OF_OURS: [&str; 3] = ["running", "points", "kept"];

/// Returns whether nobody but its user may read a directory.
fn is_private(directory: &Path) -> bool {
    directory.symlink_metadata().is_ok_and(|data| data.mode() & 0o077 == 0)
}

/// Returns whether an entry with this name may belong to a repository, or turn its directory into one.
fn is_part_of_git(name: &OsStr) -> bool {
    BARE.into_iter().chain(["modules", "worktrees"]).any(|part| name == part)
}

/// Calls a closure with each name in a directory, and whether the entry is a directory. A directory may have very many
/// entries.
fn for_each_entry(directory: &Path, mut call: impl FnMut(&OsStr, bool)) -> io::Result<()> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
    for entry in Dir::open(directory, flags, Mode::empty())?.iter() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let is_directory = match entry.file_type() {
            Some(kind) => kind == Type::Directory,
            // The file system does not report the type.
            None => directory.join(name).symlink_metadata().is_ok_and(|data| data.is_dir()),
        };
        if name != "." && name != ".." {
            call(name, is_directory);
        }
    }
    Ok(())
}

/// Returns the subdirectories of a directory. Returns none if the directory cannot be read.
fn subdirectories(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let _ = for_each_entry(directory, |name, is_directory| {
        if is_directory {
            found.push(directory.join(name));
        }
    });
    found
}
