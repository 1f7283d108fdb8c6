//! The calls that the listener performs where no mounts bound the changes and reads of a command.
//!
//! Whatever opens, changes or names a file is asked about, by its path and by its descriptor alike: a descriptor that
//! was opened for reading is enough to change modes, owners, times and attributes. Reading and writing need a
//! descriptor that the listener has opened, so they are free.

use super::calls::{ABSENT, ASK, LEASE, NONE, SyscallEntry, SyscallHandling, ioctl_rule, socket_rule};
use super::syscall_rule::{RegisterTest, SyscallAction, SyscallCase, SyscallRule};
use RegisterTest::{Always, Bits, Is, Null};
use SyscallAction::{Allow, Ask, Refuse};

/// `EPERM`
const EPERM: u16 = 1;
/// `EINVAL`
const EINVAL: u16 = 22;
/// `EOPNOTSUPP`
const EOPNOTSUPP: u16 = 95;
/// The first number behind the newest call of this table, which is `file_setattr` of Linux 6.17. What such a call does
/// is not known.
pub const UNKNOWN: u32 = 470;

const IOCTL: [SyscallCase; 16] = ioctl_rule(Refuse(EPERM));

/// `F_SETOWN` and `F_SETOWN_EX`, by which the kernel sends signals.
const FCNTL: SyscallRule = &[LEASE, SyscallCase(&[Is(1, 8)], Refuse(EPERM)), SyscallCase(&[Is(1, 15)], Refuse(EPERM))];

/// `PR_SET_DUMPABLE`: the call returns success and does nothing, because the listener reads its callers' memory.
/// `PR_SCHED_CORE`, which takes a pid, is unknown.
const PRCTL: SyscallRule = &[SyscallCase(&[Is(0, 4)], Refuse(0)), SyscallCase(&[Is(0, 62)], Refuse(EINVAL))];

/// Sockets of TCP are the listener's matter.
const SOCKET: [SyscallCase; 13] = socket_rule(Ask);
/// `MSG_FASTOPEN`, with which a send connects.
const FASTOPEN: u32 = 0x2000_0000;

/// All processes are refused.
const KILL: SyscallRule = &[SyscallCase(&[Is(0, u32::MAX)], Refuse(EPERM)), SyscallCase(&[Always], Ask)];
/// A call whose first argument is a pid, and 0 the caller.
const OF_PID: SyscallRule = &[SyscallCase(&[Is(0, 0)], Allow), SyscallCase(&[Always], Ask)];
/// Limits of another process can be read, if at all. `0` is the caller.
const LIMITS: SyscallRule =
    &[SyscallCase(&[Is(0, 0)], Allow), SyscallCase(&[Null(2)], Ask), SyscallCase(&[Always], Refuse(EPERM))];
/// A call about a process (`which` is `first`), a group of processes, or a user. 0 is the caller, or its group.
const fn priority_rule<const PROCESS: u32, const GROUP: u32>() -> SyscallRule {
    const {
        &[
            SyscallCase(&[Is(0, PROCESS), Is(1, 0)], Allow),
            SyscallCase(&[Is(0, GROUP), Is(1, 0)], Allow),
            SyscallCase(&[Is(0, PROCESS)], Ask),
            SyscallCase(&[Always], Refuse(EPERM)),
        ]
    }
}
/// The memory of another process.
const PAGES: SyscallRule = &[SyscallCase(&[Is(0, 0)], Allow), SyscallCase(&[Always], Refuse(EPERM))];

const fn entry(name: &'static str, x86: u32, arm: u32, question: SyscallHandling) -> SyscallEntry {
    SyscallEntry { name, x86, arm, handling: question, rule: &[] }
}

