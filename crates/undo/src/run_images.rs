//! Keeps files as they were: by another name on the same mount, by a clone, or by a copy.
//!
//! Another name costs nothing and keeps a file of any size, but changes with the file. So it serves where a name is
//! removed or replaced, and a clone or a copy where the contents change.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::fcntl::{AT_FDCWD, AtFlags, renameat};
use nix::sys::stat::fstatat;
use nix::sys::time::TimeSpec;
use nix::unistd::geteuid;

use super::manifest::RETENTION;
use super::path_lookup::{self, RoutedPath};
use super::path_state::{FileIdentity, FileState, FileTime, ImageId, KnownContents};
pub use confine_policy::UNDO_PLACE as PLACE;

/// Bytes of a block of the disk.
pub(crate) const BLOCK: u64 = 4096;
/// Bytes of disk that a file takes besides its blocks: an inode, and an entry in its directory.
const INODE: u64 = 512;

/// Returns the bytes of disk that a file of this size takes.
pub(crate) const fn cost_of(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK).saturating_mul(BLOCK).saturating_add(INODE)
}

/// The size of kept files, or of a whole point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoredSize {
    /// Bytes of the kept files.
    pub bytes: u64,
    /// Bytes of disk: whole blocks of all files and directories, and their inodes.
    pub cost: u64,
}

/// The end of the name by which a run holds a file with several names.
const HELD: &str = "held";

/// Limits on kept files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoLimits {
    /// The largest file that is copied, in bytes. A larger file is only kept by another name.
    pub file_bytes: u64,
    /// Bytes of all files of one run.
    pub run_bytes: u64,
    /// Bytes of all runs.
    pub store_bytes: u64,
}

impl UndoLimits {
    /// No limits except the disk's.
    pub const NONE: Self = Self { file_bytes: u64::MAX, run_bytes: u64::MAX, store_bytes: u64::MAX };
    /// The limits of a caller that sets no limits.
    pub const DEFAULT: Self = Self { file_bytes: 64 << 20, run_bytes: 1 << 30, store_bytes: 2 << 30 };
}

impl Default for UndoLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The change that is about to happen to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepMethod {
    /// A name of the file goes. Another name keeps the file.
    Link,
    /// The contents change. A clone or a copy keeps them.
    Copy,
}

/// Why a file is not kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The file is larger than [`UndoLimits::file_bytes`].
    #[error("the file has {size} bytes, and at most {most} are kept of one")]
    FileTooLarge {
        #[expect(missing_docs, reason = "its size")]
        size: u64,
        #[expect(missing_docs, reason = "the limit")]
        most: u64,
    },
    /// The run has reached [`UndoLimits::run_bytes`].
    #[error("{most} bytes of this run are kept already, and no more")]
    RunTooLarge {
        #[expect(missing_docs, reason = "the limit")]
        most: u64,
    },
    /// The last tenth of the disk stays free.
    #[error("the disk is almost full")]
    DiskFull,
    /// An earlier change of the file found that it cannot be kept, and may have been made.
    #[error("{0}")]
    Before(String),
    /// The system refuses it.
    #[error("it could not be kept: {0}")]
    System(#[from] io::Error),
}

/// The kept files of one run.
#[derive(Debug)]
pub struct RunImages {
    /// The directory of each place for this run, and its file system. The first place is the store's.
    places: Vec<(PathBuf, u64)>,
    /// File systems on which no place could be made.
    placeless: Vec<u64>,
    /// Whether the store's place exists.
    is_made: bool,
    run: String,
    /// No place is made in this directory or below it.
    avoid: PathBuf,
    pub(super) limits: UndoLimits,
    /// The place that took the last link.
    open: Option<OpenPlace>,
    pub(super) next: u64,
    size: StoredSize,
    pub(super) kept: HashMap<FileIdentity, RunImage>,
    /// Files that have a second name in this store besides the kept name.
    held: HashSet<FileIdentity>,
}

/// A place that is open, so that a file is moved there without a walk through the directories above.
#[derive(Debug)]
struct OpenPlace {
    number: u16,
    device: u64,
    directory: fs::File,
}

/// A kept file.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunImage {
    pub(super) id: ImageId,
    /// Whether the image is only another name, which changes with the file.
    pub(super) linked: bool,
}

