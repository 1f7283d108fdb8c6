//! The directories of a repository.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Directories that hold objects and logs, which no receipt mentions.
const UNMENTIONED_DIRECTORIES: [&str; 3] = ["objects", "lfs", "logs"];
/// Bytes of the largest file of a repository that is read.
pub(super) const MAX_FILE_BYTES: u64 = 256 << 20;
/// Size limit of a file that only names a directory.
const MAX_POINTER_BYTES: u64 = 64 * 1024;

/// Returns the place of the file that a path names.
pub type PlaceOf<'a> = dyn Fn(&Path) -> PathBuf + 'a;

/// The directories of a repository that matter to a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitRepository {
    /// The top of its work tree.
    pub top: PathBuf,
    /// The repository's own directory: `.git`, or the directory of a linked work tree or a submodule.
    pub own: PathBuf,
    /// The directory that the repository shares with other work trees: equal to `own` if there are none.
    pub common: PathBuf,
}

impl GitRepository {
    /// Opens the repository whose work tree has this top. `None`: no repository is there.
    #[must_use]
    pub fn open(top: &Path) -> Option<Self> {
        Self::open_at(top, &Path::to_owned)
    }

    /// Opens a repository whose files are at other places than their paths.
    #[must_use]
    pub fn open_at(top: &Path, place: &PlaceOf<'_>) -> Option<Self> {
        let git = top.join(".git");
        let own = if fs::metadata(place(&git)).ok()?.is_dir() {
            git
        } else {
            let text = short_file(&place(&git))?;
            top.join(path_in(text.strip_prefix(b"gitdir:")?))
        };
        let own = if place(&own).is_dir() { canonical_or_same(&own) } else { return None };
        let common = short_file(&place(&own.join("commondir")));
        let common = common.map(|text| canonical_or_same(&own.join(path_in(&text))));
        let common = common.unwrap_or_else(|| own.clone());
        Some(Self { top: top.to_owned(), own, common })
    }

    /// Returns the directories whose files a snapshot reads: at most `most`, and whether these are all.
    #[must_use]
    pub fn directories(&self, most: usize) -> (Vec<PathBuf>, bool) {
        let mut found = vec![self.own.clone()];
        if self.is_linked() {
            found.push(self.common.join("refs"));
        }
        let mut at = 0;
        while at < found.len() && found.len() < most {
            for entry in fs::read_dir(&found[at]).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if entry.file_type().is_ok_and(|kind| kind.is_dir())
                    && !UNMENTIONED_DIRECTORIES.iter().any(|it| name == **it)
                {
                    found.push(entry.path());
                }
            }
            at += 1;
        }
        let are_all = at == found.len();
        if self.is_linked() {
            // The common directory has the packed references.
            found.push(self.common.clone());
        }
        (found, are_all)
    }

    /// Returns whether this is a linked work tree.
    #[must_use]
    pub fn is_linked(&self) -> bool {
        self.own != self.common
    }

    /// Returns whether all work trees share a file: it is in the common directory, and belongs to no work tree alone.
    #[must_use]
    pub fn is_shared_file(&self, path: &Path) -> bool {
        const OF_MAIN: [&str; 5] = ["index", "rebase-merge", "rebase-apply", "sequencer", "config.worktree"];
        let Ok(rest) = path.strip_prefix(&self.common) else { return false };
        let first = rest.iter().next().map(OsStr::to_string_lossy).unwrap_or_default();
        let is_of_main = OF_MAIN.contains(&&*first) || first.bytes().any(|byte| byte.is_ascii_uppercase());
        first != "worktrees" && !is_of_main
    }
}

/// Returns whether a receipt mentions a file of a repository by itself, and compares it as it is. `path` begins in its
/// directory, or in one that it shares with other work trees. Locks come and go, and an index is compared by its
/// entries.
#[must_use]
pub fn is_mentioned(path: &Path) -> bool {
    let is_unmentioned = |name: &OsStr| UNMENTIONED_DIRECTORIES.iter().any(|it| name == *it);
    let is_lock = path.as_os_str().as_encoded_bytes().ends_with(b".lock");
    let mut names = path.iter();
    let Some(first) = names.next() else { return false };
    if first == "worktrees" || first == "modules" {
        return !is_lock && !path.ends_with("index") && !names.any(is_unmentioned);
    }
    !is_lock && path != Path::new("index") && !is_unmentioned(first)
}

/// The files of a repository, which may be at other places than their paths.
#[derive(Clone, Copy)]
pub struct GitFiles<'a> {
    pub(super) repository: &'a GitRepository,
    pub(super) place: &'a PlaceOf<'a>,
}

impl GitFiles<'_> {
    /// Returns the place of a file that the repository has for itself.
    pub(super) fn own(&self, name: &str) -> PathBuf {
        (self.place)(&self.repository.own.join(name))
    }

    /// Returns the place of a file that it shares with other work trees.
    pub(super) fn common(&self, name: &str) -> PathBuf {
        (self.place)(&self.repository.common.join(name))
    }
}

/// Returns the path in a file that names a path.
fn path_in(text: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(text.trim_ascii()))
}

fn canonical_or_same(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Reads a file of one line.
pub(super) fn short_file(path: &Path) -> Option<Vec<u8>> {
    sys::read_regular(path, MAX_POINTER_BYTES).ok()
}
