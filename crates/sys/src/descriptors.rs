//! Pipes, socket pairs and descriptors that travel over them.

use std::ffi::OsStr;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, sendmsg, socketpair,
};

use super::{MESSAGES, RECEIVE_FLAGS, SEND_FLAGS, SOCKET_FLAGS};

/// Descriptors that one message carries at most: both ends of both output pipes, standard input, a script, six files of
/// a confined shell, and for a task the other end of its input and a file with that input.
pub const MAX_FDS: usize = 16;

/// Bytes that a pipe holds by default. A read that fills as much means that the writer is waiting.
pub const PIPE_BYTES: usize = 64 * 1024;
/// The capacity in bytes that the pipe of a writer gets which is ahead of its reader.
pub const LARGE_PIPE_BYTES: i32 = 1024 * 1024;

/// Creates a connected pair of stream sockets, both closed on exec.
pub fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (a, b) = socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::from_bits_truncate(SOCKET_FLAGS))?;
    if SOCKET_FLAGS == 0 {
        set_cloexec(&a)?;
        set_cloexec(&b)?;
    }
    Ok((a, b))
}

/// Creates a connected pair of sockets that keep the borders of messages, both closed on exec.
pub fn message_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (a, b) = socketpair(AddressFamily::Unix, MESSAGES, None, SockFlag::from_bits_truncate(SOCKET_FLAGS))?;
    if SOCKET_FLAGS == 0 {
        set_cloexec(&a)?;
        set_cloexec(&b)?;
    }
    Ok((a, b))
}

/// Creates a pipe: (read end, write end), both closed on exec and blocking.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    super::pipe_cloexec()
}

/// Closes the descriptor when the process executes another program.
pub fn set_cloexec(fd: &impl AsFd) -> io::Result<()> {
    fcntl(fd.as_fd(), FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(())
}

/// Lets reads and writes on this end return `WouldBlock` at once. The other end keeps its own mode.
pub fn set_nonblocking(fd: &impl AsFd) -> io::Result<()> {
    set_waiting(fd, false)
}

/// Makes calls on a descriptor wait again.
pub fn set_blocking(fd: &impl AsFd) -> io::Result<()> {
    set_waiting(fd, true)
}

/// Sets whether calls wait, in one system call where `fcntl` takes two.
fn set_waiting(fd: &impl AsFd, wait: bool) -> io::Result<()> {
    let value = libc::c_int::from(!wait);
    // SAFETY: the kernel reads one number.
    if unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), libc::FIONBIO, &raw const value) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Sends bytes without blocking, and the descriptors with the first of them. Returns the number of bytes taken.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[RawFd]) -> io::Result<usize> {
    let rights = [ControlMessage::ScmRights(fds)];
    let control: &[ControlMessage<'_>] = if fds.is_empty() { &[] } else { &rights };
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::from_bits_truncate(SEND_FLAGS);
    Ok(sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(bytes)], control, flags, None)?)
}

/// Receives bytes into `buffer` without blocking and adds the descriptors that came with them to `fds`. 0 bytes mean
/// that the peer is gone.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut space = nix::cmsg_space!([RawFd; MAX_FDS]);
    let mut slices = [IoSliceMut::new(buffer)];
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::from_bits_truncate(RECEIVE_FLAGS);
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(&mut space), flags)?;
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = control {
            for fd in raw {
                // SAFETY: the kernel has just created this descriptor for us, and no other code knows it.
                let owned = unsafe { OwnedFd::from_raw_fd(fd) };
                if RECEIVE_FLAGS == 0 {
                    set_cloexec(&owned)?;
                }
                fds.push(owned);
            }
        }
    }
    Ok(message.bytes)
}

/// Sends a question with a socket for its answer, so that several processes may ask, and waits for the answer, which
/// has at most `largest` bytes. A signal does not end the wait.
///
/// # Errors
/// `UnexpectedEof` if the peer is gone, `TimedOut` if it takes longer.
pub fn ask(peer: BorrowedFd<'_>, question: &[u8], patience: Duration, largest: usize) -> io::Result<Vec<u8>> {
    let (ours, theirs) = crate::packet_pair()?;
    send(peer, question, &[theirs.as_raw_fd()])?;
    drop(theirs);
    let end = Instant::now() + patience;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(ours.as_fd(), PollFlags::POLLIN)], left) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => break,
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut answer = vec![0; largest];
    match receive(ours.as_fd(), &mut answer, &mut Vec::new())? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        length => {
            answer.truncate(length);
            Ok(answer)
        }
    }
}

/// Returns whether the peer of a socket is still there, without reading from it.
pub fn peer_alive(socket: BorrowedFd<'_>) -> bool {
    let mut byte = [0_u8; 1];
    let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    match nix::sys::socket::recv(socket.as_raw_fd(), &mut byte, flags) {
        Ok(0) => false,
        Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => true,
        Err(_) => false,
    }
}

/// Returns an owned duplicate of standard input, and replaces standard input with `/dev/null`.
pub fn take_stdin() -> io::Result<OwnedFd> {
    let taken = io::stdin().as_fd().try_clone_to_owned()?;
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdin(&null)?;
    Ok(taken)
}

/// Returns the path of the shared object that holds this code, or `None` if the loader does not know it.
pub fn module_path() -> Option<PathBuf> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr accepts any address, and `info` has room for the answer.
    let found = unsafe { libc::dladdr(module_path as *const libc::c_void, info.as_mut_ptr()) };
    if found == 0 {
        return None;
    }
    // SAFETY: dladdr has filled it in, and it was zeroed before.
    let info = unsafe { info.assume_init() };
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a C string that lives as long as the shared object, which holds this code.
    let name = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}
