//! Starts a program without a copy of the page table.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

use super::oom::oom_score;
use crate::processes::{ExecVectors, become_program};
use crate::{LaunchError, LaunchStep, ProgramLaunch};

/// Size of the stack of a child until it has executed its program.
const STACK: usize = 64 * 1024;

/// The facts that a child needs before it executes its program, in the memory that it shares with its parent.
struct ChildSharedState<'a> {
    launch: &'a ProgramLaunch,
    vectors: ExecVectors,
    oom_score: &'a CStr,
    /// The cgroup that the child enters by itself.
    enters: Option<RawFd>,
    error: Option<LaunchError>,
}

extern "C" fn child(shared: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the parent is suspended until exec or exit, and passed a pointer to its own `Shared`.
    let shared = unsafe { &mut *shared.cast::<ChildSharedState<'_>>() };
    let entered = shared.enters.map_or(Ok(()), enter_group);
    shared.error = Some(match entered {
        // SAFETY: this is the fresh child, and the parent keeps everything alive meanwhile.
        Ok(()) => unsafe { become_program(shared.launch, &shared.vectors, shared.oom_score) },
        Err(errno) => LaunchError { step: LaunchStep::Group, errno },
    });
    127
}

/// Starts a program in a session of its own, and in the cgroup of the launch if it names one.
///
/// clone with CLONE_VM | CLONE_VFORK copies no page table, and the child reports a failed step through the memory
/// that it shares until it has executed the program.
pub fn launch(launch: &ProgramLaunch) -> Result<Pid, LaunchError> {
    // Not initialised: zeroing would touch pages that the child never uses.
    let mut stack = Vec::<u128>::with_capacity(STACK / 16);
    let mut shared = ChildSharedState {
        launch,
        vectors: ExecVectors::of(launch),
        oom_score: oom_score(),
        enters: None,
        error: None,
    };
    let pid = match launch.group {
        None => plain_clone(&mut stack, &mut shared),
        Some(group) => match clone_into(group, &mut stack, child, (&raw mut shared).cast()) {
            // A filter of system calls may not know clone3.
            Err(libc::ENOSYS | libc::EPERM) => {
                shared.enters = Some(group);
                plain_clone(&mut stack, &mut shared)
            }
            // There is no room for one more process, here or in the cgroup.
            Err(errno @ (libc::EAGAIN | libc::ENOMEM)) => Err(errno),
            Err(errno) => return Err(LaunchError { step: LaunchStep::Group, errno }),
            created => created,
        },
    };
    let pid = pid.map_err(|errno| LaunchError { step: LaunchStep::Fork, errno })?;
    match shared.error {
        None => Ok(pid),
        Some(error) => {
            let _ = nix::sys::wait::waitpid(pid, None);
            Err(error)
        }
    }
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Creates a child, which shares all memory and suspends this thread until it has executed its program.
fn plain_clone(stack: &mut Vec<u128>, shared: &mut ChildSharedState<'_>) -> Result<Pid, i32> {
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the end of the allocation.
    let top = unsafe { stack.as_mut_ptr().add(STACK / 16) };
    // SAFETY: the stack outlives the child's use of our memory, because CLONE_VFORK suspends this thread until then.
    let pid = unsafe { libc::clone(child, top.cast(), flags, (&raw mut *shared).cast()) };
    if pid < 0 { Err(errno()) } else { Ok(Pid::from_raw(pid)) }
}

/// Returns whether a child that starts in a cgroup lives. Some kernels kill the child if its cgroup and its parent's
/// cgroup were killed a different number of times.
pub fn can_start_in(group: BorrowedFd<'_>) -> bool {
    extern "C" fn nothing(_: *mut libc::c_void) -> libc::c_int {
        0
    }
    let mut stack = Vec::<u128>::with_capacity(STACK / 16);
    let created = clone_into(group.as_raw_fd(), &mut stack, nothing, std::ptr::null_mut());
    match created {
        Ok(pid) => matches!(nix::sys::wait::waitpid(pid, None), Ok(WaitStatus::Exited(_, 0))),
        // Then a child enters it by itself.
        Err(errno) => matches!(errno, libc::ENOSYS | libc::EPERM),
    }
}

/// A function that a child runs on a stack of its own.
type ChildFunction = extern "C" fn(*mut libc::c_void) -> libc::c_int;

/// The same as [`plain_clone`] in a cgroup: no process of the program is ever outside of it.
fn clone_into(
    group: RawFd,
    stack: &mut Vec<u128>,
    entry: ChildFunction,
    shared: *mut libc::c_void,
) -> Result<Pid, i32> {
    // SAFETY: zeroes are valid for this structure of numbers.
    let mut args = unsafe { std::mem::zeroed::<libc::clone_args>() };
    args.flags = (libc::CLONE_VM | libc::CLONE_VFORK) as u64 | CLONE_INTO_CGROUP;
    args.exit_signal = libc::SIGCHLD as u64;
    args.stack = stack.as_mut_ptr() as u64;
    args.stack_size = STACK as u64;
    args.cgroup = group as u64;
    // SAFETY: the stack outlives the child's use of our memory, because CLONE_VFORK suspends this thread until then.
    let pid = unsafe { clone3(&args, entry, shared) };
    i32::try_from(pid).ok().filter(|pid| *pid > 0).map(Pid::from_raw).ok_or_else(|| i32::try_from(-pid).unwrap_or(0))
}

/// `CLONE_INTO_CGROUP`, which libc declares as a number that is too small for it.
const CLONE_INTO_CGROUP: u64 = 1 << 33;

/// Calls clone3, and `entry` on the new stack in the child. Returns a negative errno if no child was created. The C
/// library has no function for that: a child that returned from one would overwrite the stack of its parent.
///
/// # Safety
/// `args` asks for CLONE_VM, CLONE_VFORK and a stack, and the stack and `shared` outlive the child's use of them.
#[cfg(target_arch = "x86_64")]
unsafe fn clone3(args: &libc::clone_args, entry: ChildFunction, shared: *mut libc::c_void) -> i64 {
    let result: i64;
    // SAFETY: only the child leaves the straight line. It runs on its own stack, and exits there.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r13",
            "mov edi, eax",
            "mov eax, {exit}",
            "syscall",
            "ud2",
            "2:",
            exit = const libc::SYS_exit,
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") std::ptr::from_ref(args),
            in("rsi") size_of::<libc::clone_args>(),
            in("r12") shared,
            in("r13") entry,
            out("rcx") _,
            out("r11") _,
        );
    }
    result
}

