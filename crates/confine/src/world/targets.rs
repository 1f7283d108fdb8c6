//! The paths that a policy protects, whether they exist or not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::repositories::Repositories;
use crate::Policy;

/// The name of a repository's directory in a protected name.
const GIT: &str = ".git";
/// Files in a repository's directory that point git to another configuration.
const LEADING: [&str; 2] = ["commondir", "config.worktree"];

/// Protected names, and the places in which they are protected.
#[derive(Debug)]
pub(super) struct Targets {
    /// The write roots that are directories.
    pub roots: Vec<PathBuf>,
    /// Names that are protected, relative to a root or a repository.
    names: Vec<PathBuf>,
    /// Names that are protected, relative to the directory of a repository.
    git_names: Vec<PathBuf>,
    /// Paths that are protected wherever they lie.
    paths: Vec<PathBuf>,
    pub repositories: Repositories,
}

impl Targets {
    /// Returns the paths that a policy names. Without `watches`, repositories are searched again each time.
    pub fn of(policy: &Policy, watches: bool) -> Self {
        let roots: Vec<_> = policy.write.iter().filter(|root| root.is_dir()).cloned().collect();
        let (paths, names): (Vec<_>, Vec<_>) = policy.protect.iter().cloned().partition(|name| name.is_absolute());
        let (git_names, names): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| name.starts_with(GIT) && name != Path::new(GIT));
        let mut git_names: Vec<_> =
            git_names.iter().filter_map(|name| name.strip_prefix(GIT).ok()).map(Path::to_owned).collect();
        if !git_names.is_empty() {
            git_names.extend(LEADING.map(PathBuf::from));
        }
        let searched = if policy.protect.is_empty() { Vec::new() } else { roots.clone() };
        Self { roots, names, git_names, paths, repositories: Repositories::below(searched, watches) }
    }

    /// Returns no paths.
    pub fn none() -> Self {
        let repositories = Repositories::below(Vec::new(), false);
        Self { roots: Vec::new(), names: Vec::new(), git_names: Vec::new(), paths: Vec::new(), repositories }
    }

    /// Returns every path that is protected.
    pub fn all(&self) -> BTreeSet<PathBuf> {
        let found = &self.repositories.found;
        let bases = self.roots.iter().chain(&found.worktrees);
        let plain = bases.flat_map(|base| self.names.iter().map(move |name| base.join(name)));
        let git = found.git.iter().flat_map(|git| self.git_names.iter().map(move |name| git.join(name)));
        let links = found.links.iter().filter(|_| !self.git_names.is_empty()).cloned();
        plain.chain(git).chain(links).chain(self.paths.iter().cloned()).collect()
    }
}
