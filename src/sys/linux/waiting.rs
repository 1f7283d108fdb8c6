//! What a shell that waits for its command allows from outside.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::Pid;

use super::after_name;

/// Whether a started shell can be given its command later.
pub const SHELLS_CAN_WAIT: bool = true;

/// Writes over the arguments of a child, from `skip` bytes after their beginning on. Fails where a process may not touch
/// its own child's memory (Yama's `ptrace_scope` 2 and 3, a filter), and when there is less room. `WouldBlock`: it is not
/// known where they are, since the program is just being executed, or for good.
pub fn overwrite_arguments(pid: Pid, skip: usize, bytes: &[u8]) -> io::Result<()> {
    let stat = fs::read(format!("/proc/{pid}/stat"))?;
    let field = |at: usize| after_name(&stat).and_then(|fields| fields.get(at)?.parse::<usize>().ok());
    // Where the arguments begin and end; 0 before that is settled, and for those who may not know.
    let (Some(start @ 1..), Some(end @ 1..)) = (field(45), field(46)) else {
        return Err(io::ErrorKind::WouldBlock.into());
    };
    if start + skip + bytes.len() > end {
        return Err(io::Error::from_raw_os_error(libc::EFAULT));
    }
    let ours = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let theirs = libc::iovec { iov_base: std::ptr::without_provenance_mut(start + skip), iov_len: bytes.len() };
    // SAFETY: reads from our slice only; what it is written over is the child's, and the kernel checks that it is there.
    let written = unsafe { libc::process_vm_writev(pid.as_raw(), &raw const ours, 1, &raw const theirs, 1, 0) };
    match usize::try_from(written) {
        Ok(written) if written == bytes.len() => Ok(()),
        Ok(_) => Err(io::Error::from_raw_os_error(libc::EFAULT)),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Whether a process still is in the folder that has this path now, and runs the program that has this path now.
pub fn is_current(pid: Pid, folder: &Path, program: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|data| (data.dev(), data.ino())).ok();
    let same = |path: &Path, link: &str| {
        let now = identity(path);
        now.is_some() && now == identity(Path::new(&format!("/proc/{pid}/{link}")))
    };
    // The dot needs the right to search the folder, as entering it does.
    same(&folder.join("."), "cwd") && same(program, "exe")
}
