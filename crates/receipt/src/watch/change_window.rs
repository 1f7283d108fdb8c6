//! The changes in a tree since a command began.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ReceiptCompleteness;
use crate::git;
use crate::net::{ChangeReplay, ObservedFile};

/// The changes of one command.
#[derive(Debug)]
pub struct ChangeWindow {
    /// The reported changes of files.
    pub replay: ChangeReplay,
    /// Directories that are summed up and changed.
    pub summed_up: BTreeSet<PathBuf>,
    /// The repositories as they were, by their tops.
    pub git: BTreeMap<PathBuf, Arc<git::RepositorySnapshot>>,
    /// Why the changes are incomplete.
    pub trouble: Option<(ReceiptCompleteness, String)>,
    /// The reports of the tree when the window was opened.
    pub reports: ReportCounts,
}

/// The numbers of reports of anything that may have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportCounts {
    /// Of files that git does not ignore, and their times.
    pub files: u64,
    /// Of ignored files, and of git, but not of its locks.
    pub others: u64,
}

/// All windows of a tree, by their numbers.
#[derive(Debug, Default)]
pub struct ChangeWindows {
    open: BTreeMap<u64, ChangeWindow>,
    next: u64,
}

impl ChangeWindows {
    /// Opens a window.
    pub fn open(&mut self, git: BTreeMap<PathBuf, Arc<git::RepositorySnapshot>>, reports: ReportCounts) -> u64 {
        let window =
            ChangeWindow { replay: ChangeReplay::new(), summed_up: BTreeSet::new(), git, trouble: None, reports };
        self.next += 1;
        self.open.insert(self.next, window);
        self.next
    }

    /// Returns an open window.
    pub fn get(&self, number: u64) -> Option<&ChangeWindow> {
        self.open.get(&number)
    }

    /// Closes a window.
    pub fn close(&mut self, number: u64) -> Option<ChangeWindow> {
        self.open.remove(&number)
    }

    /// Returns whether no window is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Records the file at a path before it changes.
    pub fn record_before(&mut self, path: &Path, node: Option<&ObservedFile>) {
        self.open.values_mut().for_each(|window| window.replay.record_before(path, node));
    }

    /// Records the removal of a file or directory.
    pub fn remove(&mut self, path: &Path) {
        self.open.values_mut().for_each(|window| window.replay.remove(path));
    }

    /// Records the rename of a file or directory.
    pub fn rename_files(&mut self, from: &Path, to: &Path) {
        self.open.values_mut().for_each(|window| window.replay.rename(from, to));
    }

    /// Records the rename of the repositories in a directory.
    pub fn rename_repositories(&mut self, from: &Path, to: &Path) {
        for window in self.open.values_mut() {
            let tops: Vec<_> = window.git.keys().filter(|top| top.starts_with(from)).cloned().collect();
            for top in tops {
                let Some(snapshot) = window.git.remove(&top) else { continue };
                window.git.insert(renamed(&top, from, to), snapshot);
            }
        }
    }

    /// Records a change in a directory that is summed up.
    pub fn note_summed_up(&mut self, directory: &Path) {
        for window in self.open.values_mut() {
            window.summed_up.insert(directory.to_owned());
        }
    }

    /// Records that not all changes are seen.
    pub fn note_trouble(&mut self, state: ReceiptCompleteness, why: &str) {
        for window in self.open.values_mut() {
            if window.trouble.as_ref().is_none_or(|(known, _)| state > *known) {
                window.trouble = Some((state, why.to_owned()));
            }
        }
    }
}

/// Returns the new path of a file below a renamed directory.
pub fn renamed(path: &Path, from: &Path, to: &Path) -> PathBuf {
    match path.strip_prefix(from) {
        Ok(rest) if rest.as_os_str().is_empty() => to.to_owned(),
        Ok(rest) => to.join(rest),
        Err(_) => path.to_owned(),
    }
}
