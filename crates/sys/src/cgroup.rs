//! Cgroups of version 2, as far as every platform names them.

use std::path::PathBuf;

/// The directory below which commands may have cgroups of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupPlace {
    /// The cgroup that may be divided.
    pub directory: PathBuf,
    /// The controllers that its children have.
    pub controllers: CgroupControllers,
}

/// The controllers of a cgroup that limits need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CgroupControllers {
    /// `memory.max` and `memory.events`.
    pub memory: bool,
    /// `pids.max` and `pids.events`.
    pub pids: bool,
}

/// The reason why commands have no cgroups of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoCgroups {
    /// The kernel has no cgroups of version 2, or none are mounted where systems mount them.
    #[error("version 1, or none")]
    Absent,
    /// This process is in the root cgroup, which belongs to the machine.
    #[error("version 2, not delegated: this process is in the root cgroup, which belongs to the machine")]
    Root,
    /// This process may not create cgroups below its own.
    #[error("version 2, not delegated: {} is not writable", .0)]
    ReadOnly(&'static str),
    /// systemd manages the cgroup of this process, and has not delegated it.
    #[error("version 2, not delegated: systemd manages this unit without Delegate=yes")]
    Managed,
    /// The kernel cannot kill a cgroup at once.
    #[error("version 2, without cgroup.kill (Linux 5.14)")]
    Old,
    /// The cgroup of this process may only have children that share its resources.
    #[error("version 2, but threaded, which allows no cgroup for a process")]
    Threaded,
}

impl NoCgroups {
    /// What a person can do to give commands cgroups.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Absent => "start the system with cgroups of version 2, mounted at /sys/fs/cgroup",
            Self::Root => "start the host in a cgroup of its own, as with systemd-run --scope -p Delegate=yes",
            Self::ReadOnly(_) => {
                "mount /sys/fs/cgroup writable in a container, or start the host with systemd-run --user --scope -p \
                 Delegate=yes"
            }
            Self::Managed => "set Delegate=yes in the unit, or start the host with systemd-run --scope -p Delegate=yes",
            Self::Old => "use Linux 5.14 or later",
            Self::Threaded => "start the host in a cgroup that is not threaded",
        }
    }
}
