//! The calls that can change a file by its path or its descriptor, for a command whose changes are recorded.
//!
//! Writing, shortening and mapping a file need a descriptor that was opened for writing, so only the opening is asked
//! about. Calls that change the meaning of paths for the caller are asked about as well.

use super::calls::{ABSENT, ASK, open_rule};
use super::syscall_rule::{RegisterTest, SyscallAction, SyscallCase, SyscallRule, WRITES};
use RegisterTest::Bits;
use SyscallAction::Ask;

/// `CLONE_NEWNS` and `CLONE_NEWUSER`
const OTHER_PATHS: u32 = 0x1002_0000;

/// The calls that are recorded whatever their arguments are.
pub const ALWAYS: &[&str] = &[
    "creat",
    // The flags of openat2 are in memory.
    "openat2",
    "mkdir",
    "mkdirat",
    "mknod",
    "mknodat",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "rmdir",
    "unlinkat",
    "truncate",
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "chown",
    "lchown",
    "fchown",
    "fchownat",
    "utime",
    "utimes",
    "futimesat",
    "utimensat",
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "setxattrat",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
    "removexattrat",
    "bind",
    "chroot",
    "pivot_root",
    "setns",
];

/// Calls after which a process has other rights. The filter asks about them where the listener acts in the place of
/// callers.
pub const RIGHTS: &[&str] = &[
    "setuid",
    "setgid",
    "setreuid",
    "setregid",
    "setgroups",
    "setresuid",
    "setresgid",
    "setfsuid",
    "setfsgid",
    "capset",
    "landlock_restrict_self",
];

/// Returns the decisions about a call of a command that is not confined.
pub fn rule_alone(name: &str) -> SyscallRule {
    // The listener has the directories of changes open, so that a file system with such a directory would be busy.
    if name == "umount2" || RIGHTS.contains(&name) { ASK } else { recorded_rule(name) }
}

/// Returns the decisions about a call. A call without a decision is allowed.
pub fn recorded_rule(name: &str) -> SyscallRule {
    match name {
        "openat" => open_rule::<2>(),
        "open" => open_rule::<1>(),
        "open_by_handle_at" => const { &[SyscallCase(&[Bits(2, WRITES)], Ask)] },
        "unshare" => const { &[SyscallCase(&[Bits(0, OTHER_PATHS)], Ask)] },
        // Programs work without io_uring. Its operations would not be seen.
        "io_uring_setup" => ABSENT,
        name if ALWAYS.contains(&name) => ASK,
        _ => &[],
    }
}
