//! Hidden paths, which stay hidden when the host creates or replaces them.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use super::empty_covers::EmptyCovers;
use super::mount_table::MountTable;
use super::path_ends::PathEnds;
use sys::MountFlags;

/// The hidden paths of a world. A file that the host replaces loses its cover, so it is covered again at once, and a
/// path that becomes a link is followed.
#[derive(Debug)]
pub(super) struct HiddenPathCovers {
    /// The paths as they are named, which may be links.
    named: Vec<PathBuf>,
    /// The write roots.
    roots: Vec<PathBuf>,
    /// The mounts of the host.
    mounts: MountTable,
    /// Where the paths lead.
    aims: PathEnds,
    blanks: EmptyCovers,
    /// The mounts that cover the paths, by their numbers.
    covers: HashMap<PathBuf, u64>,
}

impl HiddenPathCovers {
    /// Takes over paths, with where they lead. What is present has its covers already.
    pub fn new(
        named: Vec<PathBuf>,
        roots: &[PathBuf],
        (mounts, aims): (MountTable, PathEnds),
        blanks: EmptyCovers,
    ) -> Self {
        let cover = |path: &PathBuf| {
            let file = sys::mount_of(path).ok().filter(|file| file.is_mount)?;
            Some((path.clone(), file.mount))
        };
        let covers = aims.present.iter().filter_map(cover).collect();
        Self { named, roots: roots.to_vec(), mounts, aims, blanks, covers }
    }

    /// Returns the hidden paths, whether they exist or not, and the links that lead to them.
    pub fn hidden_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.aims.all()
    }

    /// Hides more paths. Returns whether one is new.
    pub fn add(&mut self, paths: impl Iterator<Item = PathBuf>) -> bool {
        let before = self.named.len();
        for path in paths {
            if !self.named.contains(&path) {
                self.named.push(path);
            }
        }
        self.named.len() > before
    }

    /// Covers a hidden directory with an unlistable directory in which other mounts can be made.
    pub fn veil_directory(&mut self, path: &Path) -> io::Result<()> {
        sys::attach_tree(&sys::new_mount(c"tmpfs", &[(c"mode", Some(c"0111"))], MountFlags::NO_DEVICES)?, path)?;
        self.covers.insert(path.to_owned(), sys::mount_of(path)?.mount);
        Ok(())
    }

    /// Covers new hidden paths, and paths that have lost their cover.
    pub fn cover_new_paths(&mut self) {
        self.aims = PathEnds::of(&self.named, &self.roots, &self.mounts);
        for path in &self.aims.present {
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

    /// Returns the directories in which a change may uncover a path.
    pub fn parent_directories(&mut self) -> BTreeSet<PathBuf> {
        self.aims.parent_directories()
    }
}
