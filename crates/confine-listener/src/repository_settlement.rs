//! Puts out of force what git would run of what a command has left.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::file_change_journal::{DirectoryEntryLocation, FileChangeJournal, PendingChangeKind, PendingFileChange};
use super::perform::WorldBounds;
use super::proc_links::{c_string, path_of_open};
use confine_policy::{CommandDenials, ConfinementPolicy, DenialKind};
use confine_world::{git_settings::has_strategy_path, git_settings::without_dangerous_settings};
use sys::{DIRECTORY, LinkResolution, REGULAR};

/// Names whose appearance may make their directory one in which git finds something to run.
pub(super) const NAMES: [&[u8]; 11] = [
    b".git",
    b"HEAD",
    b"commondir",
    b"config",
    b"config.worktree",
    b"git-rebase-todo",
    b"hooks",
    b"objects",
    b"opts",
    b"refs",
    b"strategy",
];
const CONFIG: &str = ".git/config";
const HOOKS: &str = ".git/hooks";
/// The ending of the names of files that git must not find.
const ASIDE: &str = ".agent-bash";
/// The largest file that is read, bytes.
const READ: u64 = 1 << 20;
const PLAIN: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// The end of a command, as far as repositories are concerned.
pub(super) struct RepositorySettlement<'a> {
    denials: CommandDenials,
    policy: &'a ConfinementPolicy,
    bounds: Option<&'a WorldBounds>,
    journal: Option<&'a dyn FileChangeJournal>,
    /// The command has left processes.
    is_left: bool,
    /// Called for each directory.
    on_look: &'a dyn Fn(),
    /// Directories that the user may look into for now, and their modes.
    unlocked: Vec<(PathBuf, u32)>,
}

impl<'a> RepositorySettlement<'a> {
    pub fn new(
        policy: &'a ConfinementPolicy,
        bounds: Option<&'a WorldBounds>,
        journal: Option<&'a dyn FileChangeJournal>,
        is_left: bool,
        on_look: &'a dyn Fn(),
    ) -> Self {
        Self { denials: CommandDenials::default(), policy, bounds, journal, is_left, on_look, unlocked: Vec::new() }
    }

    fn protects(&self, name: &str) -> bool {
        self.policy.protect.iter().any(|one| one == Path::new(name))
    }

    /// Looks at directories in which names appeared, and below directories that were moved.
    pub fn settle_directories(mut self, named: &BTreeSet<PathBuf>, moved: BTreeSet<PathBuf>) -> CommandDenials {
        if self.protects(CONFIG) || self.protects(HOOKS) {
            let mut tops: Vec<_> = moved.into_iter().collect();
            tops.dedup_by(|path, top| path.starts_with(top));
            tops.into_iter().for_each(|path| self.inspect_tree(path));
            named.iter().for_each(|path| {
                (self.on_look)();
                self.inspect_directory(path);
                self.inspect_directory(&path.join(".git"));
            });
        }
        for (path, mode) in self.unlocked.iter().rev() {
            let _ = sys::set_mode(path, *mode);
        }
        self.denials
    }

    /// Looks at a directory and all below it.
    fn inspect_tree(&mut self, top: PathBuf) {
        let mut waiting = vec![top];
        while let Some(path) = waiting.pop() {
            (self.on_look)();
            let mut entries = Dir::open(&path, PLAIN, Mode::empty());
            if entries.as_ref().err() == Some(&Errno::EACCES) {
                self.unlock_directory(&path);
                entries = Dir::open(&path, PLAIN, Mode::empty());
            }
            let mut counts = false;
            for entry in entries.into_iter().flat_map(Dir::into_iter).flatten() {
                let name = entry.file_name().to_bytes();
                counts |= NAMES.contains(&name);
                if entry.file_type() == Some(Type::Directory) && !matches!(name, b"." | b"..") {
                    waiting.push(path.join(OsStr::from_bytes(name)));
                }
            }
            if counts {
                self.inspect_directory(&path);
            }
        }
    }

    /// Gives the user the rights to look into a directory. A command may have taken them away, for a later one to give
    /// them back.
    fn unlock_directory(&mut self, path: &Path) {
        for directory in path.ancestors().collect::<Vec<_>>().into_iter().rev() {
            let Ok(status) = directory.symlink_metadata() else { return };
            let mode = status.mode() & 0o7777;
            if status.is_dir()
                && mode & 0o700 != 0o700
                && self.may_change_at(directory)
                && sys::set_mode(directory, mode | 0o700).is_ok()
            {
                self.unlocked.push((directory.to_owned(), mode));
            }
        }
    }

