//! The system calls that confinement knows, with their numbers, and what happens to each. A call that is not in the
//! table is allowed.
//!
//! | action | for | cost |
//! |---|---|---|
//! | refuse | calls that programs probe, or that are hot | none |
//! | deny | rare calls that only attacks need; the listener records them | one question |
//! | ask | calls whose answer depends on memory, such as a path | one question |
//!
//! Removals would only be recorded. They are not asked about with a directory descriptor, which `rm -r` and similar
//! programs use thousands of times. Each change of an existing file is asked about, because the file may have names
//! where the command may change nothing.

use super::syscall_rule::{CREATES, RegisterTest, SyscallAction, SyscallCase, SyscallRule, WRITES};
use RegisterTest::{Always, AtCurrent, Bits, Is, Masked, Null};
use SyscallAction::{Allow, Ask, Deny, Refuse};
use sys::SyscallNotification;

/// `EPERM`
const EPERM: u16 = 1;
/// `EACCES`
const EACCES: u16 = 13;
/// `EBUSY`
const EBUSY: u16 = 16;
/// `ENOSYS`
const ENOSYS: u16 = 38;
/// `EPROTONOSUPPORT`
const EPROTONOSUPPORT: u16 = 93;

/// The number of a call that a machine does not have.
pub const NONE: u32 = u32::MAX;

/// The handling of a call that the filter passes on to the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyscallHandling {
    /// Records the call and lets it fail.
    Denied,
    /// `open`, also for `creat`.
    Open,
    /// `creat`
    Creat,
    /// `openat`
    OpenAt,
    /// `mkdir`
    Mkdir,
    /// `mkdirat`
    MkdirAt,
    /// `mknod`
    Mknod,
    /// `mknodat`
    MknodAt,
    /// `symlink`
    Symlink,
    /// `symlinkat`
    SymlinkAt,
    /// `link`
    Link,
    /// `linkat`
    LinkAt,
    /// `rename`
    Rename,
    /// `renameat` and `renameat2`
    RenameAt,
    /// `connect`
    Connect,
    /// `bind`
    Bind,
    /// `sendto`
    SendTo,
    /// `umask`
    Umask,
    /// `chmod`
    Chmod,
    /// `fchmodat` and `fchmodat2`
    ChmodAt,
    /// `fchmod`
    Fchmod,
    /// `truncate`
    Truncate,
    /// A change of the file whose path is this argument.
    File(usize),
    /// A change of the file whose path is this argument. A symbolic link at the end is not followed.
    Itself(usize),
    /// A change of the file whose path is this argument. A symbolic link at the end is not followed if the flags in the
    /// second argument here have `AT_SYMLINK_NOFOLLOW`.
    FileAt(usize, usize),
    /// A change of the directory of the path that is this argument.
    Entry(usize),
    /// A change of the times of a file, as with [`SyscallHandling::File`].
    Times(usize),
    /// A change of the times of a file, as with [`SyscallHandling::FileAt`].
    TimesAt(usize, usize),
    /// A change of the file of the descriptor that is the first argument.
    Descriptor,
    /// `openat2`
    OpenAt2,
    /// `inotify_add_watch`
    Watch,
    /// `socket`
    Socket,
    /// `listen`
    Listen,
    /// `getsockname` and `getpeername`
    Name,
    /// A signal to a process, or a change of how it is scheduled.
    Process,
}

/// A call, and its handling.
#[derive(Debug)]
pub struct SyscallEntry {
    /// Name of the call.
    pub name: &'static str,
    /// Number on x86-64.
    pub x86: u32,
    /// Number on 64-bit ARM.
    pub arm: u32,
    /// The listener's handling of the call.
    pub handling: SyscallHandling,
    /// The decisions of the filter.
    pub rule: SyscallRule,
}

impl SyscallEntry {
    /// Returns the flags of a rename, of which an older call has none.
    pub fn rename_flags(&self, call: &SyscallNotification) -> u32 {
        if self.name == "renameat2" { call.unsigned(4) } else { 0 }
    }
}

const fn entry(name: &'static str, x86: u32, arm: u32, question: SyscallHandling, rule: SyscallRule) -> SyscallEntry {
    SyscallEntry { name, x86, arm, handling: question, rule }
}

