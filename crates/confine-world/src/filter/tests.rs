use super::assemble::{AUDIT_ARM, AUDIT_X86};
use super::interpreter::{FilterReturn, run};
use super::{SyscallFilterMode, assemble, by_number, calls, is_known, program, recorded, table};
use FilterReturn::{Allow, Errno, Notify};
use sys::SyscallArchitecture;

const CWD: u64 = -100_i32 as u32 as u64;
/// How a program that passes an `int` may fill the upper half of the register.
const CWD_WIDE: u64 = -100_i64 as u64;

/// A call, its arguments, and what happens with a listener and without.
const TABLE: &[(&str, [u64; 6], FilterReturn, FilterReturn)] = &[
    ("openat", [CWD, 1, 0, 0, 0, 0], Allow, Allow),
    ("openat", [CWD, 1, 0o2_000_000, 0, 0, 0], Allow, Allow),
    ("openat", [CWD, 1, 0o101, 0o644, 0, 0], Notify, Allow),
    ("openat", [5, 1, 0o100, 0o644, 0, 0], Notify, Allow),
    ("openat", [CWD, 1, 1, 0, 0, 0], Notify, Allow),
    ("openat", [CWD, 1, 2, 0, 0, 0], Notify, Allow),
    ("openat", [CWD, 1, 0o1000, 0, 0, 0], Notify, Allow),
    ("openat", [CWD, 1, 0o4002, 0, 0, 0], Notify, Allow),
    ("openat", [CWD, 1, 0o5001, 0, 0, 0], Notify, Allow),
    ("openat", [CWD, 1, 0o4101, 0, 0, 0], Notify, Allow),
    ("openat", [CWD, 1, 0o10_000_100, 0, 0, 0], Allow, Allow),
    ("open", [1, 0o1101, 0o644, 0, 0, 0], Notify, Allow),
    ("open", [1, 0, 0, 0, 0, 0], Allow, Allow),
    ("creat", [1, 0o644, 0, 0, 0, 0], Notify, Allow),
    ("openat2", [CWD, 1, 2, 24, 0, 0], Errno(38), Errno(38)),
    ("mkdirat", [CWD, 1, 0o755, 0, 0, 0], Notify, Allow),
    ("mknodat", [CWD, 1, 0o010644, 0, 0, 0], Notify, Allow),
    ("mknodat", [CWD, 1, 0o104755, 0, 0, 0], Errno(1), Errno(1)),
    ("linkat", [CWD, 1, CWD, 2, 0, 0], Notify, Allow),
    ("symlinkat", [1, CWD, 2, 0, 0, 0], Notify, Allow),
    ("renameat2", [CWD, 1, CWD, 2, 0, 0], Notify, Allow),
    ("unlinkat", [CWD, 1, 0, 0, 0, 0], Notify, Allow),
    ("unlinkat", [CWD_WIDE, 1, 0, 0, 0, 0], Notify, Allow),
    ("unlinkat", [7, 1, 0, 0, 0, 0], Allow, Allow),
    ("fchmod", [3, 0o755, 0, 0, 0, 0], Notify, Allow),
    ("fchmod", [3, 0o4755, 0, 0, 0, 0], Errno(1), Errno(1)),
    ("fchmod", [3, 0o2755, 0, 0, 0, 0], Notify, Errno(1)),
    ("chmod", [3, 0o2755, 0, 0, 0, 0], Notify, Errno(1)),
    ("fchmodat", [9, 1, 0o2755, 0, 0, 0], Notify, Errno(1)),
    ("mknodat", [CWD, 1, 0o102755, 0, 0, 0], Errno(1), Errno(1)),
    ("fchmodat", [CWD, 1, 0o755, 0, 0, 0], Notify, Allow),
    ("fchmodat", [9, 1, 0o755, 0, 0, 0], Notify, Allow),
    ("fchown", [9, 1, 1, 0, 0, 0], Notify, Allow),
    ("fchownat", [9, 1, 1, 0, 0, 0], Notify, Allow),
    ("fsetxattr", [4, 1, 1, 1, 0, 0], Notify, Allow),
    ("fremovexattr", [4, 1, 0, 0, 0, 0], Notify, Allow),
    ("setxattrat", [4, 1, 0, 0, 0, 0], Errno(38), Errno(38)),
    ("file_setattr", [4, 1, 0, 0, 0, 0], Errno(38), Errno(38)),
    ("fchmodat", [9, 1, 0o4755, 0, 0, 0], Errno(1), Errno(1)),
    ("fchmodat2", [CWD, 1, 0o6755, 0, 0, 0], Errno(1), Errno(1)),
    ("utimensat", [CWD, 1, 0, 0, 0, 0], Notify, Allow),
    ("utimensat", [4, 0, 0, 0, 0, 0], Notify, Allow),
    ("connect", [3, 1, 16, 0, 0, 0], Notify, Allow),
    ("bind", [3, 1, 16, 0, 0, 0], Notify, Allow),
    ("sendto", [3, 1, 5, 0, 0, 0], Allow, Allow),
    ("sendto", [3, 1, 5, 0, 1, 16], Notify, Allow),
    ("sendto", [3, 1, 5, 0, 1 << 32, 16], Notify, Allow),
    ("socket", [1, 1, 0, 0, 0, 0], Allow, Allow),
    ("socket", [1, 0o2_000_005, 0, 0, 0, 0], Allow, Allow),
    ("socket", [1, 0o2_000_002, 0, 0, 0, 0], Notify, Errno(1)),
    ("socket", [1, 3, 0, 0, 0, 0], Notify, Errno(1)),
    ("socket", [2, 1, 0, 0, 0, 0], Allow, Allow),
    ("socket", [2, 2, 0, 0, 0, 0], Allow, Allow),
    ("socket", [10, 0o2_004_001, 6, 0, 0, 0], Allow, Allow),
    ("socket", [2, 1, 262, 0, 0, 0], Allow, Allow),
    ("socket", [10, 2, 58, 0, 0, 0], Allow, Allow),
    ("socket", [2, 5, 132, 0, 0, 0], Errno(93), Errno(93)),
    ("socket", [2, 1, 132, 0, 0, 0], Errno(93), Errno(93)),
    ("socket", [10, 6, 0, 0, 0, 0], Errno(93), Errno(93)),
    ("socket", [2, 2, 136, 0, 0, 0], Errno(93), Errno(93)),
    ("socket", [2, 0o2_000_001, 6, 0, 0, 0], Allow, Allow),
    ("socket", [2, 3, 1, 0, 0, 0], Allow, Allow),
    ("socket", [0, 1, 0, 0, 0, 0], Notify, Errno(1)),
    ("socket", [8, 1, 0, 0, 0, 0], Notify, Errno(1)),
    ("socket", [43, 1, 0, 0, 0, 0], Notify, Errno(1)),
    ("socket", [16, 3, 0, 0, 0, 0], Allow, Allow),
    ("socket", [16, 3, 15, 0, 0, 0], Errno(93), Errno(93)),
    ("socket", [40, 1, 0, 0, 0, 0], Notify, Errno(1)),
    ("socket", [17, 3, 0, 0, 0, 0], Notify, Errno(1)),
    ("socket", [38, 5, 0, 0, 0, 0], Notify, Errno(1)),
    ("socketpair", [1, 0o2_000_001, 0, 0, 0, 0], Allow, Allow),
    ("socketpair", [1, 2, 0, 0, 0, 0], Notify, Errno(1)),
    ("clone", [0x0100_0011, 0, 0, 0, 0, 0], Allow, Allow),
    ("clone", [0x003d_0f00, 0, 0, 0, 0, 0], Allow, Allow),
    ("clone", [0x4111, 0, 0, 0, 0, 0], Allow, Allow),
    ("clone", [0x411, 0, 0, 0, 0, 0], Errno(1), Errno(1)),
    ("clone", [0x1000_0011, 0, 0, 0, 0, 0], Notify, Errno(1)),
    ("clone", [0x0002_0011, 0, 0, 0, 0, 0], Notify, Errno(1)),
    ("clone", [0x4000_0011, 0, 0, 0, 0, 0], Notify, Errno(1)),
    ("clone3", [1, 88, 0, 0, 0, 0], Errno(38), Errno(38)),
    ("unshare", [0x200, 0, 0, 0, 0, 0], Allow, Allow),
    ("unshare", [0x80, 0, 0, 0, 0, 0], Notify, Errno(1)),
    ("unshare", [0x1000_0000, 0, 0, 0, 0, 0], Notify, Errno(1)),
    ("kill", [17, 15, 0, 0, 0, 0], Allow, Allow),
    ("kill", [-17_i32 as u32 as u64, 15, 0, 0, 0, 0], Allow, Allow),
    ("kill", [u32::MAX as u64, 9, 0, 0, 0, 0], Errno(1), Errno(1)),
    ("prlimit64", [0, 7, 1, 0, 0, 0], Allow, Allow),
    ("prlimit64", [17, 7, 0, 1, 0, 0], Allow, Allow),
    ("prlimit64", [17, 7, 1, 0, 0, 0], Errno(1), Errno(1)),
    ("kill", [u64::MAX, 9, 0, 0, 0, 0], Errno(1), Errno(1)),
    ("ioctl", [0, 0x5401, 0, 0, 0, 0], Allow, Allow),
    ("fcntl", [0, 3, 0, 0, 0, 0], Allow, Allow),
    ("fcntl", [0, 1024, 1, 0, 0, 0], Errno(13), Errno(13)),
    ("ioctl", [0, 0x5412, 1, 0, 0, 0], Notify, Errno(1)),
    ("ioctl", [0, 0xffff_ffff_0000_5412, 1, 0, 0, 0], Notify, Errno(1)),
    ("ioctl", [0, 0x541c, 1, 0, 0, 0], Notify, Errno(1)),
    ("ioctl", [0, 0x5423, 1, 0, 0, 0], Notify, Errno(1)),
    ("ioctl", [0, 0x4008_6602, 1, 0, 0, 0], Errno(1), Errno(1)),
    ("ioctl", [0, 0x8901, 1, 0, 0, 0], Allow, Allow),
    ("ioctl", [0, 0x4004_9409, 1, 0, 0, 0], Allow, Allow),
    ("seccomp", [1, 0, 1, 0, 0, 0], Allow, Allow),
    ("seccomp", [1, 8, 1, 0, 0, 0], Errno(16), Errno(16)),
    ("personality", [0, 0, 0, 0, 0, 0], Allow, Allow),
    ("personality", [8, 0, 0, 0, 0, 0], Allow, Allow),
    ("personality", [0x0004_0000, 0, 0, 0, 0, 0], Allow, Allow),
    ("personality", [0x0002_0008, 0, 0, 0, 0, 0], Allow, Allow),
    ("personality", [0xffff_ffff, 0, 0, 0, 0, 0], Allow, Allow),
    ("personality", [0x0040_0000, 0, 0, 0, 0, 0], Notify, Errno(1)),
    ("io_uring_setup", [8, 1, 0, 0, 0, 0], Errno(38), Errno(38)),
    ("mount", [0; 6], Notify, Errno(1)),
    ("ptrace", [0; 6], Notify, Errno(1)),
    ("bpf", [0; 6], Notify, Errno(1)),
    ("kcmp", [0; 6], Errno(1), Errno(1)),
];

