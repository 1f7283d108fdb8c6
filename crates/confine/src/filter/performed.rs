//! The calls that the listener performs where no mounts bound the changes and reads of a command.
//!
//! Whatever opens, changes or names a file is asked about, by its path and by its descriptor alike: a descriptor that
//! was opened for reading is enough to change modes, owners, times and attributes. Reading and writing need a
//! descriptor that the listener has opened, so they are free.

use super::calls::{ABSENT, ASK, Entry, LEASE, NONE, Question, ioctl, socket};
use super::rule::{Action, Case, Rule, Test};
use Action::{Allow, Ask, Refuse};
use Test::{Always, Bits, Is, Null};

/// `EPERM`
const EPERM: u16 = 1;
/// `EINVAL`
const EINVAL: u16 = 22;
/// `EOPNOTSUPP`
const EOPNOTSUPP: u16 = 95;
/// The first number behind the newest call of this table, which is `file_setattr` of Linux 6.17. What such a call does
/// is not known.
pub const UNKNOWN: u32 = 470;

const IOCTL: [Case; 16] = ioctl(Refuse(EPERM));

/// `F_SETOWN` and `F_SETOWN_EX`, by which the kernel sends signals.
const FCNTL: Rule = &[LEASE, Case(&[Is(1, 8)], Refuse(EPERM)), Case(&[Is(1, 15)], Refuse(EPERM))];

/// `PR_SET_DUMPABLE`: the call returns success and does nothing, because the listener reads its callers' memory.
/// `PR_SCHED_CORE`, which takes a pid, is unknown.
const PRCTL: Rule = &[Case(&[Is(0, 4)], Refuse(0)), Case(&[Is(0, 62)], Refuse(EINVAL))];

/// Sockets of TCP are the listener's matter.
const SOCKET: [Case; 13] = socket(Ask);
/// `MSG_FASTOPEN`, with which a send connects.
const FASTOPEN: u32 = 0x2000_0000;

/// All processes are refused.
const KILL: Rule = &[Case(&[Is(0, u32::MAX)], Refuse(EPERM)), Case(&[Always], Ask)];
/// A call whose first argument is a pid, and 0 the caller.
const OF_PID: Rule = &[Case(&[Is(0, 0)], Allow), Case(&[Always], Ask)];
/// Limits of another process can be read, if at all. `0` is the caller.
const LIMITS: Rule = &[Case(&[Is(0, 0)], Allow), Case(&[Null(2)], Ask), Case(&[Always], Refuse(EPERM))];
/// A call about a process (`which` is `first`), a group of processes, or a user. 0 is the caller, or its group.
const fn priority<const PROCESS: u32, const GROUP: u32>() -> Rule {
    const {
        &[
            Case(&[Is(0, PROCESS), Is(1, 0)], Allow),
            Case(&[Is(0, GROUP), Is(1, 0)], Allow),
            Case(&[Is(0, PROCESS)], Ask),
            Case(&[Always], Refuse(EPERM)),
        ]
    }
}
/// The memory of another process.
const PAGES: Rule = &[Case(&[Is(0, 0)], Allow), Case(&[Always], Refuse(EPERM))];

const fn entry(name: &'static str, x86: u32, arm: u32, question: Question) -> Entry {
    Entry { name, x86, arm, question, rule: &[] }
}

/// Calls that are decided here alone.
pub const MORE: &[Entry] = &[
    entry("prctl", 157, 167, Question::Denied),
    entry("inotify_add_watch", 254, 27, Question::Watch),
    // Acts of the listener would not obey a domain that a program makes for itself.
    entry("landlock_create_ruleset", 444, 444, Question::Denied),
    entry("landlock_add_rule", 445, 445, Question::Denied),
    // System V IPC and message queues have names of the whole machine.
    entry("shmget", 29, 194, Question::Denied),
    entry("shmat", 30, 196, Question::Denied),
    entry("shmctl", 31, 195, Question::Denied),
    entry("semget", 64, 190, Question::Denied),
    entry("semop", 65, 193, Question::Denied),
    entry("semtimedop", 220, 192, Question::Denied),
    entry("semctl", 66, 191, Question::Denied),
    entry("msgget", 68, 186, Question::Denied),
    entry("msgsnd", 69, 189, Question::Denied),
    entry("msgrcv", 70, 188, Question::Denied),
    entry("msgctl", 71, 187, Question::Denied),
    entry("mq_open", 240, 180, Question::Denied),
    entry("mq_unlink", 241, 181, Question::Denied),
    entry("uselib", 134, NONE, Question::Denied),
    entry("listen", 50, 201, Question::Listen),
    entry("getsockname", 51, 204, Question::Name),
    entry("getpeername", 52, 205, Question::Name),
    entry("setsockopt", 54, 208, Question::Denied),
    entry("sendmsg", 46, 211, Question::Denied),
    entry("sendmmsg", 307, 269, Question::Denied),
    entry("tkill", 200, 130, Question::Process),
    entry("tgkill", 234, 131, Question::Process),
    entry("rt_sigqueueinfo", 129, 138, Question::Process),
    entry("rt_tgsigqueueinfo", 297, 240, Question::Process),
    entry("pidfd_send_signal", 424, 424, Question::Process),
    entry("setpriority", 141, 140, Question::Process),
    entry("ioprio_set", 251, 30, Question::Process),
    entry("sched_setparam", 142, 118, Question::Process),
    entry("sched_setscheduler", 144, 119, Question::Process),
    entry("sched_setaffinity", 203, 122, Question::Process),
    entry("sched_setattr", 314, 274, Question::Process),
    entry("getpriority", 140, 141, Question::Process),
    entry("ioprio_get", 252, 31, Question::Process),
    entry("getpgid", 121, 155, Question::Process),
    entry("getsid", 124, 156, Question::Process),
    entry("sched_getparam", 143, 121, Question::Process),
    entry("sched_getscheduler", 145, 120, Question::Process),
    entry("sched_getaffinity", 204, 123, Question::Process),
    entry("sched_getattr", 315, 275, Question::Process),
    entry("sched_rr_get_interval", 148, 127, Question::Process),
    entry("get_robust_list", 274, 100, Question::Process),
    entry("migrate_pages", 256, 238, Question::Denied),
    entry("move_pages", 279, 239, Question::Denied),
];

/// Returns the decisions about a call, if they differ from those of a command with mounts of its own.
pub fn rule(name: &str) -> Option<Rule> {
    Some(match name {
        "ioctl" => &IOCTL,
        "fcntl" => FCNTL,
        "prctl" => PRCTL,
        "socket" => &SOCKET,
        "sendto" => &[Case(&[Bits(3, FASTOPEN)], Refuse(EOPNOTSUPP)), Case(&[Null(4)], Allow), Case(&[Always], Ask)],
        "sendmsg" => &[Case(&[Bits(2, FASTOPEN)], Refuse(EOPNOTSUPP))],
        "sendmmsg" => &[Case(&[Bits(3, FASTOPEN)], Refuse(EOPNOTSUPP))],
        // IP_OPTIONS, among which is the way of packets.
        "setsockopt" => &[Case(&[Is(1, 0), Is(2, 4)], Refuse(EPERM))],
        "listen" | "getsockname" | "getpeername" => ASK,
        "kill" => KILL,
        "setpriority" | "getpriority" => priority::<0, 1>(),
        "ioprio_set" | "ioprio_get" => priority::<1, 2>(),
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
