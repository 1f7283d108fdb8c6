//! The changed files of a tree that git does not ignore.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::GIT;
use super::ignore_rules::IgnoreRules;
use crate::git::GitRepository;
use crate::net::NetEffect;
use crate::{ChangedFileKind, FileRename, ReceiptCompleteness};

/// The files that changed since a moment. A file that git ignores does not count, whether it is tracked or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    /// How complete the paths are.
    pub state: ReceiptCompleteness,
    /// Why the state is not `Known`, in a sentence.
    pub why: Option<String>,
    /// The absolute paths: of a renamed file both.
    pub paths: BTreeSet<PathBuf>,
    /// Whether one of them certainly changed. Others may have been rewritten with the same content.
    pub is_certain: bool,
    /// Whether a repository changed: its HEAD, references, index or stash.
    pub git: bool,
}

impl ChangedFiles {
    /// Returns that nothing is known, for a reason.
    #[must_use]
    pub fn unknown(why: impl Into<String>) -> Self {
        Self { state: ReceiptCompleteness::Unknown, why: Some(why.into()), ..Self::default() }
    }

    /// Lowers the state.
    pub(super) fn lower(&mut self, state: ReceiptCompleteness, why: String) {
        if state > self.state {
            (self.state, self.why) = (state, Some(why));
        }
    }

    /// Adds changes.
    pub(super) fn add(&mut self, effect: NetEffect) {
        let NetEffect { created, modified, deleted, renamed, unsure, .. } = effect;
        let moves = renamed.into_iter().flat_map(|rename| [rename.from, rename.to]);
        self.paths.extend([created, modified, deleted].into_iter().flatten().map(|change| change.path).chain(moves));
        self.is_certain = self.paths.iter().any(|path| !unsure.contains(path));
    }
}

/// Returns the changes in a tree with this root without those of files that git ignores.
pub(super) fn without_ignored(mut effect: NetEffect, root: &Path) -> NetEffect {
    let mut ignored = IgnoredFiles { root, known: HashMap::new() };
    for changes in [&mut effect.created, &mut effect.modified, &mut effect.deleted] {
        changes.retain(|change| !ignored.is_ignored(&change.path, change.kind == ChangedFileKind::Directory));
    }
    effect.unsure.retain(|path| !ignored.is_ignored(path, false));
    // A file that was moved out of an ignored directory is new.
    effect.renamed.retain(|FileRename { from, to }| {
        let is_directory = to.is_dir();
        !(ignored.is_ignored(from, is_directory) && ignored.is_ignored(to, is_directory))
    });
    effect
}

/// Returns whether the changes of a tree tell of a directory: it lies in the tree, is in no other repository, and git
/// does not ignore it.
pub(super) fn covers_directory(root: &Path, directory: &Path) -> bool {
    let is_own = directory.starts_with(root) && undo::path_lookup::top_of(directory) == undo::path_lookup::top_of(root);
    let mut ignored = IgnoredFiles { root, known: HashMap::new() };
    is_own && (directory == root || !ignored.directory(directory).1)
}

/// Which files of a tree git ignores.
struct IgnoredFiles<'r> {
    root: &'r Path,
    /// For each directory its rules, and whether it is ignored itself.
    known: HashMap<PathBuf, (IgnoreRules, bool)>,
}

impl IgnoredFiles<'_> {
    fn is_ignored(&mut self, path: &Path, is_directory: bool) -> bool {
        let Some(directory) = path.parent().filter(|directory| directory.starts_with(self.root)) else { return false };
        let (rules, is_ignored) = self.directory(directory);
        is_ignored || rules.ignores_path(path, is_directory)
    }

    fn directory(&mut self, directory: &Path) -> (IgnoreRules, bool) {
        if let Some(known) = self.known.get(directory) {
            return known.clone();
        }
        let above = directory.parent().filter(|_| directory != self.root).map(|above| self.directory(above));
        let (rules, is_ignored) = above.unwrap_or_default();
        let is_ignored = is_ignored || rules.ignores_directory(directory);
        let repository = directory.join(GIT).symlink_metadata().ok().and_then(|_| GitRepository::open(directory));
        let rules = match repository {
            Some(repository) => IgnoreRules::of_repository(directory, &repository.common),
            None => rules.inside(directory),
        };
        self.known.insert(directory.to_owned(), (rules.clone(), is_ignored));
        (rules, is_ignored)
    }
}
