//! Hidden paths, which stay hidden when the host creates or replaces them.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::blanks::Blanks;
use sys::{DirectoryWatch, MountFlags};

/// The hidden paths of a world. A file that the host replaces loses its cover, so it is covered again at once.
#[derive(Debug)]
pub(super) struct Hidden {
    paths: Vec<PathBuf>,
    blanks: Blanks,
    /// The mounts that cover the paths, by their numbers.
    covers: HashMap<PathBuf, u64>,
}

impl Hidden {
    /// Takes over paths. Existing paths have their covers already.
    pub fn new(paths: Vec<PathBuf>, blanks: Blanks) -> Self {
        let mut hidden = Self { paths, blanks, covers: HashMap::new() };
        for path in &hidden.paths {
            if let Ok(file) = sys::mount_of(path)
                && file.is_mount
            {
                hidden.covers.insert(path.clone(), file.mount);
            }
        }
        hidden
    }

    /// Returns the hidden paths, whether they exist or not.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Covers a hidden directory with an unlistable directory in which other mounts can be made.
    pub fn veil(&mut self, path: &Path) -> io::Result<()> {
        sys::attach_tree(&sys::new_mount(c"tmpfs", &[(c"mode", Some(c"0111"))], MountFlags::NO_DEVICES)?, path)?;
        self.covers.insert(path.to_owned(), sys::mount_of(path)?.mount);
        Ok(())
    }

    /// Covers new hidden paths, and paths that have lost their cover.
    pub fn cover(&mut self) {
        for path in &self.paths {
            let Ok(file) = sys::mount_of(path) else { continue };
            if file.is_mount && self.covers.get(path) == Some(&file.mount) {
                continue;
            }
            // If the file cannot be covered, only its permissions protect it.
            if self.blanks.cover(path).is_ok()
                && let Ok(cover) = sys::mount_of(path)
            {
                self.covers.insert(path.clone(), cover.mount);
            }
        }
    }

    /// Watches the directory of each path, or the nearest existing directory above it. Returns `false` if the kernel
    /// permits no more watches.
    pub fn watch(&self, watch: &DirectoryWatch) -> bool {
        let parents = self.paths.iter().filter_map(|path| path.ancestors().skip(1).find(|parent| parent.is_dir()));
        let mut seen: Vec<&Path> = parents.collect();
        seen.sort_unstable();
        seen.dedup();
        let is_full = |error: std::io::Error| error.raw_os_error() == Some(libc::ENOSPC);
        !seen.into_iter().any(|parent| watch.add(parent).is_err_and(is_full))
    }
}
