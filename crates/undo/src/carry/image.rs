//! The kept files of points.

use std::path::PathBuf;

use crate::look;
use crate::manifest::{self, Point};
use crate::node::{File, ImageId, Node};
use crate::store::Store;
use crate::traces::Traces;

/// A kept file.
#[derive(Debug, Clone)]
pub struct Image {
    /// Path of the kept file.
    pub path: PathBuf,
    /// Whether this is the original file itself, and no copy.
    pub linked: bool,
    /// The current state of the file.
    pub file: File,
}

/// Returns the kept file of a point, if it still has the recorded size.
pub(super) fn image_at(store: &Store, point: &Point, id: ImageId, file: &File) -> Option<Image> {
    let place = if id.place == 0 { store.files(&point.header.run).ok()? } else { point.places.get(&id.place)?.clone() };
    let path = place.join(id.number.to_string());
    let Ok(Node::File(kept)) = look::look(&path) else { return None };
    (kept.size == file.size).then(|| Image { path, linked: kept.meta.id == file.meta.id, file: kept })
}

/// Returns whether a kept file was not written to since, by its time.
pub(super) fn leads(traces: &Traces, file: &File, image: &Image) -> bool {
    traces.leads(image.file.meta.id, file.mtime, image.file.mtime)
}

/// Reads all points of a store.
pub(super) fn points(store: &Store) -> impl Iterator<Item = Point> {
    store.runs().unwrap_or_default().into_iter().filter_map(|run| manifest::read(&store.manifest(&run).ok()?).ok())
}
