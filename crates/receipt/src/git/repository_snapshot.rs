//! A repository at one moment.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::git_index::{GitIndex, GitIndexEntries};
use super::git_repository::{GitFiles, GitRepository, MAX_FILE_BYTES, PlaceOf, short_file};
use super::references;
use crate::{GitState, RepositoryChange};
use undo::coverage_gaps::named;

/// The most directories of a repository that are read.
const MAX_GIT_DIRECTORIES_READ: usize = 20_000;

/// The contents of a repository, apart from objects and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositorySnapshot {
    /// The id of the commit, and the short name of the branch.
    head: [Option<String>; 2],
    /// The index. `None`: it could not be read.
    index: Option<GitIndex>,
    /// The id of the last stash, and a hash of all stashes.
    stash: Option<(String, u64)>,
    state: Option<GitState>,
    /// A hash of all other files, by their names, numbers, sizes and times.
    rest: u64,
    /// Whether the references can be read.
    has_references: bool,
}

/// The result of comparing two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryComparison {
    /// The changes.
    pub change: RepositoryChange,
    /// Why the references, and so HEAD, are unknown.
    pub unknown: Option<String>,
    /// Why the index may be unchanged though it is reported as changed.
    pub doubt: Option<String>,
}

impl RepositorySnapshot {
    /// Reads a repository. With an earlier snapshot, an unchanged index file is not read again.
    #[must_use]
    pub fn read(repository: &GitRepository, earlier: Option<&Self>) -> Self {
        Self { rest: hash_other_files(repository), ..Self::read_briefly(repository, earlier) }
    }

    /// Reads a repository without the files that are only compared as a whole, for a caller that knows which files
    /// changed.
    #[must_use]
    pub fn read_briefly(repository: &GitRepository, earlier: Option<&Self>) -> Self {
        Self::read_at(repository, &Path::to_owned, earlier, 0)
    }

    /// Reads a repository whose files are at other places than their paths. `rest` identifies the files that are only
    /// compared as a whole.
    #[must_use]
    pub fn read_at(repository: &GitRepository, place: &PlaceOf<'_>, earlier: Option<&Self>, rest: u64) -> Self {
        let files = GitFiles { repository, place };
        let id_length = if has_long_ids(files) { 32 } else { 20 };
        Self {
            head: references::head(files),
            index: GitIndex::read(&files.own("index"), id_length, earlier.and_then(|earlier| earlier.index)),
            stash: stash(files),
            state: state(files),
            rest,
            has_references: references::are_readable(files),
        }
    }
}

/// Compares a repository with its earlier state. A snapshot of `None` stands for no repository. Returns `None` if
/// nothing changed, unless `is_touched` says that a file was touched.
#[must_use]
pub fn compare(
    top: &Path,
    before: Option<&RepositorySnapshot>,
    after: Option<&RepositorySnapshot>,
    is_touched: bool,
) -> Option<RepositoryComparison> {
    let entries = |snapshot: Option<&RepositorySnapshot>| {
        let Some(snapshot) = snapshot else { return Some(GitIndexEntries::default()) };
        snapshot.index.map(|index| index.entries)
    };
    let (old, new) = (entries(before), entries(after));
    // An index that cannot be read may have changed.
    let index = old != new && (old, new) != (None, None);
    let is_readable = old.is_some() && new.is_some();
    let of = |snapshot: Option<&RepositorySnapshot>| {
        let RepositorySnapshot { head, stash, state, rest, has_references, .. } = snapshot?;
        Some((head.clone(), stash.clone(), *state, *rest, *has_references))
    };
    let (was, is) = (of(before), of(after));
    if was == is && !index && is_readable && !is_touched {
        return None;
    }
    if before.is_none() && after.is_none() {
        return None;
    }
    let value = |at: usize| [before, after].map(|snapshot| snapshot.and_then(|snapshot| snapshot.head[at].clone()));
    let stash = |snapshot: Option<&RepositorySnapshot>| snapshot.and_then(|snapshot| snapshot.stash.clone());
    let is_inexact = [old, new].iter().flatten().any(|entries| entries.is_inexact);
    let name = named(top);
    let doubt = if !is_readable {
        Some(format!("the index of {name} cannot be read"))
    } else if index && is_inexact {
        Some(format!("the index of {name} is split or sparse, and may hold the same entries as before"))
    } else {
        None
    };
    let change = RepositoryChange {
        repository: top.to_owned(),
        head: value(0),
        branch: value(1),
        index: index || !is_readable,
        stash: stash(before) != stash(after),
        state: after.and_then(|after| after.state),
    };
    let is_unknown = [before, after].into_iter().flatten().any(|snapshot| !snapshot.has_references);
    let unknown = is_unknown
        .then(|| format!("the references of {name} cannot be read: they are in reftables, or no regular file"));
    Some(RepositoryComparison { change, unknown, doubt })
}

/// Returns whether ids are SHA-256 ids.
fn has_long_ids(files: GitFiles<'_>) -> bool {
    let text = short_file(&files.common("config")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).to_ascii_lowercase();
    let settings = text.lines().filter_map(|line| line.split_once('='));
    settings.into_iter().any(|(name, value)| name.trim() == "objectformat" && value.trim() == "sha256")
}

fn stash(files: GitFiles<'_>) -> Option<(String, u64)> {
    let last = references::reference_id(files, "refs/stash")?;
    let log = sys::read_regular(&files.common("logs/refs/stash"), MAX_FILE_BYTES).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    log.hash(&mut hasher);
    Some((last, hasher.finish()))
}

/// Returns the operation under way, as `git status` reports it.
fn state(files: GitFiles<'_>) -> Option<GitState> {
    let has = |name: &str| fs::symlink_metadata(files.own(name)).is_ok();
    if has("rebase-merge") || has("rebase-apply") {
        return Some(GitState::Rebase);
    }
    let heads = [
        ("MERGE_HEAD", GitState::Merge),
        ("CHERRY_PICK_HEAD", GitState::CherryPick),
        ("REVERT_HEAD", GitState::Revert),
    ];
    if let Some((_, state)) = heads.into_iter().find(|(name, _)| has(name)) {
        return Some(state);
    }
    // A sequence of commits is between two of them.
    let next = short_file(&files.own("sequencer/todo")).unwrap_or_default();
    if next.starts_with(b"p") {
        return Some(GitState::CherryPick);
    }
    if next.starts_with(b"revert") {
        return Some(GitState::Revert);
    }
    has("BISECT_LOG").then_some(GitState::Bisect)
}

fn hash_other_files(repository: &GitRepository) -> u64 {
    let mut files = Vec::new();
    let (directories, _) = repository.directories(MAX_GIT_DIRECTORIES_READ);
    let references = [repository.own.join("refs"), repository.common.join("refs")];
    for directory in directories {
        let is_shared = directory == repository.common && repository.common != repository.own;
        // The repository may have been renamed.
        let short = directory.strip_prefix(&repository.own).or_else(|_| directory.strip_prefix(&repository.common));
        let short = short.unwrap_or(&directory);
        let has_references = references.iter().any(|references| directory.starts_with(references));
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            // Locks come and go. The index is compared by its entries, and other work trees have their own.
            let bytes = name.as_encoded_bytes();
            let is_passing = bytes.ends_with(b".lock") || (name == "index" && !has_references);
            if is_passing || (is_shared && name != "packed-refs" && name != "config") {
                continue;
            }
            let Ok(metadata) = entry.metadata() else { continue };
            let is_file = !metadata.is_dir();
            let status = (metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec());
            files.push((short.join(name), is_file.then_some(status)));
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    hasher.finish()
}
