//! The bytes in a pipe, seen without a read.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, SpliceFFlags, fcntl, tee};
use rustix::fs::fstat;
use rustix::io::ioctl_fionread;

/// Returns a pipe that ends behind the same bytes as another one, which keeps them, and whether these are all of them.
///
/// # Errors
/// If no descriptors are free, or the system cannot copy between pipes.
pub fn peek_pipe(pipe: BorrowedFd<'_>) -> io::Result<(OwnedFd, bool)> {
    let (seen, aside) = crate::pipe()?;
    if let Ok(room) = fcntl(pipe, FcntlArg::F_GETPIPE_SZ) {
        crate::grow_pipe(aside.as_fd(), room);
    }
    let count = loop {
        match tee(pipe, &aside, usize::MAX >> 1, SpliceFFlags::SPLICE_F_NONBLOCK) {
            Ok(count) => break count,
            Err(Errno::EAGAIN) => break 0,
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    Ok((seen, ioctl_fionread(pipe)? == count as u64))
}

/// Returns how many bytes a pipe holds.
pub fn waiting_bytes(pipe: BorrowedFd<'_>) -> u64 {
    ioctl_fionread(pipe).unwrap_or(0)
}

/// Copies bytes of one pipe to another, at most so many, and leaves them in the first one. Never waits.
///
/// # Errors
/// If one has no bytes or the other no room, if nothing reads from the second, or if the system cannot copy.
pub fn tee_pipe(from: BorrowedFd<'_>, to: BorrowedFd<'_>, most: usize) -> nix::Result<usize> {
    tee(from, to, most, SpliceFFlags::SPLICE_F_NONBLOCK)
}

/// Returns the name of a pipe, as the list of a process's open pipes has it.
pub fn name_of_pipe(pipe: BorrowedFd<'_>) -> Option<String> {
    fstat(pipe).ok().map(|file| format!("pipe:[{}]", file.st_ino))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_pipe_of_any_size_is_seen_whole_and_keeps_its_bytes() {
        for (room, length) in [(4096, 4096), (64 * 1024, 60_000), (1024 * 1024, 1_000_000), (4096, 0)] {
            let (read, write) = crate::pipe().expect("a pipe");
            crate::grow_pipe(write.as_fd(), room);
            let mut write = File::from(write);
            write.write_all(&vec![b'x'; length]).expect("room");
            let (seen, whole) = peek_pipe(read.as_fd()).expect("seen");
            let (mut seen, mut copy, mut rest) = (File::from(seen), Vec::new(), Vec::new());
            seen.read_to_end(&mut copy).expect("read");
            drop(write);
            File::from(read).read_to_end(&mut rest).expect("read");
            assert_eq!((copy.len(), whole, rest.len()), (length, true, length));
        }
    }
}
