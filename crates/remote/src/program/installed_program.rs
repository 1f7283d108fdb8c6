//! The file of this program, and what it has made for itself.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use nix::unistd::geteuid;

use super::access_refusal::TargetAccessRefusal;
use crate::messages::DIRECTORY;

/// Time after its last use for which another version stays.
const UNUSED_VERSION_RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Time after which a part of a program counts as left behind. No attempt to connect takes as long.
const UNFINISHED_FILE_RETENTION: Duration = Duration::from_secs(60 * 60);

/// The file of this program in our directory.
pub struct InstalledProgram(PathBuf);

impl InstalledProgram {
    /// Returns the file. `None`: it was installed by others, who keep and remove it.
    pub fn own() -> Option<&'static Self> {
        // The system names a file otherwise that was removed.
        static OWN: LazyLock<Option<InstalledProgram>> =
            LazyLock::new(|| InstalledProgram::from_path(std::env::current_exe().ok()?));
        OWN.as_ref()
    }

    fn from_path(path: PathBuf) -> Option<Self> {
        let directory = path.parent()?;
        let named = directory.file_name()?.to_str()? == format!("{DIRECTORY}-{}", geteuid());
        (named && is_private(directory) && is_version(&path)).then_some(Self(path))
    }

    /// Notes the use of this file, and removes other versions that were not used for long, and parts of programs.
    pub fn mark_used(&self) {
        // A place that is read-only now keeps what it has.
        let _kept = File::open(&self.0).and_then(|file| file.set_modified(SystemTime::now()));
        for path in directory_entries(self.0.parent().unwrap_or(&self.0)).filter(|path| *path != self.0) {
            let stays = if is_version(&path) { UNUSED_VERSION_RETENTION } else { UNFINISHED_FILE_RETENTION };
            let used = fs::symlink_metadata(&path).and_then(|data| data.modified());
            if (is_version(&path) || is_part(&path))
                && used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > stays))
            {
                let _kept = fs::remove_file(&path);
            }
        }
    }

    /// Removes the file, and the directory if nothing else is in it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(&self) -> Result<(), TargetAccessRefusal> {
        match fs::remove_file(&self.0) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(TargetAccessRefusal::System {
                    what: self.0.display().to_string(),
                    done: "removed",
                    source,
                });
            }
            _ => {}
        }
        if let Some(directory) = self.0.parent() {
            // Another version may be in it.
            let _used = fs::remove_dir(directory);
        }
        Ok(())
    }
}

/// Removes our temporary directories of this name in these places, as far as nothing is in them that may be of use:
/// sockets that nobody answers, and empty directories.
pub fn remove_unused(places: &[PathBuf], name: &std::ffi::OsStr) {
    for directory in places.iter().map(|place| place.join(name)).filter(|directory| is_private(directory)) {
        for path in directory_entries(&directory) {
            let Ok(data) = fs::symlink_metadata(&path) else { continue };
            if data.is_dir() {
                let _used = fs::remove_dir(&path);
            } else if data.file_type().is_socket() && is_dead(&path) {
                let _gone = fs::remove_file(&path);
            }
        }
        let _used = fs::remove_dir(&directory);
    }
}

/// Returns whether nobody listens at a socket: its program was killed.
pub fn is_dead(socket: &Path) -> bool {
    UnixStream::connect(socket).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Returns whether a path is no link but a directory of this user that no other user may enter.
fn is_private(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|data| data.is_dir() && data.uid() == geteuid().as_raw() && data.mode() & 0o077 == 0)
}

/// Returns whether a file is named as a version of this program is, by a SHA-256.
fn is_version(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| is_hex(name, 64))
}

/// Returns whether a file is named as a program is while it is received, by the mark of its connection.
fn is_part(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix('.'));
    name.is_some_and(|name| is_hex(name, 32))
}

fn is_hex(name: &str, length: usize) -> bool {
    name.len() == length && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns what is in a directory.
pub fn directory_entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}
