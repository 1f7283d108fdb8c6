//! Kept files that undos have put back, and that later runs have kept again: by an undo of that undo, for example.

use std::collections::{HashMap, HashSet};

use super::kept_image::{KeptImage, image_at, is_image_unwritten, read_all_runs};
use crate::manifest::{ManifestPurpose, RunManifest};
use crate::path_lookup;
use crate::path_map::PathMap;
use crate::path_state::{FileIdentity, FileState, KnownContents, PathState};
use crate::store::UndoStore;
use crate::undo_traces::UndoTraces;

/// The files of a point that went into the tree, and from the tree into another point.
pub(super) struct ReturnedFiles {
    /// The other points, without their files.
    points: Vec<RunManifest>,
    /// The states in which undos have left files, by the file and by the run that was undone.
    left: HashMap<FileIdentity, Vec<(String, FileState)>>,
    /// The states in which runs have kept files, with the number of the point.
    kept: HashMap<FileIdentity, Vec<(usize, FileState)>>,
}

impl ReturnedFiles {
    /// Reads the states of a point's kept files in all points of a store.
    pub fn read(store: &UndoStore, of: &RunManifest) -> Self {
        let is_kept = |file: &&FileState| matches!(file.contents, KnownContents::Image(_));
        let files = of.states_before.values().filter_map(PathState::file).filter(is_kept);
        let wanted: HashSet<FileIdentity> = files.map(|file| file.meta.id).collect();
        let is_wanted = |file: &&FileState| wanted.contains(&file.meta.id);
        let mut returned = Self { points: Vec::new(), left: HashMap::new(), kept: HashMap::new() };
        for point in read_all_runs(store) {
            if let ManifestPurpose::Undone(run) = &point.header.purpose {
                for file in point.states_after_run.values().filter_map(PathState::file).filter(is_wanted) {
                    returned.left.entry(file.meta.id).or_default().push((run.clone(), file.clone()));
                }
            }
            for file in point.states_before.values().filter_map(PathState::file).filter(is_wanted).filter(is_kept) {
                returned.kept.entry(file.meta.id).or_default().push((returned.points.len(), file.clone()));
            }
            returned.points.push(RunManifest {
                states_before: PathMap::new(),
                states_after_run: PathMap::new(),
                ..point
            });
        }
        returned
    }

    /// Returns a file that a run has kept, from the point that has it by now. Nothing has changed the file between the
    /// undo that put it back and the run that kept it again.
    pub fn find_image(&self, store: &UndoStore, traces: &UndoTraces, run: &str, file: &FileState) -> Option<KeptImage> {
        let (left, kept) = (self.left.get(&file.meta.id)?, self.kept.get(&file.meta.id)?);
        let (mut runs, mut seen) = (vec![run], HashSet::new());
        while let Some(run) = runs.pop().filter(|run| seen.insert(*run)) {
            let back = left.iter().filter(|(of, back)| of == run && traces.is_unwritten(file, back));
            for (_, back) in back {
                for (number, again) in kept.iter().filter(|(_, again)| again.is_untouched(back)) {
                    let point = &self.points[*number];
                    match image_of(store, traces, point, again) {
                        Some(image) if has_contents(&image, back) => return Some(image),
                        Some(_) => {}
                        None => runs.push(&point.header.run),
                    }
                }
            }
        }
        None
    }
}

fn image_of(store: &UndoStore, traces: &UndoTraces, point: &RunManifest, file: &FileState) -> Option<KeptImage> {
    let KnownContents::Image(id) = file.contents else { return None };
    image_at(store, point, id, file).filter(|image| is_image_unwritten(traces, file, image))
}

/// Returns whether a kept file has the contents in which an undo has left it, as far as these were read.
fn has_contents(image: &KeptImage, left: &FileState) -> bool {
    match left.contents {
        KnownContents::Hash(hash) => path_lookup::hash_file(&image.path).is_ok_and(|now| now == hash),
        _ => true,
    }
}
