//! Snapshots on disk, for later processes: one file per snapshot in a private directory, named after its key.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};

use super::snapshot_code::SnapshotCode;
use super::snapshot_request::SnapshotRequest;
use capture::open_private;
use protocol::plan;

/// Age at which a snapshot is read again, because files that the rc files source are not part of the key.
pub const MAX_SNAPSHOT_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// Age at which a file is removed.
const FILE_RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const DIRECTORY: &str = "agent-bash";
const PREFIX: &str = "snapshot-";
/// The largest file that is read, bytes.
const MAX_FILE_BYTES: u64 = 2 * 1024 * 1024;

/// Returns the stored snapshot, if its file is complete and not too old.
pub fn find(wanted: &SnapshotRequest) -> Option<SnapshotCode> {
    let directory = open_private(&cache_directory(wanted)?).ok()?;
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = File::from(openat(&directory, name(wanted).as_str(), flags, Mode::empty()).ok()?);
    let meta = file.metadata().ok()?;
    let ours =
        meta.is_file() && meta.uid() == geteuid().as_raw() && meta.mode() & 0o077 == 0 && meta.len() <= MAX_FILE_BYTES;
    if !ours || age(meta.modified().ok()?) > MAX_SNAPSHOT_AGE {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let end = memchr::memchr(b'\n', &bytes)? + 1;
    (bytes[..end] == *header_line(&bytes[end..]).as_bytes()).then(|| SnapshotCode::from_bytes(&bytes[end..]))
}

/// Stores a snapshot. A failure is ignored, because nothing depends on the file.
pub fn store(wanted: &SnapshotRequest, code: &SnapshotCode) {
    let _ = cache_directory(wanted).map(|place| write(&place, &name(wanted), code));
}

fn write(place: &Path, name: &str, code: &SnapshotCode) -> io::Result<()> {
    if let Some(cache) = place.parent().filter(|cache| !cache.exists()) {
        // A home that does not exist, or no longer, is not made.
        fs::DirBuilder::new().mode(0o700).create(cache)?;
    }
    let directory = open_private(place).map_err(io::Error::other)?;
    sweep(place);
    let fresh = format!("{PREFIX}new-{}", plan::next_mark());
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut file = File::from(openat(&directory, fresh.as_str(), flags, Mode::S_IRUSR | Mode::S_IWUSR)?);
    let written = file
        .write_all(header_line(code.bytes()).as_bytes())
        .and_then(|()| file.write_all(code.bytes()))
        // Readers see a complete file or none.
        .and_then(|()| Ok(renameat(&directory, fresh.as_str(), &directory, name)?));
    if written.is_err() {
        let _ = unlinkat(&directory, fresh.as_str(), UnlinkatFlags::NoRemoveDir);
    }
    written
}

/// Removes old files.
fn sweep(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let old = entry.metadata().is_ok_and(|meta| {
            meta.is_file()
                && meta.uid() == geteuid().as_raw()
                && meta.modified().is_ok_and(|time| age(time) > FILE_RETENTION)
        });
        if old && entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            // Another process may have removed the file in the meantime.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn age(time: SystemTime) -> Duration {
    time.elapsed().unwrap_or_default()
}

/// Returns our directory in the user's cache directory.
fn cache_directory(wanted: &SnapshotRequest) -> Option<PathBuf> {
    let named = wanted.environment.block.split('\0').find_map(|entry| entry.strip_prefix("XDG_CACHE_HOME="));
    let cache = match named.filter(|path| path.starts_with('/')) {
        Some(path) => path.into(),
        // A home of `/` belongs to no user.
        None if wanted.environment.home.parent().is_none() => return None,
        None => wanted.environment.home.join(".cache"),
    };
    Some(cache.join(DIRECTORY))
}

fn name(wanted: &SnapshotRequest) -> String {
    format!("{PREFIX}{:032x}.bash", wanted.key)
}

/// Returns the first line of a file with this code.
fn header_line(code: &[u8]) -> String {
    let mut hash = DefaultHasher::new();
    code.hash(&mut hash);
    format!(
        "# agent-bash {}: a snapshot of the user's shell, {} bytes, {:016x}\n",
        env!("CARGO_PKG_VERSION"),
        code.len(),
        hash.finish()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_that_does_not_exist_is_not_made() {
        let home = std::env::temp_dir().join(format!("agent-bash-home-{}", plan::next_mark()));
        let place = home.join(".cache").join(DIRECTORY);
        let code = SnapshotCode::from_bytes(b"x=1\n");
        assert_eq!(write(&place, "a", &code).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(!home.exists());
        fs::create_dir(&home).unwrap();
        write(&place, "a", &code).unwrap();
        assert!(place.join("a").is_file());
        fs::remove_dir_all(&home).unwrap();
    }
}