/// A call, its arguments, and what happens to it if it is only recorded, and if it is confined as well.
const RECORDED: &[(&str, [u64; 6], FilterReturn, FilterReturn)] = &[
    ("openat", [CWD, 1, 0, 0, 0, 0], Allow, Allow),
    ("openat", [CWD, 1, 0o10_000_102, 0, 0, 0], Allow, Allow),
    ("openat", [CWD, 1, 0o101, 0o644, 0, 0], Notify, Notify),
    ("openat", [5, 1, 2, 0, 0, 0], Notify, Notify),
    ("openat", [5, 1, 0o1000, 0, 0, 0], Notify, Notify),
    ("openat", [CWD, 1, 0o4002, 0, 0, 0], Notify, Notify),
    ("openat", [CWD, 1, 0o4000, 0, 0, 0], Allow, Allow),
    ("open", [1, 0o1101, 0o644, 0, 0, 0], Notify, Notify),
    ("open", [1, 0o2_000_000, 0, 0, 0, 0], Allow, Allow),
    ("openat2", [CWD, 1, 2, 24, 0, 0], Notify, Errno(38)),
    ("unlinkat", [CWD, 1, 0, 0, 0, 0], Notify, Notify),
    ("unlinkat", [7, 1, 0, 0, 0, 0], Notify, Notify),
    ("fchmod", [3, 0o755, 0, 0, 0, 0], Notify, Notify),
    ("fchmod", [3, 0o4755, 0, 0, 0, 0], Notify, Errno(1)),
    ("chmod", [3, 0o4755, 0, 0, 0, 0], Notify, Errno(1)),
    ("fchmodat", [9, 1, 0o755, 0, 0, 0], Notify, Notify),
    ("fchown", [9, 1, 1, 0, 0, 0], Notify, Notify),
    ("fchownat", [9, 1, 1, 0, 0, 0], Notify, Notify),
    ("utimensat", [4, 0, 0, 0, 0, 0], Notify, Notify),
    ("fsetxattr", [4, 1, 1, 1, 0, 0], Notify, Notify),
    ("fremovexattr", [4, 1, 0, 0, 0, 0], Notify, Notify),
    ("mknodat", [CWD, 1, 0o104755, 0, 0, 0], Notify, Errno(1)),
    ("renameat2", [CWD, 1, CWD, 2, 2, 0], Notify, Notify),
    ("bind", [3, 1, 16, 0, 0, 0], Notify, Notify),
    ("connect", [3, 1, 16, 0, 0, 0], Allow, Notify),
    ("umask", [0o22, 0, 0, 0, 0, 0], Allow, Notify),
    ("socket", [2, 5, 132, 0, 0, 0], Allow, Errno(93)),
    ("mount", [0; 6], Allow, Notify),
    ("chroot", [0; 6], Notify, Notify),
    ("setns", [0; 6], Notify, Notify),
    ("unshare", [0x0002_0000, 0, 0, 0, 0, 0], Notify, Notify),
    ("unshare", [0x1000_0000, 0, 0, 0, 0, 0], Notify, Notify),
    ("unshare", [0x4000_0000, 0, 0, 0, 0, 0], Allow, Notify),
    ("clone3", [1, 88, 0, 0, 0, 0], Allow, Errno(38)),
    ("open_by_handle_at", [3, 1, 0, 0, 0, 0], Allow, Notify),
    ("open_by_handle_at", [3, 1, 2, 0, 0, 0], Notify, Notify),
    ("io_uring_setup", [8, 1, 0, 0, 0, 0], Errno(38), Errno(38)),
];

