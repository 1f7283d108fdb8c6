//! Linux: subreapers, `/proc`, pidfds, anonymous files.

mod calls;
mod doing;
mod hurry;
#[cfg(feature = "addon")]
mod offers;
#[cfg(feature = "addon")]
mod shared;
mod waiting;

use std::ffi::{CStr, CString};
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::unistd::Pid;

use super::processes::{ExecVectors, become_program};
use super::{Launch, LaunchError, LaunchStep, Sample, Usage};
pub use doing::*;
pub use hurry::*;
#[cfg(feature = "addon")]
pub use offers::*;
#[cfg(feature = "addon")]
pub use shared::*;
pub use waiting::*;

pub(super) const SOCKET_FLAGS: i32 = libc::SOCK_CLOEXEC;
pub(super) const SEND_FLAGS: i32 = libc::MSG_NOSIGNAL;
pub(super) const RECEIVE_FLAGS: i32 = libc::MSG_CMSG_CLOEXEC;
/// The highest signal number.
pub(super) const LAST_SIGNAL: i32 = 64;
/// Linux counts the largest resident size in KiB.
pub(super) const MAX_RSS_UNIT: u64 = 1024;
/// Orphaned descendants come to the nearest subreaper: walking down from it finds everything.
pub const ORPHANS_COME_BACK: bool = true;
/// Whether `UTF-8` alone names a locale.
pub const BARE_CHARSET_IS_LOCALE: bool = false;
/// A locale with UTF-8 that is always there.
pub const UTF8_LOCALE: &str = "C.UTF-8";

/// The longest line that a terminal holds for a program which reads whole ones, less what may go wrong, bytes.
pub const LONGEST_LINE: usize = 4000;

/// Sets a signal to its default; those that cannot be set are left alone.
pub(super) fn default_disposition(number: i32) {
    // The system call itself: libc refuses the two signals that it keeps for its threads, which a host may have been
    // started with ignored, too. All zero is the default, and longer than the kernel's structure anywhere.
    let zero = [0_u64; 8];
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the kernel reads a structure of the size that it is told from memory that holds more.
    unsafe { libc::syscall(libc::SYS_rt_sigaction, number, zero.as_ptr(), none, 8) };
}

/// A pipe whose ends are closed on exec.
pub(super) fn pipe_cloexec() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)?)
}

/// The end of a pseudo-terminal that programs have. Asked of the open end itself: no name is looked up, which may mean
/// another one in a container.
pub(super) fn open_slave(master: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: a plain system call.
    let fd = unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCGPTPEER as _, flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Has orphaned descendants come to this process instead of init.
pub fn become_subreaper() -> io::Result<()> {
    Ok(nix::sys::prctl::set_child_subreaper(true)?)
}

/// Has this process continued, should it be stopped, when its parent ends.
pub fn go_on_without_parent() -> io::Result<()> {
    Ok(nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGCONT)?)
}

/// Gives a pipe room for this many bytes. Only a wish: the kernel may refuse it.
pub fn grow_pipe(pipe: BorrowedFd<'_>, bytes: i32) {
    let _ = nix::fcntl::fcntl(pipe, nix::fcntl::FcntlArg::F_SETPIPE_SZ(bytes));
}

/// Starts a program in a session of its own.
///
/// clone with CLONE_VM | CLONE_VFORK copies no page table, and the child reports a failed step through the memory
/// that it shares until it has executed the program.
pub fn launch(launch: &Launch) -> Result<Pid, LaunchError> {
    struct Shared<'a> {
        launch: &'a Launch,
        vectors: ExecVectors,
        oom_score: &'a CStr,
        error: Option<LaunchError>,
    }
    extern "C" fn child(shared: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the parent is held until exec or exit, and passed a pointer to its own `Shared`.
        let shared = unsafe { &mut *shared.cast::<Shared<'_>>() };
        // SAFETY: this is the fresh child, and the parent keeps everything alive meanwhile.
        let error = unsafe { become_program(shared.launch, &shared.vectors, shared.oom_score) };
        shared.error = Some(error);
        127
    }
    const STACK: usize = 64 * 1024;
    // Not initialised: zeroing it would touch pages that the child never uses.
    let mut stack = Vec::<u128>::with_capacity(STACK / 16);
    let mut shared = Shared { launch, vectors: ExecVectors::of(launch), oom_score: oom_score(), error: None };
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the end of the allocation.
    let top = unsafe { stack.as_mut_ptr().add(STACK / 16) };
    // SAFETY: the stack outlives the child's use of our memory, since CLONE_VFORK holds this thread until then.
    let pid = unsafe { libc::clone(child, top.cast(), flags, (&raw mut shared).cast()) };
    if pid < 0 {
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0);
        return Err(LaunchError { step: LaunchStep::Fork, errno });
    }
    match shared.error {
        None => Ok(Pid::from_raw(pid)),
        Some(error) => {
            let _ = nix::sys::wait::waitpid(Pid::from_raw(pid), None);
            Err(error)
        }
    }
}

