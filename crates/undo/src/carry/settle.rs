//! The end of a record whose recorder was killed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::Snapshot;
use crate::look::{self, Plain, look};
use crate::manifest::{self, End, Extent, Point, Record, Writer};
use crate::node::{Contents, File, FileId, Meta, Node};
use crate::record::Recorder;
use crate::store::{Store, StoreError, Summary};

/// A change this soon after the last record, in nanoseconds, is attributed to the run. Each change follows its record.
const SLACK: i64 = 50_000_000;

/// Fills in the state that the run left, here and in its manifest. A file that did not change after the last record is
/// as the run left it. A later change may be the run's or the user's, so the filled-in state equals no other.
///
/// # Errors
/// If the manifest cannot be read or written.
pub fn settle(point: &mut Point, store: &Store) -> Result<(), StoreError> {
    let path = store.manifest(&point.header.run)?;
    let failed = |source| StoreError::System { path: path.clone(), source };
    let data = fs::metadata(&path).map_err(failed)?;
    let last = nanoseconds(data.mtime(), data.mtime_nsec()).saturating_add(SLACK);
    compare(point, store, &path).map_err(failed)?;
    let mut writer = Writer::resume(&path, point.length).map_err(failed)?;
    for moving in point.moving.clone() {
        if look(&moving.to).is_ok_and(|node| node.id() == Some(moving.id)) {
            writer.append(&Record::Renamed(moving.clone())).map_err(failed)?;
            point.rename(moving);
        }
    }
    let moved: Vec<(PathBuf, PathBuf)> =
        point.names.moved().map(|(before, now)| (before.to_owned(), now.to_owned())).collect();
    for (before, path) in moved {
        let id = point.before.get(&before).and_then(Node::id);
        if look(&path).map_err(failed)?.id() != id {
            writer.append(&Record::Gone { path: path.clone() }).map_err(failed)?;
            point.names.remove(&path);
        }
    }
    let (left, late) = left(point, last);
    for (path, node) in left {
        writer.append(&Record::After { path: path.clone(), node: node.clone() }).map_err(failed)?;
        point.after.insert(path, node);
    }
    for path in late {
        writer.append(&Record::Others { path: path.clone() }).map_err(failed)?;
        point.add(Record::Others { path });
    }
    let mut not_covered = vec!["what the run changed at its very end, as its recorder was killed".to_owned()];
    not_covered.extend(point.header.beyond());
    let size = store.measured(point);
    let end = End { at: point.header.at, bytes: size.bytes, extent: Extent::Guessed, not_covered };
    writer.append(&Record::End(end.clone())).map_err(failed)?;
    store.add(&Summary::of(&point.header, Some(&end), size, point.before.len()))?;
    point.add(Record::End(end));
    Ok(())
}

/// Records the changes since the snapshot of a run, if it has one. Nothing tells which of them the run made.
fn compare(point: &mut Point, store: &Store, manifest: &Path) -> io::Result<()> {
    let directory = store.files(&point.header.run).map_err(io::Error::other)?;
    let Some(snapshot) = Snapshot::left(&directory).filter(|_| point.header.is_snapshot()) else { return Ok(()) };
    let mut recorder = Recorder::resume(store, point).map_err(io::Error::other)?;
    snapshot.compare(&mut recorder)?;
    drop(recorder);
    *point = manifest::read(manifest).map_err(io::Error::other)?;
    Ok(())
}

/// Returns what the run left, and the places of earlier files that the run moved and that changed after the last
/// record.
fn left(point: &Point, last: i64) -> (BTreeMap<PathBuf, Node>, Vec<PathBuf>) {
    let (mut left, mut late) = (BTreeMap::new(), Vec::new());
    let names = &point.names;
    let mut plain = Plain::default();
    let before: HashMap<PathBuf, &Node> =
        point.before.iter().filter_map(|(path, node)| Some((names.slot(path)?.into_owned(), node))).collect();
    // The times of these files changed, and their contents were not kept.
    let is_hashed = |file: &&File| matches!(file.contents, Contents::Hash(_));
    let files = point.before.values().filter_map(Node::file).filter(is_hashed);
    let hashed: HashSet<FileId> = files.map(|file| file.meta.id).collect();
    let earlier: HashSet<FileId> = point.before.values().filter_map(Node::file).map(|file| file.meta.id).collect();
    let directories = names.moved().map(|(_, now)| now).chain(names.made()).map(Path::to_owned);
    let mut places: BTreeSet<PathBuf> = before.keys().cloned().chain(directories).collect();
    while let Some(path) = places.pop_first() {
        let Ok(node) = look(&path) else { continue };
        if !plain.has(&path) {
            continue;
        }
        let was = before.get(&path).copied().unwrap_or(&Node::Absent);
        if node.is_directory() && names.is_made(&path) && !names.is_moved(&path) {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            places.extend(entries.map(|entry| entry.path()).filter(|path| !left.contains_key(path)));
        }
        let settled = node.is_directory() || is_before(&path, last);
        match node {
            Node::Absent => {}
            mut node if settled => {
                if let Node::File(file) = &mut node
                    && hashed.contains(&file.meta.id)
                {
                    file.contents = look::hash(&path).map_or(Contents::Untouched, Contents::Hash);
                }
                left.insert(path, node);
            }
            Node::File(file) if was.is_absent() && earlier.contains(&file.meta.id) => {
                left.insert(path.clone(), Node::File(file));
                late.push(path);
            }
            _ if was.is_absent() => {}
            _ => drop(left.insert(path, unlike_any())),
        }
    }
    (left, late)
}

fn is_before(path: &Path, last: i64) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| nanoseconds(data.ctime(), data.ctime_nsec()) <= last)
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

fn unlike_any() -> Node {
    let id = FileId { device: 0, inode: 0 };
    Node::Other { kind: 0, device: u64::MAX, meta: Meta { mode: 0, uid: 0, gid: 0, id, xattrs: Vec::new() } }
}
