//! What a command leaves in repositories that it has made: settings, hooks and steps of a rebase by which git runs
//! programs. A user would run them with the next `git status`, outside. So they are put out of force when the command
//! ends: each moves aside, and git does not know its new name.
//!
//! Repositories of before are protected, but for the steps of a rebase. A directory becomes a repository by a name that
//! the command creates, or by its move.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::journal::{Act, Change, Journal, Spot};
use super::links::{shown, text};
use super::perform::Bounds;
use super::place::{Base, last};
use crate::git_settings::harmless;
use crate::{DenialKind, Denials, Policy, WorldFacts};
use sys::{DIRECTORY, Follow, REGULAR};

/// Names whose appearance may make their directory one in which git finds something to run.
const NAMES: [&[u8]; 9] =
    [b".git", b"HEAD", b"commondir", b"config", b"config.worktree", b"hooks", b"objects", b"refs", b"git-rebase-todo"];
/// The end of the name of what was put out of force.
const ASIDE: &str = ".agent-bash";
/// The most directories that are remembered for one command, and that are searched below a moved one.
const MOST: usize = 10_000;
/// The most directories of which it is known that the command has made them.
const MADE: usize = 200_000;
/// The largest file that is read, bytes.
const READ: u64 = 1 << 20;
const PLAIN: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// The directories that a command may have made repositories.
#[derive(Debug)]
pub(super) struct RepositoriesLeft {
    /// When the command began, as the time of a file.
    begun: (i64, u32),
    /// Directories in which names appeared.
    named: BTreeSet<PathBuf>,
    /// Directories that were moved.
    moved: BTreeSet<PathBuf>,
    /// Directories that the command has made: by device and inode, the time of their birth.
    made: HashMap<Id, Option<(i64, u32)>>,
}

/// The device and the inode of a directory.
type Id = ((u32, u32), u64);

/// Files in the `hooks` of a repository that git runs.
const HOOKS: [&[u8]; 28] = [
    b"applypatch-msg",
    b"commit-msg",
    b"fsmonitor-watchman",
    b"p4-changelist",
    b"p4-post-changelist",
    b"p4-pre-submit",
    b"p4-prepare-changelist",
    b"post-applypatch",
    b"post-checkout",
    b"post-commit",
    b"post-index-change",
    b"post-merge",
    b"post-receive",
    b"post-rewrite",
    b"post-update",
    b"pre-applypatch",
    b"pre-auto-gc",
    b"pre-commit",
    b"pre-merge-commit",
    b"pre-push",
    b"pre-rebase",
    b"pre-receive",
    b"prepare-commit-msg",
    b"proc-receive",
    b"push-to-checkout",
    b"reference-transaction",
    b"sendemail-validate",
    b"update",
];
/// Entries of a repository by which git runs something.
const ENTRIES: [&[u8]; 4] = [b"config", b"config.worktree", b"hooks", b"commondir"];

impl RepositoriesLeft {
    /// Begins with a command.
    pub fn now() -> Self {
        let (named, moved, made) = (BTreeSet::new(), BTreeSet::new(), HashMap::new());
        Self { begun: WorldFacts::now(), named, moved, made }
    }

    /// Returns whether a name may make its directory one in which git finds something to run.
    pub fn counts(name: &[u8]) -> bool {
        NAMES.contains(&name)
    }

    /// Returns whether git may run something by an entry with this name.
    pub fn runs(name: &[u8]) -> bool {
        ENTRIES.contains(&name) || HOOKS.contains(&name)
    }

    /// Remembers a directory that the command has made.
    pub fn makes(&mut self, directory: &Base, name: &CStr) {
        if let Ok(made) = sys::being(directory.descriptor(), name, false)
            && self.made.len() < MADE
        {
            self.made.insert((made.device, made.inode), made.born);
        }
    }

    /// Returns whether a file is such an entry of a repository that another process has made. A directory of before the
    /// command was no repository then, or its entries would be protected.
    pub fn foreign(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().as_bytes();
        let Some(above) = path.parent() else { return false };
        let is_hook = HOOKS.contains(&name) && above.file_name().is_some_and(|name| name == "hooks");
        let git = if is_hook { above.parent() } else { Some(above).filter(|_| ENTRIES.contains(&name)) };
        let Some(git) = git.and_then(|git| text(git.as_os_str().as_bytes()).ok()) else { return false };
        let Ok(directory) = sys::open_directory(AT_FDCWD, &git, Follow::Nothing) else { return false };
        let is_own = |found: sys::Being| {
            found.born.is_some_and(|born| born < self.begun)
                || self.made.get(&(found.device, found.inode)) == Some(&found.born)
        };
        is_like_git(directory.as_fd()) && !sys::being(AT_FDCWD, &git, false).is_ok_and(is_own)
    }

