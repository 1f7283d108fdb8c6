//! What a command leaves in repositories that it has made: settings, hooks and steps of a rebase by which git runs
//! programs. A user would run them with the next `git status`, outside. So they are put out of force when the command
//! ends: each moves aside, and git does not know its new name.
//!
//! Repositories of before are protected, but for the steps of a rebase. A directory becomes a repository by a name that
//! the command creates, or by its move.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, OsStr};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::fcntl::AT_FDCWD;

use super::caller_path::{PathStart, last_component};
use super::file_change_journal::FileChangeJournal;
use super::perform::WorldBounds;
use super::proc_links::{c_string, path_of_open};
use super::repository_settlement::{NAMES, RepositorySettlement, is_like_git};
use confine_policy::{CommandDenials, ConfinementPolicy, WorldFacts};
use sys::LinkResolution;

/// The most directories that are remembered for one command.
const MOST: usize = 2_000;
/// The most directories of which it is known that the command has made them.
const MADE: usize = 200_000;

/// The directories that a command may have made repositories.
#[derive(Debug)]
pub(super) struct RepositoriesLeft {
    /// When the command began, as the time of a file.
    begun: (i64, u32),
    /// Directories in which names appeared.
    named: BTreeSet<PathBuf>,
    /// Directories that were moved.
    moved: BTreeSet<PathBuf>,
    /// There were too many to remember them all.
    is_full: bool,
    /// Directories that the command has made: by device and inode, the time of their birth.
    made: HashMap<MadeDirectoryId, Option<(i64, u32)>>,
}

/// The device and the inode of a directory.
type MadeDirectoryId = ((u32, u32), u64);

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
    pub fn at_start_of_command() -> Self {
        let (named, moved, made) = (BTreeSet::new(), BTreeSet::new(), HashMap::new());
        Self { begun: WorldFacts::current_file_time(), named, moved, is_full: false, made }
    }

    /// Returns whether a name may make its directory one in which git finds something to run.
    pub fn is_relevant_name(name: &[u8]) -> bool {
        NAMES.contains(&name)
    }

    /// Returns whether git may run something by an entry with this name.
    pub fn may_run_entry(name: &[u8]) -> bool {
        ENTRIES.contains(&name) || HOOKS.contains(&name)
    }

    /// Remembers a directory that the command has made.
    pub fn note_made_directory(&mut self, directory: &PathStart, name: &CStr) {
        if let Ok(made) = sys::existing_file(directory.descriptor(), name, false)
            && self.made.len() < MADE
        {
            self.made.insert((made.device, made.inode), made.born);
        }
    }

    /// Returns whether a file is such an entry of a repository that another process has made. A directory of before the
    /// command was no repository then, or its entries would be protected.
    pub fn is_foreign_entry(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().as_bytes();
        let Some(above) = path.parent() else { return false };
        let is_hook = HOOKS.contains(&name) && above.file_name().is_some_and(|name| name == "hooks");
        let git = if is_hook { above.parent() } else { Some(above).filter(|_| ENTRIES.contains(&name)) };
        let Some(git) = git.and_then(|git| c_string(git.as_os_str().as_bytes()).ok()) else { return false };
        let Ok(directory) = sys::open_directory(AT_FDCWD, &git, LinkResolution::Nothing) else { return false };
        let is_own = |found: sys::ExistingFile| {
            found.born.is_some_and(|born| born < self.begun)
                || self.made.get(&(found.device, found.inode)) == Some(&found.born)
        };
        is_like_git(directory.as_fd()) && !sys::existing_file(AT_FDCWD, &git, false).is_ok_and(is_own)
    }

    /// Remembers a directory in which a name appears, if the name counts.
    pub fn note_appearance(&mut self, directory: &PathStart, name: &CStr) {
        if Self::is_relevant_name(last_component(name).1)
            && let Ok(path) = path_of_open(directory.descriptor())
        {
            self.is_full |= !add(&mut self.named, path);
        }
    }

    /// Remembers a name to which something was moved, if that is a directory.
    pub fn note_move(&mut self, directory: &PathStart, name: &CStr) {
        self.note_appearance(directory, name);
        let is_directory = sys::open_directory(directory.descriptor(), name, LinkResolution::Nothing).is_ok();
        if is_directory && let Ok(path) = path_of_open(directory.descriptor()) {
            self.is_full |= !add(&mut self.moved, path.join(OsStr::from_bytes(last_component(name).1)));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.moved.is_empty()
    }

    /// Puts out of force what git would run. `is_left`: the command has left processes, which may have files open.
    /// `on_look` is called for each directory.
    pub fn settle_repositories(
        &mut self,
        policy: &ConfinementPolicy,
        bounds: Option<&WorldBounds>,
        journal: Option<&dyn FileChangeJournal>,
        is_left: bool,
        on_look: &dyn Fn(),
    ) -> CommandDenials {
        if self.is_empty() {
            return CommandDenials::default();
        }
        let (named, mut moved) = (std::mem::take(&mut self.named), std::mem::take(&mut self.moved));
        if std::mem::take(&mut self.is_full) {
            moved.extend(policy.changeable_roots().map(Path::to_owned));
        }
        RepositorySettlement::new(policy, bounds, journal, is_left, on_look).settle_directories(&named, moved)
    }
}

/// Adds a directory to a list, unless that is full. Returns whether the list has it.
fn add(list: &mut BTreeSet<PathBuf>, path: PathBuf) -> bool {
    let has_room = list.len() < MOST;
    if has_room {
        list.insert(path);
    }
    has_room
}
