//! A small `/dev`.

use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::step_failure::{StepContext, WorldStepFailure};
use confine_policy::TmpPlacement;
use sys::MountFlags;

/// Devices of the host that a world has.
const DEVICES: [&str; 6] = ["full", "null", "random", "tty", "urandom", "zero"];
/// Links that programs expect.
const LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "fd"),
    ("pts/ptmx", "ptmx"),
    ("/proc/self/fd/2", "stderr"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
];

/// Copies of the host's devices, by their names.
pub(super) type DeviceCopies = Vec<(&'static str, OwnedFd)>;

/// Copies the host's devices before they are covered.
pub(super) fn copy_devices() -> Result<DeviceCopies, WorldStepFailure> {
    let copy = |name: &'static str| -> Option<io::Result<(&str, OwnedFd)>> {
        let path = Path::new("/dev").join(name);
        let copied = || {
            let tree = sys::copy_tree(&path)?;
            // Writing to a device does not change its file.
            sys::restrict_tree(&tree, MountFlags { read_only: true, ..MountFlags::PLAIN })?;
            Ok((name, tree))
        };
        path.exists().then(copied)
    };
    DEVICES.into_iter().filter_map(copy).collect::<io::Result<_>>().at_step(|| "the devices".into())
}

/// Copies the host's shared memory, if it is shared.
pub(super) fn shared_memory(tmp: TmpPlacement) -> Result<Option<OwnedFd>, WorldStepFailure> {
    let shm = Path::new("/dev/shm");
    let shared = tmp == TmpPlacement::Shared && shm.is_dir();
    shared.then(|| sys::copy_tree(shm)).transpose().at_step(|| "the shared memory".into())
}

/// Mounts `/dev`, with these devices and this shared memory, or an own one.
pub(super) fn mount_devices(devices: DeviceCopies, shared: Option<OwnedFd>) -> Result<(), WorldStepFailure> {
    let dev = Path::new("/dev");
    let new = |kind: &CStr, options: &[(&CStr, Option<&CStr>)], at: &Path| -> io::Result<()> {
        sys::attach_tree(&sys::new_mount(kind, options, MountFlags::PLAIN)?, at)
    };
    let attached = || -> io::Result<()> {
        new(c"tmpfs", &[(c"mode", Some(c"0755"))], dev)?;
        for (name, node) in &devices {
            let at = dev.join(name);
            File::create_new(&at)?;
            sys::attach_tree(node, &at)?;
        }
        for (target, name) in LINKS {
            symlink(target, dev.join(name))?;
        }
        let (pts, shm) = (dev.join("pts"), dev.join("shm"));
        fs::create_dir(&pts)?;
        fs::create_dir(&shm)?;
        new(c"devpts", &[(c"ptmxmode", Some(c"0666")), (c"mode", Some(c"0620"))], &pts)?;
        match &shared {
            Some(shared) => sys::attach_tree(shared, &shm)?,
            None => new(c"tmpfs", &[(c"mode", Some(c"1777"))], &shm)?,
        }
        sys::restrict_path(dev, MountFlags { read_only: true, ..MountFlags::PLAIN }, false)
    };
    attached().at_step(|| "/dev".into())
}
