//! Finds the cgroup below which commands may have cgroups of their own.

use std::ffi::{CStr, CString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use nix::sys::statfs::{CGROUP2_SUPER_MAGIC, statfs};
use nix::unistd::{AccessFlags, access, geteuid};

use crate::{CgroupControllers, CgroupPlace, NoCgroups};

/// Where version 2 is mounted: alone, or beside version 1.
const MOUNTS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
/// The attributes by which systemd marks a cgroup that it has delegated. Only root reads the first.
const DELEGATED: [&CStr; 2] = [c"trusted.delegate", c"user.delegate"];
/// Exists if systemd runs this system.
const BOOTED_BY_SYSTEMD: &str = "/run/systemd/system";

/// Returns whether a path is that of a cgroup of version 2, where the kernel alone makes files.
pub fn is_cgroup(path: &Path) -> bool {
    let is_plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let is_mounted = || statfs(path).is_ok_and(|about| about.filesystem_type() == CGROUP2_SUPER_MAGIC);
    is_plain && MOUNTS.iter().any(|mount| path.starts_with(mount)) && is_mounted()
}

/// Facts about this process and its system that decide about a cgroup, apart from the files of the cgroup.
struct CgroupConditions {
    /// The mount point of version 2.
    mount: PathBuf,
    /// Whether systemd manages all cgroups that it has not delegated, and permissions say nothing about that.
    managed: bool,
}

/// Returns the place for the cgroups of commands.
///
/// # Errors
/// If there is none, or if it belongs to another program.
pub fn cgroup_place() -> Result<CgroupPlace, NoCgroups> {
    let (mount, own) = own_group().ok_or(NoCgroups::Absent)?;
    // The permissions of any other user say whether a cgroup was given to that user.
    let managed = geteuid().is_root() && Path::new(BOOTED_BY_SYSTEMD).exists();
    place_for(&own, &CgroupConditions { mount, managed }, is_delegated)
}

/// Returns the mount point of version 2, and the cgroup of this process below it.
fn own_group() -> Option<(PathBuf, PathBuf)> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    // A process outside of its cgroup namespace has no path in it.
    if path.split('/').any(|part| part == "..") {
        return None;
    }
    let is_mounted = |mount: &&str| statfs(*mount).is_ok_and(|about| about.filesystem_type() == CGROUP2_SUPER_MAGIC);
    let mount = PathBuf::from(MOUNTS.into_iter().find(is_mounted)?);
    let own = if path.is_empty() { mount.clone() } else { mount.join(path) };
    own.join("cgroup.procs").exists().then_some((mount, own))
}

/// Decides whether commands may have cgroups below `own`, or beside it below its parent.
///
/// Only the parent can pass controllers on, since a cgroup that contains processes must not. The parent is used only if
/// it is the border of a delegation, below which `own` was made for this host.
fn place_for(own: &Path, rights: &CgroupConditions, delegated: fn(&Path) -> bool) -> Result<CgroupPlace, NoCgroups> {
    // The root of the hierarchy has no such file. The root of a container's namespace does.
    let is_root = |group: &Path| !group.join("cgroup.events").exists();
    if is_root(own) {
        return Err(NoCgroups::Root);
    }
    if !own.join("cgroup.kill").exists() {
        return Err(NoCgroups::Old);
    }
    if rights.managed && !own.ancestors().take_while(|group| group.starts_with(&rights.mount)).any(delegated) {
        return Err(NoCgroups::Managed);
    }
    if let Some(parent) = own.parent().filter(|parent| parent.starts_with(&rights.mount)) {
        let controllers = listed_controllers(parent, "cgroup.subtree_control");
        let is_border = delegated(parent) || *parent == *rights.mount;
        if is_border && !is_root(parent) && controllers != CgroupControllers::default() && may_divide(parent).is_ok() {
            return Ok(CgroupPlace { directory: parent.to_owned(), controllers });
        }
    }
    may_divide(own)?;
    Ok(CgroupPlace { directory: own.to_owned(), controllers: listed_controllers(own, "cgroup.subtree_control") })
}

fn may_divide(group: &Path) -> Result<(), NoCgroups> {
    let kind = fs::read_to_string(group.join("cgroup.type")).unwrap_or_default();
    if kind.trim() != "domain" {
        return Err(NoCgroups::Threaded);
    }
    let writable = |path: &Path| access(path, AccessFlags::W_OK).is_ok();
    if !writable(group) {
        return Err(NoCgroups::ReadOnly("its cgroup"));
    }
    // A process enters a cgroup only with the right to write this file of a common ancestor.
    if writable(&group.join("cgroup.procs")) { Ok(()) } else { Err(NoCgroups::ReadOnly("cgroup.procs")) }
}

/// Returns which controllers a file of a cgroup lists.
pub fn listed_controllers(group: &Path, file: &str) -> CgroupControllers {
    let list = fs::read_to_string(group.join(file)).unwrap_or_default();
    let has = |name| list.split_ascii_whitespace().any(|listed| listed == name);
    CgroupControllers { memory: has("memory"), pids: has("pids") }
}

/// Returns whether a controller serves the hierarchy of version 1.
pub fn is_bound_to_version_1(controller: &str) -> bool {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let names = |line: &str| line.split(':').nth(1).is_some_and(|all| all.split(',').any(|name| name == controller));
    text.lines().any(names)
}

/// Returns whether systemd has delegated this cgroup.
fn is_delegated(group: &Path) -> bool {
    let Ok(path) = CString::new(group.as_os_str().as_bytes()) else { return false };
    DELEGATED.iter().any(|name| {
        let mut value = [0_u8; 8];
        // SAFETY: both names are C strings, and the buffer has the given size.
        let size = unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), value.as_mut_ptr().cast(), value.len()) };
        size == 1 && value[0] == b'1'
    })
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
