//! Named pipes, as another process resolves their paths.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use nix::unistd::Pid;

use super::proc_root::proc_of;

/// Returns the path that a process means, if it names a FIFO.
pub(super) fn fifo_of(pid: Pid, folder: Option<i32>, path: &str) -> Option<String> {
    let from = match folder {
        None => fs::read_link(format!("{}/cwd", proc_of(pid))),
        Some(fd) => fs::read_link(format!("{}/fd/{fd}", proc_of(pid))),
    };
    let whole: PathBuf = from.unwrap_or_default().join(path);
    // As the process resolves it, which may have another root.
    let seen = Path::new(&format!("{}/root", proc_of(pid))).join(whole.strip_prefix("/").ok()?);
    let data = fs::metadata(seen).ok()?;
    data.file_type().is_fifo().then(|| whole.to_string_lossy().into_owned())
}