    /// Remembers a directory in which a name appears, if the name counts.
    pub fn appears(&mut self, directory: &Base, name: &CStr) {
        let (_, bare) = last(name);
        if Self::counts(bare)
            && self.named.len() < MOST
            && let Ok(path) = shown(directory.descriptor())
        {
            self.named.insert(path);
        }
    }

    /// Remembers a name to which something was moved, if that is a directory.
    pub fn moves(&mut self, directory: &Base, name: &CStr) {
        self.appears(directory, name);
        let is_directory = sys::open_directory(directory.descriptor(), name, Follow::Nothing).is_ok();
        if is_directory
            && self.moved.len() < MOST
            && let Ok(path) = shown(directory.descriptor())
        {
            self.moved.insert(path.join(OsStr::from_bytes(last(name).1)));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.moved.is_empty()
    }

    /// Puts out of force what git would run. `is_left`: the command has left processes, which may have files open.
    pub fn settle(
        &mut self,
        policy: &Policy,
        bounds: Option<&Bounds>,
        journal: Option<&dyn Journal>,
        is_left: bool,
    ) -> Denials {
        if self.is_empty() {
            return Denials::default();
        }
        let (named, moved) = (std::mem::take(&mut self.named), std::mem::take(&mut self.moved));
        let protects = |name: &str| policy.protect.iter().any(|one| one == Path::new(name));
        let (config, hooks) = (protects(".git/config"), protects(".git/hooks"));
        let mut settling =
            RepositorySettlement { denials: Denials::default(), bounds, journal, is_left, config, hooks };
        if config || hooks {
            let below = moved.iter().flat_map(|path| directories_below(path));
            let known = named.iter().flat_map(|path| [path.clone(), path.join(".git")]);
            below.chain(known).collect::<BTreeSet<_>>().iter().for_each(|path| settling.look(path));
        }
        settling.denials
    }
}

/// Returns whether git may take a directory for a repository, or for a part of one.
fn is_like_git(directory: BorrowedFd<'_>) -> bool {
    let has = |name| sys::open_place(directory, name, false, Follow::Nothing).is_ok();
    has(c"objects") && has(c"refs") || has(c"commondir")
}

/// Returns a directory and some of those below it.
fn directories_below(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![path.to_owned()];
    let mut at = 0;
    while at < found.len() && found.len() < MOST {
        let entries = Dir::open(&found[at], PLAIN, Mode::empty());
        for entry in entries.into_iter().flat_map(Dir::into_iter).flatten() {
            let name = entry.file_name().to_bytes();
            if entry.file_type() == Some(Type::Directory) && !matches!(name, b"." | b"..") {
                found.push(found[at].join(OsStr::from_bytes(name)));
            }
        }
        at += 1;
    }
    found
}

struct RepositorySettlement<'a> {
    denials: Denials,
    bounds: Option<&'a Bounds>,
    journal: Option<&'a dyn Journal>,
    is_left: bool,
    config: bool,
    hooks: bool,
}

