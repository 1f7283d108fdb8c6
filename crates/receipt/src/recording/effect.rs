//! From the record of a run to its net effect.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::contents::Kept;
use crate::Kind;
use crate::net::{Contents, Effect, Listing, Metadata, Node, Replay};
use undo::RunManifest;
use undo::path_state::{self, FileIdentity, FileMeta};

/// The entry of a work tree that leads to its repository.
const GIT: &str = ".git";

/// Computes the net effect of a run. Files of its store are left out.
pub fn effect(kept: &Kept<'_>, store: &Path) -> Effect {
    let point = kept.point;
    let after = After::new(kept, store);
    let place = |path: &Path| {
        let is_hidden = is_in_git(path) || point.is_own(store, path);
        if is_hidden { Listing::Hidden } else { Listing::Listed }
    };
    if point.moved.is_empty() {
        return Effect::of_places(places(point, &after), place);
    }
    let mut replay = Replay::new();
    for (path, before) in after.earlier() {
        replay.before(path, before.as_ref());
    }
    for path in moves(point, &mut replay) {
        replay.remove(&path);
        if point.states_after_run.contains_key(&path) {
            replay.before(&path, None);
        }
    }
    // Files in new directories have no earlier entry.
    let is_own = |path: &Path| point.is_own(store, path);
    let new =
        point.states_after_run.keys().filter(|path| !is_own(path) && point.names.earlier_path_of_entry(path).is_none());
    new.for_each(|path| replay.before(path, None));
    replay.effect(|path| after.node(path), place)
}

/// Returns the places that a run has touched, which has moved nothing, with the files of before and of now.
fn places<'a>(
    point: &'a RunManifest,
    after: &'a After<'a>,
) -> impl Iterator<Item = (&'a Path, Option<Node>, Option<Node>)> {
    let there = after.earlier().map(|(path, before)| (path, before, after.node(path)));
    let mut made = Made::default();
    let is_new = move |path: &&'a Path| !point.states_before.contains_key(path) && made.has(point, path);
    there.chain(point.states_after_run.keys().filter(is_new).map(|path| (path, None, after.node(path))))
}

/// The directory that was asked about last, and whether the run made it. Neighbours are asked about one after another.
#[derive(Default)]
struct Made<'a>(Option<(&'a Path, bool)>);

impl<'a> Made<'a> {
    /// Returns whether the directory of a path has no earlier path.
    fn has(&mut self, point: &RunManifest, path: &'a Path) -> bool {
        let Some(directory) = path.parent() else { return false };
        let known = self.0.filter(|(known, _)| known.as_os_str() == directory.as_os_str());
        let (_, is_made) =
            known.unwrap_or_else(|| (directory, point.names.earlier_path_of_directory(directory).is_none()));
        self.0 = Some((directory, is_made));
        is_made
    }
}

/// Returns whether a path lies in a `.git`, or is one.
fn is_in_git(path: &Path) -> bool {
    memchr::memmem::find(path.as_os_str().as_bytes(), b"/.git").is_some() && path.iter().any(|name| name == GIT)
}

/// Replays the renames. Returns the last paths of files that are gone.
fn moves(point: &RunManifest, replay: &mut Replay) -> Vec<PathBuf> {
    let mut places: BTreeMap<PathBuf, FileIdentity> = BTreeMap::new();
    for moved in &point.moved {
        let (from, to) = (&moved.from, &moved.to);
        let below = |places: &BTreeMap<PathBuf, FileIdentity>, directory: &Path| -> Vec<PathBuf> {
            let all = places.range(directory.to_owned()..).map(|(path, _)| path);
            all.take_while(|path| path.starts_with(directory)).cloned().collect()
        };
        let (leaving, mut returning) = (below(&places, from), below(&places, to));
        if moved.swap.is_some() {
            replay.exchange(from, to);
        } else {
            replay.rename(from, to);
            // The file at the new path was replaced.
            for path in returning.drain(..) {
                places.remove(&path);
            }
        }
        let mut next = Vec::new();
        let there = leaving.into_iter().map(|path| (path, from, to));
        for (path, old, new) in there.chain(returning.into_iter().map(|path| (path, to, from))) {
            let (Some(id), Ok(rest)) = (places.remove(&path), path.strip_prefix(old)) else { continue };
            next.push((if rest.as_os_str().is_empty() { new.clone() } else { new.join(rest) }, id));
        }
        places.extend(next);
        places.insert(to.clone(), moved.id);
    }
    let is_gone = |path: &Path, id: FileIdentity| {
        point.states_after_run.get(path).and_then(path_state::PathState::id) != Some(id)
    };
    places.into_iter().filter(|(path, id)| is_gone(path, *id)).map(|(path, _)| path).collect()
}

/// The current files, and numbers for the contents of the earlier ones.
struct After<'a> {
    kept: &'a Kept<'a>,
    store: &'a Path,
    index: OnceCell<Index<'a>>,
}

/// The earlier files, once one of them is compared.
struct Index<'a> {
    numbers: HashMap<&'a OsStr, u128>,
    /// An earlier path of each file.
    by_id: HashMap<FileIdentity, &'a Path>,
}

