//! The procfs in which this process finds others by their pids.
//!
//! The shim of a world has pids of the world's namespace, but the mounts of the host. It reads a procfs of the world
//! through a descriptor. What concerns the shim itself, as `/proc/self`, stays with the host's `/proc`.

use std::fmt::Display;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;

/// The host's procfs.
pub(super) const HOST: &str = "/proc";

/// The procfs of a world.
struct WorldProcfs {
    path: String,
    _mount: OwnedFd,
}

static OF_WORLD: OnceLock<WorldProcfs> = OnceLock::new();

/// Makes this process read other processes in the procfs of a world, of which this is a descriptor. Only the first call
/// has an effect.
pub fn read_processes_in(mount: OwnedFd) {
    OF_WORLD.get_or_init(|| WorldProcfs { path: format!("/proc/self/fd/{}", mount.as_raw_fd()), _mount: mount });
}

/// Returns the path of the procfs whose pids this process uses.
pub fn proc_root() -> &'static str {
    OF_WORLD.get().map_or(HOST, |world| &world.path)
}

/// Returns the path of a process in that procfs.
pub(super) fn proc_of(pid: impl Display) -> String {
    format!("{}/{pid}", proc_root())
}

/// Returns whether this process has pids of a world.
pub fn is_in_world() -> bool {
    OF_WORLD.get().is_some()
}