const MACHINES: [(SyscallArchitecture, u32); 2] =
    [(SyscallArchitecture::X86, AUDIT_X86), (SyscallArchitecture::Arm, AUDIT_ARM)];

#[test]
fn each_call_ends_as_the_table_says_on_both_machines() {
    for (machine, audit) in MACHINES {
        let (with, without) =
            (program(machine, SyscallFilterMode::Confined), program(machine, SyscallFilterMode::Silent));
        for (name, args, asked, alone) in TABLE {
            let entry = table::all().find(|entry| entry.name == *name).expect(name);
            let number = assemble::syscall_number(entry, machine);
            if number == calls::NONE {
                continue;
            }
            assert_eq!(run(&with.program, audit, number, *args), *asked, "{name} {args:x?}");
            assert_eq!(run(&without.program, audit, number, *args), *alone, "{name} {args:x?} without a listener");
        }
    }
}

#[test]
fn each_change_of_a_file_is_asked_about_if_it_is_recorded() {
    for (machine, audit) in MACHINES {
        let (only, both) =
            (program(machine, SyscallFilterMode::Recorded), program(machine, SyscallFilterMode::ConfinedAndRecorded));
        for (name, args, recorded, confined) in RECORDED {
            let entry = table::all().find(|entry| entry.name == *name).expect(name);
            let number = assemble::syscall_number(entry, machine);
            if number == calls::NONE {
                continue;
            }
            assert_eq!(run(&only.program, audit, number, *args), *recorded, "{name} {args:x?}");
            assert_eq!(run(&both.program, audit, number, *args), *confined, "{name} {args:x?} confined");
        }
    }
}

