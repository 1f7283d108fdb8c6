//! Protected paths inside the write roots: existing paths are read-only, missing paths must not be created.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Component, Path, PathBuf};

use super::git::GitDirectoryGrants;
use super::hidden_covers::{HiddenPathCovers, unless_gone};
use super::protection_targets::ProtectionTargets;
use super::{GuardedDirectory, NameGuards};
use confine_policy::ConfinementPolicy;
use sys::{DirectoryWatch, MountFlags, MountedFile, SeenChangeKinds};

/// The most symbolic links that are followed on the way to a path, as the kernel does.
const LINKS: usize = 40;

/// Devices and inodes of directories, each looked up once in a pass over the protected paths.
type DirectoryIdCache = HashMap<PathBuf, (u64, u64)>;

/// The protected paths of a world.
#[derive(Debug)]
pub(super) struct PathProtection {
    targets: ProtectionTargets,
    /// The mounts of protected paths and of directories above them, by their numbers, and whether they are read-only.
    mounts: HashMap<PathBuf, (u64, bool)>,
    guards: NameGuards,
    number: u64,
    /// Mounts that lead into the private files of the world.
    private: Vec<PathBuf>,
    hidden: Option<HiddenPathCovers>,
    /// Names whose appearance may uncover a hidden path, or is that of a protected one.
    names: HashSet<OsString>,
    /// Watches the hidden paths and the protected files, which lose their mounts when the host replaces them. `None`:
    /// the kernel permits no more watches, so the paths are scanned now and then and before each command.
    watch: Option<DirectoryWatch>,
}

impl PathProtection {
    /// Protects the paths that a policy names. The write roots are mounted. Without `watches` nothing is watched.
    pub fn new(
        policy: &ConfinementPolicy,
        git: GitDirectoryGrants,
        (private, hidden): (Vec<PathBuf>, HiddenPathCovers),
        watches: bool,
    ) -> io::Result<Self> {
        let targets = ProtectionTargets::of(policy, git, watches);
        let (mounts, guards) = (HashMap::new(), NameGuards::default());
        let mut all = Self {
            targets,
            mounts,
            guards,
            number: 0,
            private,
            hidden: Some(hidden),
            names: HashSet::new(),
            watch: watches.then(DirectoryWatch::new).and_then(Result::ok),
        };
        // Some paths may be newer than their covers.
        all.cover_hidden_paths()?;
        all.pin_hidden_ancestors()?;
        all.protect_all()?;
        Ok(all)
    }

    /// Returns a protection of no paths.
    pub fn none() -> Self {
        Self {
            targets: ProtectionTargets::none(),
            mounts: HashMap::new(),
            guards: NameGuards::default(),
            number: 1,
            private: Vec::new(),
            hidden: None,
            names: HashSet::new(),
            watch: None,
        }
    }

    /// Returns the names that must not be created.
    pub fn guards(&self) -> &NameGuards {
        &self.guards
    }

    /// Returns the number of the guards, which grows with each change. The first number is 1.
    pub fn guard_number(&self) -> u64 {
        self.number
    }

