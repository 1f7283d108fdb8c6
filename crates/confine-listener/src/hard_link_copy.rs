//! Files that have names where the command may change nothing.
//!
//! Package managers link files of a store into projects, and a change by one name is a change by all. So a file is
//! parted from its other names before it changes: a copy takes the name that the caller uses. What cannot be parted is
//! refused. A file stays one file if all its names lie where the command may change them.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::{Mode, fchmod, fstat, futimens};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Gid, Uid, UnlinkatFlags, fchown, unlinkat};

use super::caller_path::PathStart;
use super::linked_directories::PLAIN;
use super::pending_syscall::PendingSyscall;
use super::proc_links::{c_string, path_of_open};
use sys::{DIRECTORY, FileStatus, LinkResolution, REGULAR};

/// The largest file that is copied, bytes.
const COPIED: u64 = 256 << 20;
/// Time after which a change of an inode shows another time than one before, ms. A clock of the kernel may stand still
/// for 10.
const TICK: i64 = 12;
/// `RENAME_EXCHANGE`
const EXCHANGE: u32 = 2;

impl PendingSyscall<'_> {
    /// Remembers where the names of an open file are that is about to get another name in a directory.
    pub fn remember_names(&mut self, thing: BorrowedFd<'_>, directory: &PathStart) {
        if let (Ok(status), Ok(path), Ok(other)) =
            (sys::file_status(thing), path_of_open(thing), path_of_open(directory.descriptor()))
        {
            let own = path.parent().map(Path::to_owned);
            self.shared.elsewhere.add(status.id.1, own.into_iter().chain([other]));
        }
    }

    /// Returns the file to change in the place of an open one: itself, or a copy that has its name now.
    pub fn file_to_change(&mut self, thing: OwnedFd) -> Result<OwnedFd, Errno> {
        match self.status_if_named_elsewhere(thing.as_fd())? {
            None => Ok(thing),
            Some((status, path)) => replace_by_copy(&thing, &status, &path).map_err(|_| self.refused_elsewhere(&path)),
        }
    }

    /// Returns the file to write in the place of an open one, as [`Self::file_to_change`] does.
    pub fn may_be_written(&mut self, thing: OwnedFd) -> Result<OwnedFd, Errno> {
        let path = path_of_open(thing.as_fd())?;
        self.guard_git(&path)?;
        self.file_to_change(thing)
    }

    /// Fails if an open file has names where the command may change nothing.
    pub fn stay_here(&mut self, thing: BorrowedFd<'_>) -> Result<(), Errno> {
        self.status_if_named_elsewhere(thing)?.map_or(Ok(()), |(_, path)| Err(self.refused_elsewhere(&path)))
    }

    fn refused_elsewhere(&mut self, path: &Path) -> Errno {
        self.count_refused_change(path);
        Errno::EROFS
    }

    /// Returns the status and the path of an open file that has names where the command may change nothing.
    fn status_if_named_elsewhere(&mut self, thing: BorrowedFd<'_>) -> Result<Option<(FileStatus, PathBuf)>, Errno> {
        let status = sys::file_status(thing)?;
        if status.links < 2 || status.has_kind(DIRECTORY) {
            return Ok(None);
        }
        let path = path_of_open(thing)?;
        let roots = self.changeable_roots();
        let is_granted = |root: &PathBuf| *root == path || root == Path::new("/");
        if roots.iter().any(is_granted) || !roots.iter().any(|root| path.starts_with(root)) {
            return Ok(None);
        }
        Ok((!self.holds_all(thing, &path)?).then_some((status, path)))
    }

    /// Returns the paths below which the command may change files that others may have.
    fn changeable_roots(&self) -> Vec<PathBuf> {
        match &self.shared.bounds {
            Some(bounds) => bounds.changeable_roots().map(Path::to_owned).collect(),
            None => self.shared.paths.host_roots().cloned().collect(),
        }
    }

    /// Returns whether the command may change a file by each of its names. A name that moves meanwhile could be
    /// counted twice, so the inode must not have changed.
    fn holds_all(&mut self, thing: BorrowedFd<'_>, path: &Path) -> Result<bool, Errno> {
        let mut before = sys::file_status(thing)?;
        if is_fresh(before.changed)? {
            std::thread::sleep(Duration::from_millis(TICK.unsigned_abs()));
            before = sys::file_status(thing)?;
        }
        let mut count = self.count_changeable_names(before.id, path);
        if count < before.links && !self.shared.elsewhere.is_searched {
            let roots = self.changeable_roots();
            self.shared.elsewhere.search_linked_files(&roots);
            count = self.count_changeable_names(before.id, path);
        }
        let after = sys::file_status(thing)?;
        let is_same = (after.links, after.changed) == (before.links, before.changed);
        Ok(is_same && count == before.links && !is_fresh(before.changed)?)
    }

    /// Counts the names of a file by which the command may change it, in the directories that are known and that of a
    /// path.
    fn count_changeable_names(&self, id: (u64, u64), path: &Path) -> u64 {
        let known = self.shared.elsewhere.directories.get(&id.1).into_iter().flatten().map(PathBuf::as_path);
        let directories: BTreeSet<&Path> = known.chain(path.parent()).collect();
        let mut seen = HashSet::new();
        let mut count = 0;
        for directory in directories {
            let Ok(directory) = c_string(directory.as_os_str().as_bytes())
                .and_then(|path| sys::open_path(AT_FDCWD, &path, PLAIN.bits(), 0, LinkResolution::Nothing))
            else {
                continue;
            };
            // Another path may lead to the same directory.
            if !sys::file_status(directory.as_fd()).is_ok_and(|status| seen.insert(status.id)) {
                continue;
            }
            let Ok(entries) = Dir::openat(&directory, c".", PLAIN, Mode::empty()) else { continue };
            let is_name = |name: &CStr| {
                sys::open_place(directory.as_fd(), name, false, LinkResolution::Nothing).is_ok_and(|place| {
                    sys::file_status(place.as_fd()).is_ok_and(|status| status.id == id)
                        && self.may_change(place.as_fd())
                })
            };
            let entries = entries.into_iter().flatten().filter(|entry| entry.ino() == id.1);
            count += entries.filter(|entry| is_name(entry.file_name())).count() as u64;
        }
        count
    }

    fn may_change(&self, place: BorrowedFd<'_>) -> bool {
        match &self.shared.bounds {
            Some(bounds) => path_of_open(place).is_ok_and(|path| bounds.may_change(&path)),
            None => sys::is_read_only(place) == Ok(false),
        }
    }
}