impl<'a> After<'a> {
    fn new(kept: &'a Kept<'a>, store: &'a Path) -> Self {
        Self { kept, store, index: OnceCell::new() }
    }

    /// Returns the touched places of before without those of the store, with their numbers.
    fn numbered(&self) -> impl Iterator<Item = (&'a Path, &'a path_state::PathState, u128)> {
        let (point, store) = (self.kept.point, self.store);
        let before = point.states_before.iter().filter(move |(path, _)| !point.is_own(store, path));
        before.zip(1..).map(|((path, node), number)| (path, node, number))
    }

    /// Returns the touched places of before, with the files that were there.
    fn earlier(&self) -> impl Iterator<Item = (&'a Path, Option<Node>)> {
        self.numbered().map(|(path, node, number)| (path, shown(node, Contents::Hash(number))))
    }

    fn index(&self) -> &Index<'a> {
        self.index.get_or_init(|| Index {
            numbers: self.numbered().map(|(path, _, number)| (path.as_os_str(), number)).collect(),
            by_id: self.numbered().filter_map(|(path, node, _)| Some((node.id()?, path))).collect(),
        })
    }

    /// Returns the file at a current path. Its contents have the number of the earlier contents that they equal.
    fn node(&self, path: &Path) -> Option<Node> {
        let node = self.kept.point.states_after_run.get(path)?;
        let path_state::PathState::File(file) = node else { return shown(node, Contents::Unread) };
        let partner = self.partner(path, file.meta.id);
        let contents = match partner {
            Some((number, before)) if before.size == file.size => match self.kept.is_same(before, file, path) {
                Some(true) => Contents::Hash(number),
                Some(false) => Contents::Hash(0),
                None => Contents::Unread,
            },
            _ => Contents::Hash(0),
        };
        shown(node, contents)
    }

    /// Returns the file to compare with: the earlier file at this place, or else the file itself at its earlier place,
    /// or else the earlier file at this path, whose directory was replaced.
    fn partner(&self, path: &Path, id: FileIdentity) -> Option<(u128, &'a path_state::FileState)> {
        if self.kept.point.states_before.is_empty() {
            return None;
        }
        let own = self.kept.point.names.earlier_path_of_entry(path);
        let own = own.and_then(|entry| self.file(&entry));
        own.or_else(|| self.file(self.index().by_id.get(&id)?)).or_else(|| self.file(path))
    }

    fn file(&self, entry: &Path) -> Option<(u128, &'a path_state::FileState)> {
        match self.kept.point.states_before.get(entry)? {
            path_state::PathState::File(file) => Some((*self.index().numbers.get(entry.as_os_str())?, file)),
            _ => None,
        }
    }
}

/// Returns a file of any kind as a receipt compares it. `contents` are the contents of a regular file.
fn shown(node: &path_state::PathState, contents: Contents) -> Option<Node> {
    let metadata =
        |meta: &FileMeta| Metadata { mode: meta.mode, uid: meta.uid, gid: meta.gid, attributes: hash(&meta.xattrs) };
    Some(match node {
        path_state::PathState::Absent => return None,
        path_state::PathState::File(file) => {
            Node { kind: Kind::File, bytes: file.size, metadata: metadata(&file.meta), contents }
        }
        path_state::PathState::Directory(meta) => {
            Node { kind: Kind::Directory, bytes: 0, metadata: metadata(meta), contents: Contents::Unread }
        }
        path_state::PathState::Link { target, meta } => Node {
            kind: Kind::Link,
            bytes: target.as_os_str().len() as u64,
            metadata: Metadata { uid: meta.uid, gid: meta.gid, ..Metadata::default() },
            contents: Contents::Hash(digest(target.as_os_str().as_encoded_bytes())),
        },
        path_state::PathState::Other { kind, device, meta } => Node {
            kind: Kind::Other,
            bytes: 0,
            metadata: metadata(meta),
            contents: Contents::Hash(u128::from(*kind) << 64 | u128::from(*device)),
        },
    })
}

fn digest(bytes: &[u8]) -> u128 {
    twox_hash::XxHash3_128::oneshot(bytes)
}

/// Returns a hash of attributes, or 0 without attributes.
fn hash(attributes: &[path_state::ExtendedAttribute]) -> u64 {
    if attributes.is_empty() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    for attribute in attributes {
        (&attribute.name, &attribute.value).hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns the tops of the work trees whose `.git` a run touched.
pub fn repositories(point: &RunManifest) -> BTreeSet<PathBuf> {
    let moved = point.moved.iter().flat_map(|moved| [&moved.from, &moved.to]);
    let paths = point.states_before.keys().chain(point.states_after_run.keys()).chain(moved.map(PathBuf::as_path));
    let top = |path: &Path| {
        let outermost = path.ancestors().filter(|above| above.file_name().is_some_and(|name| name == GIT)).last();
        outermost.and_then(Path::parent).map(Path::to_owned)
    };
    paths.filter(|path| is_in_git(path)).filter_map(top).collect()
}
