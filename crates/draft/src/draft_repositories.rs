//! The git repositories of a draft, as its commands see them. Paths in `.git` are in no list of changes: a summary of
//! each repository stands for them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::layer::DraftLayer;
use receipt::git::{GitRepository, RepositoryComparison, RepositorySnapshot, compare, is_mentioned};

/// The repositories in which a draft has changed files, by the tops of their work trees. `None`: none is left there.
#[derive(Debug, Default)]
pub struct DraftRepositories(BTreeMap<PathBuf, Option<RepositorySnapshot>>);

impl DraftRepositories {
    /// Reads the repositories. `layers`: those of the draft, that of its root first. `changed`: the paths at which it
    /// differs from its base.
    pub fn read<'a>(layers: &[DraftLayer], changed: impl Iterator<Item = &'a Path>) -> Self {
        let Some((root, others)) = layers.split_first() else { return Self::default() };
        let mut tops: BTreeMap<PathBuf, DefaultHasher> = BTreeMap::new();
        for path in changed {
            let found = match others.iter().find_map(|layer| path.strip_prefix(&layer.base).ok()) {
                Some(rest) => top_above(&root.base).map(|top| (top, rest)),
                None => top_and_rest(path),
            };
            let Some((top, rest)) = found else { continue };
            let hasher = tops.entry(top.to_owned()).or_default();
            if !is_mentioned(rest) {
                continue;
            }
            let data = fs::symlink_metadata(place_of(layers, path)).ok();
            if !data.as_ref().is_some_and(fs::Metadata::is_dir) {
                let status = data.map(|data| (data.ino(), data.len(), data.mtime(), data.mtime_nsec()));
                (path, status).hash(hasher);
            }
        }
        let nothing = DefaultHasher::new().finish();
        let read = |(top, hasher): (PathBuf, DefaultHasher)| {
            let place = |path: &Path| place_of(layers, path);
            let rest = Some(hasher.finish()).filter(|rest| *rest != nothing).unwrap_or_default();
            let repository = GitRepository::open_at(&top, &place);
            let snapshot = repository.map(|found| RepositorySnapshot::read_at(&found, &place, None, rest));
            (top, snapshot)
        };
        Self(tops.into_iter().map(read).collect())
    }

    /// Returns the changes since an earlier moment. Where a moment has no snapshot, the repository was as in the base.
    pub fn since(&self, then: &Self) -> Vec<RepositoryComparison> {
        let tops: BTreeSet<_> = then.0.keys().chain(self.0.keys()).collect();
        let compared = |top: &PathBuf| {
            let (then, now) = (then.0.get(top), self.0.get(top));
            // An index that the draft has not changed is not read again.
            let known = now.or(then).and_then(Option::as_ref);
            let base = GitRepository::open(top).map(|found| RepositorySnapshot::read_briefly(&found, known));
            compare(top, then.unwrap_or(&base).as_ref(), now.unwrap_or(&base).as_ref(), false)
        };
        tops.into_iter().filter_map(compared).collect()
    }
}

/// Returns where the draft has the file of a path. Where it has none, nothing is there.
fn place_of(layers: &[DraftLayer], path: &Path) -> PathBuf {
    let Some(layer) = layers.iter().find(|layer| path.starts_with(&layer.base)) else { return path.to_owned() };
    let leads_up = path.components().any(|part| part == Component::ParentDir);
    let place = if leads_up { None } else { layer.find(path).ok().flatten() };
    place.unwrap_or_else(|| layer.work().join("nothing"))
}

/// Returns the top of the repository whose `.git` holds a path, and the rest of the path.
fn top_and_rest(path: &Path) -> Option<(&Path, &Path)> {
    let above = path.ancestors().filter(|above| above.file_name().is_some_and(|name| name == ".git")).last()?;
    Some((above.parent()?, path.strip_prefix(above).ok()?))
}

/// Returns the top of the repository of a directory.
fn top_above(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|above| fs::symlink_metadata(above.join(".git")).is_ok())
}