/// Returns whether an inode changed so lately that another change may have the same time.
fn is_fresh(changed: (i64, i64)) -> Result<bool, Errno> {
    let now = clock_gettime(ClockId::CLOCK_REALTIME)?;
    let passed = (now.tv_sec() - changed.0).saturating_mul(1000) + (now.tv_nsec() - changed.1) / 1_000_000;
    Ok(passed < TICK)
}

/// Gives the name of a file to a copy. Returns the copy.
fn replace_by_copy(thing: &OwnedFd, status: &FileStatus, path: &Path) -> Result<OwnedFd, Errno> {
    let (above, name) = path.parent().zip(path.file_name()).ok_or(Errno::EBUSY)?;
    let above = c_string(above.as_os_str().as_bytes())?;
    let directory = sys::open_directory(AT_FDCWD, &above, LinkResolution::Nothing)?;
    let (here, name) = (directory.as_fd(), c_string(name.as_bytes())?);
    let leads_to = |name| sys::file_status(sys::open_place(here, name, false, LinkResolution::Nothing)?.as_fd());
    let size = fstat(thing)?.st_size;
    if !status.has_kind(REGULAR) || size.unsigned_abs() > COPIED || leads_to(&name)?.id != status.id {
        return Err(Errno::EBUSY);
    }
    let new = create_unused_name(here)?;
    let made = copy_file(thing, (&directory, &name), &new).and_then(|()| {
        match sys::rename_file((here, &new), (here, &name), EXCHANGE) {
            // The file system cannot exchange names.
            Err(Errno::EINVAL) => sys::rename_file((here, &new), (here, &name), 0),
            Ok(()) if leads_to(&new)?.id != status.id => {
                // Another file has taken the name meanwhile, and gets it back.
                sys::rename_file((here, &new), (here, &name), EXCHANGE).and(Err(Errno::EBUSY))
            }
            exchanged => exchanged,
        }
    });
    match unlinkat(&directory, new.as_c_str(), UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => {}
        Err(errno) => return Err(errno),
    }
    made?;
    let copy = sys::open_place(here, &name, false, LinkResolution::Nothing)?;
    let is_parted = sys::file_status(copy.as_fd())?.links == 1;
    if is_parted { Ok(copy) } else { Err(Errno::EBUSY) }
}

/// Makes an empty file with a name that no other has.
fn create_unused_name(directory: BorrowedFd<'_>) -> Result<CString, Errno> {
    for number in 0..100 {
        let name = c_string(format!(".agent-bash-{}-{number}", std::process::id()))?;
        let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_NOFOLLOW;
        match sys::open_path(directory, &name, flags, 0o600, LinkResolution::Nothing) {
            Err(Errno::EEXIST) => {}
            made => return made.map(|_| name),
        }
    }
    Err(Errno::EEXIST)
}

/// Copies contents, attributes, owners, permissions and times of a file.
fn copy_file(thing: &OwnedFd, (directory, name): (&OwnedFd, &CString), new: &CString) -> Result<(), Errno> {
    let errno = |error: std::io::Error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO));
    let at = |name: &CString| sys::path_in(directory, OsStr::from_bytes(name.to_bytes()));
    let flags = OFlag::O_WRONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut to = File::from(openat(directory, new.as_c_str(), flags, Mode::empty())?);
    let mut from = File::from(PendingSyscall::reopen(thing.as_fd(), OFlag::O_RDONLY.bits())?);
    std::io::copy(&mut from, &mut to).map_err(errno)?;
    let attributes = sys::attributes(&at(name)).map_err(errno)?;
    for (attribute, value) in attributes.iter().filter(|(name, _)| !name.as_bytes().starts_with(b"security.")) {
        sys::set_attribute(&at(new), attribute, value).map_err(errno)?;
    }
    let (data, made) = (fstat(&from)?, fstat(&to)?);
    if (data.st_uid, data.st_gid) != (made.st_uid, made.st_gid) {
        fchown(&to, Some(Uid::from_raw(data.st_uid)), Some(Gid::from_raw(data.st_gid)))?;
    }
    fchmod(&to, Mode::from_bits_truncate(data.st_mode & 0o1777))?;
    let times = [(data.st_atime, data.st_atime_nsec), (data.st_mtime, data.st_mtime_nsec)];
    let [read, written] = times.map(|(seconds, rest)| TimeSpec::new(seconds, rest));
    futimens(&to, &read, &written)
}
