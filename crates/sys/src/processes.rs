//! Starting, waiting and signalling.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::{ChildConfinement, ChildRestriction, ListenedFilter, Signal};

/// A program to start. Everything is prepared, so that the child only makes system calls.
pub struct ProgramLaunch {
    /// The program's path.
    pub program: CString,
    /// The arguments, with the program's name first.
    pub argv: Vec<CString>,
    /// The environment: `NAME=VALUE`, each terminated by a NUL.
    pub env: Vec<u8>,
    /// The directory in which the program starts.
    pub cwd: CString,
    /// The file mode creation mask.
    pub umask: u32,
    /// Standard input, output and error. Each is at least 3, or the child's own number.
    pub stdio: [RawFd; 3],
    /// Whether the standard streams are a terminal that becomes the child's controlling terminal.
    pub terminal: bool,
    /// Limits on its resources.
    pub limits: LaunchLimits,
    /// The directory of the cgroup that the child starts in, if it differs from this process's cgroup.
    pub group: Option<RawFd>,
    /// Descriptors of this process that the child inherits, each with its number in the child.
    pub inherits: Vec<(RawFd, RawFd)>,
    /// The bounds of the child, or a filter that reports its calls.
    pub bounds: ChildRestriction,
}

/// Limits on the resources of a program, if they are below the inherited ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct LaunchLimits {
    /// Open files.
    pub open_files: Option<u64>,
    /// Size of a file that it writes, in bytes.
    pub file_bytes: Option<u64>,
    /// Size of a core dump, in bytes. The kernel writes core dumps without a call of the program.
    pub core_bytes: Option<u64>,
}

/// The step of a launch that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum LaunchStep {
    /// No process could be created.
    Fork = 1,
    /// The directory could not be entered.
    Chdir = 2,
    /// The program could not be executed.
    Exec = 3,
    /// The descriptors could not be put in place.
    Stdio = 4,
    /// A limit could not be set.
    Limits = 5,
    /// The files of a task could not be created.
    Files = 6,
    /// The cgroup could not be entered. The shim then starts the program without one.
    Group = 7,
    /// The world of the child could not be entered, or its privileges could not be given up.
    Confine = 8,
    /// New paths in the world of the child could not be protected.
    Protect = 9,
    /// The filter of system calls could not be installed.
    Filter = 10,
    /// The changes of the command could not be recorded, and they have to be.
    Record = 11,
}

/// The reason why a launch failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchError {
    /// The step that failed.
    pub step: LaunchStep,
    /// The system's error number.
    pub errno: i32,
}

/// Null-terminated vectors of C strings for exec. They borrow from the strings of a [`ProgramLaunch`].
pub(super) struct ExecVectors {
    pub argv: Vec<*const libc::c_char>,
    pub env: Vec<*const libc::c_char>,
}

impl ExecVectors {
    pub fn of(launch: &ProgramLaunch) -> Self {
        let end = std::iter::once(std::ptr::null());
        let argv = launch.argv.iter().map(|argument| argument.as_ptr()).chain(end.clone()).collect();
        // Pointers into the block itself: one copy per variable would cost more than the rest of this function.
        let env =
            launch.env.split_inclusive(|byte| *byte == 0).filter(|entry| entry.ends_with(&[0]) && entry.len() > 1);
        Self { argv, env: env.map(|entry| entry.as_ptr().cast()).chain(end).collect() }
    }
}

