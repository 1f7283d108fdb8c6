//! Repositories: objects that a run added may stay, and an index belongs to its refs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::decision_tables::RemovalDecision;
use super::undo_planner::{ReturnAction, UndoPlanner};

/// Splits a path in a git directory into that directory and the rest.
pub fn split_repository(path: &Path) -> Option<(&Path, &Path)> {
    let is_one = |above: &&Path| above.file_name().map(OsStr::as_bytes).is_some_and(|name| name.ends_with(b".git"));
    let above = path.ancestors().skip(1).filter(is_one).last()?;
    Some((above, path.strip_prefix(above).ok()?))
}

/// Returns whether a path in a git directory is a file that git replaces under a lock beside it.
pub fn is_locked_by_git(path: &Path) -> bool {
    let free = ["objects", "hooks", "logs", "info"];
    split_repository(path)
        .is_some_and(|(_, rest)| !free.iter().any(|name| rest.components().any(|part| part.as_os_str() == *name)))
}

/// Returns whether a path is the index of a repository, of a linked work tree or of a submodule.
pub fn is_git_index(path: &Path) -> bool {
    is_locked_by_git(path) && path.file_name() == Some(OsStr::new("index"))
}

fn is_ref(rest: &Path) -> bool {
    rest == Path::new("HEAD") || rest == Path::new("packed-refs") || rest.starts_with("refs")
}

impl UndoPlanner<'_> {
    /// Returns whether the run added this object to a repository that existed before. Other objects may refer to it by
    /// now.
    pub(super) fn is_shared_git_object(&self, after: &Path) -> bool {
        let objects = |(_, rest): &(&Path, &Path)| rest.components().any(|part| part.as_os_str() == "objects");
        split_repository(after).filter(objects).is_some_and(|(repository, _)| !self.made_paths.contains(repository))
    }

    /// Keeps each repository that the run made and that was used since, as a whole: without the files of the run, the
    /// later commits in it would be lost, too.
    pub(super) fn keep_used_repositories(&mut self) {
        let is_git = |path: &&PathBuf| path.extension() == Some(OsStr::new("git")) || path.ends_with(".git");
        let made: Vec<PathBuf> = self.made_paths.iter().filter(is_git).cloned().collect();
        for directory in made {
            let below = |path: &Path| path.starts_with(&directory);
            let used = |(path, decision): (&PathBuf, &RemovalDecision)| below(path) && decision.is_conflict();
            if !self.removal_decisions.iter().any(used) {
                continue;
            }
            for (path, decision) in &mut self.removal_decisions {
                if path.starts_with(&directory) {
                    *decision = RemovalDecision::KeepUsedRepository;
                } else if directory.starts_with(path) && *decision == RemovalDecision::Remove {
                    *decision = RemovalDecision::KeepNonEmpty;
                }
            }
            self.removal_decisions.insert(directory, RemovalDecision::KeepForeignContent);
        }
    }

    /// Leaves an index alone if a ref of its repository stays.
    pub(super) fn hold_back_indexes(&mut self) {
        let conflicts = |(path, action): (&PathBuf, &ReturnAction)| match (action, split_repository(path)) {
            (ReturnAction::Conflict(_), Some((repository, rest))) if is_ref(rest) => Some(repository.to_owned()),
            _ => None,
        };
        let stuck: Vec<PathBuf> = self.return_actions.iter().filter_map(conflicts).collect();
        for repository in stuck {
            if let Some(action @ ReturnAction::Restore(_)) = self.return_actions.get_mut(&repository.join("index")) {
                *action = ReturnAction::Conflict("a ref of its repository changed after the run".into());
            }
        }
    }
}
