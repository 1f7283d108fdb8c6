//! The kept files of points.

use std::path::PathBuf;

use crate::manifest::{self, RunManifest};
use crate::path_lookup;
use crate::path_state::{FileState, ImageId, PathState};
use crate::store::UndoStore;
use crate::undo_traces::UndoTraces;

/// A kept file.
#[derive(Debug, Clone)]
pub struct KeptImage {
    /// Path of the kept file.
    pub path: PathBuf,
    /// Whether this is the original file itself, and no copy.
    pub linked: bool,
    /// The current state of the file.
    pub file: FileState,
}

/// Returns the kept file of a point, if it still has the recorded size.
pub(super) fn image_at(store: &UndoStore, point: &RunManifest, id: ImageId, file: &FileState) -> Option<KeptImage> {
    let place = if id.place == 0 {
        store.image_directory(&point.header.run).ok()?
    } else {
        point.places.get(&id.place)?.clone()
    };
    let path = place.join(id.number.to_string());
    let Ok(PathState::File(kept)) = path_lookup::read_state(&path) else { return None };
    (kept.size == file.size).then(|| KeptImage { path, linked: kept.meta.id == file.meta.id, file: kept })
}

/// Returns whether a kept file was not written to since, by its time.
pub(super) fn is_image_unwritten(traces: &UndoTraces, file: &FileState, image: &KeptImage) -> bool {
    traces.is_time_reached(image.file.meta.id, file.mtime, image.file.mtime)
}

/// Reads all points of a store.
pub(super) fn read_all_runs(store: &UndoStore) -> impl Iterator<Item = RunManifest> {
    store
        .list_runs()
        .unwrap_or_default()
        .into_iter()
        .filter_map(|run| manifest::read(&store.manifest_path(&run).ok()?).ok())
}
