//! macOS: without subreapers and `/proc`, process groups, the parent chain and the mark in the environment take their
//! place.

mod activity;
mod cgroup;
mod clone;
mod connections;
mod environ;
mod features;
mod fs_events;
mod gate_sockets;
mod link_free_paths;
mod listeners;
mod pipes;
mod proc_root;
mod processes;
mod seatbelt;
mod seccomp;
mod shared_descriptor;
mod tree_watch;
mod warm_shell_access;
mod witness;
mod worlds;

use std::ffi::{CStr, OsStr};
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::{Pid, Uid};

use super::processes::{ExecVectors, become_program};
use super::{LaunchError, LaunchStep, ProgramLaunch, ResourceUsage, UsageSample};
use crate::machine::PidNamespace;
pub use activity::*;
pub use cgroup::*;
pub use clone::*;
pub use connections::*;
pub(super) use environ::environ;
pub use features::*;
pub use gate_sockets::*;
pub use link_free_paths::*;
pub use listeners::*;
pub use pipes::*;
pub use proc_root::*;
pub use processes::*;
pub use seatbelt::*;
pub use seccomp::*;
pub use shared_descriptor::*;
pub use tree_watch::*;
pub use warm_shell_access::*;
pub use witness::*;
pub use worlds::*;

/// Sockets that keep the borders of messages. macOS has no others.
pub(super) const MESSAGES: nix::sys::socket::SockType = nix::sys::socket::SockType::Datagram;
/// None: macOS sets the flag of a descriptor afterwards.
pub(super) const SOCKET_FLAGS: i32 = 0;
/// None: our processes ignore the signal of a closed socket.
pub(super) const SEND_FLAGS: i32 = 0;
/// None: macOS sets the flag of a descriptor afterwards.
pub(super) const RECEIVE_FLAGS: i32 = 0;
/// The highest signal number.
pub(super) const LAST_SIGNAL: i32 = 31;
/// macOS counts the largest resident size in bytes.
pub(super) const MAX_RSS_UNIT: u64 = 1;
/// Orphans are reparented to launchd, and are found only by the mark in their environment.
pub const ORPHANS_COME_BACK: bool = false;
/// Whether `UTF-8` alone names a locale.
pub const BARE_CHARSET_IS_LOCALE: bool = true;
/// A UTF-8 locale that is always available.
pub const UTF8_LOCALE: &str = "en_US.UTF-8";

/// The longest line in bytes that a terminal holds for a program that reads whole lines, with a margin.
pub const LONGEST_LINE: usize = 1000;

/// Sets a signal to its default. Signals that cannot be set stay unchanged.
pub(super) fn default_disposition(number: i32) {
    // SAFETY: setting the default disposition runs no code of ours.
    unsafe { libc::signal(number, libc::SIG_DFL) };
}

/// Creates a pipe whose ends are closed on exec.
pub(super) fn pipe_cloexec() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = nix::unistd::pipe()?;
    super::set_cloexec(&read)?;
    super::set_cloexec(&write)?;
    Ok((read, write))
}

