//! The changes of a draft as people read them: created, modified, deleted, renamed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use super::difference::DraftDifference;
use receipt::FileRename;
use receipt::net::{ContentIdentity, NetEffect, ObservedFile, PathListing};
use undo::path_lookup::has_equal_contents;
use undo::path_state::PathState;

/// Returns the changes, with the renames that contents prove. Paths in `.git` are in no list.
///
/// # Errors
/// If contents cannot be read.
pub fn effect_of(differences: &[DraftDifference]) -> io::Result<NetEffect> {
    let renames = find_renames(differences)?;
    let is_moved = moved_paths(&renames);
    let places = differences.iter().filter(|one| !is_moved(&one.path)).map(|one| {
        // A file that is listed differs.
        let now = ObservedFile::of(&one.draft.state, ContentIdentity::Hash(1));
        (&*one.path, ObservedFile::of(&one.base, ContentIdentity::Hash(0)), now)
    });
    let renamed = renames.iter().filter(|one| listing_of(&one.to) == PathListing::Listed).cloned().collect();
    Ok(NetEffect { renamed, ..NetEffect::of_places(places, listing_of) })
}

/// Returns what tells whether a path is, or lies in, a thing that was renamed, before or after that.
pub(super) fn moved_paths(renames: &[FileRename]) -> impl Fn(&Path) -> bool + use<'_> {
    let ends: BTreeSet<&Path> = renames.iter().flat_map(|one| [&*one.from, &*one.to]).collect();
    move |path| path.ancestors().any(|above| ends.contains(above))
}

/// Returns whether a path is shown: not in `.git`.
pub(super) fn listing_of(path: &Path) -> PathListing {
    if path.iter().any(|name| name == ".git") { PathListing::Hidden } else { PathListing::Listed }
}

/// Returns the renames: a file that is gone at one path and is copied at another one with equal contents, and a
/// directory of which this is true for all that is in it.
pub(super) fn find_renames(differences: &[DraftDifference]) -> io::Result<Vec<FileRename>> {
    let created: BTreeMap<&Path, &DraftDifference> =
        differences.iter().filter(|one| one.base.is_absent()).map(|one| (&*one.path, one)).collect();
    let deleted: BTreeMap<&Path, &DraftDifference> =
        differences.iter().filter(|one| one.draft.state.is_absent()).map(|one| (&*one.path, one)).collect();
    let mut sources: HashMap<u64, Vec<&Path>> = HashMap::new();
    for one in deleted.values() {
        if let Some(size) = one.base.size() {
            sources.entry(size).or_default().push(&one.path);
        }
    }
    let mut moved: BTreeMap<&Path, &Path> = BTreeMap::new();
    for one in created.values().filter(|one| one.draft.is_copied) {
        let Some(of_size) = one.draft.state.size().and_then(|size| sources.get_mut(&size)) else { continue };
        // Of equal files, the one with the same name.
        let is_namesake = |path: &Path| path.file_name() == one.path.file_name();
        of_size.sort_by_key(|path| (!is_namesake(path), *path));
        for at in 0..of_size.len() {
            if has_equal_contents(&one.place, of_size[at])? {
                moved.insert(&one.path, of_size.remove(at));
                break;
            }
        }
    }
    let mut renames = Vec::new();
    let mut whole: Option<PathBuf> = None;
    for (path, one) in &created {
        if whole.as_ref().is_some_and(|directory| path.starts_with(directory)) {
            continue;
        }
        let from = match one.draft.state {
            PathState::Directory(_) => moved_directory(path, &created, &deleted, &moved),
            _ => moved.get(path).map(|from| from.to_path_buf()),
        };
        let Some(from) = from else { continue };
        if one.draft.state.is_directory() {
            whole = Some(path.to_path_buf());
        }
        renames.push(FileRename { from, to: path.to_path_buf() });
    }
    Ok(renames)
}

/// Returns the directory of the base that a created one was, if all that was in it is there, and nothing else.
fn moved_directory(
    path: &Path,
    created: &BTreeMap<&Path, &DraftDifference>,
    deleted: &BTreeMap<&Path, &DraftDifference>,
    moved: &BTreeMap<&Path, &Path>,
) -> Option<PathBuf> {
    let below = |map: &BTreeMap<&Path, &DraftDifference>, directory: &Path| -> Vec<PathBuf> {
        let found = map.range(directory..).map(|(path, _)| *path);
        let found = found.take_while(|path| path.starts_with(directory));
        found.filter_map(|path| path.strip_prefix(directory).ok()).map(Path::to_owned).collect()
    };
    let (first, source) = moved.range(path..).next().filter(|(to, _)| to.starts_with(path))?;
    let rest = first.strip_prefix(path).ok()?;
    let from = source.ancestors().nth(rest.iter().count())?;
    let is_same = source.strip_prefix(from) == Ok(rest);
    let gone = deleted.get(from).is_some_and(|one| one.base.is_directory());
    let (now, then) = (below(created, path), below(deleted, from));
    let is_there = |rest: &PathBuf| {
        let Some(one) = created.get(&*path.join(rest)) else { return false };
        match &one.draft.state {
            PathState::File(_) => moved.get(&*one.path).is_some_and(|source| **source == from.join(rest)),
            state => deleted.get(&*from.join(rest)).is_some_and(|gone| gone.base.kind() == state.kind()),
        }
    };
    (is_same && gone && now == then && now.iter().all(|rest| rest.as_os_str().is_empty() || is_there(rest)))
        .then(|| from.to_owned())
}
