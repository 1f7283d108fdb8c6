//! The places that paths of a caller mean, where the listener opens files for it.
//!
//! The listener follows paths as itself, so `/proc/self` and `/dev/fd` would be its own. They are recognised at the
//! beginning of a path, and at the end of a link.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;

use super::super::caller::{CallerTable, CallerThread};
use super::super::caller_path::{CallerPath, PathStart};
use super::super::proc_links::{c_string, path_of};
use confine_world::ListenerHeldWorld;
use sys::LinkResolution;

/// Returns the place of a path, relative to a descriptor of the caller or `AT_FDCWD`. `held` has what is
/// in the places of `/dev/shm` and `/proc`.
pub(crate) fn resolve_path(
    callers: &mut CallerTable,
    thread: i32,
    (descriptor, path): (i32, CString),
    held: &ListenerHeldWorld,
) -> Result<CallerPath, Errno> {
    let caller = callers.get(thread)?;
    let absolute = match path.to_bytes() {
        [] => return Err(Errno::ENOENT),
        [b'/', ..] => path,
        relative => {
            let base = caller.open_path_start(descriptor)?;
            let list = held.roster().is_list(sys::file_status(base.as_fd())?.id);
            if list {
                c_string([b"/proc/", relative].concat())?
            } else if sys::is_of_proc(base.as_fd())? {
                c_string([path_of(base.as_fd())?.to_bytes(), b"/", relative].concat())?
            } else {
                return Ok(CallerPath::Path(PathStart::Directory(callers.remember_base(base)), path));
            }
        }
    };
    let words: Vec<_> =
        absolute.to_bytes().split(|byte| *byte == b'/').filter(|word| !matches!(*word, b"" | b".")).collect();
    let own = |path: &[u8]| {
        Ok(CallerPath::OwnProc(caller.directory.try_clone().map_err(|_| Errno::EMFILE)?, c_string(path)?))
    };
    let is_own = |word: &[u8]| {
        matches!(word, b"self" | b"thread-self")
            || [caller.pid, thread].iter().any(|pid| word == pid.to_string().as_bytes())
    };
    match words.as_slice() {
        [b"dev", b"stdin"] => path_of_open_file(caller, b"0", &[]),
        [b"dev", b"stdout"] => path_of_open_file(caller, b"1", &[]),
        [b"dev", b"stderr"] => path_of_open_file(caller, b"2", &[]),
        [b"dev", b"fd"] => own(b"fd"),
        [b"dev", b"fd", number, rest @ ..] => path_of_open_file(caller, number, rest),
        [b"dev", b"shm", rest @ ..]
            if held.shared_memory_directory().is_some() && !rest.contains(&b"..".as_slice()) =>
        {
            let path = c_string(held.shared_memory_directory().unwrap_or(Path::new("/")).as_os_str().as_bytes())?;
            path_below(sys::open_directory(AT_FDCWD, &path, LinkResolution::Texts)?, rest)
        }
        [b"proc", pid] if is_own(pid) => own(b"."),
        [b"proc", pid, b"fd"] if is_own(pid) => own(b"fd"),
        [b"proc", pid, b"fd", number, rest @ ..] if is_own(pid) => path_of_open_file(caller, number, rest),
        [b"proc", pid, ..] if !is_own(pid) => Ok(CallerPath::Path(PathStart::Root, absolute)),
        _ => CallerPath::of(caller, libc::AT_FDCWD, absolute),
    }
}

/// Returns the place of a file that the caller has open, or of a path below it.
fn path_of_open_file(caller: &CallerThread, number: &[u8], rest: &[&[u8]]) -> Result<CallerPath, Errno> {
    let number = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok()).ok_or(Errno::ENOENT)?;
    let known = |errno| if errno == Errno::EBADF { Errno::ENOENT } else { errno };
    if rest.is_empty() {
        return caller.place_of_descriptor(number).map(CallerPath::Open).map_err(known);
    }
    path_below(caller.open_descriptor(number).map_err(known)?, rest)
}

fn path_below(directory: OwnedFd, rest: &[&[u8]]) -> Result<CallerPath, Errno> {
    let path = if rest.is_empty() { b".".to_vec() } else { rest.join(&b'/') };
    Ok(CallerPath::Path(PathStart::Directory(directory.into()), c_string(path)?))
}

/// Returns the place of the caller that this process has found for itself in `/proc`. `None`: the path is another one.
pub(super) fn in_the_place_of(caller: &CallerThread, path: &Path) -> Result<Option<CallerPath>, Errno> {
    let own = || path.strip_prefix("/proc").ok()?.strip_prefix(std::process::id().to_string()).ok();
    let Some(rest) = own() else { return Ok(None) };
    let rest = if rest.as_os_str().is_empty() { OsStr::new(".") } else { rest.as_os_str() };
    let directory = caller.directory.try_clone().map_err(|_| Errno::EMFILE)?;
    Ok(Some(CallerPath::OwnProc(directory, c_string(rest.as_bytes())?)))
}

/// Returns whether the caller has the other end of this terminal open.
pub(super) fn has_master(thread: i32, terminal: u64) -> bool {
    // Terminals have the majors 136 to 143, with 256 minors each in this form of the number.
    let line = format!("tty-index:\t{}", (terminal & 0xff) | ((terminal >> 12) & 0xf_ff00));
    let facts = std::fs::read_dir(format!("/proc/{thread}/fdinfo")).into_iter().flatten().flatten();
    facts
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
        .any(|facts| facts.lines().any(|one| one == line))
}