    /// Returns a descriptor that becomes readable when [`PathProtection::on_change`] has to be called.
    pub fn change_descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(AsFd::as_fd)
    }

    /// Returns whether there are paths to watch and the kernel permits no watch. [`PathProtection::on_change`] then has
    /// to be called now and then.
    pub fn is_blind(&self) -> bool {
        self.hidden.is_some() && self.watch.is_none()
    }

    /// Returns the watches that show whether something has changed.
    pub fn watches(&self) -> Option<[BorrowedFd<'_>; 2]> {
        Some([self.change_descriptor()?, self.targets.repositories.complete_watch()?])
    }

    /// Returns whether every change that needs protection shows in these watches, and nothing has to be done now.
    pub fn is_watching(&self) -> bool {
        self.watches().is_some() && !self.is_behind()
    }

    /// Covers and protects the paths again that the host has replaced.
    ///
    /// # Errors
    /// If a path cannot be covered any more.
    pub fn on_change(&mut self) -> io::Result<()> {
        let all = SeenChangeKinds { entries: true, files: true };
        let matters = |name: &OsStr| self.names.contains(name);
        let seen = self.watch.as_ref().map_or(all, |watch| watch.take_seen_kinds(matters));
        if seen.entries {
            self.cover_hidden_paths()?;
            // A failure shows again before the next command.
            let _ = self.pin_hidden_ancestors();
        }
        // A name that must not be created has appeared: another process has made it.
        if seen.files || (seen.entries && self.guards.are_broken()) {
            // A failure shows again before the next command, which then does not start.
            let _ = self.protect_all();
        }
        Ok(())
    }

    /// Covers the hidden paths again that need a cover.
    fn cover_hidden_paths(&mut self) -> io::Result<()> {
        let Some(hidden) = &mut self.hidden else { return Ok(()) };
        // A directory is watched before the last look at it.
        let mut above = hidden.parent_directories();
        loop {
            if self.watch.as_ref().is_some_and(|watch| above.iter().any(|one| watch.add(one).is_err_and(is_full))) {
                self.watch = None;
            }
            hidden.cover_new_paths()?;
            let now = hidden.parent_directories();
            self.names.extend(hidden.hidden_paths().flat_map(|path| path.iter()).map(OsStr::to_owned));
            if self.watch.is_none() || now.is_subset(&above) {
                return Ok(());
            }
            above = now;
        }
    }

    /// Keeps the directories above a hidden path in their places: another world would look for the path there, and find
    /// nothing to hide.
    fn pin_hidden_ancestors(&mut self) -> io::Result<()> {
        let is_inside = |path: &&PathBuf| self.targets.roots.iter().any(|root| path.starts_with(root));
        let fixed: Vec<_> =
            self.hidden.iter().flat_map(HiddenPathCovers::hidden_paths).filter(is_inside).cloned().collect();
        for path in fixed {
            if let Some(above) = path.parent().filter(|_| path.symlink_metadata().is_ok()) {
                self.protect_path(above, None).or_else(unless_gone)?;
            }
        }
        Ok(())
    }

    /// Returns the hidden paths, if there are any.
    pub fn hidden_covers(&mut self) -> Option<&mut HiddenPathCovers> {
        self.hidden.as_mut()
    }

    /// Protects paths that are new since the last call.
    pub fn refresh(&mut self) -> io::Result<()> {
        if self.watch.is_none() {
            self.cover_hidden_paths()?;
        }
        self.pin_hidden_ancestors()?;
        if self.targets.repositories.update() || self.watch.is_none() { self.protect_all() } else { Ok(()) }
    }

    /// Returns whether there are directories in which repositories were not searched yet.
    pub fn is_behind(&self) -> bool {
        self.targets.repositories.is_behind()
    }

    /// Searches some of these directories for repositories.
    pub fn search_repositories(&mut self) -> io::Result<()> {
        self.targets.repositories.scan_queued();
        if self.is_behind() { Ok(()) } else { self.protect_all() }
    }

    /// Detaches the private files of the world, so that they can be removed.
    pub fn detach_private_files(&self) {
        for path in &self.private {
            let _ = sys::detach_tree(path);
        }
    }

    /// Protects all paths again that need protection.
    fn protect_all(&mut self) -> io::Result<()> {
        let (mut guards, mut ids) = (NameGuards::default(), HashMap::new());
        for target in self.targets.all() {
            self.protect_path(&target, Some((&mut guards, &mut ids))).or_else(unless_gone)?;
        }
        if guards != self.guards || self.number == 0 {
            for GuardedDirectory { path, names, .. } in &guards.directories {
                self.names.extend(names.iter().cloned());
                if self.watch.as_ref().is_some_and(|watch| watch.add(path).is_err_and(is_full)) {
                    self.watch = None;
                }
            }
            self.guards = guards;
            self.number += 1;
        }
        if self.hidden.as_mut().is_some_and(|hidden| hidden.add(self.targets.hidden_stores())) {
            self.cover_hidden_paths()?;
            self.pin_hidden_ancestors()?;
        }
        Ok(())
    }

    /// Protects a path, and the targets of symbolic links on the way. Places outside of the write roots are read-only
    /// already. Without `guards`, with the directories that they have, the path is only kept in its place.
    fn protect_path(
        &mut self,
        target: &Path,
        mut guards: Option<(&mut NameGuards, &mut DirectoryIdCache)>,
    ) -> io::Result<()> {
        let (mut path, mut left) = self.split_at_root(target);
        let mut links = 0;
        while let Some(name) = left.pop_front() {
            let directory = path.clone();
            if name == ".." {
                path.pop();
                continue;
            }
            path.push(&name);
            let is_inside = self.targets.roots.iter().any(|root| directory.starts_with(root));
            match sys::mount_of(&path) {
                Ok(file) if file.is_link => {
                    if is_inside {
                        self.mount_on_itself(&path, file, true)?;
                    }
                    links += 1;
                    if links > LINKS {
                        return Ok(());
                    }
                    let mut aim = path_components(&fs::read_link(&path)?);
                    path = if aim.front().is_some_and(|first| first == "/") { PathBuf::new() } else { directory };
                    aim.append(&mut left);
                    left = aim;
                }
                Ok(file) if is_inside && left.is_empty() => self.mount_on_itself(&path, file, guards.is_some())?,
                Ok(file) if file.is_directory && is_inside => self.mount_on_itself(&path, file, false)?,
                Ok(file) if file.is_directory => {}
                // Nothing can be created below a file.
                Ok(_) => return Ok(()),
                Err(_) if !is_inside => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if let Some((guards, ids)) = &mut guards {
                        let id = match ids.get(&directory) {
                            Some(id) => *id,
                            None => *ids.entry(directory.clone()).or_insert(sys::mount_of(&directory)?.id),
                        };
                        guards.add(id, directory, name);
                    }
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns where the way to a path begins, and the rest of the way. Write roots contain no links.
    fn split_at_root(&self, target: &Path) -> (PathBuf, VecDeque<OsString>) {
        let root = self.targets.roots.iter().find(|root| target.starts_with(root));
        match root.and_then(|root| target.strip_prefix(root).ok().map(|rest| (root.clone(), path_components(rest)))) {
            Some(within) => within,
            None => (PathBuf::new(), path_components(target)),
        }
    }

    /// Mounts a path on itself, so that it can be neither renamed nor removed, and if `read_only` not changed.
    fn mount_on_itself(&mut self, path: &Path, file: MountedFile, read_only: bool) -> io::Result<()> {
        let is_held = |(mount, is_read_only): &(u64, bool)| *mount == file.mount && (*is_read_only || !read_only);
        if file.is_mount && self.mounts.get(path).is_some_and(is_held) {
            return Ok(());
        }
        let tree = sys::copy_tree(path)?;
        if read_only {
            sys::restrict_tree(&tree, MountFlags::READ_ONLY)?;
        }
        sys::attach_tree(&tree, path)?;
        self.mounts.insert(path.to_owned(), (sys::mount_of(path)?.mount, read_only));
        if read_only && self.watch.as_ref().is_some_and(|watch| watch.add_file(path).is_err()) {
            self.watch = None;
        }
        Ok(())
    }
}

/// Returns whether the kernel permits no more watches.
fn is_full(error: io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOSPC)
}

/// Returns the components of a path, with `/` first if the path is absolute.
fn path_components(path: &Path) -> VecDeque<OsString> {
    path.components().filter(|part| *part != Component::CurDir).map(|part| part.as_os_str().to_owned()).collect()
}
