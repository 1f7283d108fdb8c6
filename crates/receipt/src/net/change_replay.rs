//! The steps of a run, in order, and the present place of each file.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::observed_file::ObservedFile;
use undo::path_map::prefixes;

/// A path as bytes. In their order, all paths in a directory are adjacent.
pub(super) type PathBytes = Vec<u8>;

/// The origin of the file at a present path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileOrigin {
    /// The file was at this path when the run began.
    Moved(PathBytes),
    /// The file was not there when the run began.
    New,
    /// Nothing is there, or a file that no step mentions.
    Gone,
}

/// The steps of a run so far. All paths are absolute, without `.` and `..`.
#[derive(Debug, Clone, Default)]
pub struct ChangeReplay {
    /// The files when the run began, by their paths.
    pub(super) before: BTreeMap<PathBytes, ObservedFile>,
    /// Origins of present paths at which, and below which, some files have moved. The nearest path counts.
    pub(super) overlay: BTreeMap<PathBytes, FileOrigin>,
}

impl ChangeReplay {
    /// Returns a replay without steps.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether no step was received.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.overlay.is_empty()
    }

    /// Records the file at a path before it changes. `None`: nothing is there. Only the first call for a file counts,
    /// so it can be called before every change.
    pub fn record_before(&mut self, path: &Path, node: Option<&ObservedFile>) {
        let path = path.as_os_str().as_bytes();
        match (self.path_at_start(path), node) {
            (Some(start), Some(node)) => {
                self.before.entry(start).or_insert(*node);
            }
            // The file was removed without a step.
            (Some(start), None) if self.before.contains_key(&start) => {}
            _ => {
                self.overlay.insert(path.to_vec(), FileOrigin::New);
            }
        }
    }

    /// Records a rename of a file or directory, which replaced any file at the new path. [`Self::before`] was called
    /// for both.
    pub fn rename(&mut self, from: &Path, to: &Path) {
        self.relocate(from.as_os_str().as_bytes(), to.as_os_str().as_bytes());
    }

    /// Records that two files or directories changed places. [`Self::before`] was called for both.
    pub fn exchange(&mut self, one: &Path, other: &Path) {
        // No path has this name.
        let between = b"\0";
        let (one, other) = (one.as_os_str().as_bytes(), other.as_os_str().as_bytes());
        self.relocate(one, between);
        self.relocate(other, one);
        self.relocate(between, other);
        self.overlay.remove(between.as_slice());
    }

    /// Records the removal of a file or directory. [`Self::before`] was called for it, and for everything in it.
    pub fn remove(&mut self, path: &Path) {
        let path = path.as_os_str().as_bytes();
        take_origins_below(&mut self.overlay, path);
        if self.path_at_start(path).is_some() {
            self.overlay.insert(path.to_vec(), FileOrigin::Gone);
        }
    }

    fn relocate(&mut self, from: &[u8], to: &[u8]) {
        if from == to {
            return;
        }
        let origin = self.path_at_start(from).map_or(FileOrigin::New, FileOrigin::Moved);
        let moved = take_origins_below(&mut self.overlay, from);
        take_origins_below(&mut self.overlay, to);
        let there = moved.into_iter().map(|(path, origin)| ([to, &path[from.len()..]].concat(), origin));
        self.overlay.extend(there);
        self.overlay.insert(to.to_vec(), origin);
        self.overlay.insert(from.to_vec(), FileOrigin::Gone);
    }

    /// Returns the path that the file at a present path had when the run began. `None`: the file did not exist.
    pub(super) fn path_at_start(&self, path: &[u8]) -> Option<PathBytes> {
        if self.overlay.is_empty() {
            return Some(path.to_vec());
        }
        let nearest = prefixes(path).find_map(|end| Some((end, self.overlay.get(&path[..end])?)));
        match nearest {
            Some((end, FileOrigin::Moved(start))) => Some([start, &path[end..]].concat()),
            Some((_, FileOrigin::New | FileOrigin::Gone)) => None,
            None => Some(path.to_vec()),
        }
    }
}

/// Removes and returns the origins of a path and of all paths below it.
fn take_origins_below(map: &mut BTreeMap<PathBytes, FileOrigin>, path: &[u8]) -> Vec<(PathBytes, FileOrigin)> {
    // `0` follows `/`.
    let inside = (Bound::Excluded([path, b"/"].concat()), Bound::Excluded([path, b"0"].concat()));
    let mut paths: Vec<_> = map.range(inside).map(|(path, _)| path.clone()).collect();
    paths.push(path.to_vec());
    paths.into_iter().filter_map(|path| map.remove_entry(&path)).collect()
}
