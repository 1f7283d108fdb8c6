//! Reads the thing at a path.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;
use nix::sys::stat::SFlag;

use super::path_map::PathMap;
use super::path_state::{
    ContentHash, ExtendedAttribute, FileIdentity, FileMeta, FileState, FileTime, KnownContents, PathState, UNSEEN,
};
use sys::LinkResolution;

/// The bits of a mode that give the kind of a file.
const TYPE: u32 = 0o170_000;

/// A path, and the route to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutedPath<'a> {
    /// The path: absolute, without links in its directories.
    pub path: &'a Path,
    /// The path by which this process reaches the thing. It may begin at an open directory, so that it leads to no
    /// other thing when the directories of the path are exchanged meanwhile.
    pub reach: &'a Path,
    /// Whether a caller has just found nothing at the path. `false`: it has not looked.
    pub is_vacant: bool,
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for RoutedPath<'a> {
    fn from(path: &'a P) -> Self {
        Self { path: path.as_ref(), reach: path.as_ref(), is_vacant: false }
    }
}

/// Reads the thing at a path, without following a link and without the contents of files. A path below a file, or below
/// nothing, is absent.
///
/// # Errors
/// If the system refuses to answer.
pub fn read_state(path: &Path) -> io::Result<PathState> {
    read_state_with(path, true)
}

/// Like [`read_state`], without attributes, which are then empty.
///
/// # Errors
/// As [`read_state`].
pub fn read_state_roughly(path: &Path) -> io::Result<PathState> {
    read_state_with(path, false)
}

fn read_state_with(path: &Path, all: bool) -> io::Result<PathState> {
    let status = match sys::path_status(path) {
        Ok(status) => status,
        Err(error) if is_absent(&error) => return Ok(PathState::Absent),
        Err(error) => return Err(error),
    };
    let meta = FileMeta {
        mode: status.mode & 0o7777,
        uid: visible_number(status.uid, "/proc/self/uid_map"),
        gid: visible_number(status.gid, "/proc/self/gid_map"),
        id: FileIdentity { device: status.device, inode: status.inode },
        xattrs: if all { attributes(path)? } else { Vec::new() },
    };
    let time = |(seconds, nanoseconds)| FileTime { seconds, nanoseconds };
    Ok(match SFlag::from_bits_truncate((status.mode & TYPE) as _) {
        SFlag::S_IFREG => PathState::File(FileState {
            meta,
            size: status.size,
            mtime: time(status.mtime),
            ctime: time(status.ctime),
            links: status.links,
            contents: KnownContents::Untouched,
        }),
        SFlag::S_IFDIR => PathState::Directory(meta),
        SFlag::S_IFLNK => PathState::Link { target: fs::read_link(path)?, meta },
        _ => PathState::Other { kind: status.mode & TYPE, device: status.stands_for, meta },
    })
}

impl RoutedPath<'_> {
    /// Reads the thing that is there.
    ///
    /// # Errors
    /// As [`read_state`].
    pub fn read_state(&self) -> io::Result<PathState> {
        if self.is_vacant { Ok(PathState::Absent) } else { read_state(self.reach) }
    }
}

/// Returns the number of a user or a group, if this process sees it. `map` is the file that lists the visible numbers.
fn visible_number(number: u32, map: &str) -> u32 {
    /// The number that stands for all others.
    const OTHERS: u32 = 65_534;
    if number != OTHERS {
        return number;
    }
    // Not remembered: a process may enter another namespace.
    let is_partial = fs::read_to_string(map).is_ok_and(|map| !map.split_whitespace().eq(["0", "0", "4294967295"]));
    if is_partial { UNSEEN } else { number }
}

/// Returns whether the system's answer means that nothing is at a path.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP))
}

/// The kind of route to the entries of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DirectoryReach {
    /// The path has no links in it.
    Plain,
    /// The path has links in it.
    Links,
    /// The directory is missing, and there are no links on the way to where it would be.
    Nowhere,
}

impl DirectoryReach {
    fn to(directory: &Path) -> Self {
        let path = CString::new(directory.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL);
        match path.and_then(|path| sys::open_directory(AT_FDCWD, &path, LinkResolution::Nothing)) {
            Ok(_) => Self::Plain,
            Err(Errno::ELOOP) => Self::Links,
            Err(Errno::ENOENT | Errno::ENOTDIR) => Self::Nowhere,
            Err(_) => Self::found_slowly(directory),
        }
    }

    /// Like [`Self::to`], for a system that opens nothing without following links.
    fn found_slowly(directory: &Path) -> Self {
        match fs::canonicalize(directory) {
            Ok(real) if real == directory => Self::Plain,
            Err(error) if is_absent(&error) && directory.ancestors().all(|above| !above.is_symlink()) => Self::Nowhere,
            _ => Self::Links,
        }
    }
}

