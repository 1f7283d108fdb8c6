//! Hidden paths, which stay hidden when the host creates or replaces them.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::blanks::Blanks;
use super::lookups::Lookups;
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
    /// Takes over paths. Those that were `present` have their covers already.
    pub fn new(paths: Vec<PathBuf>, present: &[PathBuf], blanks: Blanks) -> Self {
        let cover = |path: &PathBuf| {
            let file = sys::mount_of(path).ok().filter(|file| file.is_mount)?;
            Some((path.clone(), file.mount))
        };
        Self { paths, blanks, covers: present.iter().filter_map(cover).collect() }
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
        let mut lookups = Lookups::default();
        for path in &self.paths {
            let Ok(file) = lookups.mount_of(path) else { continue };
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
        let mut lookups = Lookups::default();
        let mut seen: Vec<&Path> = self.paths.iter().filter_map(|path| lookups.above(path)).collect();
        seen.sort_unstable();
        seen.dedup();
        let is_full = |error: std::io::Error| error.raw_os_error() == Some(libc::ENOSPC);
        !seen.into_iter().any(|parent| watch.add(parent).is_err_and(is_full))
    }
}
