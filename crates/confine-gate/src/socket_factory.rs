//! Sockets of a world's own network, for exposed ports. A process in that network makes them one by one. The gate
//! connects them, because a socket stays in the network in which it was made.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use sys::ForkOutcome;

use super::link_sockets::{enter_namespaces, wait_for};

/// Time limit for making a socket.
const PATIENCE: Duration = Duration::from_secs(1);

/// The gate's end.
#[derive(Debug)]
pub(super) struct NamespacedSocketFactory(OwnedFd);

impl NamespacedSocketFactory {
    /// Starts the process. This process has one thread.
    pub fn start(namespaces: &[BorrowedFd<'_>]) -> io::Result<Self> {
        let (ours, theirs) = sys::packet_pair()?;
        let ForkOutcome::Parent(_) = sys::fork()? else {
            if enter_namespaces(namespaces).is_ok() {
                // No descriptor of the gate may stay open here, or its ports would stay taken.
                sys::close_all_but(&[theirs.as_raw_fd()]);
                give_up_privileges();
                serve_sockets(&theirs);
            }
            sys::exit_now(0);
        };
        Ok(Self(ours))
    }

    /// Returns a spring whose other end is served by a caller of [`flow`].
    #[cfg(all(test, target_os = "linux"))]
    pub fn from_socket(end: OwnedFd) -> Self {
        Self(end)
    }

    /// Returns a new socket in the network of the world.
    pub fn new_socket(&self, v6: bool) -> io::Result<OwnedFd> {
        sys::send(self.0.as_fd(), &[u8::from(v6)], &[])?;
        let patience = PollTimeout::try_from(PATIENCE).unwrap_or(PollTimeout::MAX);
        if poll(&mut [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)], patience)? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut sockets = Vec::new();
        sys::receive(self.0.as_fd(), &mut [0; 1], &mut sockets)?;
        sockets.pop().ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
    }
}

/// Gives up all capabilities. An ordinary user's process has none, and may not even give them up.
pub(super) fn give_up_privileges() {
    if sys::give_up_privileges(None).is_err() {
        let _ = sys::set_no_new_privileges();
    }
}

/// Makes sockets in the network of this thread until the gate is gone.
pub(super) fn serve_sockets(end: &OwnedFd) {
    loop {
        let mut wanted = [0];
        let asked = wait_for(end.as_fd(), PollFlags::POLLIN)
            .and_then(|()| sys::receive(end.as_fd(), &mut wanted, &mut Vec::new()));
        if !matches!(asked, Ok(1)) {
            return;
        }
        let socket = sys::stream_socket(wanted != [0]);
        let made: Vec<_> = socket.iter().map(AsRawFd::as_raw_fd).collect();
        if sys::send(end.as_fd(), &[0], &made).is_err() {
            return;
        }
    }
}
