//! macOS has no namespaces, no mounts of a process and no Landlock, and so no worlds.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;

use nix::unistd::Pid;

use crate::{
    FileRight, ForkOutcome, LandlockRestrictions, MountFlags, MountedFile, NamespaceKind, RouteKind, WorldEntrance,
};

/// The index of the loopback device.
pub const LOOPBACK: u32 = 1;

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not supported.
pub fn fork_world(_: bool) -> io::Result<ForkOutcome> {
    unsupported()
}

/// Not supported.
pub fn fork_into(_: BorrowedFd<'_>, _: BorrowedFd<'_>) -> io::Result<ForkOutcome> {
    unsupported()
}

/// Not supported.
pub fn own_namespace(_: NamespaceKind) -> io::Result<OwnedFd> {
    unsupported()
}

/// Not supported.
pub fn new_network() -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn name_process(_: &CStr) -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn refuse_tracers() -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn detach_output() -> io::Result<()> {
    unsupported()
}

/// A placeholder: there are no worlds with processes of their own.
#[derive(Debug)]
pub struct WorldPause;

impl WorldPause {
    /// Does nothing.
    pub fn begin() -> Option<Self> {
        None
    }
}

/// Not supported.
pub fn enter_world(_: &WorldEntrance) -> Result<(), i32> {
    Err(libc::ENOTSUP)
}

/// Not supported.
pub fn give_up_privileges(_: Option<RawFd>) -> Result<(), i32> {
    Err(libc::ENOTSUP)
}

/// Not supported.
pub fn drop_bounding_capabilities() -> Result<(), i32> {
    Err(libc::ENOTSUP)
}

/// Not supported.
pub fn open_pid(_: Pid) -> io::Result<OwnedFd> {
    unsupported()
}

/// Not supported.
pub fn copy_tree(_: &Path) -> io::Result<OwnedFd> {
    unsupported()
}

/// Not supported.
pub fn file_system_of(_: &impl AsFd) -> io::Result<OwnedFd> {
    unsupported()
}

/// Not supported.
pub fn drop_found_names(_: &impl AsFd, _: bool) -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn copy_tree_at(_: BorrowedFd<'_>, _: &Path) -> io::Result<OwnedFd> {
    unsupported()
}

/// Not supported.
pub fn attach_tree(_: &impl AsFd, _: &Path) -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn restrict_tree(_: &impl AsFd, _: MountFlags) -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn restrict_path(_: &Path, _: MountFlags, _: bool) -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn stop_propagation() -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn new_mount(_: &CStr, _: &[(&CStr, Option<&CStr>)], _: MountFlags) -> io::Result<OwnedFd> {
    unsupported()
}

/// Not supported.
pub fn detach_tree(_: &Path) -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn attach_tree_at(_: &impl AsFd, _: BorrowedFd<'_>, _: &CStr) -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn set_read_only(_: &Path, _: bool) -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn detach_open(_: &impl AsFd) -> io::Result<()> {
    unsupported()
}

/// Not supported.
pub fn mount_of(_: &Path) -> io::Result<MountedFile> {
    unsupported()
}

/// Not supported.
pub fn open_unread(_: &Path) -> io::Result<File> {
    unsupported()
}

/// Returns 0: macOS has no Landlock.
pub fn landlock_version() -> u32 {
    0
}

/// Returns false.
pub fn landlock_bounds_tcp() -> bool {
    false
}

/// Cannot be made.
#[derive(Debug)]
pub struct LandlockRuleset(std::convert::Infallible);

impl LandlockRuleset {
    /// Not supported.
    pub fn new(_: LandlockRestrictions) -> io::Result<Self> {
        unsupported()
    }

    /// Never called.
    pub fn from_fd(fd: OwnedFd) -> Self {
        unreachable!("there is no ruleset: {fd:?}")
    }

    /// Never called.
    pub fn grant(&self, _: &impl AsFd, _: FileRight, _: bool) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    pub fn into_fd(self) -> OwnedFd {
        match self.0 {}
    }
}

/// The number of a watched directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WatchId(std::convert::Infallible);

/// A change in watched directories.
#[derive(Debug)]
pub enum DirectoryWatchEvent {
    /// Nothing.
    Nothing,
    /// In each of these directories, an entry of this name was created, moved or removed.
    Changed(Vec<(WatchId, OsString)>),
    /// More than the system remembers.
    Lost,
}

/// The kinds of changes that were seen.
#[derive(Debug, Clone, Copy)]
pub struct SeenChangeKinds {
    /// Of the entries of directories.
    pub entries: bool,
    /// Of watched files.
    pub files: bool,
}

/// Cannot be made.
#[derive(Debug)]
pub struct DirectoryWatch(std::convert::Infallible);

impl DirectoryWatch {
    /// Not supported.
    pub fn new() -> io::Result<Self> {
        unsupported()
    }

    /// Never called.
    pub fn add(&self, _: &Path) -> io::Result<WatchId> {
        match self.0 {}
    }

    /// Never called.
    pub fn add_file(&self, _: &Path) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    pub fn take_seen_kinds(&self, _: impl Fn(&OsStr) -> bool) -> SeenChangeKinds {
        match self.0 {}
    }

    /// Never called.
    pub fn take_changes(&self) -> io::Result<DirectoryWatchEvent> {
        match self.0 {}
    }
}

impl AsFd for DirectoryWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self.0 {}
    }
}

/// Cannot be made.
#[derive(Debug)]
pub struct NetworkSettings(std::convert::Infallible);

impl NetworkSettings {
    /// Not supported.
    pub fn open() -> io::Result<Self> {
        unsupported()
    }

    /// Never called.
    pub fn create_pair(&self, _: &str, _: u32, _: BorrowedFd<'_>) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    pub fn start(&self, _: u32) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    pub fn add_address(&self, _: u32, _: IpAddr, _: u8) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    pub fn add_default_route(&self, _: u32, _: RouteKind) -> io::Result<()> {
        match self.0 {}
    }
}