#[test]
fn a_record_loosens_no_confinement() {
    for (machine, audit) in MACHINES {
        let (confined, both) =
            (program(machine, SyscallFilterMode::Confined), program(machine, SyscallFilterMode::ConfinedAndRecorded));
        for (name, args, ..) in TABLE.iter().chain(RECORDED) {
            let entry = table::all().find(|entry| entry.name == *name).expect(name);
            let number = assemble::syscall_number(entry, machine);
            if number == calls::NONE {
                continue;
            }
            let (one, other) = (run(&confined.program, audit, number, *args), run(&both.program, audit, number, *args));
            assert!(one == other || (one, other) == (Allow, Notify), "{name} {args:x?}: {one:?} {other:?}");
        }
    }
}

#[test]
fn every_recorded_call_is_in_the_table() {
    for name in recorded::ALWAYS {
        assert!(table::all().any(|entry| entry.name == *name), "{name}");
    }
}

#[test]
fn other_calls_are_allowed() {
    for (machine, audit) in MACHINES {
        let known = by_number(machine);
        let filter = program(machine, SyscallFilterMode::ConfinedAndRecorded);
        for number in (0..600).filter(|number| known.get(*number as usize).is_none_or(Option::is_none)) {
            assert_eq!(run(&filter.program, audit, number, [u64::MAX; 6]), Allow, "{number}");
        }
    }
}

