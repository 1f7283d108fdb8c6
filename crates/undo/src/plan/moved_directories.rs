//! The current places of the directories that the run moved.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use crate::directory_names::rebase_path;
use crate::path_state::FileIdentity;

/// A directory that the run moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MovedDirectory {
    /// Path before the run.
    pub before: PathBuf,
    /// Path after the run.
    pub after: PathBuf,
    pub id: FileIdentity,
    pub at: DirectoryPlace,
    /// The reason why the directory cannot go back. Empty if it is not wanted back.
    pub stuck: Option<String>,
}

/// The current place of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DirectoryPlace {
    /// The place before the run.
    Home,
    /// Another place.
    Away(PathBuf),
    /// Another process moved or removed the directory.
    Lost,
}

impl MovedDirectory {
    /// Returns whether the directory is to go back.
    pub fn goes_back(&self) -> bool {
        matches!(self.at, DirectoryPlace::Away(_)) && self.stuck.is_none()
    }
}

/// The moved directories, by each of their paths.
#[derive(Debug, Default)]
pub(super) struct MovedDirectories {
    all: Vec<MovedDirectory>,
    before: HashMap<PathBuf, usize>,
    after: HashMap<PathBuf, usize>,
    /// The directories that are away, by their current paths.
    away: BTreeMap<PathBuf, usize>,
}

impl MovedDirectories {
    pub fn push(&mut self, directory: MovedDirectory) {
        let number = self.all.len();
        self.before.insert(directory.before.clone(), number);
        self.after.insert(directory.after.clone(), number);
        if let DirectoryPlace::Away(at) = &directory.at {
            self.away.insert(at.clone(), number);
        }
        self.all.push(directory);
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &MovedDirectory> {
        self.all.iter()
    }

    /// Returns the moved directory with this path before the run.
    pub fn by_path_before(&self, path: &Path) -> Option<&MovedDirectory> {
        self.before.get(path).map(|number| &self.all[*number])
    }

    /// Returns the moved directory with this path after the run.
    pub fn by_path_after_run(&self, path: &Path) -> Option<&MovedDirectory> {
        self.after.get(path).map(|number| &self.all[*number])
    }

    /// Returns the moved directory that is at this path now.
    pub fn by_current_path(&self, path: &Path) -> Option<&MovedDirectory> {
        self.away.get(path).map(|number| &self.all[*number])
    }

    /// Sets the reasons why directories cannot go back.
    pub fn mark_stuck(&mut self, stuck: Vec<(PathBuf, String)>) {
        for (before, why) in stuck {
            if let Some(number) = self.before.get(&before) {
                self.all[*number].stuck = Some(why);
            }
        }
    }

    /// Records that everything below `from` is below `to` from now on.
    pub fn rebase_below(&mut self, from: &Path, to: &Path) {
        let below = self
            .away
            .range::<Path, _>((Bound::Included(from), Bound::Unbounded))
            .take_while(|(path, _)| path.starts_with(from));
        let below: Vec<(PathBuf, usize)> = below.map(|(path, number)| (path.clone(), *number)).collect();
        for (path, _) in &below {
            self.away.remove(path);
        }
        for (path, number) in below {
            let now = rebase_path(to, &path, from);
            let directory = &mut self.all[number];
            if now == directory.before {
                directory.at = DirectoryPlace::Home;
            } else {
                self.away.insert(now.clone(), number);
                directory.at = DirectoryPlace::Away(now);
            }
        }
    }

    /// Returns the current place of a path after the run.
    pub fn current_path(&self, after: &Path) -> Option<PathBuf> {
        if self.is_empty() {
            return Some(after.to_owned());
        }
        let Some((above, directory)) =
            after.ancestors().find_map(|above| Some((above, self.by_path_after_run(above)?)))
        else {
            return Some(after.to_owned());
        };
        match &directory.at {
            DirectoryPlace::Home => Some(rebase_path(&directory.before, after, above)),
            DirectoryPlace::Away(path) => Some(rebase_path(path, after, above)),
            DirectoryPlace::Lost => None,
        }
    }

    /// Returns the place of an earlier directory, or its future place if the run has removed it.
    pub fn current_place(&self, before: &Path) -> Option<PathBuf> {
        if self.is_empty() {
            return Some(before.to_owned());
        }
        let Some((above, directory)) = before.ancestors().find_map(|above| Some((above, self.by_path_before(above)?)))
        else {
            return Some(before.to_owned());
        };
        let base = match &directory.at {
            DirectoryPlace::Home => self.current_place(above.parent()?)?.join(above.file_name()?),
            DirectoryPlace::Away(path) => path.clone(),
            DirectoryPlace::Lost => return None,
        };
        Some(rebase_path(&base, before, above))
    }
}