#[cfg(target_arch = "aarch64")]
unsafe fn clone3(args: &libc::clone_args, entry: ChildFunction, shared: *mut libc::c_void) -> i64 {
    let result: i64;
    // SAFETY: only the child leaves the straight line. It runs on its own stack, and exits there.
    unsafe {
        std::arch::asm!(
            "svc #0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x20",
            "blr x21",
            "mov x8, #{exit}",
            "svc #0",
            "brk #1",
            "2:",
            exit = const libc::SYS_exit,
            inlateout("x0") std::ptr::from_ref(args) => result,
            in("x1") size_of::<libc::clone_args>(),
            in("x8") libc::SYS_clone3,
            in("x20") shared,
            in("x21") entry,
        );
    }
    result
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn clone3(_: &libc::clone_args, _: ChildFunction, _: *mut libc::c_void) -> i64 {
    -i64::from(libc::ENOSYS)
}

/// Moves this process into a cgroup, with system calls only.
fn enter_group(group: RawFd) -> Result<(), i32> {
    let flags = libc::O_WRONLY | libc::O_CLOEXEC;
    // SAFETY: a constant C string, and a directory that the parent keeps open.
    let file = unsafe { libc::openat(group, c"cgroup.procs".as_ptr(), flags) };
    if file < 0 {
        return Err(errno());
    }
    // SAFETY: one byte of a constant. 0 is the process that writes.
    let written = unsafe { libc::write(file, c"0".as_ptr().cast(), 1) };
    let failed = if written == 1 { Ok(()) } else { Err(errno()) };
    // SAFETY: our own descriptor.
    unsafe { libc::close(file) };
    failed
}
