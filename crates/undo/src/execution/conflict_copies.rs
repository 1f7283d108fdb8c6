//! Keeps earlier things that an undo does not put back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::disk_tree::DiskTree;
use crate::manifest::RunManifest;
use crate::path_state::{KnownContents, PathState};
use crate::run_images::copy_file;
use crate::store::UndoStore;

/// Returns the place beside the points for the earlier thing at a path.
fn conflict_copy_path(store: &UndoStore, point: &RunManifest, path: &Path) -> Option<PathBuf> {
    let kept = store.conflict_directory(&point.header.run).ok()?.join(path.parent()?.strip_prefix("/").ok()?);
    fs::create_dir_all(&kept).ok()?;
    Some(kept.join(path.file_name()?))
}

/// Copies the earlier file of a path from its current place.
///
/// # Errors
/// If it cannot be copied.
pub fn copy_current_file(store: &UndoStore, point: &RunManifest, from: &Path, path: &Path) -> io::Result<PathBuf> {
    let to = conflict_copy_path(store, point, path).ok_or(io::ErrorKind::NotFound)?;
    copy_file(from, &to).map(|()| to)
}

/// Copies an earlier thing to a place beside the points, at its whole path.
pub fn copy_earlier_state(
    store: &UndoStore,
    point: &RunManifest,
    tree: &DiskTree<'_>,
    path: &Path,
    before: &PathState,
) -> Option<PathBuf> {
    let directory = || conflict_copy_path(store, point, path);
    match before {
        PathState::File(file) if matches!(file.contents, KnownContents::Image(_)) => {
            let (image, to) = (tree.kept_image(file)?, directory()?);
            let _replaced = fs::remove_file(&to);
            // A copy, because the kept file may change with the user's file.
            copy_file(&image.path, &to).ok().map(|()| to)
        }
        PathState::Link { target, .. } => {
            let to = directory()?;
            let _replaced = fs::remove_file(&to);
            std::os::unix::fs::symlink(target, &to).ok().map(|()| to)
        }
        _ => None,
    }
}
