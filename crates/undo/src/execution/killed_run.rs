//! A run whose recorder was killed: its manifest gets the end that is missing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::TreeSnapshot;
use crate::change_journal::ChangeJournal;
use crate::manifest::{self, CoverageExtent, ManifestEnd, ManifestRecord, ManifestWriter, RunManifest};
use crate::path_lookup::{self, LinkFreePaths, read_state};
use crate::path_state::{FileIdentity, FileMeta, FileState, KnownContents, PathState};
use crate::store::{PointSummary, UndoStore, UndoStoreError};

/// A change this soon after the last record, in nanoseconds, is attributed to the run. Each change follows its record.
const SLACK: i64 = 50_000_000;

/// Fills in the state that the run left, in memory and in its manifest. A file that did not change after the last
/// record is as the run left it. A later change may be the run's or the user's, so the filled-in state equals no other.
///
/// # Errors
/// If the manifest cannot be read or written.
pub fn complete_killed_run(point: &mut RunManifest, store: &UndoStore) -> Result<(), UndoStoreError> {
    let path = store.manifest_path(&point.header.run)?;
    let failed = |source| UndoStoreError::System { path: path.clone(), source };
    let data = fs::metadata(&path).map_err(failed)?;
    let last = nanoseconds(data.mtime(), data.mtime_nsec()).saturating_add(SLACK);
    record_snapshot_changes(point, store, &path).map_err(failed)?;
    let mut writer = ManifestWriter::resume(&path, point.length).map_err(failed)?;
    for moving in point.moving.clone() {
        if read_state(&moving.to).is_ok_and(|state| state.id() == Some(moving.id)) {
            writer.append(&ManifestRecord::Renamed(moving.clone())).map_err(failed)?;
            point.rename(moving);
        }
    }
    let moved: Vec<(PathBuf, PathBuf)> =
        point.names.moved_directories().map(|(before, now)| (before.to_owned(), now.to_owned())).collect();
    for (before, path) in moved {
        let id = point.states_before.get(&before).and_then(PathState::id);
        if read_state(&path).map_err(failed)?.id() != id {
            writer.append(&ManifestRecord::Gone { path: path.clone() }).map_err(failed)?;
            point.names.remove(&path);
        }
    }
    let (left, late) = collect_left_states(point, last);
    for (path, state) in left {
        writer.append(&ManifestRecord::After { path: path.clone(), state: state.clone() }).map_err(failed)?;
        point.states_after_run.insert(path, state);
    }
    for path in late {
        writer.append(&ManifestRecord::Others { path: path.clone() }).map_err(failed)?;
        point.add(ManifestRecord::Others { path });
    }
    let mut not_covered = vec!["what the run changed at its very end, as its recorder was killed".to_owned()];
    not_covered.extend(point.header.beyond());
    let size = store.measure_point(point);
    let end = ManifestEnd { at: point.header.at, bytes: size.bytes, extent: CoverageExtent::Guessed, not_covered };
    writer.append(&ManifestRecord::End(end.clone())).map_err(failed)?;
    store.add_summary(&PointSummary::of(&point.header, Some(&end), size, point.states_before.len()))?;
    point.add(ManifestRecord::End(end));
    Ok(())
}

/// Records the changes since the snapshot of a run, if it has one. Nothing tells which of them the run made.
fn record_snapshot_changes(point: &mut RunManifest, store: &UndoStore, manifest: &Path) -> io::Result<()> {
    let directory = store.image_directory(&point.header.run).map_err(io::Error::other)?;
    let Some(snapshot) = TreeSnapshot::left(&directory).filter(|_| point.header.is_snapshot()) else { return Ok(()) };
    let mut journal = ChangeJournal::resume(store, point).map_err(io::Error::other)?;
    snapshot.compare(&mut journal)?;
    drop(journal);
    *point = manifest::read(manifest).map_err(io::Error::other)?;
    Ok(())
}

/// Returns what the run left, and the places of earlier files that the run moved and that changed after the last
/// record.
fn collect_left_states(point: &RunManifest, last: i64) -> (BTreeMap<PathBuf, PathState>, Vec<PathBuf>) {
    let (mut left, mut late) = (BTreeMap::new(), Vec::new());
    let names = &point.names;
    let mut plain = LinkFreePaths::default();
    let before: HashMap<PathBuf, &PathState> = point
        .states_before
        .iter()
        .filter_map(|(path, state)| Some((names.current_slot(path)?.into_owned(), state)))
        .collect();
    // The times of these files changed, and their contents were not kept.
    let is_hashed = |file: &&FileState| matches!(file.contents, KnownContents::Hash(_));
    let files = point.states_before.values().filter_map(PathState::file).filter(is_hashed);
    let hashed: HashSet<FileIdentity> = files.map(|file| file.meta.id).collect();
    let earlier: HashSet<FileIdentity> =
        point.states_before.values().filter_map(PathState::file).map(|file| file.meta.id).collect();
    let directories = names.moved_directories().map(|(_, now)| now).chain(names.made_directories()).map(Path::to_owned);
    let mut places: BTreeSet<PathBuf> = before.keys().cloned().chain(directories).collect();
    while let Some(path) = places.pop_first() {
        let Ok(state) = read_state(&path) else { continue };
        if !plain.is_link_free(&path) {
            continue;
        }
        let was = before.get(&path).copied().unwrap_or(&PathState::Absent);
        if state.is_directory() && names.is_made(&path) && !names.is_moved(&path) {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            places.extend(entries.map(|entry| entry.path()).filter(|path| !left.contains_key(path)));
        }
        let settled = state.is_directory() || is_before(&path, last);
        match state {
            PathState::Absent => {}
            mut state if settled => {
                if let PathState::File(file) = &mut state
                    && hashed.contains(&file.meta.id)
                {
                    file.contents = path_lookup::hash_file(&path).map_or(KnownContents::Untouched, KnownContents::Hash);
                }
                left.insert(path, state);
            }
            PathState::File(file) if was.is_absent() && earlier.contains(&file.meta.id) => {
                left.insert(path.clone(), PathState::File(file));
                late.push(path);
            }
            _ if was.is_absent() => {}
            _ => drop(left.insert(path, unmatchable_state())),
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

fn unmatchable_state() -> PathState {
    let id = FileIdentity { device: 0, inode: 0 };
    PathState::Other { kind: 0, device: u64::MAX, meta: FileMeta { mode: 0, uid: 0, gid: 0, id, xattrs: Vec::new() } }
}