const fn denied(name: &'static str, x86: u32, arm: u32) -> SyscallEntry {
    entry(name, x86, arm, SyscallHandling::Denied, &[SyscallCase(&[Always], Deny)])
}

const fn refused(name: &'static str, x86: u32, arm: u32, rule: SyscallRule) -> SyscallEntry {
    entry(name, x86, arm, SyscallHandling::Denied, rule)
}

pub const ASK: SyscallRule = &[SyscallCase(&[Always], Ask)];
const NO: SyscallRule = &[SyscallCase(&[Always], Refuse(EPERM))];
pub const ABSENT: SyscallRule = &[SyscallCase(&[Always], Refuse(ENOSYS))];

/// Tests the flags of `open` in argument `at`: `O_PATH` opens nothing, `O_CREAT` may create, and the others write.
pub const fn open_rule<const AT: usize>() -> SyscallRule {
    const {
        &[
            SyscallCase(&[Bits(AT, sys::O_PATH.cast_unsigned())], Allow),
            SyscallCase(&[Bits(AT, CREATES_OR_WRITES)], Ask),
        ]
    }
}
/// The flags of `open` by which a file may change.
pub const CREATES_OR_WRITES: u32 = CREATES | WRITES;

/// Refuses set-user-id bits, and asks about set-group-id bits, which the listener sets on directories only. Argument
/// `at` is the mode.
const fn set_id_rule<const AT: usize>() -> SyscallRule {
    const {
        &[
            SyscallCase(&[Bits(AT, SET_USER)], Refuse(EPERM)),
            SyscallCase(&[Bits(AT, SET_GROUP)], Deny),
            SyscallCase(&[Always], Ask),
        ]
    }
}
/// Tests the mode of a new file.
const fn plain_mode<const AT: usize>() -> SyscallRule {
    const { &[SyscallCase(&[Bits(AT, PRIVILEGED)], Refuse(EPERM)), SyscallCase(&[Always], Ask)] }
}
/// `S_ISUID`
const SET_USER: u32 = 0o4000;
/// `S_ISGID`
pub const SET_GROUP: u32 = 0o2000;
/// Both bits.
pub const PRIVILEGED: u32 = SET_USER | SET_GROUP;

/// `F_SETLEASE`. A program outside that opens the file would wait until the command gives the lease back.
pub const LEASE: SyscallCase = SyscallCase(&[Is(1, 1024)], Refuse(EACCES));

const AT_CURRENT: SyscallRule = &[SyscallCase(&[AtCurrent], Ask)];

/// All namespaces; `CLONE_NEWTIME` lies among the bits of the exit signal of `clone`.
const NAMESPACES: u32 = 0x7e02_0000;
const CLONE_NEWTIME: u32 = 0x80;
const CLONE_FILES_AND_THREAD: u32 = 0x0001_0400;
const CLONE_FILES: u32 = 0x400;