/// Opens a program's end of a pseudo-terminal.
pub(super) fn open_slave(master: &OwnedFd) -> io::Result<OwnedFd> {
    let mut name = [0_u8; 128];
    // SAFETY: the kernel writes at most 128 bytes, a C string.
    if unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCPTYGNAME as _, name.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let name = CStr::from_bytes_until_nul(&name).map_err(io::Error::other)?;
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: the path is a valid C string.
    let fd = unsafe { libc::open(name.as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just created it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Does nothing: macOS has no subreapers. A process whose parent has exited is found only by the mark.
pub fn become_subreaper() -> io::Result<()> {
    Ok(())
}

/// Does nothing: macOS does not tell a process that its parent has exited.
pub fn go_on_without_parent() -> io::Result<()> {
    Ok(())
}

/// Does nothing: the capacity of a pipe is fixed on macOS.
pub fn grow_pipe(_: BorrowedFd<'_>, _: i32) {}

/// Starts a program in a session of its own. The shim is small, so a plain fork is cheap.
pub fn launch(launch: &ProgramLaunch) -> Result<Pid, LaunchError> {
    let vectors = ExecVectors::of(launch);
    let failed = |step, error: io::Error| LaunchError { step, errno: error.raw_os_error().unwrap_or(0) };
    let (read, write) = pipe_cloexec().map_err(|error| failed(LaunchStep::Stdio, error))?;
    match super::fork().map_err(|error| failed(LaunchStep::Fork, error))? {
        super::ForkOutcome::Child => {
            // SAFETY: this is the fresh child of a single-threaded process, and its memory is its own.
            let error = unsafe { become_program(launch, &vectors, oom_score()) };
            let mut report = [error.step as u8; 5];
            report[1..].copy_from_slice(&error.errno.to_ne_bytes());
            let _ = nix::unistd::write(&write, &report);
            super::exit_now(127)
        }
        super::ForkOutcome::Parent(pid) => {
            drop(write);
            let mut report = [0_u8; 5];
            if !matches!(nix::unistd::read(&read, &mut report), Ok(5)) {
                return Ok(pid);
            }
            let _ = nix::sys::wait::waitpid(pid, None);
            let step = STEPS.into_iter().find(|step| *step as u8 == report[0]).unwrap_or(LaunchStep::Fork);
            let mut errno = [0_u8; 4];
            errno.copy_from_slice(&report[1..]);
            Err(LaunchError { step, errno: i32::from_ne_bytes(errno) })
        }
    }
}

/// The steps that a child reports.
const STEPS: [LaunchStep; 5] =
    [LaunchStep::Chdir, LaunchStep::Exec, LaunchStep::Stdio, LaunchStep::Limits, LaunchStep::Confine];

/// macOS has no OOM score.
pub const OOM_SCORE: i32 = 0;

/// Returns nothing: macOS has no OOM score.
pub fn oom_score() -> &'static CStr {
    c""
}

/// Does nothing.
pub(super) fn raise_oom_score(_: &CStr) {}

/// Closes every descriptor except the standard ones. A host may leave some open for its children, and a helper would
/// keep them open as long as it runs.
pub fn close_inherited() {
    for fd in 3..1024 {
        // SAFETY: called before any code owns a descriptor above the standard ones. Closing an unused number is an
        // error without effect.
        unsafe { libc::close(fd) };
    }
}

/// Does nothing: our own descriptors are closed on exec. Closing others by number could hit the pipe that reports a
/// failed launch.
pub(super) fn close_from_three() {}

/// Does nothing, as [`close_from_three`].
pub(super) fn close_on_exec_from_three() {}

/// Does nothing.
pub fn put_session_ahead() {}

/// A placeholder: macOS needs no realtime priority here.
pub struct RealtimeGuard;

impl RealtimeGuard {
    /// Does nothing.
    pub fn begin() -> Self {
        Self
    }
}

/// Returns whether processes can be sampled.
pub fn can_sample() -> bool {
    true
}

/// Returns the length of the kernel's time unit in nanoseconds, as a fraction.
#[expect(deprecated, reason = "its new home would be a dependency for this alone")]
fn time_unit() -> (u64, u64) {
    let mut base = libc::mach_timebase_info { numer: 0, denom: 0 };
    // SAFETY: it has room for the answer.
    let failed = unsafe { libc::mach_timebase_info(&mut base) };
    if failed != 0 || base.denom == 0 { (1, 1) } else { (u64::from(base.numer), u64::from(base.denom)) }
}

/// Converts a kernel time to microseconds.
fn micros(time: u64) -> u64 {
    static UNIT: std::sync::OnceLock<(u64, u64)> = std::sync::OnceLock::new();
    let (numer, denom) = *UNIT.get_or_init(time_unit);
    u64::try_from(u128::from(time) * u128::from(numer) / u128::from(denom) / 1000).unwrap_or(u64::MAX)
}

/// Returns a process's current usage, or `None` if it is gone or belongs to another user.
pub fn sample(pid: Pid) -> Option<UsageSample> {
    let parent = i32::try_from(info(pid.as_raw())?.pbi_ppid).ok()?;
    let mut usage = std::mem::MaybeUninit::<libc::rusage_info_v2>::zeroed();
    // SAFETY: the buffer is the structure of the requested flavour.
    let failed = unsafe { libc::proc_pid_rusage(pid.as_raw(), libc::RUSAGE_INFO_V2, usage.as_mut_ptr().cast()) };
    if failed != 0 {
        return None;
    }
    // SAFETY: zeroed before and filled in by the kernel.
    let usage = unsafe { usage.assume_init() };
    Some(UsageSample {
        parent: Pid::from_raw(parent),
        usage: ResourceUsage {
            user_us: micros(usage.ri_user_time + usage.ri_child_user_time),
            system_us: micros(usage.ri_system_time + usage.ri_child_system_time),
            max_rss: usage.ri_resident_size,
        },
        waited: usage.ri_child_user_time + usage.ri_child_system_time > 0,
        resident: usage.ri_phys_footprint,
    })
}

/// Returns `None`: the sampled footprint already leaves out shared memory, so there is nothing to add.
pub fn proportional_memory(_: Pid) -> Option<u64> {
    None
}

/// Returns `Some(false)`: `posix_spawn` starts children here, without sharing memory.
pub fn share_memory(_: Pid, _: Pid) -> Option<bool> {
    Some(false)
}

/// Signals a process, unless the pid belongs to another process than `expected`. A pid that is reused between the
/// comparison and the signal is hit.
pub fn signal_checked(pid: Pid, expected: ProcessIdentity, signal: super::Signal) {
    if identity(pid).is_some_and(|now| now.started == expected.started) {
        super::signal(pid, signal);
    }
}

/// Returns the arguments and environment of a process as the kernel keeps them: a count, the path, the strings.
fn arguments(pid: i32) -> Option<(usize, Vec<u8>)> {
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid];
    let mut buffer = vec![0_u8; 1024 * 1024];
    let mut size = buffer.len();
    // SAFETY: name and buffer have the given sizes.
    let failed =
        unsafe { libc::sysctl(name.as_mut_ptr(), 3, buffer.as_mut_ptr().cast(), &mut size, std::ptr::null_mut(), 0) };
    if failed != 0 || size < 4 {
        return None;
    }
    buffer.truncate(size);
    let count = usize::try_from(i32::from_ne_bytes(buffer[..4].try_into().ok()?)).ok()?;
    Some((count, buffer.split_off(4)))
}

/// Returns every process whose environment contains this entry (`NAME=VALUE`). The environments of protected programs
/// and of other users are not shown.
pub fn processes_with(entry: &str) -> Vec<Pid> {
    all_pids()
        .into_iter()
        .filter(|pid| {
            arguments(*pid).is_some_and(|(_, strings)| strings.split(|byte| *byte == 0).any(|s| s == entry.as_bytes()))
        })
        .map(Pid::from_raw)
        .collect()
}

/// Returns the command line of a process, its arguments separated by spaces. `None` if it is gone.
pub fn command_line(pid: Pid) -> Option<String> {
    let (count, strings) = arguments(pid.as_raw())?;
    let words: Vec<_> = strings
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .skip(1)
        .take(count)
        .map(String::from_utf8_lossy)
        .collect();
    Some(words.join(" "))
}

/// Creates an unnamed file with these bytes, positioned at its start.
pub fn anonymous_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// Returns a path by which a child of this process can open this descriptor, which the child inherits.
pub fn script_path(fd: &impl AsFd) -> PathBuf {
    let _ = nix::fcntl::fcntl(fd.as_fd(), nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty()));
    PathBuf::from(format!("/dev/fd/{}", fd.as_fd().as_raw_fd()))
}

/// Returns the number of open descriptors of this process.
pub fn open_descriptors() -> usize {
    std::fs::read_dir("/dev/fd").map_or(32, Iterator::count)
}

/// Returns `None`: macOS has no pid namespaces.
pub fn pid_namespace() -> Option<PidNamespace> {
    None
}

/// Returns an id that differs for each boot of the machine.
pub fn boot_id() -> String {
    let mut buffer = [0_u8; 64];
    let mut size = buffer.len();
    // SAFETY: name and buffer have the given sizes.
    let failed = unsafe {
        libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            buffer.as_mut_ptr().cast(),
            &mut size,
            std::ptr::null_mut(),
            0,
        )
    };
    if failed != 0 {
        return String::new();
    }
    String::from_utf8_lossy(&buffer[..size.min(buffer.len())]).trim_end_matches('\0').to_owned()
}

