//! Processes as `/proc` shows them.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::unistd::Pid;

use super::proc_root::{proc_of, proc_root};

/// Returns the children of a process, of all its threads.
pub fn children(pid: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let Ok(threads) = fs::read_dir(format!("{}/task", proc_of(pid))) else { return found };
    for thread in threads.flatten() {
        let Ok(text) = fs::read_to_string(thread.path().join("children")) else { continue };
        found.extend(text.split_ascii_whitespace().filter_map(|child| child.parse().ok()).map(Pid::from_raw));
    }
    found
}

/// Returns the children that a process's first thread started. For most processes these are all.
pub fn first_children(pid: Pid) -> Vec<Pid> {
    let text = fs::read_to_string(format!("{}/task/{pid}/children", proc_of(pid))).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|child| child.parse().ok()).map(Pid::from_raw).collect()
}

/// An open descriptor of a process: its entry in `/proc/PID/fd`.
pub(super) struct ProcessDescriptor(PathBuf);

/// How a descriptor was opened.
pub(super) struct DescriptorAccess {
    pub reads: bool,
    pub writes: bool,
}

/// Returns the open descriptors of a process: none if they may not be read.
pub(super) fn descriptors(pid: Pid) -> impl Iterator<Item = ProcessDescriptor> {
    let entries = fs::read_dir(format!("{}/fd", proc_of(pid))).into_iter().flatten().flatten();
    entries.map(|entry| ProcessDescriptor(entry.path()))
}

impl ProcessDescriptor {
    /// Returns the kernel's name for the file: a path, or `pipe:[…]` and the like.
    pub fn target(&self) -> Option<PathBuf> {
        fs::read_link(&self.0).ok()
    }

    /// Returns whether the file has one of these names.
    pub fn is_one_of(&self, names: &[PathBuf]) -> bool {
        self.target().is_some_and(|target| names.contains(&target))
    }

    /// Returns how the file was opened, from the mode of the entry itself.
    pub fn access(&self) -> DescriptorAccess {
        let mode = fs::symlink_metadata(&self.0).map_or(0, |data| data.permissions().mode());
        DescriptorAccess { reads: mode & 0o400 != 0, writes: mode & 0o200 != 0 }
    }

    /// Returns the inode of the file, if it is a regular one. Never asks the server of a network file system.
    pub fn inode(&self) -> Option<u64> {
        let data = self.status()?;
        (libc::mode_t::from(data.stx_mode) & libc::S_IFMT == libc::S_IFREG).then_some(data.stx_ino)
    }

    /// Returns the device and inode of the file, if it is a named pipe. Never asks the server of a network file system,
    /// which may not answer.
    pub fn fifo(&self) -> Option<((u32, u32), u64)> {
        let data = self.status()?;
        let is_fifo = libc::mode_t::from(data.stx_mode) & libc::S_IFMT == libc::S_IFIFO;
        is_fifo.then_some(((data.stx_dev_major, data.stx_dev_minor), data.stx_ino))
    }

    fn status(&self) -> Option<libc::statx> {
        let path = CString::new(self.0.as_os_str().as_bytes()).ok()?;
        let mut data = MaybeUninit::<libc::statx>::zeroed();
        let (flags, wanted) = (libc::AT_STATX_DONT_SYNC, libc::STATX_TYPE | libc::STATX_INO);
        // SAFETY: a system call that reads a terminated string and fills a structure of its own size.
        let done = unsafe { libc::statx(libc::AT_FDCWD, path.as_ptr(), flags, wanted, data.as_mut_ptr()) };
        // SAFETY: every bit pattern is valid, and it was zeroed.
        let data = unsafe { data.assume_init() };
        (done == 0).then_some(data)
    }
}

/// Returns the inodes of the files that a process has open or mapped for writing, if all of its threads sleep. `None`:
/// a thread runs, or the process may not be read. Empty if it is gone.
pub fn writable_at_rest(pid: Pid) -> Option<Vec<u64>> {
    let process = proc_of(pid);
    let is_gone = || !Path::new(&process).exists();
    let sleeps = |thread: fs::DirEntry| {
        let stat = fs::read(thread.path().join("stat")).unwrap_or_default();
        after_name(&stat).is_none_or(|fields| matches!(fields.first(), Some(&("S" | "T" | "t" | "Z" | "X" | "I"))))
    };
    let sleep = || fs::read_dir(format!("{process}/task")).map(|threads| threads.flatten().all(sleeps));
    let found = (|| {
        if !sleep()? {
            return Ok(None);
        }
        let mut inodes = Vec::new();
        for entry in fs::read_dir(format!("{process}/fd"))? {
            let open = ProcessDescriptor(entry?.path());
            inodes.extend(open.access().writes.then(|| open.inode()).flatten());
        }
        for line in fs::read_to_string(format!("{process}/maps"))?.lines() {
            let mut fields = line.split_ascii_whitespace();
            let is_shared = fields.nth(1).is_some_and(|mode| mode.contains('w') && mode.ends_with('s'));
            inodes.extend(fields.nth(2).filter(|_| is_shared).and_then(|inode| inode.parse::<u64>().ok()));
        }
        io::Result::Ok(sleep()?.then_some(inodes))
    })();
    match found {
        Ok(found) => found,
        Err(_) => is_gone().then(Vec::new),
    }
}

