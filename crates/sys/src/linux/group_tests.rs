//! Directories with plain files in place of cgroups.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// A hierarchy that is mounted in a directory of this test.
struct TestCgroupHierarchy(PathBuf);

impl TestCgroupHierarchy {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("agent-bash-groups-{}-{count}", std::process::id()));
        fs::create_dir(&root).expect("a directory");
        fs::write(root.join("cgroup.procs"), "").expect("a file");
        Self(root)
    }

    /// Adds a cgroup that passes these controllers on to its children.
    fn group(&self, path: &str, passes: &str) -> PathBuf {
        let group = self.0.join(path);
        fs::create_dir_all(&group).expect("a directory");
        for (file, text) in [
            ("cgroup.procs", ""),
            ("cgroup.events", "populated 1\n"),
            ("cgroup.kill", ""),
            ("cgroup.type", "domain\n"),
            ("cgroup.subtree_control", passes),
        ] {
            fs::write(group.join(file), text).expect("a file");
        }
        group
    }

    fn place(&self, own: &Path, managed: bool, delegated: fn(&Path) -> bool) -> Result<CgroupPlace, NoCgroups> {
        place_for(own, &CgroupConditions { mount: self.0.clone(), managed }, delegated)
    }
}

impl Drop for TestCgroupHierarchy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn nothing(_: &Path) -> bool {
    false
}

fn unit(group: &Path) -> bool {
    group.ends_with("unit")
}

const NONE: CgroupControllers = CgroupControllers { memory: false, pids: false };
const BOTH: CgroupControllers = CgroupControllers { memory: true, pids: true };

#[test]
fn the_cgroup_of_the_host_is_divided() {
    let all = TestCgroupHierarchy::new();
    let own = all.group("a/b", "");
    assert_eq!(all.place(&own, false, nothing), Ok(CgroupPlace { directory: own, controllers: NONE }));
}

#[test]
fn the_root_of_the_machine_is_not_divided() {
    let all = TestCgroupHierarchy::new();
    assert_eq!(all.place(&all.0, false, nothing), Err(NoCgroups::Root));
}

#[test]
fn the_root_of_a_container_is_divided() {
    let all = TestCgroupHierarchy::new();
    let own = all.group("", "");
    assert_eq!(all.place(&own, false, nothing).map(|place| place.directory), Ok(own));
}

#[test]
fn root_divides_a_unit_of_systemd_only_if_it_is_delegated() {
    let all = TestCgroupHierarchy::new();
    let own = all.group("slice/unit", "");
    assert_eq!(all.place(&own, true, nothing), Err(NoCgroups::Managed));
    assert!(all.place(&own, true, unit).is_ok());
    let nested = all.group("slice/unit/deep/er", "");
    assert!(all.place(&nested, true, unit).is_ok(), "a cgroup below a delegated one");
}

#[test]
fn controllers_come_from_a_delegated_parent() {
    let all = TestCgroupHierarchy::new();
    let parent = all.group("slice/unit", "memory pids\n");
    let own = all.group("slice/unit/host", "");
    assert_eq!(all.place(&own, true, unit), Ok(CgroupPlace { directory: parent, controllers: BOTH }));
}

#[test]
fn a_parent_that_is_not_delegated_or_passes_nothing_on_is_left_alone() {
    let all = TestCgroupHierarchy::new();
    all.group("pod", "memory pids\n");
    let own = all.group("pod/container", "");
    let here = Ok(CgroupPlace { directory: own.clone(), controllers: NONE });
    assert_eq!(all.place(&own, false, nothing), here, "commands would leave the limits of the container");
    all.group("slice/unit", "");
    let own = all.group("slice/unit/host", "");
    assert_eq!(all.place(&own, false, unit).map(|place| place.directory), Ok(own));
}

#[test]
fn the_root_of_a_container_passes_its_controllers_on() {
    let all = TestCgroupHierarchy::new();
    let root = all.group("", "cpu memory\n");
    let own = all.group("host", "");
    let controllers = CgroupControllers { memory: true, pids: false };
    assert_eq!(all.place(&own, false, nothing), Ok(CgroupPlace { directory: root, controllers }));
}

#[test]
fn a_threaded_cgroup_and_an_old_kernel_are_named() {
    let all = TestCgroupHierarchy::new();
    let own = all.group("a", "");
    fs::write(own.join("cgroup.type"), "domain threaded\n").expect("a file");
    assert_eq!(all.place(&own, false, nothing), Err(NoCgroups::Threaded));
    fs::remove_file(own.join("cgroup.kill")).expect("a file");
    assert_eq!(all.place(&own, false, nothing), Err(NoCgroups::Old));
}

#[test]
fn attributes_of_delegation_are_read_from_the_file_system() {
    let all = TestCgroupHierarchy::new();
    let own = all.group("a", "");
    assert!(!is_delegated(&own));
    let path = CString::new(own.as_os_str().as_bytes()).expect("a path");
    // SAFETY: C strings, and one byte.
    let set = unsafe { libc::setxattr(path.as_ptr(), c"user.delegate".as_ptr(), c"1".as_ptr().cast(), 1, 0) };
    // Not every temporary directory has attributes.
    assert_eq!(is_delegated(&own), set == 0);
}
