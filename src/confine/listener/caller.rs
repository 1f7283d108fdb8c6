//! The threads that wait for answers, as `/proc` and the memory of their processes show them.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag};

use super::own::OwnMounts;
use crate::sys::{self, Follow, Process};

/// Threads that are remembered. Beyond that all are forgotten.
const REMEMBERED: usize = 256;
/// The longest path with its NUL, bytes.
const PATH_MAX: usize = 4096;
/// Bytes of a path that are read at first, because most are shorter.
const FIRST: usize = 256;
const PAGE: u64 = 4096;

/// Time for which a pid cannot have another owner: the kernel gives out all others first.
const PIDS_LAST: Duration = Duration::from_millis(50);

/// A thread.
pub(super) struct Caller {
    /// Its directory in `/proc`. It stays that of this thread, whatever becomes of the pid.
    pub directory: OwnedFd,
    /// Its process.
    pub process: Process,
    /// The pid of its process.
    pub pid: i32,
    /// Its mask for new files. The listener sees each change of it.
    pub umask: u32,
    /// When its process was known to exist.
    seen: Instant,
    own: Rc<OwnMounts>,
}

impl Caller {
    fn find(thread: i32, own: Rc<OwnMounts>) -> Result<Self, Errno> {
        if thread <= 0 {
            return Err(Errno::ESRCH);
        }
        let path = text(format!("/proc/{thread}"))?;
        let directory = sys::open_directory(AT_FDCWD, &path, Follow::Texts)?;
        let status = sys::open_path(directory.as_fd(), c"status", OFlag::O_RDONLY.bits(), 0, Follow::Texts)?;
        let mut buffer = [0_u8; 1024];
        let length = nix::unistd::read(&status, &mut buffer)?;
        let status = String::from_utf8_lossy(&buffer[..length]);
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let umask = field("Umask:").and_then(|mask| u32::from_str_radix(mask, 8).ok()).ok_or(Errno::ESRCH)?;
        let pid = field("Tgid:").and_then(|pid| pid.parse().ok()).ok_or(Errno::ESRCH)?;
        let process = Process::open(pid).map_err(|_| Errno::ESRCH)?;
        Ok(Self { directory, process, pid, umask, seen: Instant::now(), own })
    }

    /// Opens the current directory. Fails if it belongs to another world.
    pub fn current(&self) -> Result<OwnedFd, Errno> {
        let directory = sys::open_directory(self.directory.as_fd(), c"cwd", Follow::Everything)?;
        self.own.check(directory.as_fd()).map(|()| directory)
    }

    /// Opens a directory that a descriptor refers to. Fails if it belongs to another world.
    pub fn open_descriptor(&self, number: i32) -> Result<OwnedFd, Errno> {
        if number < 0 {
            return Err(Errno::EBADF);
        }
        let opened = sys::open_directory(self.directory.as_fd(), &text(format!("fd/{number}"))?, Follow::Everything);
        let opened = opened.map_err(|errno| if errno == Errno::ENOENT { Errno::EBADF } else { errno })?;
        self.own.check(opened.as_fd()).map(|()| opened)
    }

    /// Whether no other thread can change its descriptors.
    pub fn is_alone(&self) -> bool {
        sys::has_one_thread(self.directory.as_fd())
    }

    /// The basename of its executable, or an empty text if it is gone.
    pub fn program(&self) -> String {
        let path = sys::link_text(self.directory.as_fd(), c"exe").unwrap_or_default();
        let path = path.to_string_lossy();
        path.trim_end_matches(" (deleted)").rsplit('/').next().unwrap_or_default().to_owned()
    }
}

/// The threads that have asked.
#[derive(Default)]
pub(super) struct Callers {
    known: HashMap<i32, Caller>,
    own: Rc<OwnMounts>,
}

impl Callers {
    /// Returns a thread. The pid may have had another owner before the last question of that thread.
    pub fn get(&mut self, thread: i32) -> Result<&Caller, Errno> {
        let now = Instant::now();
        let lives = |known: &mut Caller| {
            let recent = now.duration_since(known.seen) < PIDS_LAST;
            if !recent && known.process.lives() {
                known.seen = now;
            }
            now.duration_since(known.seen) < PIDS_LAST
        };
        if !self.known.get_mut(&thread).is_some_and(lives) {
            if self.known.len() >= REMEMBERED {
                self.known.clear();
            }
            self.known.insert(thread, Caller::find(thread, Rc::clone(&self.own))?);
        }
        self.known.get(&thread).ok_or(Errno::ESRCH)
    }

    /// Forgets facts that may have changed until this command.
    pub fn on_command(&self) {
        self.own.forget();
    }

    /// Notes the mask that a process is about to set.
    pub fn set_umask(&mut self, thread: i32, umask: u32) {
        if let Ok(pid) = self.get(thread).map(|caller| caller.pid) {
            self.known.values_mut().filter(|known| known.pid == pid).for_each(|known| known.umask = umask);
        }
    }
}

/// Makes a C string of a text of ours.
pub(super) fn text(text: impl Into<Vec<u8>>) -> Result<CString, Errno> {
    CString::new(text).map_err(|_| Errno::EINVAL)
}

/// Reads a string of a thread, once.
pub(super) fn read_text(thread: i32, at: u64) -> Result<CString, Errno> {
    // Most paths are short.
    let mut first = [0; FIRST];
    let count = FIRST.min((PAGE - at % PAGE) as usize);
    let got = sys::read_foreign(thread, at, &mut first[..count])?;
    if let Some(end) = memchr::memchr(0, &first[..got]) {
        return text(&first[..end]);
    }
    read_long(thread, at)
}

/// Reads a string of any length, as far as the kernel allows a path.
fn read_long(thread: i32, at: u64) -> Result<CString, Errno> {
    let mut bytes = Vec::new();
    while bytes.len() < PATH_MAX {
        let from = at.checked_add(bytes.len() as u64).ok_or(Errno::EFAULT)?;
        // The next page may not exist.
        let count = ((PAGE - from % PAGE) as usize).min(PATH_MAX - bytes.len());
        let known = bytes.len();
        bytes.resize(known + count, 0);
        let got = sys::read_foreign(thread, from, &mut bytes[known..])?;
        bytes.truncate(known + got);
        if let Some(end) = memchr::memchr(0, &bytes[known..]) {
            bytes.truncate(known + end);
            return text(bytes);
        }
        if got == 0 {
            return Err(Errno::EFAULT);
        }
    }
    Err(Errno::ENAMETOOLONG)
}

/// Reads exactly so many bytes of a thread, once.
pub(super) fn read_bytes(thread: i32, at: u64, count: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; count];
    if count > 0 && sys::read_foreign(thread, at, &mut bytes)? < count {
        return Err(Errno::EFAULT);
    }
    Ok(bytes)
}

/// The path that a descriptor of ours has now.
pub(super) fn path_of(file: BorrowedFd<'_>) -> Result<CString, Errno> {
    sys::link_text(AT_FDCWD, &link_of(file)?)
}

/// The path in `/proc` that stands for a descriptor of ours.
pub(super) fn link_of(file: BorrowedFd<'_>) -> Result<CString, Errno> {
    use std::os::fd::AsRawFd;
    text(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
