//! The directory of output files.

use std::fs::{self, DirBuilder, File, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use nix::fcntl::{OFlag, openat};
use nix::libc;
use nix::sys::stat::Mode;
use nix::unistd::geteuid;

use super::truncation_notice::{MAX_ERROR, shorten_error};

/// Prefix of the names of output files.
pub(super) const PREFIX: &str = "agent-bash-";
/// Suffix of the names of output files.
pub(super) const SUFFIX: &str = ".log";
/// Number of hexadecimal digits in the random part of a name.
const DIGITS: usize = 16;

/// Bytes that the files of a directory may take together, if no single file may become larger than a quarter of it.
pub const KEPT_TOGETHER: u64 = 4 << 30;
/// Time after a write for which a file may still be that of a running command.
const STILL_WRITTEN: Duration = Duration::from_secs(60);

/// The reason why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum SpillError {
    /// The directory is a symlink, a file, or cannot be created or opened.
    #[error("the directory {} cannot be used: {source}", path.display())]
    Folder {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The private directory belongs to another user.
    #[error("the directory {} belongs to another user", path.display())]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// The file cannot be created or opened.
    #[error("cannot create {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The given path is a directory, a device, a pipe or a socket.
    #[error("{} is not a regular file", path.display())]
    NotRegular {
        /// The place.
        path: PathBuf,
    },
}

impl SpillError {
    /// Returns the error in at most 80 bytes and without the path, which the notice already has.
    pub fn brief(&self) -> String {
        let text = match self {
            Self::Folder { source, .. } => format!("its directory: {source}"),
            Self::NotOurs { .. } => "its directory belongs to another user".to_owned(),
            Self::File { source, .. } => source.to_string(),
            Self::NotRegular { .. } => "not a regular file".to_owned(),
        };
        shorten_error(&text, MAX_ERROR)
    }
}

/// A file of this package in a directory of output files.
struct OwnSpillFile {
    path: PathBuf,
    /// The time of the last write.
    written_at: SystemTime,
    /// Its length in bytes.
    bytes: u64,
}

/// A directory for output files. Cheap to clone, and nothing stays open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillDir {
    path: PathBuf,
    /// Whether the directory is private, below a directory that all users may write to.
    private: bool,
}

impl SpillDir {
    /// Returns `<temp_dir>/agent-bash-<uid>/output`. Both directories are created with mode 0700 or must belong to this
    /// user. A symlink or another user's directory is an error, and a mode that is too open is corrected.
    pub fn create_private(temp_dir: &Path) -> Result<Self, SpillError> {
        let dir = Self { path: private_parent(temp_dir)?.join("output"), private: true };
        dir.open()?;
        Ok(dir)
    }

    /// Returns a directory that the caller chose. If it is missing, it is created with mode 0700, together with its
    /// parents. An existing directory keeps its mode.
    pub fn create_given(dir: &Path) -> Result<Self, SpillError> {
        let failed = |source| SpillError::Folder { path: dir.to_owned(), source };
        let dir = Self { path: std::path::absolute(dir).map_err(failed)?, private: false };
        dir.open()?;
        Ok(dir)
    }

    /// Returns the absolute path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes files of this package that were not written to for longer than `retention`. If the others still take
    /// more than [`KEPT_TOGETHER`], or more than four times `largest`, the most bytes of one file, the oldest go as
    /// well. A file that was written to in the last minute stays, since a command may still write it. Files of others
    /// stay, and so do files that cannot be removed.
    pub fn make_room(&self, retention: Duration, largest: u64) {
        self.make_room_within(retention, KEPT_TOGETHER.max(largest.saturating_mul(4)));
    }

    /// As [`Self::make_room`], for files that take at most `most` bytes together.
    pub(super) fn make_room_within(&self, retention: Duration, most: u64) {
        let now = SystemTime::now();
        let mut files = self.own_files();
        files.sort_unstable_by_key(|file| file.written_at);
        let mut total: u64 = files.iter().map(|file| file.bytes).sum();
        for file in files {
            let age = now.duration_since(file.written_at).unwrap_or_default();
            if age > retention || (total > most && age > STILL_WRITTEN) {
                total -= file.bytes;
                // Another process may have removed it in the meantime.
                let _gone = fs::remove_file(&file.path);
            }
        }
    }