/// Runs the child between fork and exec, with system calls only. Returns only if a step fails.
///
/// # Safety
/// The caller is a fresh child whose parent keeps `launch` and `vectors` alive and unchanged.
pub(super) unsafe fn become_program(launch: &ProgramLaunch, vectors: &ExecVectors, oom_score: &CStr) -> LaunchError {
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
    for signal in super::IGNORED {
        // SAFETY: sets a default disposition.
        unsafe { libc::signal(signal as libc::c_int, libc::SIG_DFL) };
    }
    // SAFETY: a plain system call.
    unsafe { libc::setsid() };
    // SAFETY: a plain system call.
    unsafe { libc::umask(launch.umask as libc::mode_t) };
    for (number, fd) in (0..).zip(launch.stdio) {
        if fd == number {
            continue;
        }
        // SAFETY: a plain system call.
        if unsafe { libc::dup2(fd, number) } < 0 {
            return LaunchError { step: LaunchStep::Stdio, errno: errno() };
        }
    }
    if launch.terminal && !super::take_control() {
        return LaunchError { step: LaunchStep::Stdio, errno: errno() };
    }
    super::raise_oom_score(oom_score);
    if let ChildRestriction::Confined(confined) = &launch.bounds
        && let Err(errno) = enter(confined)
    {
        return LaunchError { step: LaunchStep::Confine, errno };
    }
    if launch.inherits.is_empty() && matches!(launch.bounds, ChildRestriction::None) {
        super::close_from_three();
    } else if let Err(errno) = inherit(&launch.inherits) {
        return LaunchError { step: LaunchStep::Stdio, errno };
    }
    // SAFETY: the path is a valid C string.
    if unsafe { libc::chdir(launch.cwd.as_ptr()) } < 0 {
        return LaunchError { step: LaunchStep::Chdir, errno: errno() };
    }
    if let Err(errno) = filter(launch) {
        return LaunchError { step: LaunchStep::Filter, errno };
    }
    // Last: the filter needs a descriptor, and its number may be above the limit.
    let limits = [
        (Resource::RLIMIT_NOFILE, launch.limits.open_files),
        (Resource::RLIMIT_FSIZE, launch.limits.file_bytes),
        (Resource::RLIMIT_CORE, launch.limits.core_bytes),
    ];
    for (resource, most) in limits {
        if let Some(most) = most
            && let Err(errno) = tighten(resource, most)
        {
            return LaunchError { step: LaunchStep::Limits, errno: errno as i32 };
        }
    }
    // SAFETY: path and null-terminated vectors are valid, see above.
    unsafe { libc::execve(launch.program.as_ptr(), vectors.argv.as_ptr(), vectors.env.as_ptr()) };
    LaunchError { step: LaunchStep::Exec, errno: errno() }
}

/// Installs the filter of a child, if it has one. System calls only.
fn filter(launch: &ProgramLaunch) -> Result<(), i32> {
    match &launch.bounds {
        ChildRestriction::None => Ok(()),
        ChildRestriction::Confined(confined) => confined.filter.as_ref().map_or(Ok(()), |filter| {
            let listener = confined.listener.as_ref().map(|(socket, message)| (*socket, &**message));
            super::install_filter(filter, listener)
        }),
        ChildRestriction::Filtered(ListenedFilter { filter, listener: (socket, message) }) => {
            super::set_no_new_privileges()?;
            super::install_filter(filter, Some((*socket, message)))
        }
    }
}

/// Enters the namespaces of a world and gives up all privileges. System calls only, but on macOS, where a launch forks.
fn enter(confined: &ChildConfinement) -> Result<(), i32> {
    if let Some(profile) = &confined.profile {
        return super::apply_profile(profile);
    }
    if let Some(entrance) = &confined.entrance {
        super::enter_world(entrance)?;
    }
    super::give_up_privileges(confined.landlock)
}

/// Most descriptors that a child inherits beside the standard ones.
pub const MOST_INHERITED: usize = 16;
/// Numbers above those that children inherit: the first that the limit of descriptors allows.
const ABOVE_INHERITED: [RawFd; 2] = [512, 100];

