//! Paths that mean other files for this process than for a caller, because they lead through `/proc`.

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use super::caller_path::PathStart;
use super::proc_links::LINKS;
use super::unrecorded_syscall::{UnrecordedSyscall, to_path};
use sys::LinkResolution;

const WHY: &str = "its path leads through another process";

/// Skips a path in `/proc`, which is missed if a link there leads on to other files. `end` is its part behind the
/// directory of a process, or the whole path.
pub(super) fn in_proc(path: &[u8], end: &[u8]) -> UnrecordedSyscall {
    let mut parts = end.split(|byte| *byte == b'/');
    let leads_on = parts.any(|part| matches!(part, b"fd" | b"cwd" | b"root" | b"map_files"));
    if leads_on { skip_missed(path) } else { UnrecordedSyscall::Nothing }
}

/// Skips a path to a directory that this process does not find. The caller does not find it either, unless the path
/// leads through `/proc`.
pub(super) fn not_found(shown: &[u8], base: PathStart, path: &[u8]) -> UnrecordedSyscall {
    if shown.starts_with(b"/proc/") {
        return in_proc(shown, shown);
    }
    if enters_proc(base, path) { skip_missed(shown) } else { UnrecordedSyscall::Nothing }
}

/// Returns whether a directory is one of this process itself. A path that leads there would lead its caller to another.
pub(super) fn is_of_listener(directory: &Path) -> bool {
    directory.strip_prefix("/proc").is_ok_and(|rest| rest.starts_with(std::process::id().to_string()))
}

pub(super) fn skip_missed(path: &[u8]) -> UnrecordedSyscall {
    UnrecordedSyscall::Missed(to_path(path), WHY)
}

/// Returns whether a path leads to `/proc`, step by step and link by link.
fn enters_proc(base: PathStart, path: &[u8]) -> bool {
    let steps = |path: &[u8]| -> Vec<Vec<u8>> { path.rsplit(|byte| *byte == b'/').map(<[u8]>::to_vec).collect() };
    let root = || sys::open_directory(PathStart::Root.descriptor(), c"/", LinkResolution::Texts).ok().map(Arc::new);
    let start = |base, path: &[u8]| match base {
        PathStart::Directory(directory) if path.first() != Some(&b'/') => Some(directory),
        _ => root(),
    };
    let Some(mut at) = start(base, path) else { return false };
    let mut rest = steps(path);
    let mut links = 0;
    while let Some(step) = rest.pop() {
        if sys::is_of_proc(at.as_fd()).unwrap_or(false) {
            return true;
        }
        if step.is_empty() {
            continue;
        }
        let Ok(name) = CString::new(step) else { return false };
        let next: Option<Arc<OwnedFd>> = match sys::link_text(at.as_fd(), &name) {
            Ok(link) if links < LINKS => {
                links += 1;
                rest.extend(steps(link.to_bytes()));
                start(PathStart::Directory(at), link.to_bytes())
            }
            Ok(_) => None,
            Err(_) => sys::open_directory(at.as_fd(), &name, LinkResolution::Nothing).ok().map(Arc::new),
        };
        let Some(next) = next else { return false };
        at = next;
    }
    false
}