impl RunImages {
    /// Returns the kept files of a run below `home`, which is made with the first kept file. `avoid` is the directory
    /// of the command.
    ///
    /// # Errors
    /// If the directory above cannot be read.
    pub fn new(home: PathBuf, run: &str, avoid: &Path, limits: UndoLimits) -> io::Result<Self> {
        let device = fs::metadata(home.parent().unwrap_or(&home))?.dev();
        Ok(Self {
            is_made: false,
            places: vec![(home, device)],
            placeless: Vec::new(),
            run: run.to_owned(),
            avoid: avoid.to_owned(),
            limits,
            open: None,
            next: 0,
            size: StoredSize::default(),
            kept: HashMap::new(),
            held: HashSet::new(),
        })
    }

    /// Continues a run that has such places besides the store. Numbers of existing files are not used again.
    pub fn resume(&mut self, places: impl IntoIterator<Item = PathBuf>) {
        for path in places {
            let device = fs::metadata(&path).map_or(0, |data| data.dev());
            self.places.push((path, device));
        }
        let names = self.places.iter().filter_map(|(path, _)| fs::read_dir(path).ok());
        let numbers = names.flat_map(|entries| entries.flatten().filter_map(|entry| number_of(&entry.file_name())));
        self.next = numbers.max().map_or(0, |number| number + 1);
    }

    /// Adds a file that is kept already.
    pub fn adopt(&mut self, file: &FileState) {
        let KnownContents::Image(id) = file.contents else { return };
        if usize::from(id.place) < self.places.len()
            && let Ok(data) = fs::symlink_metadata(self.path(id))
        {
            let linked = (data.dev(), data.ino()) == (file.meta.id.device, file.meta.id.inode);
            if self.kept.insert(file.meta.id, RunImage { id, linked }).is_none() {
                self.add_size(file.size);
            }
        }
    }

    /// Returns the number of names that a file has in this store.
    pub fn name_count(&self, id: FileIdentity) -> u64 {
        u64::from(self.kept.get(&id).is_some_and(|kept| kept.linked)) + u64::from(self.held.contains(&id))
    }

    /// Returns the size of all kept files, with their directories.
    pub fn size(&self) -> StoredSize {
        let places = self.places.len() as u64 - u64::from(!self.is_made);
        StoredSize { cost: self.size.cost.saturating_add(places * cost_of(BLOCK)), ..self.size }
    }

    /// Adds the size of a file that is kept now.
    pub(super) fn add_size(&mut self, bytes: u64) {
        self.size.bytes += bytes;
        self.size.cost = self.size.cost.saturating_add(cost_of(bytes));
    }

    /// Subtracts the size of a file that is no longer kept.
    pub(super) fn subtract_size(&mut self, bytes: u64) {
        self.size.bytes = self.size.bytes.saturating_sub(bytes);
        self.size.cost = self.size.cost.saturating_sub(cost_of(bytes));
    }

    /// Returns the places besides the store, from number 1.
    pub fn places(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().skip(1).map(|(path, _)| path.as_path())
    }

    /// Returns the path of a kept file.
    pub fn path(&self, id: ImageId) -> PathBuf {
        let (place, number) = (&self.places[usize::from(id.place)].0, id.number.to_string());
        let mut path = PathBuf::with_capacity(place.as_os_str().len() + 1 + number.len());
        path.push(place);
        path.push(number);
        path
    }

    /// Returns whether a file, whatever its name, is kept, so that a later change of its contents needs no other copy.
    pub fn is_kept_for(&self, id: FileIdentity, way: KeepMethod) -> bool {
        self.kept.get(&id).is_some_and(|kept| way == KeepMethod::Link || !kept.linked)
    }

