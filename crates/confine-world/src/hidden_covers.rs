//! Hidden paths, and files of the world in the place of those of the host, which stay so when the host creates or
//! replaces them.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::empty_covers::EmptyCovers;
use super::mount_table::MountTable;
use super::path_ends::PathEnds;
use sys::MountFlags;

/// Files that are seen in the place of those of the host, by the paths of those.
pub(super) type StandInFiles = HashMap<PathBuf, File>;

/// A directory of the host of which the world has a view, an overlay. Who watches the overlay learns nothing of changes
/// in the directory, and the kernel remembers which names were missing.
#[derive(Debug)]
pub(super) struct OverlaidDirectory {
    /// The path of both.
    pub at: PathBuf,
    pub below: File,
    /// Whether the view can be changed.
    pub is_writable: bool,
}

/// The hidden paths of a world, and those with files in their place. A file that the host replaces loses its cover, so
/// it is covered again at once, and a path that becomes a link is followed.
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
    stand_ins: StandInFiles,
    /// The views of directories, and these.
    overlaid: Vec<(File, OverlaidDirectory)>,
    /// The mounts that cover the paths, by their numbers.
    covers: HashMap<PathBuf, u64>,
}

impl HiddenPathCovers {
    /// Takes over paths to hide, with the ends that they lead to, and the files to show in the place of others. Ends
    /// that exist are covered already.
    pub fn new(
        mut named: Vec<PathBuf>,
        roots: &[PathBuf],
        (mounts, aims): (MountTable, PathEnds),
        (blanks, stand_ins, overlaid): (EmptyCovers, StandInFiles, Vec<OverlaidDirectory>),
    ) -> io::Result<Self> {
        let cover = |path: &PathBuf| {
            let file = sys::mount_of(path).ok().filter(|file| file.is_mount)?;
            Some((path.clone(), file.mount))
        };
        let covers = aims.present.keys().filter_map(cover).collect();
        named.extend(stand_ins.keys().cloned());
        let with_view = |one: OverlaidDirectory| Ok((sys::open_unread(&one.at)?, one));
        let overlaid = overlaid.into_iter().map(with_view).collect::<io::Result<_>>()?;
        Ok(Self { named, roots: roots.to_vec(), mounts, aims, blanks, stand_ins, overlaid, covers })
    }

    /// Returns the paths, whether they exist or not, and the links that lead to them.
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

    /// Covers new paths, and paths that have lost their cover.
    ///
    /// # Errors
    /// If a file cannot be put in the place of another, which the user of the world may read. If a hidden file cannot
    /// be covered, only its permissions protect it.
    pub fn cover_new_paths(&mut self) -> io::Result<()> {
        self.overlaid
            .iter()
            .try_for_each(|(view, of)| sys::drop_found_names(&sys::file_system_of(view)?, !of.is_writable))?;
        self.aims = PathEnds::of(&self.named, &self.roots, &self.mounts);
        for (path, named) in &self.aims.present {
            let Ok(file) = sys::mount_of(path) else { continue };
            if file.is_mount && self.covers.get(path) == Some(&file.mount) {
                continue;
            }
            let covered = match self.stand_ins.get(named) {
                Some(own) if own.metadata().is_ok_and(|data| (data.dev(), data.ino()) == file.id) => continue,
                Some(own) => self.blanks.cover_with(path, own).or_else(unless_gone).map(|()| true)?,
                None => self.blanks.cover(path).is_ok(),
            };
            if covered && let Ok(cover) = sys::mount_of(path) {
                self.covers.insert(path.clone(), cover.mount);
            }
        }
        Ok(())
    }

    /// Returns the directories in which a change may uncover a path.
    pub fn parent_directories(&mut self) -> BTreeSet<PathBuf> {
        let mut all = self.aims.parent_directories();
        for (_, OverlaidDirectory { at, below, .. }) in &self.overlaid {
            let below = PathBuf::from(format!("/proc/self/fd/{}", below.as_raw_fd()));
            let inside: Vec<_> = all.iter().filter_map(|path| Some(below.join(path.strip_prefix(at).ok()?))).collect();
            all.extend(inside);
        }
        all
    }
}

/// Ignores that a path does not exist any more.
pub(super) fn unless_gone(error: io::Error) -> io::Result<()> {
    let gone = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    if gone { Ok(()) } else { Err(error) }
}