/// Calls that create or write files.
const FILES: &[SyscallEntry] = &[
    entry("openat", 257, 56, SyscallHandling::OpenAt, open_rule::<2>()),
    entry("open", 2, NONE, SyscallHandling::Open, open_rule::<1>()),
    entry("creat", 85, NONE, SyscallHandling::Creat, ASK),
    // The flags of openat2 are in memory. Programs fall back to openat, as on kernels before 5.6.
    entry("openat2", 437, 437, SyscallHandling::OpenAt2, ABSENT),
    entry("mkdir", 83, NONE, SyscallHandling::Mkdir, ASK),
    entry("mkdirat", 258, 34, SyscallHandling::MkdirAt, ASK),
    entry("mknod", 133, NONE, SyscallHandling::Mknod, plain_mode::<1>()),
    entry("mknodat", 259, 33, SyscallHandling::MknodAt, plain_mode::<2>()),
    entry("link", 86, NONE, SyscallHandling::Link, ASK),
    entry("linkat", 265, 37, SyscallHandling::LinkAt, ASK),
    entry("symlink", 88, NONE, SyscallHandling::Symlink, ASK),
    entry("symlinkat", 266, 36, SyscallHandling::SymlinkAt, ASK),
    entry("rename", 82, NONE, SyscallHandling::Rename, ASK),
    entry("renameat", 264, 38, SyscallHandling::RenameAt, ASK),
    entry("renameat2", 316, 276, SyscallHandling::RenameAt, ASK),
    entry("umask", 95, 166, SyscallHandling::Umask, ASK),
    entry("unlink", 87, NONE, SyscallHandling::Entry(0), ASK),
    entry("rmdir", 84, NONE, SyscallHandling::Entry(0), ASK),
    entry("unlinkat", 263, 35, SyscallHandling::Entry(1), AT_CURRENT),
    entry("truncate", 76, 45, SyscallHandling::Truncate, ASK),
    entry("chmod", 90, NONE, SyscallHandling::Chmod, set_id_rule::<1>()),
    entry("fchmod", 91, 52, SyscallHandling::Fchmod, set_id_rule::<1>()),
    entry("fchmodat", 268, 53, SyscallHandling::ChmodAt, set_id_rule::<2>()),
    entry("fchmodat2", 452, 452, SyscallHandling::ChmodAt, set_id_rule::<2>()),
    entry("chown", 92, NONE, SyscallHandling::File(0), ASK),
    entry("lchown", 94, NONE, SyscallHandling::Itself(0), ASK),
    entry("fchownat", 260, 54, SyscallHandling::FileAt(1, 4), ASK),
    entry("fchown", 93, 55, SyscallHandling::Descriptor, ASK),
    entry("utime", 132, NONE, SyscallHandling::Times(0), ASK),
    entry("utimes", 235, NONE, SyscallHandling::Times(0), ASK),
    entry("futimesat", 261, NONE, SyscallHandling::Times(1), ASK),
    entry("utimensat", 280, 88, SyscallHandling::TimesAt(1, 3), ASK),
    entry("setxattr", 188, 5, SyscallHandling::File(0), ASK),
    entry("lsetxattr", 189, 6, SyscallHandling::Itself(0), ASK),
    entry("removexattr", 197, 14, SyscallHandling::File(0), ASK),
    entry("lremovexattr", 198, 15, SyscallHandling::Itself(0), ASK),
    entry("fsetxattr", 190, 7, SyscallHandling::Descriptor, ASK),
    entry("fremovexattr", 199, 16, SyscallHandling::Descriptor, ASK),
    // Their arguments are in memory, and programs know the older calls.
    entry("setxattrat", 463, 463, SyscallHandling::FileAt(1, 2), ABSENT),
    entry("removexattrat", 466, 466, SyscallHandling::FileAt(1, 2), ABSENT),
    refused("file_setattr", 469, 469, ABSENT),
];

/// Address families that commands may use.
const UNIX: RegisterTest = Is(0, 1);
/// Neither `AF_INET`, 2, nor `AF_INET6`, 10.
const NOT_INTERNET: [RegisterTest; 2] = [Bits(0, !10), Masked(0, 2, 0)];
const NETLINK: RegisterTest = Is(0, 16);
/// Kinds of sockets that send to a name without a connection.
const DATAGRAM: RegisterTest = Masked(1, 0xf, 2);
const RAW: RegisterTest = Masked(1, 0xf, 3);
/// `NETLINK_ROUTE`
const ROUTE: RegisterTest = Is(2, 0);

/// The rule of `socket`. `internet`: the action for TCP and UDP.
pub const fn socket_rule(internet: SyscallAction) -> [SyscallCase; 13] {
    [
        // `sendmsg` has its name in memory, and is hot. So no socket exists with which it could reach a name.
        SyscallCase(&[UNIX, DATAGRAM], Deny),
        SyscallCase(&[UNIX, RAW], Deny),
        SyscallCase(&[UNIX], Allow),
        SyscallCase(&[NETLINK, ROUTE], Allow),
        // Many programs try other families, and know this answer.
        SyscallCase(&[NETLINK], Refuse(EPROTONOSUPPORT)),
        SyscallCase(&[NOT_INTERNET[0]], Deny),
        SyscallCase(&[NOT_INTERNET[1]], Deny),
        // The default and ICMP, TCP with one path and with several, UDP, ICMP. The kernel loads modules for other
        // protocols, such as SCTP.
        SyscallCase(&[Bits(1, 0xc)], Refuse(EPROTONOSUPPORT)),
        SyscallCase(&[Masked(2, !1, 0)], internet),
        SyscallCase(&[Masked(2, !0x100, 6)], internet),
        SyscallCase(&[Is(2, 17)], internet),
        SyscallCase(&[Is(2, 58)], internet),
        SyscallCase(&[Always], Refuse(EPROTONOSUPPORT)),
    ]
}

