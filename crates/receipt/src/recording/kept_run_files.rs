//! Compares the contents of a file before a run and after it, as far as the record and the kept files allow.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use undo::RunManifest;
use undo::path_lookup;
use undo::path_map::is_within;
use undo::path_state::{FileIdentity, FileState, ImageId, KnownContents};

/// The kept files of one run.
#[derive(Debug)]
pub struct KeptRunFiles<'a> {
    /// The record.
    pub point: &'a RunManifest,
    /// The directory of the run's files in the store.
    pub files: PathBuf,
    /// A path after the run of each file, once one is looked for.
    pub places: OnceCell<HashMap<FileIdentity, PathBuf>>,
}

impl KeptRunFiles<'_> {
    /// Returns whether a path belongs to the kept files.
    pub fn is_own(&self, path: &Path) -> bool {
        is_within(path, &self.files) || self.point.places.values().any(|place| is_within(path, place))
    }

    /// Returns the path of a kept file.
    pub fn path(&self, image: ImageId) -> Option<PathBuf> {
        let place = if image.place == 0 { Some(&self.files) } else { self.point.places.get(&image.place) };
        place.map(|place| place.join(image.number.to_string()))
    }

    /// Returns where a file is after the run, if nothing was written to it.
    fn place_of(&self, before: &FileState) -> Option<&Path> {
        let places = self.places.get_or_init(|| {
            let files = self
                .point
                .states_after_run
                .iter()
                .filter_map(|(path, node)| Some((node.file()?.meta.id, path.to_owned())));
            files.collect()
        });
        let path = places.get(&before.meta.id)?;
        let after = self.point.states_after_run.get(path)?.file()?;
        before.is_unwritten(after).then_some(path.as_path())
    }

    /// Returns whether the file of equal size at this path has the contents of before the run. `None`: unknown.
    pub fn is_same(&self, before: &FileState, after: &FileState, path: &Path) -> Option<bool> {
        let is_unwritten = before.is_unwritten(after);
        if before.size == 0 || (is_unwritten && before.ctime == after.ctime) {
            return Some(true);
        }
        match (&before.contents, &after.contents) {
            (KnownContents::Image(one), KnownContents::Image(other)) if one == other => Some(true),
            (KnownContents::Image(image), _) => {
                let image = self.path(*image)?;
                let kept = fs::symlink_metadata(&image).ok()?;
                let id = after.meta.id;
                if (kept.dev(), kept.ino()) == (id.device, id.inode) {
                    return Some(true);
                }
                path_lookup::has_equal_contents(&image, path).ok()
            }
            (KnownContents::Hash(one), KnownContents::Hash(other)) => Some(one == other),
            (KnownContents::Hash(hash), _) => Some(path_lookup::hash_file(path).ok()? == *hash),
            // No change was about to be made to the contents.
            (KnownContents::Untouched, _) if is_unwritten => Some(true),
            // The run may have moved the file, and another one to its place.
            (KnownContents::Untouched, _) => path_lookup::has_equal_contents(self.place_of(before)?, path).ok(),
            (KnownContents::Nothing { .. } | KnownContents::Removed, _) => None,
        }
    }
}