    /// Returns the regular files of this user with a name of this package.
    fn own_files(&self) -> Vec<OwnSpillFile> {
        let Ok(entries) = fs::read_dir(&self.path) else { return Vec::new() };
        let named = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_file_name));
        let found = named.filter_map(|entry| {
            let path = entry.path();
            let meta = fs::symlink_metadata(&path).ok()?;
            let is_own = meta.is_file() && meta.uid() == geteuid().as_raw();
            let written_at = meta.modified().ok().filter(|_| is_own)?;
            Some(OwnSpillFile { path, written_at, bytes: meta.len() })
        });
        found.collect()
    }

    /// Creates missing directories and opens the last one. Called for each file, because a cleaner of temporary files
    /// may have removed it.
    fn open(&self) -> Result<File, SpillError> {
        if self.private {
            if let Some(parent) = self.path.parent() {
                open_private(parent)?;
            }
            return open_private(&self.path);
        }
        let failed = |source| SpillError::Folder { path: self.path.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path).map_err(failed)?;
        open_folder(&self.path, 0).map_err(failed)
    }

    /// Creates a file with mode 0600, relative to the directory that was checked.
    pub(super) fn create_file(&self, stem: &str) -> Result<(File, PathBuf), SpillError> {
        let folder = self.open()?;
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        loop {
            let name = file_name(stem);
            let path = self.path.join(&name);
            match openat(&folder, name.as_str(), flags, Mode::S_IRUSR | Mode::S_IWUSR) {
                Ok(file) => return Ok((File::from(file), path)),
                Err(nix::Error::EEXIST | nix::Error::EINTR) => {}
                Err(error) => return Err(SpillError::File { path, source: error.into() }),
            }
        }
    }
}

/// Opens a directory that must belong to this user, and creates it if it is missing. The check uses its descriptor, so
/// the directory cannot be replaced in between.
///
/// # Errors
/// If the path is a link, a file, or another user's directory.
pub fn open_private(path: &Path) -> Result<File, SpillError> {
    let failed = |source| SpillError::Folder { path: path.to_owned(), source };
    let folder = match open_folder(path, libc::O_NOFOLLOW) {
        // Creating a directory would wait for all operations in the directory above, so it is only created if it is
        // missing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match DirBuilder::new().mode(0o700).create(path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
                _ => {}
            }
            open_folder(path, libc::O_NOFOLLOW)
        }
        opened => opened,
    };
    let folder = folder.map_err(failed)?;
    let meta = folder.metadata().map_err(failed)?;
    if meta.uid() != geteuid().as_raw() {
        return Err(SpillError::NotOurs { path: path.to_owned() });
    }
    if meta.mode() & 0o777 != 0o700 {
        folder.set_permissions(Permissions::from_mode(0o700)).map_err(failed)?;
    }
    Ok(folder)
}

/// Returns the directory of this user below the temporary one, `<temp_dir>/agent-bash-<uid>`, opened by
/// [`open_private`].
///
/// # Errors
/// The errors of [`open_private`].
pub fn private_parent(temp_dir: &Path) -> Result<PathBuf, SpillError> {
    let failed = |source| SpillError::Folder { path: temp_dir.to_owned(), source };
    let path = std::path::absolute(temp_dir).map_err(failed)?.join(format!("{PREFIX}{}", geteuid()));
    open_private(&path)?;
    Ok(path)
}

fn open_folder(path: &Path, flags: i32) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_CLOEXEC | flags).open(path)
}

fn file_name(stem: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let stem: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    // The system seeds `RandomState`. The pid tells apart processes that were forked with the same seed.
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    let random = RandomState::new().hash_one((std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed), now));
    format!("{PREFIX}{stem}-{random:0DIGITS$x}{SUFFIX}")
}

fn is_file_name(name: &str) -> bool {
    let middle = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    middle.and_then(|middle| middle.rsplit_once('-')).is_some_and(|(_, random)| {
        random.len() == DIGITS && random.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}
