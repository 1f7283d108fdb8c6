//! Git directories outside of the write roots, in which git needs to write: those of linked work trees, of submodules,
//! and of repositories whose top lies above a write root.
//!
//! | file | what |
//! |---|---|
//! | `discovery.rs` | the repository that git would use in a write root |
//! | `pointer.rs` | `.git` files, and the way back from a git directory |
//! | `directory.rs` | open directories, so that no later directory of the same path is granted |
//! | `git_directories.rs` | the result of the search, and the notes on directories that are not granted |
//!
//! An earlier command may have made any file below a write root, so a `.git` file alone proves nothing. A git directory
//! counts if it leads back to the very place that named it. It is granted by its inode, before the first command of the
//! world, and no later change of a file widens or moves the grant.

mod directory;
mod discovery;
mod git_directories;
mod pointer;

use std::fs::File;
use std::path::{Path, PathBuf};

use self::directory::ExaminedDirectory;
use self::git_directories::{GitDirectories, refusal_note};
pub(super) use self::pointer::work_tree_of;
use confine_policy::{ConfinementPolicy, GitScope, PolicyProfile, outermost_paths};

/// The git directories that the commands of a world may change.
#[derive(Debug, Default)]
pub(super) struct GitDirectoryGrants {
    /// The granted directories. None lies below another or below a write root.
    directories: Vec<ExaminedDirectory>,
    /// The git directories of the write roots, among them the granted ones.
    own: Vec<PathBuf>,
    /// A note for each directory that was not granted.
    pub notes: Vec<String>,
}

impl GitDirectoryGrants {
    /// Finds the git directories of the write roots of a policy. `state` is the directory of [`super::WorldHostPaths`].
    pub fn of(policy: &ConfinementPolicy, state: &Path) -> Self {
        let GitScope::Repository { homes } = &policy.git else { return Self::default() };
        if policy.profile == PolicyProfile::ReadOnly {
            return Self::default();
        }
        let mut all = Self::default();
        for root in &policy.write {
            let Ok(root) = ExaminedDirectory::open(root) else { continue };
            match discovery::find(&root, homes) {
                Ok(None) => {}
                Ok(Some(found)) => all.add(found, policy, homes, state),
                Err(why) => all.notes.push(why),
            }
        }
        all.notes.sort();
        all.notes.dedup();
        all
    }

    /// Grants a git directory, unless it is granted or writable already, or must not be.
    fn add(&mut self, found: GitDirectories, policy: &ConfinementPolicy, homes: &[PathBuf], state: &Path) {
        let GitDirectories { own, common } = found;
        let name = own.path.clone();
        let wanted = common.unwrap_or(own);
        let is_writable = |path: &Path| {
            let roots = policy.write.iter().map(PathBuf::as_path);
            roots.chain(self.directories.iter().map(|one| one.path.as_path())).any(|root| path.starts_with(root))
        };
        if !is_writable(&wanted.path) {
            if let Some(why) = refusal_reason(&wanted, policy, homes, state) {
                self.notes.push(refusal_note(&wanted.path, &why));
                return;
            }
            self.directories.retain(|one| !one.path.starts_with(&wanted.path));
            self.directories.push(wanted);
        }
        self.own.push(name);
    }

    /// Returns the policy with the granted directories among its write roots.
    pub fn added_to(&self, policy: &ConfinementPolicy) -> ConfinementPolicy {
        let write = policy.write.iter().cloned().chain(self.paths().map(Path::to_owned)).collect();
        ConfinementPolicy { write: outermost_paths(write), ..policy.clone() }
    }

    /// Returns the paths of the granted directories.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.directories.iter().map(|one| one.path.as_path())
    }

    /// Returns the granted directory at a path, open.
    pub fn open(&self, path: &Path) -> Option<&File> {
        self.directories.iter().find(|one| one.path == path).map(|one| &one.file)
    }

    /// Returns whether the work tree of a git directory is that of a write root.
    pub fn is_own(&self, git: &Path) -> bool {
        self.own.iter().any(|own| own == git)
    }
}

/// Returns the git directories outside of the write roots of a policy in which git needs to write, as far as they are
/// granted.
pub fn outer_git_directories(policy: &ConfinementPolicy, state: &Path) -> Vec<PathBuf> {
    GitDirectoryGrants::of(policy, state).paths().map(Path::to_owned).collect()
}

/// Returns why a directory must not be granted.
fn refusal_reason(
    wanted: &ExaminedDirectory,
    policy: &ConfinementPolicy,
    homes: &[PathBuf],
    state: &Path,
) -> Option<String> {
    let path = &wanted.path;
    let hidden = policy.hide.iter().map(PathBuf::as_path).chain([state]);
    let protected = policy.protect.iter().filter(|path| path.is_absolute()).map(PathBuf::as_path);
    let covers = |one: &Path| path.starts_with(one) || one.starts_with(path);
    let inside = || homes.iter().chain(&policy.write).find(|one| one.starts_with(path));
    if !wanted.is_repository() {
        Some("it has not the HEAD, objects and refs of a repository".to_owned())
    } else if !wanted.is_ours() {
        Some("it belongs to another user".to_owned())
    } else if let Some(one) = hidden.into_iter().find(|one| covers(one)) {
        Some(format!("{} is hidden", one.display()))
    } else if let Some(one) = protected.into_iter().find(|one| path.starts_with(one)) {
        Some(format!("{} is protected", one.display()))
    } else if policy.draft.is_some() && policy.drafted_at(path).is_none() {
        Some("the draft has begun without it".to_owned())
    } else {
        inside().map(|one| format!("it contains {}", one.display()))
    }
}
