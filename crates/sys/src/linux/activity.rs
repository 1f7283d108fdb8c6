//! The activity of a process, from `/proc`.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Instant;

use nix::unistd::Pid;

use super::proc::after_name;
use super::proc_root::{proc_of, proc_root};
use super::syscalls::call_of;
use crate::{OpenFile, OpenFileKind, ProcessActivity, ThreadActivity};

/// Whether this platform can tell a process's activity.
pub const ACTIVITY_IS_KNOWN: bool = true;

/// Threads that are read of one process. A process with more is not analysed.
const MOST_THREADS: usize = 256;

/// Returns a process's current activity, or `None` if it is gone, has exited or could not be read in time.
pub fn activity(pid: Pid, until: Instant) -> Option<ProcessActivity> {
    let stat = fs::read(format!("{}/stat", proc_of(pid))).ok()?;
    let fields = after_name(&stat)?;
    let number = |at: usize| fields.get(at)?.parse::<i32>().ok();
    let state = *fields.first()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    let name = stat.get(memchr::memchr(b'(', &stat)? + 1..memchr::memrchr(b')', &stat)?)?;
    let mut files = files_of(pid, until)?;
    let stopped = state == "T";
    let calls = if stopped { Some(Vec::new()) } else { calls_of(pid, &files, until) };
    classify_awaited_files(pid, &mut files, calls.as_deref().unwrap_or_default());
    Some(ProcessActivity {
        pid: pid.as_raw(),
        parent: number(1)?,
        group: number(2)?,
        foreground: number(5).filter(|group| *group > 0),
        name: String::from_utf8_lossy(name).into_owned(),
        stopped,
        calls,
        files,
    })
}

/// Returns the activity of all threads, the first one first. If the list changes meanwhile, the process is working.
fn calls_of(pid: Pid, files: &[OpenFile], until: Instant) -> Option<Vec<ThreadActivity>> {
    let mut threads: Vec<i32> = fs::read_dir(format!("{}/task", proc_of(pid)))
        .ok()?
        .flatten()
        .filter_map(|thread| thread.file_name().to_str()?.parse().ok())
        .take(MOST_THREADS + 1)
        .collect();
    threads.sort_unstable_by_key(|thread| (*thread != pid.as_raw(), *thread));
    if threads.len() > MOST_THREADS {
        return Some(vec![ThreadActivity::Busy]);
    }
    let mut calls = Vec::with_capacity(threads.len());
    for thread in threads {
        if Instant::now() >= until {
            return Some(vec![ThreadActivity::Busy]);
        }
        let folder = format!("{}/task/{thread}", proc_of(pid));
        let stat = fs::read(format!("{folder}/stat")).unwrap_or_default();
        if after_name(&stat).and_then(|fields| fields.first().copied()) != Some("S") {
            calls.push(ThreadActivity::Busy);
            continue;
        }
        // A process of another user, or a process that has changed its user, may not be read.
        let line = fs::read_to_string(format!("{folder}/syscall")).ok()?;
        calls.push(call_of(pid, &line, files).unwrap_or(ThreadActivity::Busy));
    }
    Some(calls)
}

/// Returns the open files of a process: none if they may not be read, and `None` past the time bound.
fn files_of(pid: Pid, until: Instant) -> Option<Vec<OpenFile>> {
    let Ok(entries) = fs::read_dir(format!("{}/fd", proc_of(pid))) else { return Some(Vec::new()) };
    let mut files = Vec::new();
    for entry in entries.flatten() {
        if Instant::now() >= until {
            return None;
        }
        files.extend(read_open_file(&entry.path()));
    }
    files.sort_unstable_by_key(|file| file.fd);
    Some(files)
}