/// Distinguishes a process from a later process with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// The parent's pid.
    pub parent: Pid,
    /// The start time, in ticks since boot.
    pub started: u64,
    /// Whether the process has exited and was not reaped yet.
    pub zombie: bool,
    /// Whether a signal stopped the process.
    pub stopped: bool,
}

/// Returns the fields of `/proc/PID/stat` after the name, from the state on.
pub(super) fn after_name(stat: &[u8]) -> Option<Vec<&str>> {
    // The name may contain anything, including a closing parenthesis, so the fields start after the last one.
    let after = memchr::memrchr(b')', stat)? + 2;
    Some(std::str::from_utf8(stat.get(after..)?).ok()?.split_ascii_whitespace().collect())
}

/// Returns the identity of the process with this pid, or `None` without one.
pub fn identity(pid: Pid) -> Option<ProcessIdentity> {
    identity_below(proc_root(), pid)
}

/// Returns the same as [`identity`], from the procfs at `root`.
pub(super) fn identity_below(root: &str, pid: Pid) -> Option<ProcessIdentity> {
    let stat = fs::read(format!("{root}/{pid}/stat")).ok()?;
    let fields = after_name(&stat)?;
    Some(ProcessIdentity {
        parent: Pid::from_raw(fields.get(1)?.parse().ok()?),
        started: fields.get(19)?.parse().ok()?,
        // Other threads may run on when the first one has exited.
        zombie: matches!(*fields.first()?, "Z" | "X")
            && fields.get(17).is_none_or(|threads| matches!(*threads, "0" | "1")),
        stopped: matches!(*fields.first()?, "T" | "t"),
    })
}

/// Returns whether a process must exit and cannot prevent it, though it may still be there.
pub fn is_dying(pid: Pid) -> bool {
    is_dying_below(proc_root(), pid)
}

/// Returns the same as [`is_dying`], from the procfs at `root`.
pub(super) fn is_dying_below(root: &str, pid: Pid) -> bool {
    const EXITING: u64 = 0x4;
    const KILL: u64 = 1 << (libc::SIGKILL - 1);
    // One read, because this is on the way of each command. The line is shorter.
    let mut stat = [0; 1024];
    let read = File::open(format!("{root}/{pid}/stat")).and_then(|mut file| file.read(&mut stat));
    let Some(fields) = read.ok().and_then(|length| after_name(&stat[..length])) else { return true };
    let has = |at: usize, bit: u64| {
        fields.get(at).and_then(|field| field.parse().ok()).is_some_and(|all: u64| all & bit != 0)
    };
    // Kernel flags, and pending signals.
    has(6, EXITING) || has(28, KILL)
}

/// Returns all processes.
pub fn every_process() -> Vec<Pid> {
    let Ok(all) = fs::read_dir(proc_root()) else { return Vec::new() };
    all.flatten().filter_map(|process| process.file_name().to_str()?.parse().ok()).map(Pid::from_raw).collect()
}

/// Returns every process whose environment contains this entry (`NAME=VALUE`).
pub fn processes_with(entry: &str) -> Vec<Pid> {
    let has_entry = |pid: &Pid| {
        let environment = fs::read(format!("{}/environ", proc_of(*pid))).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
    };
    every_process().into_iter().filter(has_entry).collect()
}

/// Returns the command line of a process, its arguments separated by spaces, or its name in brackets. `None` if it is
/// gone.
pub fn command_line(pid: Pid) -> Option<String> {
    let bytes = fs::read(format!("{}/cmdline", proc_of(pid))).ok()?;
    let words: Vec<_> =
        bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty()).map(String::from_utf8_lossy).collect();
    if words.is_empty() {
        let name = fs::read_to_string(format!("{}/comm", proc_of(pid))).ok()?;
        return Some(format!("[{}]", name.trim_end()));
    }
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ForkOutcome;

    #[test]
    fn a_process_whose_first_thread_has_exited_lives() {
        let ForkOutcome::Parent(child) = crate::fork().expect("forked") else {
            std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_secs(60)));
            // SAFETY: it ends this thread alone, which holds nothing that the other one uses.
            unsafe { libc::syscall(libc::SYS_exit, 0) };
            crate::exit_now(1)
        };
        let state = || fs::read_to_string(format!("/proc/{child}/stat")).expect("there");
        while !state().contains(") Z ") {
            std::thread::yield_now();
        }
        assert!(identity(child).is_some_and(|identity| !identity.zombie));
        crate::signal(child, libc::SIGKILL.try_into().expect("a signal"));
        let _ = nix::sys::wait::waitpid(child, None);
    }
}