    /// Keeps the file at a path, before it changes. A file that is kept already, under any name, is not kept twice.
    ///
    /// # Errors
    /// If it is not kept. The caller goes on, and records why.
    pub fn keep<'a>(
        &mut self,
        at: impl Into<RoutedPath<'a>>,
        file: &FileState,
        way: KeepMethod,
    ) -> Result<KnownContents, KeepError> {
        let at = at.into();
        let id = file.meta.id;
        if let Some(kept) = self.kept.get(&id).copied() {
            if way == KeepMethod::Copy && kept.linked {
                self.check_limits(file, KeepMethod::Copy, false)?;
                self.keep_by_copy(at.reach, file, kept.id)?;
                self.kept.insert(id, RunImage { linked: false, ..kept });
            }
            return Ok(KnownContents::Image(kept.id));
        }
        self.make_home()?;
        let kept = match way {
            KeepMethod::Link => self.keep_by_link(at, file)?,
            KeepMethod::Copy => None,
        };
        let kept = if let Some(kept) = kept {
            kept
        } else {
            self.check_limits(file, KeepMethod::Copy, true)?;
            let image = ImageId { place: 0, number: self.next };
            self.keep_by_copy(at.reach, file, image)?;
            RunImage { id: image, linked: false }
        };
        self.next += 1;
        self.add_size(file.size);
        self.kept.insert(id, kept);
        Ok(KnownContents::Image(kept.id))
    }

    /// Returns the image that a file would become by [`RunImages::take_file`]. `None`: the file is kept already, or its
    /// mount has no place that took a link of this run.
    pub fn next_image_for(&self, file: &FileState) -> Option<ImageId> {
        let place = self.open.as_ref().filter(|open| open.device == file.meta.id.device)?;
        let is_new = !self.kept.contains_key(&file.meta.id) && self.check_limits(file, KeepMethod::Link, true).is_ok();
        is_new.then_some(ImageId { place: place.number, number: self.next })
    }

    /// Moves a file into the store, as the image that [`RunImages::next_image_for`] has named.
    ///
    /// # Errors
    /// If it stays where it is.
    pub fn take_file(&mut self, at: RoutedPath<'_>, file: &FileState, image: ImageId) -> io::Result<()> {
        let open = self.open.as_ref().filter(|open| open.number == image.place).ok_or(io::ErrorKind::NotFound)?;
        let (place, name) = (&open.directory, image.number.to_string());
        renameat(AT_FDCWD, at.reach, place, name.as_str())?;
        if !is_named(place, &name, file.meta.id)? {
            // Another file has got the name meanwhile.
            renameat(place, name.as_str(), AT_FDCWD, at.reach)?;
            return Err(io::ErrorKind::NotFound.into());
        }
        self.next += 1;
        self.add_size(file.size);
        self.kept.insert(file.meta.id, RunImage { id: image, linked: true });
        Ok(())
    }

    /// Gives a file with several names one more name, by which its unknown names are reached, too. Returns that name,
    /// the first time. On a mount without links, the known names have to do.
    pub fn hold_all_names(&mut self, at: RoutedPath<'_>, file: &FileState) -> Option<PathBuf> {
        if file.links < 2 || !self.held.insert(file.meta.id) {
            return None;
        }
        self.make_home().ok()?;
        let place = self.place_of(at.path, file.meta.id.device);
        let path = self.path(ImageId { place, number: self.next }).with_extension(HELD);
        self.next += 1;
        fs::hard_link(at.reach, &path).ok()?;
        self.size.cost = self.size.cost.saturating_add(INODE);
        Some(path)
    }

    /// Makes the directory in the store. Most commands change little, and keep nothing.
    pub(super) fn make_home(&mut self) -> io::Result<()> {
        if !self.is_made {
            match DirBuilder::new().mode(0o700).create(&self.places[0].0) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => self.is_made = true,
            }
        }
        Ok(())
    }

    /// Returns the place for a file system, or else the store's place.
    fn place_of(&mut self, at: &Path, device: u64) -> u16 {
        if self.places[0].1 != device {
            self.make_place(at, device);
        }
        let found = self.places.iter().position(|(_, other)| *other == device);
        found.and_then(|place| u16::try_from(place).ok()).unwrap_or(0)
    }

    fn check_limits(&self, file: &FileState, way: KeepMethod, new: bool) -> Result<(), KeepError> {
        let (size, UndoLimits { file_bytes, run_bytes, .. }) = (file.size, self.limits);
        if way == KeepMethod::Copy && size > file_bytes {
            return Err(KeepError::FileTooLarge { size, most: file_bytes });
        }
        if new && self.size.bytes.saturating_add(size) > run_bytes {
            return Err(KeepError::RunTooLarge { most: run_bytes });
        }
        if way == KeepMethod::Copy && size > 0 && !has_room(&self.places[0].0, size)? {
            return Err(KeepError::DiskFull);
        }
        Ok(())
    }

    /// Gives a file another name in a place of its mount, if the mount has one.
    fn keep_by_link(&mut self, at: RoutedPath<'_>, file: &FileState) -> Result<Option<RunImage>, KeepError> {
        self.check_limits(file, KeepMethod::Link, true)?;
        let device = file.meta.id.device;
        for again in [false, true] {
            if again && !self.make_place(at.path, device) {
                break;
            }
            for place in (0..self.places.len()).rev().filter(|place| self.places[*place].1 == device) {
                let Ok(number) = u16::try_from(place) else { continue };
                let id = ImageId { place: number, number: self.next };
                match fs::hard_link(at.reach, self.path(id)) {
                    Ok(()) => {
                        if self.open.as_ref().is_none_or(|open| open.number != number) {
                            let opened = fs::File::open(&self.places[place].0).ok();
                            self.open = opened.map(|directory| OpenPlace { number, device, directory });
                        }
                        return Ok(Some(RunImage { id, linked: true }));
                    }
                    Err(error) if error.raw_os_error() == Some(libc::EXDEV) => {}
                    // Too many names, a file of another user, or a file system without links: a copy is made instead.
                    Err(_) => return Ok(None),
                }
            }
        }
        Ok(None)
    }

    /// Makes a place on the mount of this path, as far up as this user may. Only once for each file system.
    fn make_place(&mut self, at: &Path, device: u64) -> bool {
        if self.placeless.contains(&device) || self.places.iter().skip(1).any(|(_, other)| *other == device) {
            return false;
        }
        let is_there =
            |path: &&Path| fs::symlink_metadata(path).is_ok_and(|data| data.dev() == device && data.is_dir());
        let above: Vec<&Path> = at.ancestors().skip(1).take_while(is_there).collect();
        let allowed = above.into_iter().rev().filter(|path| !path.starts_with(&self.avoid));
        let made = allowed.into_iter().find_map(|path| {
            let parent = path.join(format!("{PLACE}{}", geteuid()));
            capture::open_private(&parent).ok()?;
            sweep_place(&parent, SystemTime::now().checked_sub(2 * RETENTION)?);
            let place = parent.join(&self.run);
            DirBuilder::new().mode(0o700).create(&place).ok()?;
            Some(place)
        });
        match made {
            Some(place) => self.places.push((place, device)),
            None => self.placeless.push(device),
        }
        self.places.last().is_some_and(|(_, last)| *last == device) && self.places.len() > 1
    }

    /// Copies a file into the store. An image with this number is replaced as a whole.
    fn keep_by_copy(&self, at: &Path, file: &FileState, image: ImageId) -> io::Result<()> {
        let path = self.path(image);
        let next = path.with_extension("new");
        copy_file(at, &next)?;
        set_mtime(&next, file.mtime)?;
        fs::rename(next, path)
    }
}

