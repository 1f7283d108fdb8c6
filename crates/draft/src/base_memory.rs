//! The base as it was when a draft first touched a path.
//!
//! The overlay copies a file before it changes it, and keeps nothing of the original. So whether a person has changed
//! the original since is told by its times: no program can set the time of the last change of anything about a file.
//! What times cannot tell is kept here: after each command, for each path that it has touched first.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::layer::{LayerChange, read_file};
use undo::path_lookup::{hash_bytes, hash_file, read_state};
use undo::path_map::PathMap;
use undo::path_state::{ContentHash, FileTime, PathState};

/// The largest file whose contents are kept for a merge, in bytes.
pub const MOST_KEPT: u64 = 1 << 20;

/// The thing of the base when a draft first touched a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseThing {
    /// The thing.
    pub state: PathState,
    /// The hash of a file. `None`: it was not read.
    pub contents: Option<ContentHash>,
    /// Where the draft keeps these contents, in its file of ancestors. `None`: it does not.
    pub kept: Option<u64>,
    /// Changes of the base count from here on.
    pub since: FileTime,
    /// Whether that is so for everything below as well: a commit has put it there as a whole.
    pub is_whole: bool,
}

/// The things of the base that a draft has touched.
#[derive(Debug, Clone, Default)]
pub struct BaseMemory(PathMap<BaseThing>);

impl BaseMemory {
    /// Returns the thing at a path when the draft first touched it. `None`: it was not noted.
    pub fn get(&self, path: &Path) -> Option<&BaseThing> {
        self.0.get(path)
    }

    /// Returns the thing at a path, or the nothing that was noted at a directory above it.
    pub fn get_or_above(&self, path: &Path) -> Option<&BaseThing> {
        self.0.get(path).or_else(|| {
            let above = path.ancestors().skip(1).find_map(|above| self.0.get(above));
            above.filter(|above| above.state.is_absent())
        })
    }

    /// Returns the time from which on changes of the base count at a path: that of the last commit of it, or of a whole
    /// directory above it, or `began`.
    pub fn since(&self, path: &Path, began: FileTime) -> FileTime {
        let above = path.ancestors().filter_map(|above| Some((above, self.0.get(above)?)));
        let counts = above.filter(|(above, thing)| thing.is_whole || *above == path);
        counts.map(|(_, thing)| thing.since).fold(began, FileTime::max)
    }

    /// Returns the files that have changed in the base since the draft has touched them, with those that are gone.
    pub fn changed_files(&self, began: FileTime) -> impl Iterator<Item = &Path> {
        let is_changed = move |(path, thing): &(&Path, &BaseThing)| match changed_at(path) {
            Ok(Some(at)) => !thing.state.is_directory() && at > self.since(path, began),
            Ok(None) => !thing.state.is_absent(),
            Err(_) => false,
        };
        self.0.iter().filter(is_changed).map(|(path, _)| path)
    }

    /// Adds a thing, which replaces an earlier one.
    pub fn insert(&mut self, path: PathBuf, thing: BaseThing) {
        self.0.insert(path, thing);
    }

    /// Returns the things of the base at these changes that are not noted yet, and how many it leaves out since they
    /// were changed meanwhile. All in a directory that the base does not have is left out as well.
    ///
    /// `began`: the time at which the draft began. `keep` keeps contents, and returns where.
    pub fn unnoted(
        &self,
        changes: &[LayerChange],
        began: FileTime,
        keep: &mut dyn FnMut(&[u8]) -> Option<u64>,
    ) -> (Vec<(PathBuf, BaseThing)>, usize) {
        let mut found = Vec::new();
        let mut changed = 0;
        let mut absent: Option<&Path> = None;
        for LayerChange { path, draft, base } in changes {
            if absent.is_some_and(|above| path.starts_with(above)) {
                continue;
            }
            absent = base.is_absent().then_some(path);
            let is_file = draft.state.file().and(base.file()).is_some();
            // What a commit has put there was not read.
            let is_read = self.0.get(path).map(|known| known.contents.is_some() || !is_file);
            if is_read == Some(true) || draft.state.is_absent() {
                continue;
            }
            let since = self.since(path, began);
            let is_unchanged = |path: &Path| changed_at(path).is_ok_and(|at| at.is_none_or(|at| at <= since));
            // The time of a directory also tells of its entries.
            if !base.is_directory() && !is_unchanged(path) {
                changed += usize::from(is_read.is_none());
                continue;
            }
            let bytes = if is_file { read_file(path, MOST_KEPT).ok() } else { None };
            let contents = match &bytes {
                Some(bytes) => Some(hash_bytes(bytes)),
                None if is_file && draft.is_copied => hash_file(path).ok(),
                None => None,
            };
            // The file may have changed while it was read.
            let is_news = is_read.is_none() || contents.is_some();
            if !is_news {
                continue;
            }
            if base.is_directory() || is_unchanged(path) {
                let kept = bytes.filter(|bytes| !bytes.contains(&0)).and_then(|bytes| keep(&bytes));
                let state = base.clone();
                found.push((path.clone(), BaseThing { state, contents, kept, since, is_whole: false }));
            } else {
                changed += usize::from(is_read.is_none());
            }
        }
        (found, changed)
    }
}

/// Returns the time of the last change of anything about a thing. `None`: nothing is there.
///
/// # Errors
/// If the system refuses to answer.
pub fn changed_at(path: &Path) -> io::Result<Option<FileTime>> {
    match sys::path_status(path) {
        Ok(status) => Ok(Some(FileTime { seconds: status.ctime.0, nanoseconds: status.ctime.1 })),
        Err(error) if undo::path_lookup::is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Like [`changed_at`], of a thing that was just read.
///
/// # Errors
/// As [`changed_at`].
pub fn changed_with(path: &Path, state: &PathState) -> io::Result<Option<FileTime>> {
    if let PathState::File(file) = state { Ok(Some(file.ctime)) } else { changed_at(path) }
}

/// Returns the things that a commit has put into the base, and the directories in which it has changed names. They are
/// no changes of others. `moved` are the directories that came as a whole.
///
/// # Errors
/// If the system refuses to answer.
pub fn committed_things(applied: &[PathBuf], moved: &[PathBuf]) -> io::Result<Vec<(PathBuf, BaseThing)>> {
    let above = applied.iter().filter_map(|path| path.parent());
    let paths: BTreeSet<&Path> = applied.iter().map(PathBuf::as_path).chain(above).collect();
    let whole: BTreeSet<&Path> = moved.iter().map(PathBuf::as_path).collect();
    paths.into_iter().map(|path| present_thing(path, whole.contains(path))).collect()
}

/// Returns the directories in which a commit that has not ended may have changed names.
///
/// # Errors
/// As [`committed_things`].
pub fn touched_directories<'a>(touched: impl IntoIterator<Item = &'a Path>) -> io::Result<Vec<(PathBuf, BaseThing)>> {
    let paths: BTreeSet<&Path> = touched.into_iter().filter_map(Path::parent).collect();
    paths.into_iter().map(|path| present_thing(path, false)).collect()
}

fn present_thing(path: &Path, is_whole: bool) -> io::Result<(PathBuf, BaseThing)> {
    let state = read_state(path)?;
    let since = changed_with(path, &state)?.unwrap_or_else(FileTime::now);
    Ok((path.to_owned(), BaseThing { state, contents: None, kept: None, since, is_whole }))
}