/// At least 500, and never lower than what is inherited: the command is to die before the host when memory runs out.
pub fn oom_score() -> &'static CStr {
    static SCORE: OnceLock<CString> = OnceLock::new();
    SCORE.get_or_init(|| {
        let text = fs::read_to_string("/proc/self/oom_score_adj").unwrap_or_default();
        let inherited: i32 = text.trim().parse().unwrap_or(0);
        CString::new(inherited.max(500).to_string()).unwrap_or_default()
    })
}

pub(super) fn raise_oom_score(score: &CStr) {
    // SAFETY: a constant C string.
    let fd = unsafe { libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    if fd >= 0 {
        // SAFETY: the bytes of a C string.
        unsafe { libc::write(fd, score.as_ptr().cast(), score.count_bytes()) };
        // SAFETY: our own descriptor.
        unsafe { libc::close(fd) };
    }
}

/// Closes every descriptor but the standard ones: those that a host left open for its children, which would
/// otherwise stay open as long as a helper runs.
pub fn close_inherited() {
    close_from_three();
}

pub(super) fn close_from_three() {
    // Every descriptor of ours is closed on exec; a kernel before 5.9 leaves the others.
    // SAFETY: called where nobody owns a descriptor above the standard ones.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
}

/// The children of a process, of all its threads.
pub fn children(pid: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return found };
    for thread in threads.flatten() {
        let Ok(text) = fs::read_to_string(thread.path().join("children")) else { continue };
        found.extend(text.split_ascii_whitespace().filter_map(|child| child.parse().ok()).map(Pid::from_raw));
    }
    found
}

/// The children of a process that its first thread has started: all of them, for most.
pub fn first_children(pid: Pid) -> Vec<Pid> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|child| child.parse().ok()).map(Pid::from_raw).collect()
}

/// Ends the children of a process, those that [`first_children`] gives, and gives them. Cheaper than a check of each.
pub fn kill_children(parent: Pid) -> Vec<Pid> {
    let children = first_children(parent);
    if children.is_empty() {
        return children;
    }
    let open: Vec<_> = children.iter().map(|child| open_pid(*child)).collect();
    // A child that is still there was there all the time: its pid had no other owner when it was opened.
    let still = first_children(parent);
    for (child, process) in children.iter().zip(open) {
        match process {
            Ok(process) if still.contains(child) => signal_open(&process, nix::sys::signal::Signal::SIGKILL),
            Err(error)
                if error.raw_os_error() != Some(libc::ESRCH)
                    && identity(*child).is_some_and(|now| now.parent == parent) =>
            {
                super::signal(*child, nix::sys::signal::Signal::SIGKILL);
            }
            _ => {}
        }
    }
    children
}

/// What tells a process from a later one with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Its parent.
    pub parent: Pid,
    /// When it was started, in ticks since boot.
    pub started: u64,
    /// Whether it has ended and only waits to be reaped.
    pub zombie: bool,
    /// Whether it was stopped by a signal.
    pub stopped: bool,
}

/// What `/proc/PID/stat` says after the name, from the state on.
fn after_name(stat: &[u8]) -> Option<Vec<&str>> {
    // The name may hold anything, a closing parenthesis too: the fields begin after the last one.
    let after = memchr::memrchr(b')', stat)? + 2;
    Some(std::str::from_utf8(stat.get(after..)?).ok()?.split_ascii_whitespace().collect())
}

/// Who has this pid now; `None` when nobody has.
pub fn identity(pid: Pid) -> Option<Identity> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let fields = after_name(&stat)?;
    Some(Identity {
        parent: Pid::from_raw(fields.get(1)?.parse().ok()?),
        started: fields.get(19)?.parse().ok()?,
        zombie: matches!(*fields.first()?, "Z" | "X"),
        stopped: matches!(*fields.first()?, "T" | "t"),
    })
}

/// Whether a process has been told to end in a way that it cannot refuse, though it may still be there.
pub fn is_dying(pid: Pid) -> bool {
    const EXITING: u64 = 0x4;
    const KILL: u64 = 1 << (libc::SIGKILL - 1);
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
    let has = |at: usize, bit: u64| {
        fields.get(at).and_then(|field| field.parse().ok()).is_some_and(|all: u64| all & bit != 0)
    };
    // Flags of the kernel, and signals that are pending.
    has(6, EXITING) || has(28, KILL)
}

/// Whether what processes use can be sampled: a kernel may be built without the lists of children, and `/proc` not be there.
pub fn can_sample() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| Path::new("/proc/thread-self/children").exists())
}

fn system_value(name: libc::c_int, otherwise: u64) -> u64 {
    // SAFETY: a plain question to libc.
    u64::try_from(unsafe { libc::sysconf(name) }).ok().filter(|value| *value > 0).unwrap_or(otherwise)
}