/// Copies or clones the contents of a file into a new file, which replaces a left-over file.
///
/// # Errors
/// If either file cannot be read or written.
pub fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = path_lookup::open_file(from)?;
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut to = fs::File::options().write(true).create_new(true).mode(0o600).open(to)?;
    if sys::clone_contents(&from, &to).is_err() {
        io::copy(&mut from, &mut to)?;
    }
    Ok(())
}

/// Sets the time of the last change of a file or link.
///
/// # Errors
/// If the system refuses it.
pub fn set_mtime(path: &Path, time: FileTime) -> io::Result<()> {
    let time = TimeSpec::new(time.seconds, time.nanoseconds);
    let follow = nix::sys::stat::UtimensatFlags::NoFollowSymlink;
    Ok(nix::sys::stat::utimensat(nix::fcntl::AT_FDCWD, path, &TimeSpec::UTIME_OMIT, &time, follow)?)
}

/// Returns whether the disk of a directory has room for so many bytes without its last tenth.
pub(crate) fn has_room(directory: &Path, bytes: u64) -> io::Result<bool> {
    let (free, tenth) = sys::free_and_tenth(directory)?;
    Ok(free.saturating_sub(bytes) >= tenth)
}

/// Returns the bytes by which the free part of a directory's disk is smaller than a tenth.
pub(crate) fn lacking_bytes(directory: &Path) -> u64 {
    sys::free_and_tenth(directory).map_or(0, |(free, tenth)| tenth.saturating_sub(free))
}

/// Removes what runs have kept in a place before a time. No store has a point of such a run: its store is gone.
fn sweep_place(place: &Path, before: SystemTime) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let changed = entry.metadata().and_then(|data| data.modified());
        if changed.is_ok_and(|changed| changed < before) {
            let _stays = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns whether a name in a directory is that of this file.
fn is_named(directory: &fs::File, name: &str, id: FileIdentity) -> io::Result<bool> {
    let status = fstatat(directory, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
    Ok((status.st_dev as u64, status.st_ino) == (id.device, id.inode))
}

fn number_of(name: &std::ffi::OsStr) -> Option<u64> {
    name.to_str()?.split('.').next()?.parse().ok()
}

#[cfg(test)]
#[path = "run_images_tests.rs"]
mod tests;
