//! Values of the calls that confine a process.

use std::net::IpAddr;
use std::os::fd::RawFd;

/// A kind of namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamespaceKind {
    /// User and group ids, and capabilities.
    User,
    /// Mounts.
    Mounts,
    /// Network devices, addresses, ports and abstract sockets.
    Network,
    /// Pids.
    Processes,
    /// System V and POSIX IPC.
    Ipc,
    /// The host's name.
    Names,
}

/// Actions that processes cannot take through a mount.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MountFlags {
    /// Change anything.
    pub read_only: bool,
    /// Gain privileges by set-uid files.
    pub no_suid: bool,
    /// Open devices.
    pub no_dev: bool,
    /// Execute programs.
    pub no_exec: bool,
}

impl MountFlags {
    /// No set-uid files.
    pub const PLAIN: Self = Self { read_only: false, no_suid: true, no_dev: false, no_exec: false };
    /// No set-uid files, and no devices.
    pub const NO_DEVICES: Self = Self { no_dev: true, ..Self::PLAIN };
    /// No set-uid files, no devices, and no changes.
    pub const READ_ONLY: Self = Self { read_only: true, ..Self::NO_DEVICES };
}

/// A right on files that a ruleset of Landlock grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRight {
    /// To list directories.
    List,
    /// To read files and list directories, and to execute programs.
    Read,
    /// All that can be done with files and directories.
    Change,
    /// To read and write, without creating or removing anything: for devices.
    Use,
}

/// The descriptors by which a child enters a world between clone and exec. Their owner keeps them open meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct WorldEntrance {
    /// The network namespace. `None`: the parent's.
    pub network: Option<RawFd>,
    /// The namespace of System V and POSIX IPC.
    pub ipc: RawFd,
    /// The namespace of the host's name.
    pub names: RawFd,
    /// The mount namespace.
    pub mounts: RawFd,
    /// The ruleset of Landlock.
    pub landlock: Option<RawFd>,
}

/// The restrictions of a Landlock ruleset besides those on changes of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LandlockRestrictions {
    /// Reading, listing and executing files. Otherwise only changes are restricted.
    pub reads: bool,
    /// TCP, altogether.
    pub tcp: bool,
    /// Abstract sockets of processes that are not restricted in the same way.
    pub abstract_sockets: bool,
    /// Signals to such processes.
    pub signals: bool,
}

/// A file as a path leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MountedFile {
    /// The number of the mount.
    pub mount: u64,
    /// Device and inode of the file.
    pub id: (u64, u64),
    /// Whether the file is a directory.
    pub is_directory: bool,
    /// Whether the file is a symbolic link.
    pub is_link: bool,
    /// Whether the file is the root of the mount.
    pub is_mount: bool,
}

/// The target of a default route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteKind {
    /// To a router.
    Through(IpAddr),
    /// To this host itself, which accepts packets to any address.
    ToThisHost {
        /// Addresses of IPv6 rather than IPv4.
        v6: bool,
    },
}