/// What a process uses now; `None` when it is gone.
pub fn sample(pid: Pid) -> Option<Sample> {
    static UNITS: OnceLock<(u64, u64)> = OnceLock::new();
    let (tick_us, page) = *UNITS
        .get_or_init(|| (1_000_000 / system_value(libc::_SC_CLK_TCK, 100), system_value(libc::_SC_PAGESIZE, 4096)));
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let fields = after_name(&stat)?;
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let resident = number(21)? * page;
    Some(Sample {
        parent: Pid::from_raw(fields.get(1)?.parse().ok()?),
        usage: Usage {
            user_us: (number(11)? + number(13)?) * tick_us,
            system_us: (number(12)? + number(14)?) * tick_us,
            max_rss: resident,
        },
        // Page faults of children that it has waited for: no process is without any.
        waited: number(8)? > 0,
        resident,
    })
}

/// Memory of a process, bytes, where what n processes share counts an nth; `None` when that is not to be known, as of
/// another user's process.
pub fn memory(pid: Pid) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let share = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(share.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

/// Whether two processes use one and the same memory, as a parent and a child do between vfork and exec; `None` when the
/// kernel does not tell, as where a sandbox forbids to ask.
pub fn share_memory(one: Pid, other: Pid) -> Option<bool> {
    const KCMP_VM: libc::c_int = 1;
    // SAFETY: a plain system call.
    let order = unsafe { libc::syscall(libc::SYS_kcmp, one.as_raw(), other.as_raw(), KCMP_VM, 0_u64, 0_u64) };
    match order {
        0 => Some(true),
        1.. => Some(false),
        _ => (io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)).then_some(false),
    }
}

/// Signals a process, unless the pid has another owner than `expected` by now.
pub fn signal_checked(pid: Pid, expected: Identity, signal: nix::sys::signal::Signal) {
    let is_expected = || identity(pid).is_some_and(|now| now.started == expected.started);
    let fd = match open_pid(pid) {
        Ok(fd) => fd,
        Err(error) => {
            // A kernel before 5.3, or a filter that refuses it: the check is all there is.
            if error.raw_os_error() != Some(libc::ESRCH) && is_expected() {
                super::signal(pid, signal);
            }
            return;
        }
    };
    // From here on the pidfd names one process; the start time says whether it is the one we mean.
    if is_expected() {
        signal_open(&fd, signal);
    }
}

/// A descriptor that names the process which has this pid now, and never another one.
fn open_pid(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: a plain system call.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
    let fd = i32::try_from(fd).unwrap_or(-1);
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn signal_open(process: &OwnedFd, signal: nix::sys::signal::Signal) {
    let none = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: a plain system call.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), signal as libc::c_int, none, 0) };
}

/// Every process whose environment holds this entry (`NAME=VALUE`).
pub fn processes_with(entry: &str) -> Vec<Pid> {
    let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
    all.flatten()
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
        })
        .map(Pid::from_raw)
        .collect()
}

/// The command line of a process, its arguments parted by spaces, or its name in brackets; `None` when it is gone.
pub fn command_line(pid: Pid) -> Option<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<_> =
        bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty()).map(String::from_utf8_lossy).collect();
    if words.is_empty() {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        return Some(format!("[{}]", name.trim_end()));
    }
    Some(words.join(" "))
}

/// A file without a name that holds these bytes, read from its beginning.
pub fn anonymous_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    let fd = nix::sys::memfd::memfd_create(c"agent-bash", nix::sys::memfd::MFdFlags::MFD_CLOEXEC)?;
    let mut file = fs::File::from(fd);
    file.write_all(bytes)?;
    Ok(file.into())
}

/// A path by which a child of this process can open a descriptor of it, as long as this process has it open.
pub fn script_path(fd: &impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/{}/fd/{}", nix::unistd::getpid(), fd.as_fd().as_raw_fd()))
}

/// How many descriptors this process has open.
pub fn open_descriptors() -> usize {
    fs::read_dir(Path::new("/proc/self/fd")).map_or(32, Iterator::count)
}

/// Tells one start of the machine from another.
pub fn boot_id() -> String {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim_end().to_owned())
        .clone()
}

/// Which of these processes have one of these pipes open.
pub fn holders(pids: &[Pid], pipes: &[BorrowedFd<'_>]) -> Vec<Pid> {
    let names: Vec<_> =
        pipes.iter().filter_map(|pipe| fs::read_link(format!("/proc/self/fd/{}", pipe.as_raw_fd())).ok()).collect();
    let holds = |pid: &Pid| {
        let Ok(fds) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        fds.flatten().any(|fd| fs::read_link(fd.path()).is_ok_and(|target| names.contains(&target)))
    };
    pids.iter().copied().filter(holds).collect()
}

/// A path to a file in an open folder that is short enough for the address of a socket, whatever the folder's own.
pub fn short_path(folder: &fs::File, path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name)
}