    /// Opens a directory in which names can be found.
    fn open_searchable(&mut self, path: &Path) -> Option<OwnedFd> {
        let inside = c_string([path.as_os_str().as_bytes(), b"/."].concat()).ok()?;
        let open = || sys::open_directory(AT_FDCWD, &inside, LinkResolution::Nothing);
        open()
            .or_else(|errno| {
                if errno == Errno::EACCES {
                    self.unlock_directory(path);
                }
                open()
            })
            .ok()
    }

    /// Looks at a directory, which may be gone.
    fn inspect_directory(&mut self, path: &Path) {
        let Some(directory) = self.open_searchable(path).map(Arc::new) else { return };
        self.disarm_rebase_steps(&directory);
        self.disarm_strategy(&directory, path);
        // A later command may complete the repository, and its hooks would be protected from us by then.
        if !is_like_git(directory.as_fd()) && path.file_name() != Some(OsStr::new(".git")) {
            return;
        }
        if self.protects(CONFIG) {
            self.disarm_settings(&directory, c"config");
            self.disarm_settings(&directory, c"config.worktree");
        }
        if self.protects(HOOKS) {
            self.disarm_hooks(&directory);
        }
    }

    /// Takes commands out of a configuration.
    fn disarm_settings(&mut self, directory: &Arc<OwnedFd>, name: &CStr) {
        let Some(bytes) = self.read(directory, name) else { return };
        let bytes = bytes.unwrap_or_else(|| b"?".to_vec());
        let above = path_of_open(directory.as_fd()).unwrap_or_default();
        match without_dangerous_settings(&bytes, |work_tree| self.is_inside(&above.join(work_tree))) {
            Some(left) => self.replace_file(directory, name, &left),
            None if self.is_left => self.replace_by_equal(directory, name, &bytes),
            None => {}
        }
    }

    /// Takes commands out of the steps of a rebase.
    fn disarm_rebase_steps(&mut self, directory: &Arc<OwnedFd>) {
        let Some(bytes) = self.read(directory, c"git-rebase-todo") else { return };
        let bytes = bytes.unwrap_or_default();
        let runs = |line: &[u8]| {
            let word = line.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default();
            matches!(word, b"x" | b"exec")
        };
        let lines = || bytes.split(|byte| *byte == b'\n');
        if lines().any(runs) {
            let left: Vec<_> = lines().filter(|line| !runs(line)).collect();
            self.replace_file(directory, c"git-rebase-todo", &left.join(&b'\n'));
        }
    }

    /// Takes away a strategy that is the path of a program, with which a rebase, a cherry-pick or a revert would go on.
    fn disarm_strategy(&mut self, directory: &Arc<OwnedFd>, path: &Path) {
        let (name, is_path): (_, fn(&[u8]) -> bool) = match path.file_name().map(OsStr::as_bytes) {
            Some(b"rebase-merge") => (c"strategy", |text| text.contains(&b'/')),
            Some(b"sequencer") => (c"opts", has_strategy_path),
            _ => return,
        };
        if let Some(bytes) = self.read(directory, name)
            && bytes.is_none_or(|bytes| is_path(&bytes))
        {
            self.move_aside(directory, name);
        }
    }

