//! Forking, waiting and signalling.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::RawFd;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// What [`fork`] returns.
pub enum Fork {
    /// In the parent: the child's pid.
    Parent(Pid),
    /// In the child.
    Child,
}

/// Forks this single-threaded process.
pub fn fork() -> io::Result<Fork> {
    // SAFETY: only the supervisor calls this, and it has one thread: no lock can be held by another one.
    match unsafe { nix::unistd::fork() }? {
        nix::unistd::ForkResult::Parent { child } => Ok(Fork::Parent(child)),
        nix::unistd::ForkResult::Child => Ok(Fork::Child),
    }
}

/// Ends the process at once, without running anything that was registered for its exit.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: ends the process, nothing after it can be unsound.
    unsafe { libc::_exit(code) }
}

/// A program to start, everything prepared so that the child only makes system calls.
pub struct Launch {
    /// The program's path.
    pub program: CString,
    /// Its arguments, the name first.
    pub argv: Vec<CString>,
    /// Its environment: `NAME=VALUE`, each ended by a NUL.
    pub env: Vec<u8>,
    /// The folder it starts in.
    pub cwd: CString,
    /// Its file mode creation mask.
    pub umask: u32,
    /// Its standard input, output and error; each at least 3, or the child's own number.
    pub stdio: [RawFd; 3],
    /// They are a terminal, which is to control it.
    pub terminal: bool,
    /// The most files that it may have open, if less than it may have anyway.
    pub open_files: Option<u64>,
    /// The most bytes that a file may have that it writes, likewise.
    pub file_bytes: Option<u64>,
}

/// The step of a launch that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum LaunchStep {
    /// No process could be made.
    Fork = 1,
    /// The folder could not be entered.
    Chdir = 2,
    /// The program could not be executed.
    Exec = 3,
    /// The descriptors could not be put in place.
    Stdio = 4,
    /// A limit could not be set.
    Limits = 5,
    /// The files of a task could not be made.
    Files = 6,
}

/// Why a launch failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchError {
    /// The step that failed.
    pub step: LaunchStep,
    /// What the system said.
    pub errno: i32,
}

/// Null-terminated vectors of C strings, as exec wants them; they borrow from what they were made of.
pub(super) struct ExecVectors {
    pub argv: Vec<*const libc::c_char>,
    pub env: Vec<*const libc::c_char>,
}

impl ExecVectors {
    pub fn of(launch: &Launch) -> Self {
        let end = std::iter::once(std::ptr::null());
        let argv = launch.argv.iter().map(|argument| argument.as_ptr()).chain(end.clone()).collect();
        // Pointers into the block itself: a copy a variable would cost more than all else that is done here.
        let env =
            launch.env.split_inclusive(|byte| *byte == 0).filter(|entry| entry.ends_with(&[0]) && entry.len() > 1);
        Self { argv, env: env.map(|entry| entry.as_ptr().cast()).chain(end).collect() }
    }
}

/// What the child does between fork and exec, system calls only. Returns only when a step failed.
///
/// # Safety
/// To be called in a fresh child whose parent keeps `launch` and `vectors` alive and unchanged.
pub(super) unsafe fn become_program(launch: &Launch, vectors: &ExecVectors, oom_score: &CStr) -> LaunchError {
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
    super::close_from_three();
    super::raise_oom_score(oom_score);
    // SAFETY: the path is a valid C string.
    if unsafe { libc::chdir(launch.cwd.as_ptr()) } < 0 {
        return LaunchError { step: LaunchStep::Chdir, errno: errno() };
    }
    for (resource, most) in [(Resource::RLIMIT_NOFILE, launch.open_files), (Resource::RLIMIT_FSIZE, launch.file_bytes)]
    {
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

/// Lowers both limits of this process to at most `most`; one that is lower stays. System calls only.
fn tighten(resource: Resource, most: u64) -> nix::Result<()> {
    let (soft, hard) = getrlimit(resource)?;
    let most = most as libc::rlim_t;
    setrlimit(resource, soft.min(most), hard.min(most))
}

/// Resources that an ended child used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode, µs.
    pub user_us: u64,
    /// CPU time in the kernel, µs.
    pub system_us: u64,
    /// The largest resident size, bytes.
    pub max_rss: u64,
}

impl Usage {
    /// Counts another process in: times add up, the largest size stays.
    pub fn add(&mut self, other: Self) {
        self.user_us += other.user_us;
        self.system_us += other.system_us;
        self.max_rss = self.max_rss.max(other.max_rss);
    }
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// News of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaped {
    /// It has ended and is gone now.
    Ended(Pid, End, Usage),
    /// It was stopped and still exists.
    Stopped(Pid),
    /// Nothing happened since the last call.
    Nothing,
    /// This process has no children.
    NoChildren,
}

/// Takes the next piece of news of any child, without waiting.
pub fn reap(with_stopped: bool) -> Reaped {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let options = libc::WNOHANG | if with_stopped { libc::WUNTRACED } else { 0 };
    // SAFETY: both places have room for what the kernel writes.
    let pid = unsafe { libc::wait4(-1, &mut status, options, usage.as_mut_ptr()) };
    if pid < 0 {
        return match nix::errno::Errno::last() {
            nix::errno::Errno::EINTR => reap(with_stopped),
            _ => Reaped::NoChildren,
        };
    }
    if pid == 0 {
        return Reaped::Nothing;
    }
    // SAFETY: zeroed before and filled in by the kernel.
    let usage = unsafe { usage.assume_init() };
    let pid = Pid::from_raw(pid);
    if libc::WIFSTOPPED(status) {
        return Reaped::Stopped(pid);
    }
    let end = if libc::WIFSIGNALED(status) {
        End::Signal(libc::WTERMSIG(status))
    } else {
        End::Code(libc::WEXITSTATUS(status))
    };
    Reaped::Ended(
        pid,
        end,
        Usage {
            user_us: micros(usage.ru_utime),
            system_us: micros(usage.ru_stime),
            max_rss: u64::try_from(usage.ru_maxrss).unwrap_or(0) * super::MAX_RSS_UNIT,
        },
    )
}

fn micros(time: libc::timeval) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0)
}

/// Signals every process of a group at once: none of them can start another one that escapes. One that is gone already
/// is no error.
pub fn signal_group(group: Pid, signal: Signal) {
    // 0 and 1 mean other things than groups, and nothing of ours shares this process's own.
    if group.as_raw() > 1 && group != nix::unistd::getpgrp() {
        let _ = nix::sys::signal::killpg(group, signal);
    }
}

/// Signals a process that is known to be ours. One that is gone already is no error.
pub fn signal(pid: Pid, signal: Signal) {
    let _ = nix::sys::signal::kill(pid, signal);
}

/// Tells this process from others on this machine, later ones with the same pid included.
pub fn process_mark() -> &'static str {
    static MARK: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    MARK.get_or_init(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        format!("{}-{:x}", nix::unistd::getpid(), since.as_micros())
    })
}

/// The home of the user that this process runs as, by the user database; `None` where it does not say.
pub fn home() -> Option<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten()?;
    user.dir.into_os_string().into_string().ok()
}

/// Lets other processes of the machine go before this one and those that it starts from here on.
pub fn stand_back() {
    // A wish: without it everything works, only less politely.
    // SAFETY: a plain system call.
    let _ = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 5) };
}

/// A clock that all processes of the machine share, ns.
pub fn monotonic_ns() -> u64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    now.map_or(0, |now| u64::try_from(std::time::Duration::from(now).as_nanos()).unwrap_or(0))
}
