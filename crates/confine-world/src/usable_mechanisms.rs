//! What can confine a process without namespaces. A kernel may lack a part, and a container's own filter may refuse
//! it, so children try the parts once.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::init_messages;
use crate::{filter, filter::SyscallFilterMode};
use sys::{
    ForkOutcome, LandlockRestrictions, LandlockRuleset, LinkResolution, NotificationResponse, Signal,
    SyscallArchitecture,
};

/// The parts that work here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UsableMechanisms {
    /// Whether a process can restrict itself with Landlock.
    pub landlock: bool,
    /// The filter of system calls that a process can install. `None`: it can install none.
    pub filter: Option<SyscallFilterMode>,
    /// Whether a listener can open files for its callers.
    pub performs: bool,
}

/// Bits of a child's answer.
const LANDLOCK: u8 = 1;
const FILTER: u8 = 2;
const LISTENER: u8 = 4;
const PERFORMS: u8 = 8;

/// Time each child may take to try the parts, ms.
const PATIENCE: u16 = 5_000;

/// Memory of each child, which another child reads.
static MEMORY: [u8; 8] = *b"readable";

/// Returns the parts that work here. This process has one thread.
///
/// # Errors
/// If no child can be made.
pub(super) fn probe_mechanisms() -> io::Result<UsableMechanisms> {
    static KNOWN: OnceLock<UsableMechanisms> = OnceLock::new();
    match KNOWN.get() {
        Some(known) => Ok(*known),
        None => try_in_child().map(|tried| *KNOWN.get_or_init(|| tried)),
    }
}

/// Tries the parts in a child, which is to its own child what a listener is to a command.
fn try_in_child() -> io::Result<UsableMechanisms> {
    let (ours, theirs) = sys::socket_pair()?;
    let listener = match sys::fork()? {
        ForkOutcome::Child => {
            drop(ours);
            let answer = try_as_listener().unwrap_or(0);
            let _ = File::from(theirs).write_all(&[answer]);
            sys::exit_now(0)
        }
        ForkOutcome::Parent(listener) => listener,
    };
    drop(theirs);
    let received = receive(&ours);
    if received.is_err() {
        sys::signal(listener, Signal::SIGKILL);
    }
    waitpid(listener, None)?;
    let answer = received.map_or(0, |(answer, _)| answer);
    let filter = match (answer & FILTER != 0, answer & LISTENER != 0) {
        (false, _) => None,
        (true, false) => Some(SyscallFilterMode::Silent),
        (true, true) => Some(SyscallFilterMode::Confined),
    };
    let performs = answer & LISTENER != 0 && answer & PERFORMS != 0;
    Ok(UsableMechanisms { landlock: answer & LANDLOCK != 0, filter, performs })
}

/// Confines a child, and answers two of its calls. Returns what worked.
fn try_as_listener() -> io::Result<u8> {
    let (ours, theirs) = sys::socket_pair()?;
    let confined = match sys::fork()? {
        ForkOutcome::Child => {
            drop(ours);
            let answer = try_as_command(&theirs);
            let mut theirs = File::from(theirs);
            // Its memory is there until the other end is closed.
            let _ = theirs.write_all(&[answer]).and_then(|()| theirs.read_exact(&mut [0]));
            sys::exit_now(0)
        }
        ForkOutcome::Parent(confined) => confined,
    };
    drop(theirs);
    // A child that was killed for an attempt has confined nothing.
    let (mut answer, filter) = receive(&ours)?;
    if let Some(filter) = filter {
        answer_calls(&filter);
        answer = receive(&ours)?.0;
    }
    Ok(if is_readable(confined) { answer } else { answer & !LISTENER })
}

/// Confines this process as a command is confined, and returns what worked. Sends the descriptor of its filter.
fn try_as_command(socket: &OwnedFd) -> u8 {
    let ruleset = LandlockRuleset::new(LandlockRestrictions::default()).ok().map(LandlockRuleset::into_fd);
    let obeys = ruleset.as_ref().is_some_and(|ruleset| sys::give_up_privileges(Some(ruleset.as_raw_fd())).is_ok());
    let answer = if obeys { LANDLOCK } else { 0 };
    if !obeys && sys::give_up_privileges(None).is_err() {
        return 0;
    }
    // A listener needs openat2, which the filter of commands refuses.
    let resolves = sys::open_place(AT_FDCWD, c"/", true, LinkResolution::Texts).is_ok();
    let installs = |variant, listener: Option<(i32, &[u8])>| {
        SyscallArchitecture::HERE
            .is_some_and(|machine| sys::install_filter(&filter::program(machine, variant), listener).is_ok())
    };
    if sys::has_listeners() && installs(SyscallFilterMode::Confined, Some((socket.as_raw_fd(), &[0]))) {
        // The kernel answers that there is no such directory, if it performs the call. The second call returns a
        // descriptor.
        let performed = std::fs::remove_dir("").is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let opened = std::fs::remove_dir("").is_ok();
        let listens = if performed && resolves { LISTENER } else { 0 };
        answer | FILTER | listens | if opened && resolves { PERFORMS } else { 0 }
    } else if installs(SyscallFilterMode::Silent, None) {
        answer | FILTER
    } else {
        answer
    }
}

/// Lets the kernel perform the next call of a filter, which fails before Linux 5.5, and answers the call behind it with
/// a descriptor, which fails before 5.9.
fn answer_calls(listener: &OwnedFd) {
    if let Ok(Some(call)) = sys::next_call(listener.as_fd()) {
        sys::respond(listener.as_fd(), call.id, NotificationResponse::Continue);
    }
    if let Ok(Some(call)) = sys::next_call(listener.as_fd())
        && !listener.try_clone().is_ok_and(|copy| sys::respond_with_file(listener.as_fd(), &call, copy, true).is_ok())
    {
        sys::respond(listener.as_fd(), call.id, NotificationResponse::Fail(Errno::ENOSYS));
    }
}

/// Returns whether a listener could read the memory of a command. This process has no other use afterwards.
fn is_readable(process: Pid) -> bool {
    let mut read = [0; MEMORY.len()];
    let at = MEMORY.as_ptr().addr() as u64;
    let length = sys::become_listener().map(|()| sys::read_foreign(process.as_raw(), at, &mut read));
    length.is_ok_and(|length| length == Ok(MEMORY.len())) && read == MEMORY
}

/// Waits for a byte, and the descriptor that may come with it.
fn receive(socket: &OwnedFd) -> io::Result<(u8, Option<OwnedFd>)> {
    let (mut byte, mut descriptors) = ([0], Vec::new());
    if !init_messages::is_readable(socket.as_fd(), PATIENCE)? {
        return Err(io::ErrorKind::TimedOut.into());
    }
    match sys::receive(socket.as_fd(), &mut byte, &mut descriptors)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok((byte[0], descriptors.pop())),
    }
}
