//! Regular files in directories that commands can write to.
//!
//! A command may have put something else there: a FIFO, on which a reader waits for ever, or a device without an end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::libc;

/// Opens a regular file. Never waits, and never follows a link at the end of the path.
///
/// # Errors
/// If it cannot be opened, or is something else.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    regular(options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?)
}

/// Opens a directory. Never waits, and never follows a link at the end of the path.
///
/// # Errors
/// If it cannot be opened, or is something else.
pub fn open_real_directory(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(path)
}

/// Reads a regular file of at most `most` bytes. Never waits. A link is followed.
///
/// # Errors
/// If it cannot be read, is longer, or is something else.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = regular(File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= most {
        bytes.reserve_exact(usize::try_from(length).unwrap_or_default());
        file.take(most + 1).read_to_end(&mut bytes)?;
    }
    if length > most || bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_but_a_regular_file_of_the_length_is_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        fs::write(at("file"), "four").expect("written");
        nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).expect("made");
        symlink("file", at("link")).expect("made");
        symlink("/dev/zero", at("zero")).expect("made");
        File::create(at("sparse")).and_then(|file| file.set_len(1 << 40)).expect("made");
        let read = |name: &str| read_regular(&at(name), 4).map_err(|error| error.kind());
        let open = |name: &str| open_regular(&at(name), File::options().read(true)).is_ok();
        assert_eq!(read("file").expect("read"), b"four");
        assert_eq!(read("link").expect("read"), b"four");
        assert_eq!(read_regular(&at("file"), 3).expect_err("longer").kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read("sparse"), Err(io::ErrorKind::FileTooLarge));
        for other in ["fifo", "zero", "."] {
            assert!(read(other).is_err() && !open(other), "{other}");
        }
        assert!(open("file") && open("sparse") && !open("link"));
    }
}