/// Calls that are decided here alone.
pub const MORE: &[SyscallEntry] = &[
    entry("prctl", 157, 167, SyscallHandling::Denied),
    entry("inotify_add_watch", 254, 27, SyscallHandling::Watch),
    // Acts of the listener would not obey a domain that a program makes for itself.
    entry("landlock_create_ruleset", 444, 444, SyscallHandling::Denied),
    entry("landlock_add_rule", 445, 445, SyscallHandling::Denied),
    // System V IPC and message queues have names of the whole machine.
    entry("shmget", 29, 194, SyscallHandling::Denied),
    entry("shmat", 30, 196, SyscallHandling::Denied),
    entry("shmctl", 31, 195, SyscallHandling::Denied),
    entry("semget", 64, 190, SyscallHandling::Denied),
    entry("semop", 65, 193, SyscallHandling::Denied),
    entry("semtimedop", 220, 192, SyscallHandling::Denied),
    entry("semctl", 66, 191, SyscallHandling::Denied),
    entry("msgget", 68, 186, SyscallHandling::Denied),
    entry("msgsnd", 69, 189, SyscallHandling::Denied),
    entry("msgrcv", 70, 188, SyscallHandling::Denied),
    entry("msgctl", 71, 187, SyscallHandling::Denied),
    entry("mq_open", 240, 180, SyscallHandling::Denied),
    entry("mq_unlink", 241, 181, SyscallHandling::Denied),
    entry("uselib", 134, NONE, SyscallHandling::Denied),
    entry("listen", 50, 201, SyscallHandling::Listen),
    entry("getsockname", 51, 204, SyscallHandling::Name),
    entry("getpeername", 52, 205, SyscallHandling::Name),
    entry("setsockopt", 54, 208, SyscallHandling::Denied),
    entry("sendmsg", 46, 211, SyscallHandling::Denied),
    entry("sendmmsg", 307, 269, SyscallHandling::Denied),
    entry("tkill", 200, 130, SyscallHandling::Process),
    entry("tgkill", 234, 131, SyscallHandling::Process),
    entry("rt_sigqueueinfo", 129, 138, SyscallHandling::Process),
    entry("rt_tgsigqueueinfo", 297, 240, SyscallHandling::Process),
    entry("pidfd_send_signal", 424, 424, SyscallHandling::Process),
    entry("setpriority", 141, 140, SyscallHandling::Process),
    entry("ioprio_set", 251, 30, SyscallHandling::Process),
    entry("sched_setparam", 142, 118, SyscallHandling::Process),
    entry("sched_setscheduler", 144, 119, SyscallHandling::Process),
    entry("sched_setaffinity", 203, 122, SyscallHandling::Process),
    entry("sched_setattr", 314, 274, SyscallHandling::Process),
    entry("getpriority", 140, 141, SyscallHandling::Process),
    entry("ioprio_get", 252, 31, SyscallHandling::Process),
    entry("getpgid", 121, 155, SyscallHandling::Process),
    entry("getsid", 124, 156, SyscallHandling::Process),
    entry("sched_getparam", 143, 121, SyscallHandling::Process),
    entry("sched_getscheduler", 145, 120, SyscallHandling::Process),
    entry("sched_getaffinity", 204, 123, SyscallHandling::Process),
    entry("sched_getattr", 315, 275, SyscallHandling::Process),
    entry("sched_rr_get_interval", 148, 127, SyscallHandling::Process),
    entry("get_robust_list", 274, 100, SyscallHandling::Process),
    entry("migrate_pages", 256, 238, SyscallHandling::Denied),
    entry("move_pages", 279, 239, SyscallHandling::Denied),
];

/// Returns the decisions about a call, if they differ from those of a command with mounts of its own.
pub fn performed_rule(name: &str) -> Option<SyscallRule> {
    Some(match name {
        "ioctl" => &IOCTL,
        "fcntl" => FCNTL,
        "prctl" => PRCTL,
        "socket" => &SOCKET,
        "sendto" => &[
            SyscallCase(&[Bits(3, FASTOPEN)], Refuse(EOPNOTSUPP)),
            SyscallCase(&[Null(4)], Allow),
            SyscallCase(&[Always], Ask),
        ],
        "sendmsg" => &[SyscallCase(&[Bits(2, FASTOPEN)], Refuse(EOPNOTSUPP))],
        "sendmmsg" => &[SyscallCase(&[Bits(3, FASTOPEN)], Refuse(EOPNOTSUPP))],
        // IP_OPTIONS, among which is the way of packets.
        "setsockopt" => &[SyscallCase(&[Is(1, 0), Is(2, 4)], Refuse(EPERM))],
        "listen" | "getsockname" | "getpeername" => ASK,
        "kill" => KILL,
        "setpriority" | "getpriority" => priority_rule::<0, 1>(),
        "ioprio_set" | "ioprio_get" => priority_rule::<1, 2>(),
        "sched_setparam" | "sched_setscheduler" | "sched_setaffinity" | "sched_setattr" => OF_PID,
        "sched_getparam"
        | "sched_getscheduler"
        | "sched_getaffinity"
        | "sched_getattr"
        | "sched_rr_get_interval"
        | "getpgid"
        | "getsid"
        | "get_robust_list" => OF_PID,
        "prlimit64" => LIMITS,
        "migrate_pages" | "move_pages" => PAGES,
        "open" | "openat" | "tkill" | "tgkill" | "rt_sigqueueinfo" | "rt_tgsigqueueinfo" | "pidfd_send_signal"
        | "unlinkat" | "inotify_add_watch" => ASK,
        "landlock_restrict_self" => ABSENT,
        name if MORE.iter().any(|entry| entry.name == name) => ABSENT,
        _ => return None,
    })
}

#[cfg(test)]
#[path = "performed_tests.rs"]
mod tests;
