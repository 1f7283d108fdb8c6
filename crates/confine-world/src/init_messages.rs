//! Messages between init and the processes outside of the world.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use confine_policy::{ConfinementPolicy, MissingPart};

/// The size of a message, in either direction.
const SIZE: usize = 9;

/// Starts init once its ids are mapped.
pub(super) const START: u8 = b's';
/// Brings the policy ([`WorldBuildOrder`]) to an init that has begun.
pub(super) const POLICY: u8 = b'c';
/// Asks for [`super::NameGuards`], unless the number is current.
pub(super) const REFRESH: u8 = b'r';
/// Answers [`REFRESH`], with the guards ([`super::NameGuards`]) if their number differs.
pub(super) const GUARDS: u8 = b'g';
/// Brings the pidfd of a process that keeps the world.
pub(super) const KEEP: u8 = b'k';
/// Brings the socket of another door.
pub(super) const DOOR: u8 = b'd';
/// Brings a path that the world may read ([`super::shown_files`]). Answered by [`SHOWN`].
pub(super) const SHOW: u8 = b'p';
/// Answers [`SHOW`]: the number is 0, or the system's error number.
pub(super) const SHOWN: u8 = b'o';
/// Asks for a socket of the world's network that reaches the server of a TCP port, which is the number. Answered by a
/// message of the same kind: the number is 4 or 6, the version of IP, or 0 without a socket if no server listens there.
pub(super) const REACH: u8 = b't';
/// Brings the facts of the world for another supervisor ([`super::PublishedWorld`]), and the way to its gate, if it has
/// one.
pub(super) const PUBLISH: u8 = b'i';
/// Asks for the published facts, and for the descriptors of the world. Answered by three messages of the same kind,
/// whose number shows the optional descriptors that exist.
pub(super) const JOIN: u8 = b'j';
/// Brings descriptors of the world that was built.
pub(super) const BUILT: u8 = b'b';

/// The policy of a world, and what else init did not know when it began.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorldBuildOrder {
    pub policy: ConfinementPolicy,
    /// As in [`super::WorldHostPaths`].
    pub readable: Vec<PathBuf>,
    /// As in [`super::WorldHostPaths`].
    pub watches: bool,
}

/// The result of init's first part.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum WorldBuildReport {
    /// The world is built.
    Built(BuiltWorldFacts),
    /// A step failed that every world needs.
    Failed {
        /// The step, in words.
        step: String,
        /// The error of the system.
        errno: i32,
    },
}

/// The facts of a built world, and which descriptors follow.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct BuiltWorldFacts {
    pub missing: Vec<MissingPart>,
    pub notes: Vec<String>,
    /// The write roots, with the granted git directories.
    pub write: Vec<PathBuf>,
    pub terminals: bool,
    pub network: bool,
    pub gate: bool,
    pub landlock: bool,
    pub watches: bool,
    /// The number of drafted directories.
    pub drafted: usize,
}

/// A message of one kind with a number and descriptors.
#[derive(Debug)]
pub(super) struct InitMessage {
    pub kind: u8,
    pub number: u64,
    pub fds: Vec<OwnedFd>,
}

/// Sends a message. The receiver reads every message before the next message that needs an answer, so the socket is
/// never full.
pub(super) fn send(socket: &impl AsFd, kind: u8, number: u64, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut bytes = [kind; SIZE];
    bytes[1..].copy_from_slice(&number.to_ne_bytes());
    let fds: Vec<_> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    match sys::send(socket.as_fd(), &bytes, &fds)? {
        SIZE => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Receives a message without waiting. `None`: the other side is gone.
pub(super) fn receive(socket: &impl AsFd) -> io::Result<Option<InitMessage>> {
    let (mut bytes, mut fds) = ([0; SIZE], Vec::new());
    match sys::receive(socket.as_fd(), &mut bytes, &mut fds)? {
        SIZE => {
            let [kind, number @ ..] = bytes;
            Ok(Some(InitMessage { kind, number: u64::from_ne_bytes(number), fds }))
        }
        0 => Ok(None),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Waits for a message of this kind as long as the other side is there.
pub(super) fn wait_for(socket: &impl AsFd, kind: u8) -> io::Result<InitMessage> {
    while !is_readable(socket.as_fd(), u16::MAX)? {}
    receive_within(socket, kind, 0)
}

/// Receives a message of this kind, for which it waits this many milliseconds. Its errors have numbers, by which they
/// keep their reasons on the way to a host.
pub(super) fn receive_within(socket: &impl AsFd, kind: u8, timeout: u16) -> io::Result<InitMessage> {
    if !is_readable(socket.as_fd(), timeout)? {
        return Err(nix::errno::Errno::ETIMEDOUT.into());
    }
    match receive(socket)? {
        Some(message) if message.kind == kind => Ok(message),
        Some(_) => Err(nix::errno::Errno::EPROTO.into()),
        None => Err(nix::errno::Errno::ECONNRESET.into()),
    }
}

/// Puts a value of any size into a file, which travels as a descriptor.
pub(super) fn pack(value: &impl Serialize) -> io::Result<OwnedFd> {
    sys::anonymous_file(&postcard::to_allocvec(value).map_err(io::Error::other)?)
}

/// Reads a file made by [`pack`].
pub(super) fn unpack<T: DeserializeOwned>(file: OwnedFd) -> io::Result<T> {
    let file = std::fs::File::from(file);
    // Several processes may read the file at once.
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
    let mut bytes = vec![0; length];
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut bytes, 0)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

/// Waits this many milliseconds until a descriptor can be read. Returns whether it can.
pub(super) fn is_readable(fd: BorrowedFd<'_>, timeout: u16) -> io::Result<bool> {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    loop {
        match poll(&mut fds, PollTimeout::from(timeout)) {
            Ok(count) => return Ok(count > 0),
            Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
