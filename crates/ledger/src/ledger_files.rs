//! The directory of the ledger, and the checks of what is written to.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use nix::unistd::geteuid;

use super::ledger_day::LedgerDay;
use capture::SpillError;

/// Why the ledger cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Neither `XDG_STATE_HOME` nor `HOME` names a directory.
    #[error("there is no directory for it: set XDG_STATE_HOME or HOME")]
    NoDirectory,
    /// A directory is a link or another user's, or cannot be created.
    #[error(transparent)]
    Directory(#[from] SpillError),
    /// The file was not created by this package.
    #[error("{} is {what}", path.display())]
    Strange {
        /// The file.
        path: PathBuf,
        /// The kind of the file, with an article.
        what: &'static str,
    },
    /// The file of the day has its largest size.
    #[error("{} has reached its limit of {limit} bytes", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// The largest size.
        limit: u64,
    },
    /// The system refuses an operation.
    #[error("{}: {source}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
}

/// Returns the directory of the ledger below the state directory of its user, `$XDG_STATE_HOME/agent-bash`.
#[must_use]
pub fn ledger_directory(state: &Path) -> PathBuf {
    state.join("ledger")
}

/// Opens the directory, and creates it with mode 0700 if it is missing. A mode that lets others in is corrected.
///
/// # Errors
/// If the directory or the one above it is a link, or another user's.
pub fn open_directory(directory: &Path) -> Result<File, LedgerError> {
    if let Some(state) = directory.parent() {
        if let Some(above) = state.parent() {
            let failed = |source| LedgerError::System { path: above.to_owned(), source };
            DirBuilder::new().recursive(true).mode(0o700).create(above).map_err(failed)?;
        }
        capture::open_private(state)?;
    }
    Ok(capture::open_private(directory)?)
}

/// Opens the file of a day for appending, and creates it with mode 0600 if it is missing.
///
/// # Errors
/// If it is a link, a pipe or a directory, has a second name, or belongs to another user.
pub fn open_file(directory: &Path, day: &LedgerDay) -> Result<File, LedgerError> {
    let folder = open_directory(directory)?;
    let path = directory.join(day.file_name());
    // A pipe without a reader must not block.
    let flags =
        OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let opened = loop {
        match openat(&folder, day.file_name(), flags, Mode::S_IRUSR | Mode::S_IWUSR) {
            Err(nix::Error::EINTR) => {}
            opened => break opened,
        }
    };
    let file = match opened {
        Ok(file) => File::from(file),
        Err(nix::Error::ELOOP) => return Err(LedgerError::Strange { path, what: "a symbolic link" }),
        Err(nix::Error::EISDIR) => return Err(LedgerError::Strange { path, what: "a directory" }),
        Err(error) => return Err(LedgerError::System { path, source: error.into() }),
    };
    let failed = |source| LedgerError::System { path: path.clone(), source };
    let data = file.metadata().map_err(failed)?;
    if let Some(what) = foreign_file_reason(&data) {
        return Err(LedgerError::Strange { path, what });
    }
    if data.mode() & 0o777 != 0o600 {
        file.set_permissions(Permissions::from_mode(0o600)).map_err(failed)?;
    }
    Ok(file)
}

/// Returns why a file is not written to. `None` if it is one of ours.
pub fn foreign_file_reason(data: &Metadata) -> Option<&'static str> {
    if !data.is_file() {
        return Some("no regular file");
    }
    if data.uid() != geteuid().as_raw() {
        return Some("a file of another user");
    }
    (data.nlink() > 1).then_some("a file with a second name")
}

/// Returns the files of the ledger, the oldest first. Other files are passed over, and so are links and pipes.
pub fn day_files(directory: &Path) -> Vec<(LedgerDay, Metadata)> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let day = |entry: &fs::DirEntry| entry.file_name().to_str().and_then(LedgerDay::of_file);
    let ours = entries.flatten().filter_map(|entry| Some((day(&entry)?, entry.metadata().ok()?)));
    let mut files: Vec<_> = ours.filter(|(_, data)| is_readable(data)).collect();
    files.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    files
}

/// Opens the file of a day for reading.
///
/// # Errors
/// If it is gone, or no regular file of this user.
pub fn open_to_read(directory: &Path, day: &LedgerDay) -> io::Result<File> {
    let file = sys::open_regular(&directory.join(day.file_name()), File::options().read(true))?;
    if is_readable(&file.metadata()?) { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

fn is_readable(data: &Metadata) -> bool {
    data.is_file() && data.uid() == geteuid().as_raw()
}
