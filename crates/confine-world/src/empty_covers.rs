//! An empty directory and an empty file that no process may read.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::step_failure::{StepContext, WorldStepFailure};
use confine_gate::RESOLV_CONF;
use sys::MountFlags;

/// Covers for hidden paths, in one read-only mount.
#[derive(Debug)]
pub(super) struct EmptyCovers {
    directory: File,
    file: File,
    resolver: File,
}

impl EmptyCovers {
    /// Creates the mount and attaches it at `/proc`, where a procfs will cover it. Only attached mounts can be copied.
    pub fn new() -> Result<Self, WorldStepFailure> {
        let created = || -> io::Result<Self> {
            let at = Path::new("/proc");
            sys::attach_tree(&sys::new_mount(c"tmpfs", &[(c"mode", Some(c"0700"))], MountFlags::NO_DEVICES)?, at)?;
            let (directory, file) = (at.join("directory"), at.join("file"));
            fs::create_dir(&directory)?;
            fs::write(&file, "")?;
            for path in [&directory, &file] {
                fs::set_permissions(path, Permissions::from_mode(0o000))?;
            }
            let text = at.join("resolv.conf");
            fs::write(&text, RESOLV_CONF)?;
            let flags = MountFlags { no_exec: true, no_dev: true, ..MountFlags::READ_ONLY };
            sys::restrict_path(at, flags, false)?;
            Ok(Self {
                directory: sys::open_unread(&directory)?,
                file: sys::open_unread(&file)?,
                resolver: sys::open_unread(&text)?,
            })
        };
        created().at_step(|| "covers for hidden paths".into())
    }

    /// Covers a path. A missing path needs no cover.
    pub fn cover(&self, at: &Path) -> io::Result<()> {
        self.cover_with(at, &self.file)
    }

    /// Covers a path, with this file unless a directory is there.
    pub fn cover_with(&self, at: &Path, file: &File) -> io::Result<()> {
        let Ok(data) = fs::symlink_metadata(at) else { return Ok(()) };
        let cover = if data.is_dir() { &self.directory } else { file };
        let tree = sys::copy_tree_at(cover.as_fd(), Path::new(""))?;
        sys::restrict_tree(&tree, MountFlags::READ_ONLY)?;
        sys::attach_tree(&tree, at)
    }

    /// Returns a `resolv.conf` that names the gate.
    pub fn resolver_file(&self) -> io::Result<File> {
        self.resolver.try_clone()
    }
}
