//! Constants of Linux, and this process as a helper.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;
use std::time::Duration;

use nix::unistd::{Pid, Uid};

use super::proc::identity;
use crate::machine::PidNamespace;

/// Sockets that keep the borders of messages.
pub(crate) const MESSAGES: nix::sys::socket::SockType = nix::sys::socket::SockType::SeqPacket;
/// Flags by which a new socket is closed on exec.
pub(crate) const SOCKET_FLAGS: i32 = libc::SOCK_CLOEXEC;
/// Flags by which a closed socket is an error and no signal.
pub(crate) const SEND_FLAGS: i32 = libc::MSG_NOSIGNAL;
/// Flags by which received descriptors are closed on exec.
pub(crate) const RECEIVE_FLAGS: i32 = libc::MSG_CMSG_CLOEXEC;
/// The highest signal number.
pub(crate) const LAST_SIGNAL: i32 = 64;
/// Linux counts the largest resident size in KiB.
pub(crate) const MAX_RSS_UNIT: u64 = 1024;
/// Orphaned descendants are reparented to the nearest subreaper, so walking down from it finds all of them.
pub const ORPHANS_COME_BACK: bool = true;
/// Whether `UTF-8` alone names a locale.
pub const BARE_CHARSET_IS_LOCALE: bool = false;
/// A UTF-8 locale that is always available.
pub const UTF8_LOCALE: &str = "C.UTF-8";

/// The longest line in bytes that a terminal holds for a program that reads whole lines, with a margin.
pub const LONGEST_LINE: usize = 4000;

/// Whether profiles of Seatbelt confine processes.
pub const HAS_SEATBELT: bool = false;

/// Not supported.
pub(crate) fn apply_profile(_: &CStr) -> Result<(), i32> {
    Err(libc::ENOSYS)
}

/// Returns the variables of this process: pointers to texts, and a null pointer behind the last one.
pub(crate) fn environ() -> *const *const libc::c_char {
    unsafe extern "C" {
        static environ: *const *const libc::c_char;
    }
    // SAFETY: every C library defines it.
    unsafe { environ }
}

/// Sets a signal to its default. Signals that cannot be set stay unchanged.
pub(crate) fn default_disposition(number: i32) {
    // A direct system call, because libc refuses the two signals it keeps for its threads. A host may have been started
    // with these ignored too. All zero is the default, and longer than the kernel's structure on any machine.
    let zero = [0_u64; 8];
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the kernel reads a structure of the given size from memory that holds more.
    unsafe { libc::syscall(libc::SYS_rt_sigaction, number, zero.as_ptr(), none, 8) };
}

/// Makes orphaned descendants reparent to this process instead of init.
pub fn become_subreaper() -> io::Result<()> {
    Ok(nix::sys::prctl::set_child_subreaper(true)?)
}

/// Makes the kernel continue this process, if it is stopped, when its parent exits.
pub fn go_on_without_parent() -> io::Result<()> {
    Ok(nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGCONT)?)
}

/// Returns the user of the process at the other end of a connected socket, as of its connection.
pub fn peer_user(socket: &impl AsFd) -> io::Result<Uid> {
    let peer = nix::sys::socket::getsockopt(socket, nix::sys::socket::sockopt::PeerCredentials)?;
    Ok(Uid::from_raw(peer.uid()))
}

/// Returns the process at the other end of a connected socket, as of its connection.
pub fn peer_process(socket: &impl AsFd) -> io::Result<Pid> {
    let peer = nix::sys::socket::getsockopt(socket, nix::sys::socket::sockopt::PeerCredentials)?;
    Ok(Pid::from_raw(peer.pid()))
}

/// Returns the pid namespace of this process, or `None` without `/proc`.
pub fn pid_namespace() -> Option<PidNamespace> {
    let id = fs::metadata("/proc/self/ns/pid").ok()?.ino();
    Some(PidNamespace { id, init_started: identity(Pid::from_raw(1)).map(|init| init.started) })
}

/// Returns an id that differs for each boot of the machine. Containers show the id of their host.
pub fn boot_id() -> String {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim_end().to_owned())
        .clone()
}

/// Returns the step of the clock by which the kernel dates changes of files.
pub fn file_clock_step() -> Duration {
    static STEP: OnceLock<Duration> = OnceLock::new();
    let coarse = nix::time::ClockId::from_raw(libc::CLOCK_REALTIME_COARSE);
    *STEP.get_or_init(|| nix::time::clock_getres(coarse).map_or(Duration::from_millis(10), Duration::from))
}