const SOCKETS: &[SyscallEntry] = &[
    entry("connect", 42, 203, SyscallHandling::Connect, ASK),
    entry("bind", 49, 200, SyscallHandling::Bind, ASK),
    // Without a name, the call is a plain send.
    entry("sendto", 44, 206, SyscallHandling::SendTo, &[SyscallCase(&[Null(4)], Allow), SyscallCase(&[Always], Ask)]),
    entry("socket", 41, 198, SyscallHandling::Socket, &socket_rule(Allow)),
    entry(
        "socketpair",
        53,
        199,
        SyscallHandling::Denied,
        &[
            SyscallCase(&[UNIX, DATAGRAM], Deny),
            SyscallCase(&[UNIX, RAW], Deny),
            SyscallCase(&[UNIX], Allow),
            SyscallCase(&[Always], Deny),
        ],
    ),
];

/// Returns the rule of `ioctl`. `rest` is the action for requests that do no harm in a world with mounts and processes
/// of its own: `FIOSETOWN` and `SIOCSPGRP`, by which the kernel sends signals, and those about subvolumes of btrfs. The
/// requests of btrfs that share blocks are allowed, because they need a descriptor for writing.
pub const fn ioctl_rule(rest: SyscallAction) -> [SyscallCase; 16] {
    [
        // TIOCSTI, TIOCLINUX, and TIOCSETD, which makes the kernel load modules for line disciplines that no program
        // here has.
        SyscallCase(&[Is(1, 0x5412)], Deny),
        SyscallCase(&[Is(1, 0x541c)], Deny),
        SyscallCase(&[Is(1, 0x5423)], Deny),
        // Flags, versions, encryption and integrity of a file whose descriptor was opened for reading.
        SyscallCase(&[Is(1, 0x4008_6602)], Refuse(EPERM)),
        SyscallCase(&[Is(1, 0x4004_6602)], Refuse(EPERM)),
        SyscallCase(&[Is(1, 0x4008_7602)], Refuse(EPERM)),
        SyscallCase(&[Is(1, 0x4004_7602)], Refuse(EPERM)),
        SyscallCase(&[Is(1, 0x401c_5820)], Refuse(EPERM)),
        SyscallCase(&[Is(1, 0x4080_6685)], Refuse(EPERM)),
        SyscallCase(&[Is(1, 0x800c_6613)], Refuse(EPERM)),
        SyscallCase(&[Is(1, 0x8901)], rest),
        SyscallCase(&[Is(1, 0x8902)], rest),
        SyscallCase(&[Is(1, 0x4004_9409)], Allow),
        SyscallCase(&[Is(1, 0x4020_940d)], Allow),
        SyscallCase(&[Is(1, 0xc018_9436)], Allow),
        SyscallCase(&[Masked(1, 0xff00, 0x9400)], rest),
    ]
}

