//! Calls that reach another process: signals, changes of how it is scheduled, and reads of that, of its limits and of
//! its groups.
//!
//! The kernel gets a call only if it reaches the caller's own process alone. This process sends all other signals, to
//! a process that it has opened and then found in the world. The receivers see the pid of this process as the sender.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::signal::killpg;
use nix::unistd::{Pid, getpgid, read};

use super::super::pending_syscall::PendingSyscall;
use super::super::proc_links::c_string;
use super::super::syscall_reply::SyscallReply;
use confine_policy::DenialKind;
use confine_world::{ProcessRoster, filter::SyscallEntry};
use sys::{LinkResolution, PidfdProcess, SIGNAL_INFO};

/// The most times that a group is looked for new members, since they may start others meanwhile.
const ROUNDS: usize = 8;
/// `SI_TKILL`
const TO_THREAD: i32 = -6;

/// The `siginfo_t` of a signal.
type SignalInfo = [u8; SIGNAL_INFO];

/// Performs a call that names a process.
pub(super) fn reach_process(asked: &mut PendingSyscall<'_>, entry: &SyscallEntry) -> Result<SyscallReply, Errno> {
    let own = asked.caller()?.pid;
    let (first, second) = (asked.int(0), asked.int(1));
    match entry.name {
        "kill" if first == 0 => to_group(asked, getpgid(Some(Pid::from_raw(own)))?, second),
        "kill" if first < 0 => to_group(asked, Pid::from_raw(first.checked_neg().ok_or(Errno::ESRCH)?), second),
        "kill" | "tgkill" | "rt_sigqueueinfo" | "rt_tgsigqueueinfo" if first == own => Ok(SyscallReply::CONTINUE),
        "tkill" if first == asked.call.thread => Ok(SyscallReply::CONTINUE),
        "tkill" if is_thread(own, first) => sys::signal_thread(own, first, second).map(|()| SyscallReply::DONE),
        "kill" => to_process(asked, first, second, None),
        "rt_sigqueueinfo" => {
            let info = copy_signal_info(asked, 2, second)?;
            to_process(asked, first, second, Some(&info))
        }
        "pidfd_send_signal" => to_open(asked, first, second),
        "getpriority" | "ioprio_get" => looked_at(asked, own, second),
        "getpgid" | "getsid" | "get_robust_list" | "prlimit64" => looked_at(asked, own, first),
        name if name.starts_with("sched_get") || name == "sched_rr_get_interval" => looked_at(asked, own, first),
        "setpriority" | "ioprio_set" if is_thread(own, second) => Ok(SyscallReply::CONTINUE),
        "setpriority" | "ioprio_set" => Err(record_unreachable(asked, second)),
        // A thread of another process.
        "tkill" | "tgkill" | "rt_tgsigqueueinfo" => Err(record_unreachable(asked, first)),
        _ if is_thread(own, first) => Ok(SyscallReply::CONTINUE),
        _ => Err(record_unreachable(asked, first)),
    }
}

/// Returns whether a process has this thread.
fn is_thread(process: i32, thread: i32) -> bool {
    Path::new(&format!("/proc/{process}/task/{thread}")).exists()
}

/// Lets a call read facts of a process of the world. Any other process does not exist, as with namespaces.
fn looked_at(asked: &mut PendingSyscall<'_>, own: i32, pid: i32) -> Result<SyscallReply, Errno> {
    let is_known = is_thread(own, pid) || roster(asked)?.has(Pid::from_raw(pid));
    if is_known { Ok(SyscallReply::CONTINUE) } else { Err(Errno::ESRCH) }
}

/// Records that a process cannot be reached, and returns the error.
fn record_unreachable(asked: &mut PendingSyscall<'_>, process: i32) -> Errno {
    if sys::identity(Pid::from_raw(process)).is_none() {
        return Errno::ESRCH;
    }
    let program = asked.program();
    asked.record.denials.add(DenialKind::Process, &process.to_string(), &program, None);
    Errno::EPERM
}

