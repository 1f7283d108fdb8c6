//! Signal dispositions, masks and the news that a child changed.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, sigaction, sigprocmask};

/// What a helper process ignores, so that a command that signals its parent hits nothing. Set back in every child.
pub const IGNORED: [Signal; 8] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGPIPE,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
];

/// Clears the mask, sets every signal to its default and ignores what a helper ignores, whatever the host had done.
pub fn reset_signals() -> io::Result<()> {
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
    for number in 1..=super::LAST_SIGNAL {
        super::default_disposition(number);
    }
    let ignore = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    for signal in IGNORED {
        // SAFETY: no handler is installed, the signal is ignored.
        unsafe { sigaction(signal, &ignore) }?;
    }
    Ok(())
}

static CHILD_EVENTS: AtomicI32 = AtomicI32::new(-1);

extern "C" fn on_child(_: libc::c_int) {
    let fd = CHILD_EVENTS.load(Ordering::Relaxed);
    // SAFETY: write is async-signal-safe; a full pipe or a bad descriptor is an error that is of no interest.
    unsafe { libc::write(fd, [0_u8].as_ptr().cast(), 1) };
}

/// A pipe that becomes readable when a child of this process has changed its state.
pub struct ChildEvents {
    read: OwnedFd,
    _write: OwnedFd,
}

impl ChildEvents {
    /// Starts listening. One a process: a later one takes the news from the earlier one.
    pub fn listen() -> io::Result<Self> {
        let (read, write) = super::pipe()?;
        super::set_nonblocking(&read)?;
        super::set_nonblocking(&write)?;
        CHILD_EVENTS.store(write.as_raw_fd(), Ordering::Relaxed);
        let action = SigAction::new(SigHandler::Handler(on_child), SaFlags::SA_RESTART, SigSet::empty());
        // SAFETY: the handler only writes one byte to a descriptor.
        unsafe { sigaction(Signal::SIGCHLD, &action) }?;
        Ok(Self { read, _write: write })
    }

    /// Takes the news, so that the pipe is quiet until there is more.
    pub fn clear(&self) {
        let mut bytes = [0_u8; 64];
        while matches!(nix::unistd::read(&self.read, &mut bytes), Ok(64)) {}
    }
}

impl AsFd for ChildEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }
}

/// Blocks SIGPIPE in the calling thread: a write to a pipe that nobody reads is then an error and no more.
pub fn block_sigpipe() {
    let mut set = SigSet::empty();
    set.add(Signal::SIGPIPE);
    // A thread without the block still works: Node ignores the signal for the whole process.
    let _ = set.thread_block();
}

/// The name of a signal (`SIGKILL`); real-time ones by number (`SIGRTMIN+1` is `SIG35`).
pub fn signal_name(number: i32) -> String {
    Signal::try_from(number).map_or_else(|_| format!("SIG{number}"), |signal| signal.as_str().to_owned())
}
