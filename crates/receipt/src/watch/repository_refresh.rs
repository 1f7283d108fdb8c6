//! Watches repositories, and reads them again.

use std::sync::Arc;

use super::followed_tree::{FollowedTree, WatchTarget};
use super::tree_repositories::KnownRepository;
use super::watch_failure::TreeWatchFailure;
use super::watch_limits::MAX_GIT_DIRECTORIES;
use crate::git::{GitRepository, RepositorySnapshot};

impl FollowedTree {
    /// Reads the repositories again if any of them changed.
    pub(super) fn refresh_git(&mut self) -> Result<(), TreeWatchFailure> {
        if self.git.is_fresh() {
            return Ok(());
        }
        self.git.is_changed = false;
        for top in std::mem::take(&mut self.git.again) {
            let earlier = self.git.known.remove(&top).and_then(|known| known.snapshot);
            self.git.known.insert(top, KnownRepository { snapshot: earlier, is_watched: false });
        }
        for top in self.git.known.keys().cloned().collect::<Vec<_>>() {
            let Some(known) = self.git.known.get(&top) else { continue };
            let Some(repository) = GitRepository::open(&top) else {
                self.git.known.remove(&top);
                continue;
            };
            let earlier = known.snapshot.clone();
            // The watches come first, so that no change is missed.
            let is_watched = self.watch_git(&repository);
            let snapshot = Some(Arc::new(RepositorySnapshot::read(&repository, earlier.as_deref())));
            self.git.known.insert(top, KnownRepository { snapshot, is_watched });
        }
        Ok(())
    }

    /// Watches the directories of a repository. Returns whether all of them are watched.
    fn watch_git(&mut self, repository: &GitRepository) -> bool {
        let (directories, mut is_all) = repository.directories(MAX_GIT_DIRECTORIES);
        for directory in directories {
            if !self.budget.take() {
                return false;
            }
            match self.watch.add(&directory) {
                Ok((watch, _)) => match self.watched.insert(watch, WatchTarget::Git) {
                    None => {}
                    Some(before) => {
                        self.budget.give(1);
                        self.watched.insert(watch, before);
                        is_all &= before == WatchTarget::Git;
                    }
                },
                Err(_) => {
                    self.budget.give(1);
                    is_all = false;
                }
            }
        }
        is_all
    }
}