fn roster<'a>(asked: &'a PendingSyscall<'_>) -> Result<&'a ProcessRoster, Errno> {
    Ok(asked.world_bounds()?.held_world().roster())
}

/// Sends a signal to a process of the world.
fn to_process(
    asked: &mut PendingSyscall<'_>,
    pid: i32,
    signal: i32,
    info: Option<&SignalInfo>,
) -> Result<SyscallReply, Errno> {
    let process = PidfdProcess::open(pid).map_err(|_| Errno::ESRCH)?;
    asked.check_caller()?;
    if !roster(asked)?.has(Pid::from_raw(pid)) {
        return Err(record_unreachable(asked, pid));
    }
    process.send_signal(signal, info).map(|()| SyscallReply::DONE)
}

/// Sends a signal to all processes of the world that are in a group.
fn to_group(asked: &mut PendingSyscall<'_>, group: Pid, signal: i32) -> Result<SyscallReply, Errno> {
    asked.check_caller()?;
    let (mut reached, mut answer) = (HashSet::new(), None);
    for _ in 0..ROUNDS {
        let before = reached.len();
        for pid in roster(asked)?.all() {
            let Ok(process) = PidfdProcess::open(pid.as_raw()) else { continue };
            if getpgid(Some(pid)) == Ok(group) && roster(asked)?.has(pid) && reached.insert(pid) {
                let sent = process.send_signal(signal, None);
                answer = if answer == Some(Ok(())) { answer } else { Some(sent) };
            }
        }
        if reached.len() == before {
            break;
        }
    }
    match answer {
        Some(answer) => answer.map(|()| SyscallReply::DONE),
        None if killpg(group, None) == Err(Errno::ESRCH) => Err(Errno::ESRCH),
        None => Err(record_unreachable(asked, group.as_raw())),
    }
}

/// `pidfd_send_signal`
fn to_open(asked: &mut PendingSyscall<'_>, descriptor: i32, signal: i32) -> Result<SyscallReply, Errno> {
    if asked.unsigned(3) != 0 {
        return Err(Errno::EINVAL);
    }
    let info = if asked.call.args[2] == 0 { None } else { Some(copy_signal_info(asked, 2, signal)?) };
    let pid = process_of(asked, descriptor)?;
    to_process(asked, pid, signal, info.as_ref())
}

/// Returns the process that a descriptor of the caller refers to.
fn process_of(asked: &mut PendingSyscall<'_>, descriptor: i32) -> Result<i32, Errno> {
    let path = c_string(format!("fdinfo/{descriptor}"))?;
    let directory = asked.caller()?.directory.as_fd();
    let facts =
        sys::open_path(directory, &path, OFlag::O_RDONLY.bits(), 0, LinkResolution::Texts).map_err(|_| Errno::EBADF)?;
    let mut buffer = [0; 1024];
    let length = read(&facts, &mut buffer)?;
    let facts = String::from_utf8_lossy(&buffer[..length]);
    let pid = facts.lines().find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok());
    pid.ok_or(Errno::EBADF).and_then(|pid| if pid > 0 { Ok(pid) } else { Err(Errno::ESRCH) })
}

/// Copies the `siginfo_t` of a signal. The kernel forbids one that claims to come from the kernel or from `kill`.
fn copy_signal_info(asked: &mut PendingSyscall<'_>, at: usize, signal: i32) -> Result<SignalInfo, Errno> {
    let bytes = asked.copy_bytes(at, SIGNAL_INFO)?;
    let mut info: SignalInfo = bytes.try_into().map_err(|_| Errno::EFAULT)?;
    info[..size_of::<i32>()].copy_from_slice(&signal.to_ne_bytes());
    let code = i32::from_ne_bytes([info[8], info[9], info[10], info[11]]);
    if code >= 0 || code == TO_THREAD { Err(Errno::EPERM) } else { Ok(info) }
}
