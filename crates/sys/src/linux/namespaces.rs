//! Namespaces: processes that start in new namespaces, and the way into the namespaces of another process.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::realtime::{raise_priority, restore_priority};
use crate::{ForkOutcome, NamespaceKind, WorldEntrance};

/// For the kernel: every process of the pid namespace but process 1 and the caller.
const EVERY_PROCESS: Pid = Pid::from_raw(-1);
/// Whether this process has joined the pid namespace of a world, in which all processes are ours.
static IN_WORLD: AtomicBool = AtomicBool::new(false);

/// Version 3 of the structures of capset.
const CAPABILITY_VERSION: u32 = 0x2008_0522;
/// More capabilities than any kernel has. The kernel refuses a number beyond its last one.
const CAPABILITIES: libc::c_int = 64;

/// Forks this single-threaded process into new namespaces of every kind, and also of the network if `network`. The
/// child is process 1 of its pid namespace. Its user and group ids have no meaning until they are mapped.
pub fn fork_world(network: bool) -> io::Result<ForkOutcome> {
    let spaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | if network { libc::CLONE_NEWNET } else { 0 };
    raw_fork(spaces)
}

/// Forks this single-threaded process with flags of clone.
fn raw_fork(flags: libc::c_int) -> io::Result<ForkOutcome> {
    let flags = (flags | libc::SIGCHLD) as libc::c_ulong;
    // SAFETY: without a stack and CLONE_VM this is a fork, and no other thread of this process can hold a lock.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) };
    match i32::try_from(pid).unwrap_or(-1) {
        0 => Ok(ForkOutcome::Child),
        pid if pid > 0 => Ok(ForkOutcome::Parent(Pid::from_raw(pid))),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Forks this single-threaded process into a user and a pid namespace. The child is a child of this process, stays in
/// all other namespaces, has all capabilities of the user namespace, and is ahead of others if this process may be. The
/// parent gets its pid as the parent sees it.
pub fn fork_into(user: BorrowedFd<'_>, processes: BorrowedFd<'_>) -> io::Result<ForkOutcome> {
    let (read, write) = crate::pipe()?;
    let between = match crate::fork()? {
        ForkOutcome::Parent(between) => between,
        ForkOutcome::Child => {
            drop(read);
            raise_priority();
            let forked = setns(user, CloneFlags::CLONE_NEWUSER)
                .and_then(|()| setns(processes, CloneFlags::CLONE_NEWPID))
                .map_err(io::Error::from)
                .and_then(|()| raw_fork(libc::CLONE_PARENT));
            let report = match forked {
                Ok(ForkOutcome::Child) => {
                    IN_WORLD.store(true, Ordering::Relaxed);
                    return Ok(ForkOutcome::Child);
                }
                Ok(ForkOutcome::Parent(pid)) => pid.as_raw(),
                Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
            };
            let _ = nix::unistd::write(&write, &report.to_ne_bytes());
            crate::exit_now(0)
        }
    };
    drop(write);
    let mut report = [0; 4];
    let read = nix::unistd::read(&read, &mut report);
    let _ = nix::sys::wait::waitpid(between, None);
    match (read, i32::from_ne_bytes(report)) {
        (Ok(4), pid) if pid > 0 => Ok(ForkOutcome::Parent(Pid::from_raw(pid))),
        (Ok(4), errno) => Err(io::Error::from_raw_os_error(-errno)),
        _ => Err(io::Error::from_raw_os_error(libc::EIO)),
    }
}

/// Stops all processes of a world except its process 1 and this process, until the value is dropped. The kernel stops
/// them at once, so that no process starts another meanwhile. A process that was stopped before is continued, too.
#[derive(Debug)]
pub struct WorldPause(());

impl WorldPause {
    /// Stops the processes. `None`: this process has not joined a world.
    pub fn begin() -> Option<Self> {
        if !IN_WORLD.load(Ordering::Relaxed) {
            return None;
        }
        kill(EVERY_PROCESS, Signal::SIGSTOP).ok().map(|()| Self(()))
    }
}

impl Drop for WorldPause {
    fn drop(&mut self) {
        // Without any other process there is none to continue.
        let _ = kill(EVERY_PROCESS, Signal::SIGCONT);
    }
}

/// Opens a namespace of this process.
pub fn own_namespace(kind: NamespaceKind) -> io::Result<OwnedFd> {
    let name = match kind {
        NamespaceKind::User => "user",
        NamespaceKind::Mounts => "mnt",
        NamespaceKind::Network => "net",
        NamespaceKind::Processes => "pid",
        NamespaceKind::Ipc => "ipc",
        NamespaceKind::Names => "uts",
    };
    Ok(File::open(format!("/proc/self/ns/{name}"))?.into())
}

/// Puts this process into a new network namespace.
pub fn new_network() -> io::Result<()> {
    Ok(unshare(CloneFlags::CLONE_NEWNET)?)
}

/// Names this process, as `ps` shows it.
pub fn name_process(name: &CStr) -> io::Result<()> {
    Ok(nix::sys::prctl::set_name(name)?)
}

/// Lets no process without capabilities trace this one, or read its memory and descriptors.
pub fn refuse_tracers() -> io::Result<()> {
    Ok(nix::sys::prctl::set_dumpable(false)?)
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Joins the namespaces of a world. The working directory is its `/` then. Only system calls, for a child between clone
/// and exec.
///
/// # Errors
/// The error number of the call that failed. The child must not execute a program then.
pub fn enter_world(entrance: &WorldEntrance) -> Result<(), i32> {
    let spaces = [
        (entrance.network.unwrap_or(-1), libc::CLONE_NEWNET),
        (entrance.ipc, libc::CLONE_NEWIPC),
        (entrance.names, libc::CLONE_NEWUTS),
        (entrance.mounts, libc::CLONE_NEWNS),
    ];
    for (fd, kind) in spaces {
        // SAFETY: a plain system call.
        if fd >= 0 && unsafe { libc::setns(fd, kind) } < 0 {
            return Err(errno());
        }
    }
    restore_priority()?;
    take_own_null()
}

/// Replaces the host's `/dev/null` as a standard stream by the world's `/dev/null`, whose mount keeps its permissions.
/// Makes only system calls.
fn take_own_null() -> Result<(), i32> {
    const NULL: libc::dev_t = libc::makedev(1, 3);
    for number in 0..3 {
        let mut status = std::mem::MaybeUninit::<libc::stat>::zeroed();
        // SAFETY: the structure has room for the answer.
        if unsafe { libc::fstat(number, status.as_mut_ptr()) } < 0 {
            continue;
        }
        // SAFETY: every bit pattern is valid, and it was zeroed.
        let status = unsafe { status.assume_init() };
        if status.st_mode & libc::S_IFMT != libc::S_IFCHR || status.st_rdev != NULL {
            continue;
        }
        // SAFETY: the path is a C string.
        let own = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        // SAFETY: a plain system call. On failure the launch fails, because no command may have the host's descriptor.
        if own < 0 || unsafe { libc::dup2(own, number) } < 0 {
            return Err(errno());
        }
        if own > 2 {
            // SAFETY: it was opened here, and nothing else has it.
            unsafe { libc::close(own) };
        }
    }
    Ok(())
}

/// Gives up all capabilities for good and obeys the ruleset. Only system calls, for a child between clone and exec.
///
/// # Errors
/// As [`enter_world`].
pub fn give_up_privileges(landlock: Option<RawFd>) -> Result<(), i32> {
    match drop_bounding_capabilities() {
        // An ordinary user may not. No_new_privs then keeps programs from gaining a capability that this process lacks.
        Ok(()) | Err(libc::EPERM) => {}
        Err(errno) => return Err(errno),
    }
    // SAFETY: a plain system call.
    if unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) } < 0 {
        return Err(errno());
    }
    // A structure of a version and a pid, and two times three sets of 32 capabilities.
    let (header, sets) = ([CAPABILITY_VERSION, 0], [0_u32; 6]);
    // SAFETY: both have the layout of that version.
    if unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) } < 0 {
        return Err(errno());
    }
    // SAFETY: a plain system call.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } < 0 {
        return Err(errno());
    }
    if let Some(ruleset) = landlock {
        // SAFETY: a plain system call.
        if unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) } < 0 {
            return Err(errno());
        }
    }
    Ok(())
}

/// Lets no program that this process or a later child executes gain a capability. A process that has done so before
/// has no more to do for its children. Only system calls.
///
/// # Errors
/// The error number of the call that failed.
pub fn drop_bounding_capabilities() -> Result<(), i32> {
    for capability in 0..CAPABILITIES {
        // SAFETY: a plain system call.
        match unsafe { libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) } {
            0 => continue,
            1 => {}
            // Beyond the last one.
            _ => break,
        }
        // SAFETY: a plain system call.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) } < 0 {
            return Err(errno());
        }
    }
    Ok(())
}

/// Points the standard streams of this process to `/dev/null`, so that it keeps no pipe of its parent's open.
pub fn detach_output() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdin(&null)?;
    nix::unistd::dup2_stdout(&null)?;
    nix::unistd::dup2_stderr(&null)?;
    Ok(())
}
