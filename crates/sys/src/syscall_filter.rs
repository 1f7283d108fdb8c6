//! Filters of system calls, and the calls that a filter passes on to a listener.

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

/// An instruction of a filter, in the format of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct BpfInstruction {
    /// The operation.
    pub code: u16,
    /// Instructions to skip if a comparison holds.
    pub yes: u8,
    /// Instructions to skip if it does not.
    pub no: u8,
    /// Value of the instruction.
    pub value: u32,
}

/// A filter of system calls, ready to be installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallFilter {
    /// The program.
    pub program: Vec<BpfInstruction>,
    /// Whether the program passes calls on to a listener.
    pub listener: bool,
}

/// A kind of machine, as far as the numbers of its system calls are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyscallArchitecture {
    /// x86-64.
    X86,
    /// 64-bit ARM.
    Arm,
}

impl SyscallArchitecture {
    /// The machine that this code was built for. `None`: no filter is known for it.
    pub const HERE: Option<Self> = if cfg!(target_arch = "x86_64") {
        Some(Self::X86)
    } else if cfg!(target_arch = "aarch64") {
        Some(Self::Arm)
    } else {
        None
    };
}

/// A system call that waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyscallNotification {
    /// Names the call for its answer.
    pub id: u64,
    /// The thread that waits, as a pid of the listener's namespace. 0: it has none there.
    pub thread: i32,
    /// The kind of machine that the number is for, as the kernel's audit names it.
    pub machine: u32,
    /// The number of the call.
    pub number: u32,
    /// Arguments of the call.
    pub args: [u64; 6],
}

impl SyscallNotification {
    /// Returns an argument that the kernel reads as `int`.
    pub fn int(&self, at: usize) -> i32 {
        self.args[at] as u32 as i32
    }

    /// Returns an argument that the kernel reads as `unsigned int`.
    pub fn unsigned(&self, at: usize) -> u32 {
        self.args[at] as u32
    }
}

/// How a call that waits ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotificationResponse {
    /// The call returns this value.
    Value(i64),
    /// The call fails.
    Fail(Errno),
    /// The kernel performs it. Its arguments in memory may have changed since they were read.
    Continue,
}

/// How a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkResolution {
    /// Through symbolic links, and links of `/proc` to files of processes.
    Everything,
    /// Through symbolic links with a text.
    Texts,
    /// Through no link at all.
    Nothing,
}

/// The identity of a file or directory in one mount, as long as it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceId {
    /// The number of the mount.
    pub mount: u64,
    /// The device, as its major and its minor number.
    pub device: (u32, u32),
    /// The number of the inode.
    pub inode: u64,
}

/// A file that exists, with the facts that tell it from later files with the same inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExistingFile {
    /// The device, as its major and its minor number.
    pub device: (u32, u32),
    /// The number of the inode.
    pub inode: u64,
    /// The time of its birth, as seconds and nanoseconds. `None`: the file system has none.
    pub born: Option<(i64, u32)>,
    /// Number of names.
    pub links: u32,
}

/// The file that a descriptor is open for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStatus {
    /// The device and the inode.
    pub id: (u64, u64),
    /// The kind and the permissions, as `st_mode`.
    pub mode: u32,
    /// The number of a device.
    pub device: u64,
    /// Number of names.
    pub links: u64,
    /// The time of the last change of the inode, names included, as seconds and nanoseconds.
    pub changed: (i64, i64),
}

impl FileStatus {
    /// Returns whether the file has this kind, an `S_IF` value.
    pub fn has_kind(&self, kind: u32) -> bool {
        self.mode & 0o170_000 == kind
    }
}

/// `S_IFIFO`
pub const FIFO: u32 = 0o010_000;
/// `S_IFCHR`
pub const CHARACTERS: u32 = 0o020_000;
/// `S_IFBLK`
pub const BLOCKS: u32 = 0o060_000;
/// `S_IFDIR`
pub const DIRECTORY: u32 = 0o040_000;
/// `S_IFLNK`
pub const LINK: u32 = 0o120_000;
/// `S_IFREG`
pub const REGULAR: u32 = 0o100_000;

/// `O_PATH`: opens a place, without access to its content.
pub const O_PATH: i32 = 0o10_000_000;
/// `O_TMPFILE` without `O_DIRECTORY`: a file without a name.
pub const NAMELESS: i32 = 0o20_000_000;