/// Returns the user of the process at the other end of a connected socket, as of its connection.
pub fn peer_user(socket: &impl AsFd) -> io::Result<Uid> {
    Ok(nix::unistd::getpeereid(socket)?.0)
}

/// Not supported.
pub fn peer_process(_: &impl AsFd) -> io::Result<Pid> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns how long ago a process started, or `None` if it is gone.
pub fn age(pid: Pid) -> Option<Duration> {
    let started = Duration::from_micros(identity(pid)?.started);
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    Some(now.saturating_sub(started))
}

/// Returns the path of a file in an open directory for a socket address. macOS has no short form, and an address has
/// room for 103 bytes.
pub fn short_path(_: &std::fs::File, path: &Path) -> PathBuf {
    path.to_owned()
}

/// Returns the present path of a name in an open directory. It leads elsewhere once the directory is replaced.
pub fn path_in(directory: &impl AsFd, name: &OsStr) -> PathBuf {
    let fd = directory.as_fd().as_raw_fd();
    let mut path = [0_u8; libc::PATH_MAX as usize];
    // SAFETY: the kernel writes a C string of at most `PATH_MAX` bytes.
    let failed = unsafe { libc::fcntl(fd, libc::F_GETPATH, path.as_mut_ptr()) } < 0;
    match CStr::from_bytes_until_nul(&path) {
        Ok(path) if !failed => Path::new(OsStr::from_bytes(path.to_bytes())).join(name),
        // There is nothing at this path.
        _ => PathBuf::from(format!("/dev/fd/{fd}")).join(name),
    }
}

/// Returns the whole path, below the current directory: macOS has no paths of open directories.
pub fn split_open(path: &Path) -> (BorrowedFd<'_>, &Path) {
    (nix::fcntl::AT_FDCWD, path)
}

/// Lists the names of the extended attributes of a file, each with a 0 behind it. A symbolic link is not followed.
pub(crate) fn list_attributes(path: &Path, names: &mut [u8]) -> Result<usize, rustix::io::Errno> {
    rustix::fs::llistxattr(path, names)
}

/// Reads the status of the thing at a path. A symbolic link is not followed.
///
/// # Errors
/// As `lstat`.
pub fn path_status(path: &Path) -> std::io::Result<crate::PathStatus> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::symlink_metadata(path)?;
    Ok(crate::PathStatus {
        device: found.dev(),
        inode: found.ino(),
        mode: found.mode(),
        uid: found.uid(),
        gid: found.gid(),
        links: found.nlink(),
        size: found.size(),
        stands_for: found.rdev(),
        mtime: (found.mtime(), found.mtime_nsec()),
        ctime: (found.ctime(), found.ctime_nsec()),
    })
}

/// Returns the step of the clock by which the kernel dates changes of files.
pub fn file_clock_step() -> Duration {
    Duration::from_millis(10)
}
