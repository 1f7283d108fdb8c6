//! Signals: names and numbers, dispositions, masks, and the notification that a child changed its state.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use serde::{Deserialize, Serialize};

use nix::sys::signal::Signal as NixSignal;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, sigaction, sigprocmask};

/// A signal by its number, real-time signals included.
///
/// The only place that knows signal names. Results, errors and requests all use the same name for the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "i32", into = "i32")]
pub struct Signal(i32);

/// A signal name or number that this platform does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown signal {0}")]
pub struct UnknownSignal(pub String);

macro_rules! signals {
    ($($name:ident)* ; $(#[$platform:meta] $own:ident)* ; $($alias:literal = $of:ident)*) => {
        #[allow(clippy::allow_attributes, dead_code, missing_docs, reason = "a table of the platform, not of its users")]
        impl Signal {
            $(pub const $name: Self = Self(libc::$name);)*
            $(#[$platform] pub const $own: Self = Self(libc::$own);)*
        }

        /// Every name with its signal. The first name of a signal is reported.
        const NAMES: &[(&str, Signal)] = &[
            $((stringify!($name), Signal::$name),)*
            $(#[$platform] (stringify!($own), Signal::$own),)*
            $(($alias, Signal::$of),)*
        ];
    };
}

signals! {
    SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE SIGALRM SIGTERM
    SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGSYS;
    #[cfg(target_os = "linux")] SIGSTKFLT
    #[cfg(target_os = "linux")] SIGPWR
    #[cfg(target_os = "macos")] SIGEMT
    #[cfg(target_os = "macos")] SIGINFO;
    "SIGIOT" = SIGABRT
    "SIGPOLL" = SIGIO
    "SIGCLD" = SIGCHLD
}

impl Signal {
    /// Returns the signal with this number.
    ///
    /// # Errors
    /// [`UnknownSignal`] for 0 and for numbers above the last real-time signal.
    pub fn from_number(number: i32) -> Result<Self, UnknownSignal> {
        if (1..=super::LAST_SIGNAL).contains(&number) {
            Ok(Self(number))
        } else {
            Err(UnknownSignal(number.to_string()))
        }
    }

    /// Returns the signal with this name: `SIGTERM`, an alias such as `SIGIOT`, or `SIG35` for a signal without a name.
    ///
    /// # Errors
    /// [`UnknownSignal`] for every other text, a name without its `SIG` and `SIG9` included.
    pub fn from_name(name: &str) -> Result<Self, UnknownSignal> {
        if let Some((_, signal)) = NAMES.iter().find(|(known, _)| *known == name) {
            return Ok(*signal);
        }
        let number = name.strip_prefix("SIG").and_then(|number| number.parse().ok());
        number
            .and_then(|number| Self::from_number(number).ok())
            .filter(|signal| signal.name() == name)
            .ok_or_else(|| UnknownSignal(name.to_owned()))
    }

    /// Returns its number on this platform.
    pub const fn number(self) -> i32 {
        self.0
    }

    /// Returns its name: `SIGKILL`, or `SIG35` for a signal without one, such as `SIGRTMIN+1`.
    pub fn name(self) -> String {
        let known = NAMES.iter().find(|(_, signal)| *signal == self);
        known.map_or_else(|| format!("SIG{}", self.0), |(name, _)| (*name).to_owned())
    }
}

impl TryFrom<i32> for Signal {
    type Error = UnknownSignal;

    fn try_from(number: i32) -> Result<Self, UnknownSignal> {
        Self::from_number(number)
    }
}

impl From<Signal> for i32 {
    fn from(signal: Signal) -> Self {
        signal.0
    }
}

/// Returns the name of the signal with this number, as the kernel reports it.
pub fn signal_name(number: i32) -> String {
    Signal(number).name()
}

/// Signals that a helper process ignores, so that a command that signals its parent has no effect, and a limit of the
/// host on the size of files is an error of a write. Each child has them reset.
pub const IGNORED: [NixSignal; 9] = [
    NixSignal::SIGHUP,
    NixSignal::SIGINT,
    NixSignal::SIGQUIT,
    NixSignal::SIGTERM,
    NixSignal::SIGPIPE,
    NixSignal::SIGUSR1,
    NixSignal::SIGUSR2,
    NixSignal::SIGALRM,
    NixSignal::SIGXFSZ,
];

/// Clears the mask, sets every signal to its default and ignores those in [`IGNORED`], whatever the host had set.
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
    // SAFETY: write is async-signal-safe. A full pipe or a bad descriptor is an error without consequence.
    unsafe { libc::write(fd, [0_u8].as_ptr().cast(), 1) };
}

/// A pipe that becomes readable when a child of this process changes its state.
pub struct ChildEvents {
    read: OwnedFd,
    _write: OwnedFd,
}

impl ChildEvents {
    /// Starts to receive the changes. A process has one receiver, and a later receiver replaces an earlier one.
    pub fn listen() -> io::Result<Self> {
        let (read, write) = super::pipe()?;
        super::set_nonblocking(&read)?;
        super::set_nonblocking(&write)?;
        CHILD_EVENTS.store(write.as_raw_fd(), Ordering::Relaxed);
        let action = SigAction::new(SigHandler::Handler(on_child), SaFlags::SA_RESTART, SigSet::empty());
        // SAFETY: the handler only writes one byte to a descriptor.
        unsafe { sigaction(NixSignal::SIGCHLD, &action) }?;
        Ok(Self { read, _write: write })
    }

    /// Empties the pipe, so that it becomes readable again with the next change.
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

/// Blocks SIGPIPE in the calling thread: a write to a pipe without a reader is then only an error.
pub fn block_sigpipe() {
    let mut set = SigSet::empty();
    set.add(NixSignal::SIGPIPE);
    // A thread without the block still works, because Node ignores the signal for the whole process.
    let _ = set.thread_block();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_name_that_leads_back_to_it() {
        for number in 1..=super::super::LAST_SIGNAL {
            let signal = Signal::from_number(number).expect("within the range");
            assert_eq!(Signal::from_name(&signal.name()), Ok(signal));
        }
    }

    #[test]
    fn names_are_those_of_the_platform() {
        for (number, name) in [(libc::SIGHUP, "SIGHUP"), (libc::SIGUSR1, "SIGUSR1"), (libc::SIGIO, "SIGIO")] {
            assert_eq!(signal_name(number), name);
        }
        assert_eq!(Signal::from_name("SIGIOT"), Ok(Signal::SIGABRT));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn real_time_signals_are_named_by_number() {
        assert_eq!(signal_name(35), "SIG35");
        assert_eq!(Signal::from_name("SIG35").map(Signal::number), Ok(35));
    }

    #[test]
    fn unknown_names_and_numbers_are_errors() {
        for name in ["", "TERM", "sigterm", "SIGNOPE", "SIG9", "SIG0", "SIG+35", "SIG035", "SIG65", "SIG-1", "35"] {
            assert_eq!(Signal::from_name(name), Err(UnknownSignal(name.to_owned())), "{name}");
        }
        for number in [i32::MIN, -1, 0, 65, i32::MAX] {
            assert!(Signal::from_number(number).is_err(), "{number}");
        }
    }
}