impl RepositorySettlement<'_> {
    /// Looks at a directory, which may be gone.
    fn look(&mut self, path: &Path) {
        let opened =
            text(path.as_os_str().as_bytes()).and_then(|path| sys::open_directory(AT_FDCWD, &path, Follow::Nothing));
        let Ok(directory) = opened else { return };
        let directory = Arc::new(directory);
        self.steps(&directory);
        if !is_like_git(directory.as_fd()) {
            return;
        }
        if self.config {
            self.settings(&directory, c"config");
            self.settings(&directory, c"config.worktree");
        }
        if self.hooks {
            self.hooks(&directory);
        }
    }

    /// Takes commands out of a configuration.
    fn settings(&mut self, directory: &Arc<OwnedFd>, name: &CStr) {
        let Some(bytes) = self.read(directory, name) else { return };
        let bytes = bytes.unwrap_or_else(|| b"?".to_vec());
        match harmless(&bytes) {
            Some(left) => self.replace(directory, name, &left),
            None if self.is_left => self.renew(directory, name, &bytes),
            None => {}
        }
    }

    /// Takes commands out of the steps of a rebase.
    fn steps(&mut self, directory: &Arc<OwnedFd>) {
        let Some(bytes) = self.read(directory, c"git-rebase-todo") else { return };
        let bytes = bytes.unwrap_or_default();
        let runs = |line: &[u8]| {
            let word = line.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default();
            matches!(word, b"x" | b"exec")
        };
        let lines = || bytes.split(|byte| *byte == b'\n');
        if lines().any(runs) {
            let left: Vec<_> = lines().filter(|line| !runs(line)).collect();
            self.replace(directory, c"git-rebase-todo", &left.join(&b'\n'));
        }
    }

    /// Moves hooks aside.
    fn hooks(&mut self, directory: &Arc<OwnedFd>) {
        let Ok(hooks) = sys::open_path(directory.as_fd(), c"hooks", PLAIN.bits(), 0, Follow::Nothing) else {
            if sys::open_place(directory.as_fd(), c"hooks", false, Follow::Nothing).is_ok() {
                self.aside(directory, c"hooks");
            }
            return;
        };
        let hooks = Arc::new(hooks);
        let Ok(entries) = Dir::openat(&*hooks, c".", PLAIN, Mode::empty()) else { return };
        let is_kept = |name: &[u8]| {
            matches!(name, b"." | b"..") || name.ends_with(b".sample") || name.ends_with(ASIDE.as_bytes())
        };
        let names = entries.into_iter().flatten().map(|entry| entry.file_name().to_owned());
        for name in names.filter(|name| !is_kept(name.to_bytes())).collect::<Vec<_>>() {
            let status = sys::open_place(hooks.as_fd(), &name, false, Follow::Nothing)
                .and_then(|place| sys::file_status(place.as_fd()));
            let is_inert =
                |status: sys::FileStatus| status.is(DIRECTORY) || status.is(REGULAR) && status.mode & 0o111 == 0;
            if !status.is_ok_and(is_inert) {
                self.aside(&hooks, &name);
            }
        }
    }

    /// Reads a file that may be changed. `Some(None)`: it is no file that git should read.
    fn read(&self, directory: &Arc<OwnedFd>, name: &CStr) -> Option<Option<Vec<u8>>> {
        let place = sys::open_place(directory.as_fd(), name, false, Follow::Nothing).ok()?;
        if !self.may_change(place.as_fd()) {
            return None;
        }
        let status = sys::file_status(place.as_fd()).ok()?;
        if !status.is(REGULAR) {
            return Some(None);
        }
        let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = sys::open_path(directory.as_fd(), name, flags, 0, Follow::Nothing);
        let Ok(file) = file.map(File::from) else { return Some(None) };
        let mut bytes = Vec::new();
        let read = file.take(READ + 1).read_to_end(&mut bytes).is_ok();
        Some((read && bytes.len() as u64 <= READ).then_some(bytes))
    }

    fn may_change(&self, place: BorrowedFd<'_>) -> bool {
        match self.bounds {
            Some(bounds) => shown(place).is_ok_and(|path| bounds.may_change(&path)),
            None => sys::is_read_only(place) == Ok(false),
        }
    }

    /// Puts an equal file in the place of one that a process may have open.
    fn renew(&self, directory: &Arc<OwnedFd>, name: &CStr, content: &[u8]) {
        let gone = unlinkat(&**directory, name, UnlinkatFlags::NoRemoveDir);
        if gone.is_ok() {
            self.write(directory, name, content);
        }
    }

    /// Writes a new file. Without it, git finds no settings.
    fn write(&self, directory: &Arc<OwnedFd>, name: &CStr, content: &[u8]) {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
        if let Ok(file) = sys::open_path(directory.as_fd(), name, flags, 0o644, Follow::Nothing) {
            let _ = File::from(file).write_all(content);
        }
    }

    /// Moves a file aside, and puts another one in its place.
    fn replace(&mut self, directory: &Arc<OwnedFd>, name: &CStr, content: &[u8]) {
        if !self.aside(directory, name) {
            return;
        }
        self.tell(directory, name, Act::Write);
        self.write(directory, name, content);
    }

    /// Moves an entry to a name that git does not know. Returns whether it has gone.
    fn aside(&mut self, directory: &Arc<OwnedFd>, name: &CStr) -> bool {
        let Ok(new) = CString::new([name.to_bytes(), ASIDE.as_bytes()].concat()) else { return false };
        if let Ok(to) = Spot::new(Arc::clone(directory), new.clone()) {
            self.tell(directory, name, Act::Rename(to));
        }
        let here = directory.as_fd();
        let moved = sys::rename_file((here, name), (here, &new), 0)
            .or_else(|_| unlinkat(&**directory, name, UnlinkatFlags::NoRemoveDir));
        let is_gone = moved.is_ok() || moved == Err(Errno::ENOENT);
        if let Ok(path) = shown(here) {
            let path = path.join(OsStr::from_bytes(name.to_bytes()));
            self.denials.add(DenialKind::Write, &path.to_string_lossy(), "git", None);
            self.denials.aside.push(path.to_string_lossy().into_owned());
        }
        is_gone
    }

    /// Reports a change to the journal, which must not prevent it.
    fn tell(&self, directory: &Arc<OwnedFd>, name: &CStr, act: Act) {
        let (Some(journal), Ok(spot)) = (self.journal, Spot::new(Arc::clone(directory), name.to_owned())) else {
            return;
        };
        let path = spot.path();
        if journal.before(&Change { spot, act }).is_err() {
            let _ = journal.miss(&path, "it was put out of force when the command ended");
        }
    }
}