/// Reports whether the paths of directories have no links in them. Remembers the answers.
#[derive(Debug, Default)]
pub struct LinkFreePaths(PathMap<DirectoryReach>);

impl LinkFreePaths {
    /// Returns whether the directory of this path has no links in its own path. A missing directory has no links.
    pub fn is_link_free(&mut self, path: &Path) -> bool {
        self.reach_of(path) != DirectoryReach::Links
    }

    /// Reads the thing at a path, as [`read_state`]. Behind a link, nothing is there.
    ///
    /// # Errors
    /// As [`read_state`].
    pub fn read_state(&mut self, path: &Path) -> io::Result<PathState> {
        if self.reach_of(path) == DirectoryReach::Plain { read_state(path) } else { Ok(PathState::Absent) }
    }

    /// Returns the kind of route to the directory of a path.
    fn reach_of(&mut self, path: &Path) -> DirectoryReach {
        let Some(directory) = path.parent() else { return DirectoryReach::Plain };
        if let Some(known) = self.0.get(directory) {
            return *known;
        }
        let above = directory.parent().and_then(|above| self.0.get(above));
        let way = if above == Some(&DirectoryReach::Nowhere) {
            DirectoryReach::Nowhere
        } else {
            DirectoryReach::to(directory)
        };
        self.0.insert(directory.to_owned(), way);
        way
    }
}

/// Returns the top of the repository of a directory, or the directory itself outside of repositories.
pub fn top_of(directory: &Path) -> &Path {
    let top = directory.ancestors().find(|above| fs::symlink_metadata(above.join(".git")).is_ok());
    top.unwrap_or(directory)
}

/// Returns the paths below a directory that name a wanted file, from its first 100,000 entries. Directories that are
/// left out are not entered.
pub fn names_below(
    root: &Path,
    is_wanted: impl Fn(FileIdentity) -> bool,
    is_left_out: impl Fn(&Path) -> bool,
) -> Vec<(PathBuf, FileIdentity)> {
    const ENTRIES: usize = 100_000;
    let (mut found, mut directories, mut count) = (Vec::new(), vec![root.to_owned()], 0);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            count += 1;
            if count > ENTRIES {
                return found;
            }
            let Ok(data) = entry.metadata() else { continue };
            let (path, id) = (entry.path(), FileIdentity { device: data.dev(), inode: data.ino() });
            if data.is_dir() && !is_left_out(&path) {
                directories.push(path);
            } else if is_wanted(id) {
                found.push((path, id));
            }
        }
    }
    found
}

fn attributes(path: &Path) -> io::Result<Vec<ExtendedAttribute>> {
    match sys::attributes(path) {
        Ok(found) => Ok(found.into_iter().map(|(name, value)| ExtendedAttribute { name, value }).collect()),
        // A process without the right to look has no other answer for any of its files.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Opens a regular file for reading. Never waits, and never follows a link.
///
/// # Errors
/// If it cannot be opened, or is something else.
pub fn open_file(path: &Path) -> io::Result<fs::File> {
    sys::open_regular(path, fs::File::options().read(true))
}

/// The largest file that is hashed, bytes. A command waits for the end of its record, and a sparse file may claim any
/// size.
const HASHED: u64 = 64 << 20;

/// Hashes the contents of a file.
///
/// # Errors
/// If it cannot be read, or is larger than 64 MiB.
pub fn hash_file(path: &Path) -> io::Result<ContentHash> {
    let mut file = open_file(path)?;
    if file.metadata()?.len() > HASHED {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut hasher = twox_hash::XxHash3_128::new();
    let mut buffer = vec![0; 128 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(ContentHash(hasher.finish_128())),
            Ok(length) => hasher.write(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the hash of contents, as [`hash_file`] does of a file with them.
pub fn hash_bytes(bytes: &[u8]) -> ContentHash {
    ContentHash(twox_hash::XxHash3_128::oneshot(bytes))
}

/// Returns whether two files have equal contents.
///
/// # Errors
/// If either file cannot be read.
pub fn has_equal_contents(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (open_file(one)?, open_file(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (one.take(u64::MAX), other.take(u64::MAX));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    /// Bytes that are read at a time.
    const PART: u64 = 128 * 1024;
    loop {
        first.clear();
        second.clear();
        one.set_limit(PART);
        other.set_limit(PART);
        one.read_to_end(&mut first)?;
        other.read_to_end(&mut second)?;
        if first != second {
            return Ok(false);
        }
        if first.is_empty() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_any_size_takes_no_time() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("sparse");
        fs::File::create(&path).and_then(|file| file.set_len(1 << 40)).expect("made");
        assert_eq!(hash_file(&path).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
        fs::write(&path, "x").expect("written");
        assert!(hash_file(&path).is_ok());
    }
}