    /// Moves hooks aside.
    fn disarm_hooks(&mut self, directory: &Arc<OwnedFd>) {
        let Ok(hooks) = sys::open_path(directory.as_fd(), c"hooks", PLAIN.bits(), 0, LinkResolution::Nothing) else {
            if sys::open_place(directory.as_fd(), c"hooks", false, LinkResolution::Nothing).is_ok() {
                self.move_aside(directory, c"hooks");
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
            let status = sys::open_place(hooks.as_fd(), &name, false, LinkResolution::Nothing)
                .and_then(|place| sys::file_status(place.as_fd()));
            let is_inert = |status: sys::FileStatus| {
                status.has_kind(DIRECTORY) || status.has_kind(REGULAR) && status.mode & 0o111 == 0
            };
            if !status.is_ok_and(is_inert) {
                self.move_aside(&hooks, &name);
            }
        }
    }

    /// Reads a file that may be changed. `Some(None)`: it is no file that git should read.
    fn read(&self, directory: &Arc<OwnedFd>, name: &CStr) -> Option<Option<Vec<u8>>> {
        let place = sys::open_place(directory.as_fd(), name, false, LinkResolution::Nothing).ok()?;
        if !self.may_change(place.as_fd()) {
            return None;
        }
        let status = sys::file_status(place.as_fd()).ok()?;
        if !status.has_kind(REGULAR) {
            return Some(None);
        }
        let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = sys::open_path(directory.as_fd(), name, flags, 0, LinkResolution::Nothing);
        let Ok(file) = file.map(File::from) else { return Some(None) };
        let mut bytes = Vec::new();
        let read = file.take(READ + 1).read_to_end(&mut bytes).is_ok();
        Some((read && bytes.len() as u64 <= READ).then_some(bytes))
    }

    fn may_change(&self, place: BorrowedFd<'_>) -> bool {
        match self.bounds {
            Some(bounds) => path_of_open(place).is_ok_and(|path| bounds.may_change(&path)),
            None => sys::is_read_only(place) == Ok(false),
        }
    }

    fn may_change_at(&self, path: &Path) -> bool {
        place_at(path).is_ok_and(|place| self.may_change(place.as_fd()))
    }

    /// Returns whether a path leads to a directory of the workspace. One for temporary files may be the command's own.
    fn is_inside(&self, path: &Path) -> bool {
        let place = place_at(path);
        place.and_then(|place| path_of_open(place.as_fd())).is_ok_and(|path| self.policy.permits_change(&path))
    }

    /// Puts an equal file in the place of one that a process may have open.
    fn replace_by_equal(&self, directory: &Arc<OwnedFd>, name: &CStr, content: &[u8]) {
        let gone = unlinkat(&**directory, name, UnlinkatFlags::NoRemoveDir);
        if gone.is_ok() {
            self.write(directory, name, content);
        }
    }

    /// Writes a new file. Without it, git finds no settings.
    fn write(&self, directory: &Arc<OwnedFd>, name: &CStr, content: &[u8]) {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
        if let Ok(file) = sys::open_path(directory.as_fd(), name, flags, 0o644, LinkResolution::Nothing) {
            let _ = File::from(file).write_all(content);
        }
    }

    /// Moves a file aside, and puts another one in its place.
    fn replace_file(&mut self, directory: &Arc<OwnedFd>, name: &CStr, content: &[u8]) {
        if !self.move_aside(directory, name) {
            return;
        }
        self.report_to_journal(directory, name, PendingChangeKind::Write);
        self.write(directory, name, content);
    }

    /// Moves an entry to a name that git does not know. Returns whether it has gone.
    fn move_aside(&mut self, directory: &Arc<OwnedFd>, name: &CStr) -> bool {
        let Ok(new) = CString::new([name.to_bytes(), ASIDE.as_bytes()].concat()) else { return false };
        if let Ok(to) = DirectoryEntryLocation::new(Arc::clone(directory), new.clone()) {
            self.report_to_journal(directory, name, PendingChangeKind::Rename(to));
        }
        let here = directory.as_fd();
        let moved = sys::rename_file((here, name), (here, &new), 0)
            .or_else(|_| unlinkat(&**directory, name, UnlinkatFlags::NoRemoveDir));
        let is_gone = moved.is_ok() || moved == Err(Errno::ENOENT);
        if let Ok(path) = path_of_open(here) {
            let path = path.join(OsStr::from_bytes(name.to_bytes()));
            self.denials.add(DenialKind::Write, &path.to_string_lossy(), "git", None);
            self.denials.aside.push(path.to_string_lossy().into_owned());
        }
        is_gone
    }

    /// Reports a change to the journal, which must not prevent it.
    fn report_to_journal(&self, directory: &Arc<OwnedFd>, name: &CStr, act: PendingChangeKind) {
        let (Some(journal), Ok(spot)) =
            (self.journal, DirectoryEntryLocation::new(Arc::clone(directory), name.to_owned()))
        else {
            return;
        };
        let path = spot.path();
        if journal.record_before(&PendingFileChange { spot, act }).is_err() {
            let _ = journal.record_unfollowed(&path, "it was put out of force when the command ended");
        }
    }
}

fn place_at(path: &Path) -> Result<OwnedFd, Errno> {
    sys::open_place(AT_FDCWD, &c_string(path.as_os_str().as_bytes())?, true, LinkResolution::Texts)
}

/// Returns whether git may take a directory for a repository, or for a part of one.
pub(super) fn is_like_git(directory: BorrowedFd<'_>) -> bool {
    let has = |name| sys::open_place(directory, name, false, LinkResolution::Nothing).is_ok();
    has(c"objects") && has(c"refs") || has(c"commondir")
}
