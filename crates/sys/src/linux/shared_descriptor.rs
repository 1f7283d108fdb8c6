//! Unnamed files and pipes that a process of the same user can open by a path.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::files::{anonymous_file, pipe_cloexec};

/// A descriptor of this process with a path. The path is valid while this value lives.
#[derive(Debug)]
pub struct SharedDescriptor {
    fd: OwnedFd,
    path: PathBuf,
}

impl SharedDescriptor {
    fn new(fd: OwnedFd) -> Self {
        let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), fd.as_raw_fd()));
        Self { fd, path }
    }

    /// Creates a file with these bytes.
    pub fn file(bytes: &[u8]) -> io::Result<Self> {
        anonymous_file(bytes).map(Self::new)
    }

    /// Creates a pipe: its write end with a path, and its non-blocking read end.
    pub fn pipe() -> io::Result<(Self, OwnedFd)> {
        let (read, write) = pipe_cloexec()?;
        crate::set_nonblocking(&read)?;
        Ok((Self::new(write), read))
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns another descriptor of it, for reading and writing, so that SIGPIPE never ends a process that writes
    /// to a pipe through it.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(std::fs::File::options().read(true).write(true).open(&self.path)?.into())
    }

    /// Empties the file.
    pub fn clear(&self) -> io::Result<()> {
        std::fs::File::from(self.fd.try_clone()?).set_len(0)
    }

    /// Returns the current content of the file.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = std::fs::File::from(self.fd.try_clone()?);
        let mut chunk = vec![0_u8; 64 * 1024];
        loop {
            match std::os::unix::fs::FileExt::read_at(&file, &mut chunk, bytes.len() as u64)? {
                0 => return Ok(bytes),
                count => bytes.extend_from_slice(&chunk[..count]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_pipe_without_a_reader_takes_what_is_written_and_ends_with_its_writers() {
        let (pipe, read) = SharedDescriptor::pipe().expect("a pipe");
        let mut write = File::from(pipe.descriptor().expect("a descriptor"));
        write.write_all(b"one").expect("written");
        let mut bytes = [0; 8];
        let mut reader = File::from(read.try_clone().expect("copied"));
        assert_eq!(reader.read(&mut bytes).expect("read"), 3);
        drop((reader, read));
        write.write_all(b"two").expect("written without a reader");
        let (pipe, read) = SharedDescriptor::pipe().expect("a pipe");
        drop((pipe.descriptor().expect("a descriptor"), pipe));
        assert_eq!(File::from(read).read(&mut bytes).expect("the end"), 0);
    }
}
