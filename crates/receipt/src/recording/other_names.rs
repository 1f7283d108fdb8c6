//! Other names of files that have several names and were changed by one of them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::kept_run_files::KeptRunFiles;
use crate::net::NetEffect;
use crate::{ChangedFileKind, FileChange};
use undo::coverage_gaps::named;
use undo::path_lookup::{self, names_below};
use undo::path_state::{FileIdentity, FileState, KnownContents, PathState};

/// A file that had several names, and may have changed.
struct MultiNamedFile<'a> {
    before: &'a FileState,
    /// A path of the file.
    path: &'a Path,
    /// Current names that the record knows.
    names: HashSet<PathBuf>,
    /// Whether the file has changed. `None`: the record knows no current name of it.
    is_changed: Option<bool>,
}

/// Lists the other names of changed files below `root` as modified. Returns why names may be missing.
pub fn list_other_names(effect: &mut NetEffect, kept: &KeptRunFiles<'_>, root: Option<&Path>) -> Option<String> {
    let mut linked = multi_named_files(kept);
    linked.retain(|_, file| file.is_changed != Some(false));
    if linked.is_empty() {
        return None;
    }
    let found = root.map(|root| names_below(root, |id| linked.contains_key(&id), |path| kept.is_own(path)));
    for (path, id) in found.unwrap_or_default() {
        let Some(file) = linked.get_mut(&id) else { continue };
        let Ok(PathState::File(now)) = path_lookup::read_state(&path) else { continue };
        let is_changed = *file.is_changed.get_or_insert_with(|| has_changed(kept, file.before, &now, &path));
        if is_changed && file.names.insert(path.clone()) {
            let (bytes, bytes_before) = (Some(now.size), Some(file.before.size));
            effect.modified.push(FileChange { path, bytes, bytes_before, kind: ChangedFileKind::File });
        }
    }
    effect.modified.sort_by(|one, other| one.path.cmp(&other.path));
    let stored = stored_name_counts(kept);
    let is_incomplete = |(id, file): &(&FileIdentity, &MultiNamedFile<'_>)| match file.is_changed {
        Some(false) => false,
        Some(true) => {
            let known = file.names.len() as u64 + stored.get(id).copied().unwrap_or(0);
            let now = file.names.iter().find_map(|path| fs::symlink_metadata(path).ok());
            now.is_some_and(|data| data.nlink() > known)
        }
        // The other names are elsewhere, if they are not gone.
        None => is_rewritten(kept, file.before) && known_before(kept, **id) < file.before.links,
    };
    let (_, file) = linked.iter().find(is_incomplete)?;
    Some(format!("{} has other names, which were not found", named(file.path)))
}

/// Returns the files with several names that the run touched.
fn multi_named_files<'a>(kept: &'a KeptRunFiles<'_>) -> HashMap<FileIdentity, MultiNamedFile<'a>> {
    let mut linked: HashMap<FileIdentity, MultiNamedFile<'a>> = HashMap::new();
    for (path, node) in kept.point.states_before.iter() {
        if let PathState::File(before) = node
            && node.has_several_names()
            && !kept.is_own(path)
        {
            let new = || MultiNamedFile { before, path, names: HashSet::new(), is_changed: None };
            linked.entry(before.meta.id).or_insert_with(new);
        }
    }
    if linked.is_empty() {
        return linked;
    }
    for (path, node) in kept.point.states_after_run.iter() {
        if let PathState::File(now) = node
            && let Some(file) = linked.get_mut(&now.meta.id)
            && !kept.is_own(path)
        {
            file.is_changed.get_or_insert_with(|| has_changed(kept, file.before, now, path));
            file.names.insert(path.to_owned());
        }
    }
    linked
}

fn has_changed(kept: &KeptRunFiles<'_>, before: &FileState, now: &FileState, path: &Path) -> bool {
    let is_alike = before.size == now.size && before.meta.has_same_metadata(&now.meta);
    !is_alike || kept.is_same(before, now, path) != Some(true)
}

/// Returns the number of names that a file is known to have had.
fn known_before(kept: &KeptRunFiles<'_>, id: FileIdentity) -> u64 {
    kept.point.states_before.iter().filter(|(path, node)| node.id() == Some(id) && !kept.is_own(path)).count() as u64
}

/// Returns the number of names that the store has of each file.
fn stored_name_counts(kept: &KeptRunFiles<'_>) -> HashMap<FileIdentity, u64> {
    let mut stored: HashMap<FileIdentity, u64> = HashMap::new();
    for place in std::iter::once(&kept.files).chain(kept.point.places.values()) {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            let Ok(data) = entry.metadata() else { continue };
            *stored.entry(FileIdentity { device: data.dev(), inode: data.ino() }).or_default() += 1;
        }
    }
    stored
}

/// Returns whether a file was opened for writing before its last known name went.
fn is_rewritten(kept: &KeptRunFiles<'_>, file: &FileState) -> bool {
    match &file.contents {
        KnownContents::Untouched => false,
        KnownContents::Hash(_) | KnownContents::Nothing { .. } | KnownContents::Removed => true,
        KnownContents::Image(image) => {
            let data = kept.path(*image).and_then(|path| fs::symlink_metadata(path).ok());
            data.is_none_or(|data| (data.dev(), data.ino()) != (file.meta.id.device, file.meta.id.inode))
        }
    }
}