/// Returns another descriptor with a number above those that children inherit.
pub fn above_inherited(fd: &impl AsFd) -> io::Result<OwnedFd> {
    let number = duplicate_above(fd.as_fd().as_raw_fd()).map_err(io::Error::from_raw_os_error)?;
    // SAFETY: the kernel has just created it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Duplicates a descriptor to a number above those that children inherit. System calls only.
fn duplicate_above(fd: RawFd) -> Result<RawFd, i32> {
    for number in ABOVE_INHERITED {
        // SAFETY: a plain system call.
        let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, number) };
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0);
        match copy {
            0.. => return Ok(copy),
            // The limit is below the number.
            _ if errno == libc::EINVAL => {}
            _ => return Err(errno),
        }
    }
    Err(libc::EMFILE)
}

/// Puts descriptors at their numbers. All others above the standard ones are closed on exec. System calls only.
fn inherit(descriptors: &[(RawFd, RawFd)]) -> Result<(), i32> {
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
    let mut sources = [-1; MOST_INHERITED];
    // First out of the way of one another's numbers.
    for (source, (from, _)) in sources.iter_mut().zip(descriptors) {
        *source = duplicate_above(*from)?;
    }
    super::close_on_exec_from_three();
    for (source, (_, to)) in sources.iter().zip(descriptors) {
        // SAFETY: a plain system call.
        if unsafe { libc::dup2(*source, *to) } < 0 {
            return Err(errno());
        }
    }
    Ok(())
}

/// What children of this process inherit, and any process of its user can change: niceness and limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InheritedLimits {
    niceness: libc::c_int,
    limits: [Option<(u64, u64)>; LIMITS.len()],
}

/// The number of limits that a process inherits.
const LIMIT_COUNT: usize = if cfg!(target_os = "linux") { 9 } else { 7 };

/// The limits that a process inherits.
const LIMITS: [Resource; LIMIT_COUNT] = [
    Resource::RLIMIT_AS,
    Resource::RLIMIT_CORE,
    Resource::RLIMIT_CPU,
    Resource::RLIMIT_DATA,
    Resource::RLIMIT_FSIZE,
    #[cfg(target_os = "linux")]
    Resource::RLIMIT_MEMLOCK,
    Resource::RLIMIT_NOFILE,
    #[cfg(target_os = "linux")]
    Resource::RLIMIT_NPROC,
    Resource::RLIMIT_STACK,
];

impl InheritedLimits {
    /// Returns that of now. Takes ten system calls.
    pub fn now() -> Self {
        // SAFETY: a plain system call. It cannot fail for this process.
        let niceness = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        #[expect(clippy::useless_conversion, reason = "of another type on other platforms")]
        let limits = LIMITS.map(|resource| getrlimit(resource).ok().map(|(soft, hard)| (soft.into(), hard.into())));
        Self { niceness, limits }
    }
}

/// Lowers both limits of this process to at most `most`. A lower limit stays. System calls only.
fn tighten(resource: Resource, most: u64) -> nix::Result<()> {
    let (soft, hard) = getrlimit(resource)?;
    let most = most as libc::rlim_t;
    setrlimit(resource, soft.min(most), hard.min(most))
}

/// Resources used by a child that has exited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceUsage {
    /// CPU time in user mode, µs.
    pub user_us: u64,
    /// CPU time in the kernel, µs.
    pub system_us: u64,
    /// The largest resident size, bytes.
    pub max_rss: u64,
}

impl ResourceUsage {
    /// Adds another process: times add up, and the larger size counts.
    pub fn add(&mut self, other: Self) {
        self.user_us += other.user_us;
        self.system_us += other.system_us;
        self.max_rss = self.max_rss.max(other.max_rss);
    }

    /// Takes times that were counted for the whole tree, unless processes have left where they are counted.
    pub fn take_times_of(&mut self, whole: Option<Self>) {
        if let Some(Self { user_us, system_us, .. }) = whole
            && user_us + system_us > self.user_us + self.system_us
        {
            (self.user_us, self.system_us) = (user_us, system_us);
        }
    }
}