const PROCESSES: &[SyscallEntry] = &[
    refused(
        "clone",
        56,
        220,
        &[
            SyscallCase(&[Bits(0, NAMESPACES)], Deny),
            // The listener assumes that a process with one thread is the only owner of its descriptors.
            SyscallCase(&[Masked(0, CLONE_FILES_AND_THREAD, CLONE_FILES)], Refuse(EPERM)),
        ],
    ),
    // The flags of clone3 are in memory. The C library falls back to clone.
    refused("clone3", 435, 435, ABSENT),
    refused("unshare", 272, 97, &[SyscallCase(&[Bits(0, NAMESPACES | CLONE_NEWTIME)], Deny)]),
    entry("kill", 62, 129, SyscallHandling::Process, &[SyscallCase(&[Is(0, u32::MAX)], Refuse(EPERM))]),
    refused("ioctl", 16, 29, &ioctl_rule(Allow)),
    refused("fcntl", 72, 25, &[LEASE]),
    // SECCOMP_SET_MODE_FILTER with SECCOMP_FILTER_FLAG_NEW_LISTENER, which the kernel refuses with the same error.
    refused("seccomp", 317, 277, &[SyscallCase(&[Is(0, 1), Bits(1, 8)], Refuse(EBUSY))]),
    refused(
        "personality",
        135,
        92,
        // Linux, Linux for 32 bits, both without random addresses, and the query.
        &[
            SyscallCase(&[Masked(0, !0x0004_0008, 0)], Allow),
            SyscallCase(&[Masked(0, !0x0002_0008, 0)], Allow),
            SyscallCase(&[Is(0, u32::MAX)], Allow),
            SyscallCase(&[Always], Deny),
        ],
    ),
    denied("ptrace", 101, 117),
    denied("process_vm_readv", 310, 270),
    denied("process_vm_writev", 311, 271),
    denied("pidfd_getfd", 438, 438),
    // A process sets its own limits with pid 0. Any other pid may be another process, such as a helper of ours.
    entry(
        "prlimit64",
        302,
        261,
        SyscallHandling::Process,
        &[SyscallCase(&[Is(0, 0)], Allow), SyscallCase(&[Null(2)], Allow), SyscallCase(&[Always], Refuse(EPERM))],
    ),
    refused("kcmp", 312, 272, NO),
    refused("process_madvise", 440, 440, NO),
];

const KERNEL: &[SyscallEntry] = &[
    denied("mount", 165, 40),
    denied("umount2", 166, 39),
    denied("pivot_root", 155, 41),
    denied("chroot", 161, 51),
    denied("setns", 308, 268),
    denied("open_tree", 428, 428),
    denied("open_tree_attr", 467, 467),
    denied("move_mount", 429, 429),
    denied("fsopen", 430, 430),
    denied("fsconfig", 431, 431),
    denied("fsmount", 432, 432),
    denied("fspick", 433, 433),
    denied("mount_setattr", 442, 442),
    denied("bpf", 321, 280),
    denied("perf_event_open", 298, 241),
    denied("keyctl", 250, 219),
    denied("add_key", 248, 217),
    denied("request_key", 249, 218),
    denied("userfaultfd", 323, 282),
    denied("kexec_load", 246, 104),
    denied("kexec_file_load", 320, 294),
    denied("init_module", 175, 105),
    denied("finit_module", 313, 273),
    denied("delete_module", 176, 106),
    denied("reboot", 169, 142),
    denied("swapon", 167, 224),
    denied("swapoff", 168, 225),
    denied("acct", 163, 89),
    denied("quotactl", 179, 60),
    denied("quotactl_fd", 443, 443),
    denied("open_by_handle_at", 304, 265),
    denied("fanotify_init", 300, 262),
    denied("iopl", 172, NONE),
    denied("ioperm", 173, NONE),
    refused("name_to_handle_at", 303, 264, NO),
    refused("syslog", 103, 116, NO),
    // Programs probe io_uring, and work without it.
    refused("io_uring_setup", 425, 425, ABSENT),
    refused("io_uring_enter", 426, 426, ABSENT),
    refused("io_uring_register", 427, 427, ABSENT),
];

/// Calls after which a process has other rights. Only a listener that acts in the place of its callers asks about them.
const RIGHTS: &[SyscallEntry] = &[
    entry("setuid", 105, 146, SyscallHandling::Denied, &[]),
    entry("setgid", 106, 144, SyscallHandling::Denied, &[]),
    entry("setreuid", 113, 145, SyscallHandling::Denied, &[]),
    entry("setregid", 114, 143, SyscallHandling::Denied, &[]),
    entry("setgroups", 116, 159, SyscallHandling::Denied, &[]),
    entry("setresuid", 117, 147, SyscallHandling::Denied, &[]),
    entry("setresgid", 119, 149, SyscallHandling::Denied, &[]),
    entry("setfsuid", 122, 151, SyscallHandling::Denied, &[]),
    entry("setfsgid", 123, 152, SyscallHandling::Denied, &[]),
    entry("capset", 126, 91, SyscallHandling::Denied, &[]),
    entry("landlock_restrict_self", 446, 446, SyscallHandling::Denied, &[]),
];

/// Returns the calls of this table.
pub fn table_entries() -> impl Iterator<Item = &'static SyscallEntry> {
    [FILES, SOCKETS, PROCESSES, RIGHTS, KERNEL].into_iter().flatten()
}
