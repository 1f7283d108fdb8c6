//! The paths at which a draft differs from its base, and those of them at which both have changed.

use std::io;
use std::path::{Path, PathBuf};

use super::base_memory::{BaseMemory, changed_at, changed_with};
use super::layer::{DraftLayer, LayerChange, LayerThing};
use undo::path_lookup::{has_equal_contents, hash_file};
use undo::path_state::{FileTime, PathState};

/// A path at which a draft differs from its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftDifference {
    /// The path in the base.
    pub path: PathBuf,
    /// The place of the thing in the draft, in `upper`.
    pub place: PathBuf,
    /// The thing of the draft: nothing if it was removed.
    pub draft: LayerThing,
    /// The thing of the base.
    pub base: PathState,
    /// Why the base has changed as well, in a few words. `None`: it has not.
    pub conflict: Option<&'static str>,
}

/// What people read of a directory that is another one, and of all in it.
struct DirectoryConflict {
    here: &'static str,
    below: &'static str,
}

const REMOVED: DirectoryConflict =
    DirectoryConflict { here: "it was removed", below: "a directory above it was removed" };
const CHANGED: DirectoryConflict =
    DirectoryConflict { here: "it was changed", below: "a directory above it was changed" };

/// Returns the differences at these changes of a layer, sorted by path.
///
/// # Errors
/// If something cannot be read.
pub fn differences(
    layer: &DraftLayer,
    changes: Vec<LayerChange>,
    began: FileTime,
    memory: &BaseMemory,
) -> io::Result<Vec<DraftDifference>> {
    let mut found = Vec::new();
    // A directory of the draft whose base is gone, or is not the one of which the draft knows.
    let mut other: Option<(PathBuf, DirectoryConflict)> = None;
    for LayerChange { path, draft, base } in changes {
        let place = layer.place_of(&path).unwrap_or_default();
        other = other.filter(|(directory, _)| path.starts_with(directory));
        let is_below_other = other.is_some();
        if !is_below_other && is_other_directory(&path, &draft, &base, began, memory)? {
            other = Some((path.clone(), if base.is_absent() { REMOVED } else { CHANGED }));
        }
        if !is_change(&path, &place, &draft, &base, memory)? {
            continue;
        }
        let conflict = match &other {
            Some((_, conflict)) if is_below_other => Some(conflict.below),
            Some((_, conflict)) => Some(conflict.here),
            None => base_change(&path, &draft, &base, began, memory)?,
        };
        found.push(DraftDifference { path, place, draft, base, conflict });
    }
    // Entries that a directory hides are visited after those that it shows.
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Returns whether a directory of the base is not the one that the draft has seen at this path, or is gone. Things that
/// were moved there with a directory have earlier times.
fn is_other_directory(
    path: &Path,
    draft: &LayerThing,
    base: &PathState,
    began: FileTime,
    memory: &BaseMemory,
) -> io::Result<bool> {
    let seen = memory.get_or_above(path).map(|seen| &seen.state);
    if !base.is_directory() {
        let was_directory = draft.is_copied || seen.is_some_and(PathState::is_directory);
        return Ok(draft.state.is_directory() && was_directory);
    }
    if !draft.state.is_directory() {
        // The draft wants it gone, as it was.
        return Ok(changed_at(path)?.is_some_and(|at| at > memory.since(path, began)));
    }
    Ok(match seen {
        Some(PathState::Absent) => draft.is_opaque,
        Some(seen) => seen.id() != base.id(),
        None => false,
    })
}

/// Returns whether the draft has changed the thing at a path, and the base does not have it alike. Times alone are no
/// change.
fn is_change(path: &Path, place: &Path, draft: &LayerThing, base: &PathState, memory: &BaseMemory) -> io::Result<bool> {
    if draft.state.is_alike(base) && (base.file().is_none() || has_equal_contents(place, path)?) {
        return Ok(false);
    }
    // The draft may only have a copy of what the base was.
    let Some(seen) = memory.get(path).filter(|seen| seen.state.is_alike(&draft.state)) else { return Ok(true) };
    match seen.contents {
        Some(contents) => Ok(hash_file(place).ok() != Some(contents)),
        None => Ok(seen.state.file().is_some()),
    }
}

/// Returns how the base has changed at a path since the draft knows it.
fn base_change(
    path: &Path,
    draft: &LayerThing,
    base: &PathState,
    began: FileTime,
    memory: &BaseMemory,
) -> io::Result<Option<&'static str>> {
    let seen = memory.get_or_above(path);
    if base.is_absent() {
        let was_there = seen.is_some_and(|seen| !seen.state.is_absent());
        return Ok(was_there.then_some("it was removed"));
    }
    if base.is_directory() && draft.state.is_directory() {
        // Its time also tells of its entries.
        let is_changed = seen.is_some_and(|seen| !seen.state.is_alike(base));
        return Ok(is_changed.then_some("its mode, owner or attributes were changed"));
    }
    if base.is_directory() {
        // Its entries are compared by themselves.
        return Ok(None);
    }
    let is_newer = changed_with(path, base)?.is_some_and(|at| at > memory.since(path, began));
    let is_new = seen.is_some_and(|seen| seen.state.is_absent());
    Ok(match (is_newer, is_new) {
        (true, true) => Some("it was created"),
        (true, false) => Some("it was changed"),
        (false, _) => None,
    })
}