fn read_open_file(link: &Path) -> Option<OpenFile> {
    let fd = link.file_name()?.to_str()?.parse().ok()?;
    let name = fs::read_link(link).ok()?.to_string_lossy().into_owned();
    // The mode of the link itself tells how the file was opened. Its target may be on a disk that does not answer.
    let mode = fs::symlink_metadata(link).ok()?.permissions().mode();
    let file = kind(link, &name);
    Some(OpenFile { fd, name, file, reads: mode & 0o400 != 0, writes: mode & 0o200 != 0 })
}

fn kind(link: &Path, name: &str) -> OpenFileKind {
    if name.starts_with("pipe:[") {
        return OpenFileKind::Pipe;
    }
    if let Some(kind) = name.strip_prefix("anon_inode:") {
        let own = ["[eventfd]", "[signalfd]", "[eventpoll]"].contains(&kind);
        return if own { OpenFileKind::Own } else { OpenFileKind::Other };
    }
    match name {
        "/dev/null" => OpenFileKind::Null,
        "/dev/ptmx" | "/dev/pts/ptmx" => terminal_number(link).map_or(OpenFileKind::Other, OpenFileKind::Master),
        _ if name.starts_with("/dev/pts/") || name.starts_with("/dev/tty") || name == "/dev/console" => {
            OpenFileKind::Terminal
        }
        // The type is in the file system, which may be on a disk that does not answer: see below.
        _ => OpenFileKind::Other,
    }
}

/// Returns the number of the terminal whose controlling end this is.
fn terminal_number(link: &Path) -> Option<u32> {
    let info = link.parent()?.parent()?.join("fdinfo").join(link.file_name()?);
    let text = fs::read_to_string(info).ok()?;
    text.lines().find_map(|line| line.strip_prefix("tty-index:"))?.trim().parse().ok()
}

/// Finds FIFOs and terminals by their type, only for files that a thread is blocked on. A thread blocked on a disk
/// cannot be interrupted, so these files are not on one.
fn classify_awaited_files(pid: Pid, files: &mut [OpenFile], calls: &[ThreadActivity]) {
    let mut waited: Vec<i32> = Vec::new();
    for call in calls {
        match call {
            ThreadActivity::Read(fd) | ThreadActivity::Write(fd) => waited.push(*fd),
            ThreadActivity::Poll { reads, writes, .. } => waited.extend(reads.iter().chain(writes)),
            _ => {}
        }
    }
    let unknown = |file: &&mut OpenFile| file.file == OpenFileKind::Other && file.name.starts_with('/');
    for file in files.iter_mut().filter(unknown).filter(|file| waited.contains(&file.fd)) {
        file.file = match fs::metadata(format!("{}/fd/{}", proc_of(pid), file.fd)) {
            Ok(data) if data.file_type().is_fifo() => OpenFileKind::Fifo,
            Ok(data) if data.file_type().is_char_device() && is_terminal(data.rdev()) => OpenFileKind::Terminal,
            _ => OpenFileKind::Other,
        };
    }
}

/// Returns whether the kernel uses a device number for terminals, pseudo-terminals and `/dev/tty` included.
fn is_terminal(device: u64) -> bool {
    let major = libc::major(device);
    (136..144).contains(&major) || major == 4 || (major == 5 && libc::minor(device) < 2)
}

/// Returns the other processes of this machine that have this FIFO open for writing, by their kernel names. `None` if
/// not all of them could be read in time.
pub fn fifo_writers(fifo: &str, besides: &[i32], until: Instant) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for process in fs::read_dir(proc_root()).ok()?.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        if besides.contains(&pid) {
            continue;
        }
        // Processes of other users are invisible, and nothing is guessed about them.
        for link in fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten() {
            if Instant::now() >= until {
                return None;
            }
            let link = link.path();
            if fs::read_link(&link).is_ok_and(|target| target == Path::new(fifo))
                && fs::symlink_metadata(&link).is_ok_and(|data| data.permissions().mode() & 0o200 != 0)
            {
                let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                found.push(name.trim_end().to_owned());
            }
        }
    }
    Some(found)
}