#[test]
fn other_machines_and_x32_are_refused_or_recorded() {
    const I386: u32 = 0x4000_0003;
    for (machine, audit) in MACHINES {
        for (variant, end) in [
            (SyscallFilterMode::Silent, Errno(1)),
            (SyscallFilterMode::Confined, Errno(1)),
            (SyscallFilterMode::ConfinedAndRecorded, Errno(1)),
            (SyscallFilterMode::Recorded, Notify),
        ] {
            let filter = program(machine, variant);
            for number in [0, 1, 2, 5, 11, 39, 257] {
                assert_eq!(run(&filter.program, I386, number, [0; 6]), end);
                assert_eq!(run(&filter.program, audit, number | 0x4000_0000, [0; 6]), end);
                assert!(is_known(machine, audit, number));
                assert!(!is_known(machine, I386, number) && !is_known(machine, audit, number | 0x4000_0000));
            }
            assert_eq!(run(&filter.program, audit, u32::MAX, [0; 6]), end);
        }
    }
}

#[test]
fn no_number_appears_twice_and_programs_fit() {
    for (machine, _) in MACHINES {
        let mut numbers: Vec<u32> = table::all()
            .map(|entry| assemble::syscall_number(entry, machine))
            .filter(|number| *number != calls::NONE)
            .collect();
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
        for (variant, most) in [
            (SyscallFilterMode::Silent, 370),
            (SyscallFilterMode::Confined, 370),
            (SyscallFilterMode::ConfinedAndRecorded, 400),
            (SyscallFilterMode::Performed, 450),
            (SyscallFilterMode::PerformedAndRecorded, 450),
            (SyscallFilterMode::Recorded, 150),
        ] {
            let length = program(machine, variant).program.len();
            assert!(length < most, "{variant:?}: {length} instructions");
        }
    }
}
