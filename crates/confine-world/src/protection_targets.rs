//! The paths that a policy protects, whether they exist or not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::git::{GitDirectoryGrants, work_tree_of};
use super::path_ends::end_of_path;
use super::repositories::RepositoryFinder;
use confine_policy::ConfinementPolicy;

/// The name of a repository's directory in a protected name.
const GIT: &str = ".git";
/// Files in a git directory that lead git to another configuration or work tree.
const LEADING: [&str; 3] = ["commondir", "config.worktree", "gitdir"];
/// Files in the git directory of a work tree by which git knows the work tree and its checkout.
const STATE: [&str; 4] = ["HEAD", "index", "gitdir", "commondir"];

/// The protected paths of a moment.
#[derive(Debug, Default)]
pub struct ProtectedPaths {
    /// Paths that must not be changed or created, with everything below them.
    pub protected: BTreeSet<PathBuf>,
    /// Directories that must not be renamed or removed.
    pub pinned: BTreeSet<PathBuf>,
}

impl ProtectedPaths {
    /// Protects a path in a write root, and pins the directories above it. A directory above that is missing or a link
    /// is protected instead, because a directory with the rest of the path in it could take its place.
    fn add(&mut self, target: &Path, roots: &[PathBuf]) {
        let Some(root) = roots.iter().find(|root| target.starts_with(root)) else { return };
        let above: Vec<_> = target.ancestors().skip(1).take_while(|path| path != root).collect();
        for directory in above.into_iter().rev() {
            if !directory.symlink_metadata().is_ok_and(|data| data.is_dir()) {
                self.protected.insert(directory.to_owned());
                return;
            }
            self.pinned.insert(directory.to_owned());
        }
        self.protected.insert(target.to_owned());
    }
}

/// Protected names, and the places in which they are protected.
#[derive(Debug)]
pub(super) struct ProtectionTargets {
    /// The write roots that are directories, with the granted git directories.
    pub roots: Vec<PathBuf>,
    git: GitDirectoryGrants,
    /// Names that are protected, relative to a root or a repository.
    names: Vec<PathBuf>,
    /// Names that are protected, relative to the directory of a repository.
    git_names: Vec<PathBuf>,
    /// Paths that are protected wherever they lie.
    paths: Vec<PathBuf>,
    pub repositories: RepositoryFinder,
}

impl ProtectionTargets {
    /// Returns the paths that a policy names, which has the granted git directories among its write roots. Without
    /// `watches`, repositories are searched again each time.
    pub fn of(policy: &ConfinementPolicy, git: GitDirectoryGrants, watches: bool) -> Self {
        let roots: Vec<_> = policy.write.iter().filter(|root| root.is_dir()).cloned().collect();
        let (paths, names): (Vec<_>, Vec<_>) = policy.protect.iter().cloned().partition(|name| name.is_absolute());
        let (git_names, names): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| name.starts_with(GIT) && name != Path::new(GIT));
        let mut git_names: Vec<_> =
            git_names.iter().filter_map(|name| name.strip_prefix(GIT).ok()).map(Path::to_owned).collect();
        if !git_names.is_empty() {
            git_names.extend(LEADING.map(PathBuf::from));
        }
        let is_searched = |root: &&PathBuf| git.open(root).is_none();
        let searched = roots.iter().filter(is_searched).cloned().collect();
        let known = git.paths().map(Path::to_owned).collect();
        let repositories = RepositoryFinder::scan_below(searched, known, watches);
        Self { roots, git, names, git_names, paths, repositories }
    }

    /// Returns no paths.
    pub fn none() -> Self {
        let repositories = RepositoryFinder::scan_below(Vec::new(), Vec::new(), false);
        let (roots, git) = (Vec::new(), GitDirectoryGrants::default());
        Self { roots, git, names: Vec::new(), git_names: Vec::new(), paths: Vec::new(), repositories }
    }

    /// Looks for repositories. Returns the paths that are protected now.
    pub fn protected_paths(&mut self) -> ProtectedPaths {
        self.repositories.update();
        while self.repositories.is_behind() {
            self.repositories.scan_queued();
        }
        let mut found = ProtectedPaths::default();
        for target in self.all() {
            found.add(&target, &self.roots);
            // A link leads elsewhere, perhaps to a writable place.
            if let Some(aim) = end_of_path(&target).filter(|aim| *aim != target) {
                found.add(&aim, &self.roots);
            }
        }
        found
    }

    /// Returns every path that is protected.
    pub fn all(&self) -> BTreeSet<PathBuf> {
        let found = &self.repositories.found;
        let bases = self.plain_roots().chain(&found.worktrees);
        let plain = bases.flat_map(|base| self.names.iter().map(move |name| base.join(name)));
        let git = found.git.iter().flat_map(|git| self.git_names.iter().map(move |name| git.join(name)));
        let links = found.links.iter().filter(|_| !self.git_names.is_empty()).cloned();
        let others = found.git.iter().filter(|git| self.is_of_other(git));
        let others = others.flat_map(|git| STATE.map(|name| git.join(name)));
        let ours = found.registries.iter().cloned();
        plain.chain(git).chain(links).chain(others).chain(ours).chain(self.paths.iter().cloned()).collect()
    }

    /// Returns the paths in write roots that are hidden: undo stores, which have earlier versions of hidden files, and
    /// the locks of registries, which a reader could hold for ever.
    pub fn hidden_stores(&self) -> impl Iterator<Item = PathBuf> {
        let found = &self.repositories.found;
        found.stores.iter().cloned().chain(found.registries.iter().map(|registry| registry.join("lock")))
    }

    /// Returns whether a git directory belongs to a work tree that shares a granted repository, and in which no command
    /// works: it is neither that of a write root, nor does it lead to a place in one.
    fn is_of_other(&self, git: &Path) -> bool {
        let is_main = |granted: &Path| git == granted;
        let is_linked = |granted: &Path| git.parent().is_some_and(|all| all == granted.join("worktrees"));
        let shares = self.git.paths().any(|granted| is_main(granted) || is_linked(granted));
        let is_in_root = |top: PathBuf| self.plain_roots().any(|root| top.starts_with(root));
        shares && !self.git.is_own(git) && !work_tree_of(git).is_some_and(is_in_root)
    }

    /// Returns the write roots without the granted git directories.
    fn plain_roots(&self) -> impl Iterator<Item = &PathBuf> {
        self.roots.iter().filter(|root| self.git.open(root).is_none())
    }
}
