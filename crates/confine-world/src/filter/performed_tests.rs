use super::super::assemble::{self, AUDIT_ARM, AUDIT_X86};
use super::super::interpreter::{FilterReturn, run};
use super::super::{SyscallFilterMode, calls, program, table};
use FilterReturn::{Allow, Errno, Notify};
use sys::SyscallArchitecture;

const ALL: u64 = u32::MAX as u64;
const CWD: u64 = -100_i32 as u32 as u64;

/// A call, its arguments, and what happens with it.
const TABLE: &[(&str, [u64; 6], FilterReturn)] = &[
    ("openat", [CWD, 1, 0, 0, 0, 0], Notify),
    ("openat", [5, 1, 0o101, 0o644, 0, 0], Notify),
    ("openat", [CWD, 1, 0o4002, 0, 0, 0], Notify),
    ("openat", [CWD, 1, 0o10_000_000, 0, 0, 0], Notify),
    ("open", [1, 0, 0, 0, 0, 0], Notify),
    ("open", [1, 0o10_000_000, 0, 0, 0, 0], Notify),
    ("openat2", [CWD, 1, 2, 24, 0, 0], Errno(38)),
    ("unlinkat", [7, 1, 0, 0, 0, 0], Notify),
    ("renameat2", [7, 1, 7, 2, 0, 0], Notify),
    ("fchmod", [3, 0o755, 0, 0, 0, 0], Notify),
    ("fchmod", [3, 0o4755, 0, 0, 0, 0], Errno(1)),
    ("fchmodat", [9, 1, 0o755, 0, 0, 0], Notify),
    ("fchmodat2", [9, 1, 0o4755, 0, 0, 0], Errno(1)),
    ("fchown", [9, 1, 1, 0, 0, 0], Notify),
    ("fchownat", [9, 1, 1, 0, 0, 0], Notify),
    ("futimesat", [9, 1, 1, 0, 0, 0], Notify),
    ("utimensat", [4, 0, 0, 0, 0, 0], Notify),
    ("fsetxattr", [4, 1, 1, 1, 0, 0], Notify),
    ("fremovexattr", [4, 1, 0, 0, 0, 0], Notify),
    ("setxattrat", [4, 1, 0, 0, 0, 0], Errno(38)),
    ("removexattrat", [4, 1, 0, 0, 0, 0], Errno(38)),
    ("file_setattr", [4, 1, 0, 0, 0, 0], Errno(38)),
    ("inotify_add_watch", [4, 1, 0, 0, 0, 0], Notify),
    ("ioctl", [0, 0x5401, 0, 0, 0, 0], Allow),
    ("ioctl", [0, 0x5412, 1, 0, 0, 0], Notify),
    ("ioctl", [0, 0x4008_6602, 1, 0, 0, 0], Errno(1)),
    ("ioctl", [0, 0x401c_5820, 1, 0, 0, 0], Errno(1)),
    ("ioctl", [0, 0x4080_6685, 1, 0, 0, 0], Errno(1)),
    ("ioctl", [0, 0x4004_9409, 1, 0, 0, 0], Allow),
    ("ioctl", [0, 0x5000_940e, 1, 0, 0, 0], Errno(1)),
    ("fcntl", [0, 1, 0, 0, 0, 0], Allow),
    ("fcntl", [0, 1024, 1, 0, 0, 0], Errno(13)),
    ("fcntl", [0, 8, 1, 0, 0, 0], Errno(1)),
    ("fcntl", [0, 15, 1, 0, 0, 0], Errno(1)),
    ("prctl", [15, 1, 0, 0, 0, 0], Allow),
    ("prctl", [62, 1, 7, 0, 0, 0], Errno(22)),
    ("prctl", [4, 0, 0, 0, 0, 0], Errno(0)),
    ("landlock_create_ruleset", [0; 6], Errno(38)),
    ("landlock_restrict_self", [0; 6], Errno(38)),
    ("shmget", [0; 6], Errno(38)),
    ("mq_open", [0; 6], Errno(38)),
    ("ioctl", [0, 0x8901, 1, 0, 0, 0], Errno(1)),
    ("ioctl", [0, 0x8902, 1, 0, 0, 0], Errno(1)),
    ("socket", [2, 1, 6, 0, 0, 0], Notify),
    ("socket", [10, 0x80801, 0, 0, 0, 0], Notify),
    ("socket", [2, 2, 0, 0, 0, 0], Notify),
    ("socket", [2, 1, 132, 0, 0, 0], Errno(93)),
    ("socket", [1, 1, 0, 0, 0, 0], Allow),
    ("socket", [1, 0o2_000_005, 0, 0, 0, 0], Allow),
    ("socket", [1, 0o2_000_002, 0, 0, 0, 0], Notify),
    ("socket", [40, 1, 0, 0, 0, 0], Notify),
    ("listen", [3, 9, 0, 0, 0, 0], Notify),
    ("getsockname", [3, 1, 1, 0, 0, 0], Notify),
    ("getpeername", [3, 1, 1, 0, 0, 0], Notify),
    ("setsockopt", [3, 0, 4, 1, 9, 0], Errno(1)),
    ("setsockopt", [3, 6, 4, 1, 9, 0], Allow),
    ("sendto", [3, 1, 1, 0, 0, 0], Allow),
    ("sendto", [3, 1, 1, 0x2000_0000, 1, 16], Errno(95)),
    ("sendmsg", [3, 1, 0x4000, 0, 0, 0], Allow),
    ("sendmsg", [3, 1, 0x2000_0000, 0, 0, 0], Errno(95)),
    ("sendmmsg", [3, 1, 1, 0x2000_0000, 0, 0], Errno(95)),
    ("kill", [7, 15, 0, 0, 0, 0], Notify),
    ("kill", [0, 15, 0, 0, 0, 0], Notify),
    ("kill", [ALL, 15, 0, 0, 0, 0], Errno(1)),
    ("tkill", [7, 15, 0, 0, 0, 0], Notify),
    ("tgkill", [7, 7, 15, 0, 0, 0], Notify),
    ("rt_sigqueueinfo", [7, 15, 1, 0, 0, 0], Notify),
    ("rt_tgsigqueueinfo", [7, 7, 15, 1, 0, 0], Notify),
    ("pidfd_send_signal", [3, 15, 0, 0, 0, 0], Notify),
    ("setpriority", [0, 0, 5, 0, 0, 0], Allow),
    ("setpriority", [1, 0, 5, 0, 0, 0], Allow),
    ("setpriority", [0, 7, 5, 0, 0, 0], Notify),
    ("setpriority", [1, 7, 5, 0, 0, 0], Errno(1)),
    ("setpriority", [2, 0, 5, 0, 0, 0], Errno(1)),
    ("ioprio_set", [1, 0, 5, 0, 0, 0], Allow),
    ("ioprio_set", [1, 7, 5, 0, 0, 0], Notify),
    ("ioprio_set", [3, 0, 5, 0, 0, 0], Errno(1)),
    ("sched_setaffinity", [0, 8, 1, 0, 0, 0], Allow),
    ("sched_setaffinity", [7, 8, 1, 0, 0, 0], Notify),
    ("sched_setscheduler", [7, 5, 1, 0, 0, 0], Notify),
    ("sched_setparam", [7, 1, 0, 0, 0, 0], Notify),
    ("sched_setattr", [7, 1, 0, 0, 0, 0], Notify),
    ("move_pages", [0, 1, 1, 0, 0, 0], Allow),
    ("move_pages", [7, 1, 1, 0, 0, 0], Errno(1)),
    ("migrate_pages", [7, 1, 1, 1, 0, 0], Errno(1)),
    ("prlimit64", [7, 1, 1, 0, 0, 0], Errno(1)),
    ("prlimit64", [7, 1, 0, 1, 0, 0], Notify),
    ("prlimit64", [0, 1, 1, 1, 0, 0], Allow),
    ("getsid", [0; 6], Allow),
    ("getsid", [7, 0, 0, 0, 0, 0], Notify),
    ("getpgid", [7, 0, 0, 0, 0, 0], Notify),
    ("sched_getaffinity", [7, 8, 1, 0, 0, 0], Notify),
    ("get_robust_list", [7, 1, 1, 0, 0, 0], Notify),
    ("getpriority", [0, 7, 0, 0, 0, 0], Notify),
    ("getpriority", [2, 7, 0, 0, 0, 0], Errno(1)),
    ("ioprio_get", [1, 7, 0, 0, 0, 0], Notify),
    ("mount", [0; 6], Notify),
    ("clone3", [0; 6], Errno(38)),
];

#[test]
fn whatever_opens_changes_or_names_a_file_is_asked_about() {
    for (machine, audit) in [(SyscallArchitecture::X86, AUDIT_X86), (SyscallArchitecture::Arm, AUDIT_ARM)] {
        for variant in [SyscallFilterMode::Performed, SyscallFilterMode::PerformedAndRecorded] {
            let filter = program(machine, variant);
            for (name, args, end) in TABLE {
                let entry = table::all().find(|entry| entry.name == *name).expect(name);
                let number = assemble::syscall_number(entry, machine);
                if number != calls::NONE {
                    assert_eq!(run(&filter.program, audit, number, *args), *end, "{name} {args:x?} {variant:?}");
                }
            }
            // A call that no table knows.
            assert_eq!(run(&filter.program, audit, super::UNKNOWN, [0; 6]), Errno(38));
            assert_eq!(run(&filter.program, audit, super::UNKNOWN - 2, [0; 6]), Allow);
        }
    }
}