/// The exit of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChildExit {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// A change of a child's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReapOutcome {
    /// The child has exited and was reaped.
    Ended(Pid, ChildExit, ResourceUsage),
    /// The child was stopped and still exists.
    Stopped(Pid),
    /// No change since the last call.
    Nothing,
    /// This process has no children.
    NoChildren,
}

/// Returns the next change of any child, without blocking.
pub fn reap(with_stopped: bool) -> ReapOutcome {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let options = libc::WNOHANG | if with_stopped { libc::WUNTRACED } else { 0 };
    // SAFETY: both variables have room for the kernel's answer.
    let pid = unsafe { libc::wait4(-1, &mut status, options, usage.as_mut_ptr()) };
    if pid < 0 {
        return match nix::errno::Errno::last() {
            nix::errno::Errno::EINTR => reap(with_stopped),
            _ => ReapOutcome::NoChildren,
        };
    }
    if pid == 0 {
        return ReapOutcome::Nothing;
    }
    // SAFETY: zeroed before and filled in by the kernel.
    let usage = unsafe { usage.assume_init() };
    let pid = Pid::from_raw(pid);
    if libc::WIFSTOPPED(status) {
        return ReapOutcome::Stopped(pid);
    }
    let end = if libc::WIFSIGNALED(status) {
        ChildExit::Signal(libc::WTERMSIG(status))
    } else {
        ChildExit::Code(libc::WEXITSTATUS(status))
    };
    ReapOutcome::Ended(
        pid,
        end,
        ResourceUsage {
            user_us: micros(usage.ru_utime),
            system_us: micros(usage.ru_stime),
            max_rss: u64::try_from(usage.ru_maxrss).unwrap_or(0) * super::MAX_RSS_UNIT,
        },
    )
}

fn micros(time: libc::timeval) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0)
}

/// Signals every process of a group at once, so that no process can start another that escapes. A missing group is not
/// an error.
pub fn signal_group(group: Pid, signal: Signal) {
    // 0 and 1 do not name groups, and this process's own group is never signalled.
    if group.as_raw() > 1 && group != nix::unistd::getpgrp() {
        // SAFETY: a plain system call.
        let _ = unsafe { libc::killpg(group.as_raw(), signal.number()) };
    }
}

/// Signals a child of this process. A child that is gone is not an error.
pub fn signal(pid: Pid, signal: Signal) {
    // SAFETY: a plain system call.
    let _ = unsafe { libc::kill(pid.as_raw(), signal.number()) };
}

/// Returns a text that identifies this process on this machine, even among later processes with the same pid.
pub fn process_mark() -> &'static str {
    static MARK: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    MARK.get_or_init(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        format!("{}-{:x}", nix::unistd::getpid(), since.as_micros())
    })
}

/// Returns the home directory of this process's user from the user database, or `None` without an entry.
pub fn home() -> Option<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten()?;
    user.dir.into_os_string().into_string().ok()
}

/// Lowers the priority of this process and of those that it starts from now on.
pub fn lower_own_priority() {
    // Only a courtesy, so a failure is ignored.
    // SAFETY: a plain system call.
    let _ = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 5) };
}

/// Returns the CPU time that this process has used. Unlike elapsed time, it leaves out the time in which other
/// processes had the processor.
pub fn cpu_time_used() -> std::time::Duration {
    let used = nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID);
    used.map(std::time::Duration::from).unwrap_or_default()
}

/// Calls a function at the normal exit of this process, by `exit` or the end of `main`. Thread-local values of the
/// thread that exits are gone by then.
pub fn at_exit(work: extern "C" fn()) {
    // SAFETY: it is a function of this library, which is never unloaded while its threads run.
    unsafe { libc::atexit(work) };
}

/// Returns the time of a clock that all processes of the machine share, in ns.
pub fn monotonic_ns() -> u64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    now.map_or(0, |now| u64::try_from(std::time::Duration::from(now).as_nanos()).unwrap_or(0))
}
