//! macOS has no cgroups.

use std::os::fd::BorrowedFd;
use std::path::Path;

use crate::{CgroupControllers, CgroupPlace, NoCgroups};

/// Returns the place for the cgroups of commands: there is none.
///
/// # Errors
/// Always.
pub fn cgroup_place() -> Result<CgroupPlace, NoCgroups> {
    Err(NoCgroups::Absent)
}

/// Returns whether a path is that of a cgroup: none is.
pub fn is_cgroup(_path: &Path) -> bool {
    false
}

/// Returns whether a child that starts in a cgroup lives.
pub fn can_start_in(_group: BorrowedFd<'_>) -> bool {
    false
}

/// Returns which controllers a file of a cgroup lists: none.
pub fn listed_controllers(_group: &Path, _file: &str) -> CgroupControllers {
    CgroupControllers::default()
}

/// Returns whether a controller serves the hierarchy of version 1.
pub fn is_bound_to_version_1(_controller: &str) -> bool {
    false
}
