//! Files and pipes in a private directory that a process of the same user can open by a path.

use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::stat::Mode;

/// A file with a path. It is removed when this value is dropped.
#[derive(Debug)]
pub struct SharedDescriptor {
    path: PathBuf,
    /// Keeps the other end of a pipe from ending before its first writer.
    _writer: Option<fs::File>,
}

fn fresh() -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("agent-bash-shared-{}-{count:x}", crate::process_mark()));
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder.join("it"))
}

impl SharedDescriptor {
    /// Creates a file with these bytes.
    pub fn file(bytes: &[u8]) -> io::Result<Self> {
        let path = fresh()?;
        fs::File::options().write(true).create_new(true).mode(0o600).open(&path)?.write_all(bytes)?;
        Ok(Self { path, _writer: None })
    }

    /// Creates a pipe: its write end with a path, and its non-blocking read end.
    pub fn pipe() -> io::Result<(Self, OwnedFd)> {
        let path = fresh()?;
        nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR)?;
        let read = fs::File::options().read(true).custom_flags(libc::O_NONBLOCK).open(&path)?;
        let writer = fs::File::options().write(true).open(&path)?;
        Ok((Self { path, _writer: Some(writer) }, read.into()))
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns another descriptor of it.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(fs::File::options().read(true).write(true).open(&self.path)?.into())
    }

    /// Empties the file.
    pub fn clear(&self) -> io::Result<()> {
        fs::File::options().write(true).open(&self.path)?.set_len(0)
    }

    /// Returns the current content of the file.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        fs::read(&self.path)
    }
}

impl Drop for SharedDescriptor {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        if let Some(folder) = self.path.parent() {
            let _ = fs::remove_dir(folder);
        }
    }
}
