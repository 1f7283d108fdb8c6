//! From the record of a run to its net effect.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use super::contents::Kept;
use crate::Kind;
use crate::net::{Contents, Effect, Listing, Metadata, Node, Replay};
use undo::Point;
use undo::node::{self, FileId, Meta};

/// The entry of a work tree that leads to its repository.
const GIT: &str = ".git";

/// Computes the net effect of a run. Files of its store are left out.
pub fn effect(kept: &Kept<'_>, store: &Path) -> Effect {
    let point = kept.point;
    let is_own = |path: &Path| point.is_own(store, path);
    let numbers: BTreeMap<&Path, u128> =
        point.before.keys().map(PathBuf::as_path).filter(|path| !is_own(path)).zip(1..).collect();
    let mut replay = Replay::new();
    for (path, number) in &numbers {
        replay.before(path, point.before.get(*path).and_then(|node| shown(node, Contents::Hash(*number))).as_ref());
    }
    for path in moves(point, &mut replay) {
        replay.remove(&path);
        if point.after.contains_key(&path) {
            replay.before(&path, None);
        }
    }
    // Files in new directories have no earlier entry.
    let new = point.after.keys().filter(|path| !is_own(path) && point.names.origin_of_entry(path).is_none());
    new.for_each(|path| replay.before(path, None));
    let after = After::new(kept, &numbers);
    let place = |path: &Path| {
        let is_hidden = is_own(path) || path.iter().any(|name| name == GIT);
        if is_hidden { Listing::Hidden } else { Listing::Listed }
    };
    replay.effect(|path| after.node(path), place)
}

/// Replays the renames. Returns the last paths of files that are gone.
fn moves(point: &Point, replay: &mut Replay) -> Vec<PathBuf> {
    let mut places: BTreeMap<PathBuf, FileId> = BTreeMap::new();
    for moved in &point.moved {
        let (from, to) = (&moved.from, &moved.to);
        let below = |places: &BTreeMap<PathBuf, FileId>, directory: &Path| -> Vec<PathBuf> {
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
    let is_gone = |path: &Path, id: FileId| point.after.get(path).and_then(node::Node::id) != Some(id);
    places.into_iter().filter(|(path, id)| is_gone(path, *id)).map(|(path, _)| path).collect()
}

/// The current files.
struct After<'a> {
    kept: &'a Kept<'a>,
    numbers: &'a BTreeMap<&'a Path, u128>,
    /// An earlier path of each file.
    by_id: HashMap<FileId, &'a Path>,
}

impl<'a> After<'a> {
    fn new(kept: &'a Kept<'a>, numbers: &'a BTreeMap<&'a Path, u128>) -> Self {
        let of = |path: &&'a Path| Some((kept.point.before.get(*path)?.id()?, *path));
        Self { kept, numbers, by_id: numbers.keys().filter_map(of).collect() }
    }

    /// Returns the file at a current path. Its contents have the number of the earlier contents that they equal.
    fn node(&self, path: &Path) -> Option<Node> {
        let node = self.kept.point.after.get(path)?;
        let node::Node::File(file) = node else { return shown(node, Contents::Unread) };
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
    fn partner(&self, path: &Path, id: FileId) -> Option<(u128, &'a node::File)> {
        let own = self.kept.point.names.origin_of_entry(path);
        let own = own.and_then(|entry| self.file(&entry));
        own.or_else(|| self.file(self.by_id.get(&id)?)).or_else(|| self.file(path))
    }

    fn file(&self, entry: &Path) -> Option<(u128, &'a node::File)> {
        match self.kept.point.before.get(entry)? {
            node::Node::File(file) => Some((*self.numbers.get(entry)?, file)),
            _ => None,
        }
    }
}

/// Returns a file of any kind as a receipt compares it. `contents` are the contents of a regular file.
fn shown(node: &node::Node, contents: Contents) -> Option<Node> {
    let metadata =
        |meta: &Meta| Metadata { mode: meta.mode, uid: meta.uid, gid: meta.gid, attributes: hash(&meta.xattrs) };
    Some(match node {
        node::Node::Absent => return None,
        node::Node::File(file) => Node { kind: Kind::File, bytes: file.size, metadata: metadata(&file.meta), contents },
        node::Node::Directory(meta) => {
            Node { kind: Kind::Directory, bytes: 0, metadata: metadata(meta), contents: Contents::Unread }
        }
        node::Node::Link { target, meta } => Node {
            kind: Kind::Link,
            bytes: target.as_os_str().len() as u64,
            metadata: Metadata { uid: meta.uid, gid: meta.gid, ..Metadata::default() },
            contents: Contents::Hash(digest(target.as_os_str().as_encoded_bytes())),
        },
        node::Node::Other { kind, device, meta } => Node {
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
fn hash(attributes: &[node::Attribute]) -> u64 {
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
pub fn repositories(point: &Point) -> BTreeSet<PathBuf> {
    let moved = point.moved.iter().flat_map(|moved| [&moved.from, &moved.to]);
    let paths = point.before.keys().chain(point.after.keys()).chain(moved);
    let top = |path: &PathBuf| {
        let outermost = path.ancestors().filter(|above| above.file_name().is_some_and(|name| name == GIT)).last();
        outermost.and_then(Path::parent).map(Path::to_owned)
    };
    paths.filter_map(top).collect()
}
