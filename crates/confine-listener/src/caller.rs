//! The threads that wait for answers, as seen through `/proc` and the memory of their processes.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::io::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag};

use super::own_mounts::OwnMounts;
use super::proc_links::c_string;
use super::recent_directories::{RecentDirectories, RememberedDirectory};
use super::rights::ThreadRights;
use sys::{ExistingFile, LinkResolution, PidfdProcess, PlaceId};

/// The most threads that are remembered. Beyond that, all are forgotten.
const REMEMBERED: usize = 256;
/// The most directories that are remembered because paths begin there. Beyond that, all are forgotten.
const REMEMBERED_BASES: usize = 64;
/// The longest path with its NUL, bytes.
const PATH_MAX: usize = 4096;
/// Bytes of a path that are read at first, because most are shorter.
const FIRST: usize = 256;
const PAGE: u64 = 4096;

/// A thread that made a call.
pub(super) struct CallerThread {
    /// The thread's directory in `/proc`. It keeps referring to this thread even if the pid is reused.
    pub directory: OwnedFd,
    /// The process of the thread.
    pub process: PidfdProcess,
    /// The pid of the process.
    pub pid: i32,
    /// The umask. The listener sees each change of it.
    pub umask: u32,
    /// The number of the call at which the thread was found.
    found_at: u64,
    /// The number of the last call at which the thread was known to exist.
    seen_at: u64,
    /// The mounts of the caller's world. `None`: the mounts of any world are allowed.
    own: Option<Rc<OwnMounts>>,
    /// Whether the thread sees the same files at the same paths as this process. `None`: not checked yet.
    sees_same: Option<bool>,
    /// The directory and the name of the last file that the thread was about to create, where nothing existed.
    pub created: Option<(Arc<OwnedFd>, CString)>,
    /// A file that the thread has created and has had open since.
    pub newest: Option<ExistingFile>,
    /// Whether the thread has the rights of this process. `None`: not checked yet.
    is_equal: Option<bool>,
}

impl CallerThread {
    fn find(thread: i32, own: Option<Rc<OwnMounts>>, call: u64) -> Result<Self, Errno> {
        if thread <= 0 {
            return Err(Errno::ESRCH);
        }
        let path = c_string(format!("/proc/{thread}"))?;
        let directory = sys::open_directory(AT_FDCWD, &path, LinkResolution::Texts)?;
        let status = sys::open_path(directory.as_fd(), c"status", OFlag::O_RDONLY.bits(), 0, LinkResolution::Texts)?;
        let mut buffer = [0_u8; 1024];
        let length = nix::unistd::read(&status, &mut buffer)?;
        let status = String::from_utf8_lossy(&buffer[..length]);
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let umask = field("Umask:").and_then(|mask| u32::from_str_radix(mask, 8).ok()).ok_or(Errno::ESRCH)?;
        let pid = field("Tgid:").and_then(|pid| pid.parse().ok()).ok_or(Errno::ESRCH)?;
        let process = PidfdProcess::open(pid).map_err(|_| Errno::ESRCH)?;
        Ok(Self {
            directory,
            process,
            pid,
            umask,
            found_at: call,
            seen_at: call,
            own,
            sees_same: None,
            created: None,
            newest: None,
            is_equal: None,
        })
    }

    /// Opens the directory at which a path begins: that of a descriptor, or the current one for `AT_FDCWD`. Fails if it
    /// belongs to another world.
    pub fn open_path_start(&self, descriptor: i32) -> Result<OwnedFd, Errno> {
        if descriptor == libc::AT_FDCWD { self.open_current_directory() } else { self.open_descriptor(descriptor) }
    }

    /// Opens the current directory. Fails if it belongs to another world.
    pub fn open_current_directory(&self) -> Result<OwnedFd, Errno> {
        let directory = sys::open_directory(self.directory.as_fd(), c"cwd", LinkResolution::Everything)?;
        self.check(directory)
    }

    /// Opens a directory that a descriptor refers to. Fails if it belongs to another world.
    pub fn open_descriptor(&self, number: i32) -> Result<OwnedFd, Errno> {
        if number < 0 {
            return Err(Errno::EBADF);
        }
        if self.own.is_none() {
            return self.process.descriptor(number);
        }
        let opened =
            sys::open_directory(self.directory.as_fd(), &c_string(format!("fd/{number}"))?, LinkResolution::Everything);
        let opened = opened.map_err(|errno| if errno == Errno::ENOENT { Errno::EBADF } else { errno })?;
        self.check(opened)
    }

    fn check(&self, directory: OwnedFd) -> Result<OwnedFd, Errno> {
        self.own.as_ref().map_or(Ok(()), |own| own.check(directory.as_fd()))?;
        Ok(directory)
    }

    /// Fails if an open file that has a name belongs to another world.
    pub fn check_mount(&self, file: BorrowedFd<'_>) -> Result<(), Errno> {
        self.own.as_ref().map_or(Ok(()), |own| own.check(file))
    }

    /// Opens the file of a descriptor as a place.
    pub fn place_of_descriptor(&self, number: i32) -> Result<OwnedFd, Errno> {
        if number < 0 {
            return Err(Errno::EBADF);
        }
        let opened = sys::open_place(
            self.directory.as_fd(),
            &c_string(format!("fd/{number}"))?,
            true,
            LinkResolution::Everything,
        );
        opened.map_err(|errno| if errno == Errno::ENOENT { Errno::EBADF } else { errno })
    }

    /// Returns whether the thread has the root and the mounts of this process, whose mount namespace has this name.
    fn has_mounts(&self, mounts: &CStr) -> bool {
        let link = |name: &CStr| sys::link_text(self.directory.as_fd(), name);
        link(c"root").is_ok_and(|root| root.as_c_str() == c"/") && link(c"ns/mnt").is_ok_and(|own| *own == *mounts)
    }

    /// Returns whether no other thread can change the caller's descriptors.
    pub fn is_alone(&self) -> bool {
        sys::has_one_thread(self.directory.as_fd())
    }

    /// Returns the basename of the executable, or an empty text if the executable is gone.
    pub fn program(&self) -> String {
        let path = sys::link_text(self.directory.as_fd(), c"exe").unwrap_or_default();
        let path = path.to_string_lossy();
        path.trim_end_matches(" (deleted)").rsplit('/').next().unwrap_or_default().to_owned()
    }
}

/// The threads that have asked.
pub(super) struct CallerTable {
    /// By the number of the thread. Most commands have few.
    known: BTreeMap<i32, CallerThread>,
    /// The number of the current call.
    call: u64,
    own: Option<Rc<OwnMounts>>,
    /// The directories of callers' changes that a journal in this process records.
    pub directories: RecentDirectories,
    /// The directories at which paths of callers in a world begin. They are checked, and stay open, so that no other
    /// directory gets their numbers.
    bases: BTreeMap<PlaceId, Arc<OwnedFd>>,
    /// The strings that were read for the current call of a caller in a world, by their addresses.
    texts: Vec<(u64, CString)>,
    /// Whether the caller was found to exist after its memory was last read for the current call, as the thread of an
    /// earlier call.
    is_proven: bool,
    /// Whether a signal that does not end the caller lets it wait on.
    waits_killable: bool,
}

impl CallerTable {
    /// Returns the callers in one world.
    pub fn of_world() -> Self {
        Self { own: Some(Rc::default()), waits_killable: sys::waits_killable(), ..Self::of_host() }
    }

    /// Returns the callers without a world.
    pub fn of_host() -> Self {
        Self {
            known: BTreeMap::new(),
            call: 0,
            own: None,
            directories: RecentDirectories::default(),
            bases: BTreeMap::new(),
            texts: Vec::new(),
            is_proven: false,
            waits_killable: false,
        }
    }

    /// Begins the next call. Until its end, no other thread has the number of its caller.
    pub fn on_call(&mut self) {
        self.call += 1;
        self.texts.clear();
        self.is_proven = false;
    }

    /// Reads a string of a caller. Within one call of a caller in a world, each string is read once.
    pub fn copy_string(&mut self, thread: i32, at: u64) -> Result<CString, Errno> {
        self.is_proven = false;
        if let Some((_, text)) = self.texts.iter().find(|(known, _)| *known == at) {
            return Ok(text.clone());
        }
        let text = read_text(thread, at)?;
        if self.own.is_some() {
            self.texts.push((at, text.clone()));
        }
        Ok(text)
    }

    /// Reads exactly this many bytes of a caller, once.
    pub fn copy_bytes(&mut self, thread: i32, at: u64, count: usize) -> Result<Vec<u8>, Errno> {
        self.is_proven = false;
        read_bytes(thread, at, count)
    }

    /// Returns whether all that was read from the caller is known to be the caller's.
    pub fn is_proven(&self) -> bool {
        self.is_proven && self.waits_killable
    }

    /// Returns the directory at which a path of a thread begins, if a path began there lately. The way to it leads
    /// through the thread's directory in `/proc`, so an answer means that the thread exists.
    pub fn remembered_path_start(&mut self, thread: i32, descriptor: i32) -> Option<Arc<OwnedFd>> {
        let caller = self.known.get_mut(&thread).filter(|_| !self.bases.is_empty())?;
        let id = match descriptor {
            libc::AT_FDCWD => sys::place_id(caller.directory.as_fd(), c"cwd"),
            0.. => sys::place_id(caller.directory.as_fd(), &c_string(format!("fd/{descriptor}")).ok()?),
            _ => return None,
        };
        let base = Arc::clone(self.bases.get(&id.ok()?)?);
        caller.seen_at = self.call;
        self.is_proven = caller.found_at < self.call;
        Some(base)
    }

    /// Remembers a directory of the world at which a path begins.
    pub fn remember_base(&mut self, directory: OwnedFd) -> Arc<OwnedFd> {
        let directory = Arc::new(directory);
        if let Ok(id) = sys::place_id(directory.as_fd(), c"") {
            if self.bases.len() >= REMEMBERED_BASES {
                self.bases.clear();
            }
            self.bases.insert(id, Arc::clone(&directory));
        }
        directory
    }

    /// Returns whether directories are open here that another process may want to unmount.
    pub fn holds_directories(&self) -> bool {
        !self.bases.is_empty() || !self.directories.is_empty()
    }

    /// Returns a thread that waits for an answer. At the last call, another thread may have had its number.
    pub fn get(&mut self, thread: i32) -> Result<&CallerThread, Errno> {
        let call = self.call;
        let is_proven = &mut self.is_proven;
        let exists = |known: &mut CallerThread| {
            if known.seen_at != call && sys::has_thread(known.directory.as_fd()) {
                (known.seen_at, *is_proven) = (call, true);
            }
            known.seen_at == call
        };
        if !self.known.get_mut(&thread).is_some_and(exists) {
            if self.known.len() >= REMEMBERED {
                self.known.clear();
            }
            self.known.insert(thread, CallerThread::find(thread, self.own.clone(), call)?);
        }
        self.known.get(&thread).ok_or(Errno::ESRCH)
    }

    /// Returns whether a thread has asked before.
    pub fn is_known(&self, thread: i32) -> bool {
        self.known.contains_key(&thread)
    }

    /// Returns the remembered directory that a path of a thread leads to, relative to a descriptor or `AT_FDCWD`. The
    /// path begins at the thread's directory in `/proc`, so an answer means that the thread exists.
    pub fn remembered_directory(&mut self, thread: i32, descriptor: i32, path: &[u8]) -> Option<RememberedDirectory> {
        if self.directories.is_empty() {
            return None;
        }
        let caller = self.known.get_mut(&thread)?;
        let mut full = Vec::with_capacity(path.len() + 32);
        match (path.first(), descriptor) {
            (Some(b'/'), _) => full.extend_from_slice(b"root"),
            (_, libc::AT_FDCWD) => full.extend_from_slice(b"cwd/"),
            (_, 0..) => write!(full, "fd/{descriptor}/").ok()?,
            _ => return None,
        }
        full.extend_from_slice(path);
        if full.last() == Some(&b'/') {
            full.pop();
        }
        full.push(0);
        let (base, path) = (caller.directory.as_fd(), CStr::from_bytes_with_nul(&full).ok()?);
        let id = sys::place_id(base, path).ok()?;
        caller.seen_at = self.call;
        self.directories.get(id).or_else(|| self.directories.below_own(base, path))
    }

    /// Returns a thread that asks, and the file it has open as this descriptor, which shows that the thread exists.
    pub fn open_file(&mut self, thread: i32, number: i32) -> Option<(&mut CallerThread, ExistingFile)> {
        let caller = self.known.get_mut(&thread)?;
        let open = sys::existing_file(caller.directory.as_fd(), &c_string(format!("fd/{number}")).ok()?, true).ok()?;
        caller.seen_at = self.call;
        Some((caller, open))
    }

    /// Returns whether a thread was last found to see the same files as this process. At the last call, another thread
    /// may have had its number.
    pub fn saw_same(&self, thread: i32) -> bool {
        self.known.get(&thread).is_some_and(|caller| caller.sees_same == Some(true))
    }

    /// Returns whether a thread of an earlier call was found to exist during this call, so that its number had no other
    /// owner meanwhile.
    pub fn is_same(&self, thread: i32) -> bool {
        self.known.get(&thread).is_some_and(|caller| caller.found_at < self.call && caller.seen_at == self.call)
    }

    /// Records that a thread is about to create a file where nothing exists.
    pub fn note_creation(&mut self, thread: i32, directory: &Arc<OwnedFd>, name: &CStr) {
        if let Some(caller) = self.known.get_mut(&thread) {
            caller.created = Some((Arc::clone(directory), name.to_owned()));
        }
    }

    /// Leaves and closes the directories of changes. Returns whether there were any.
    pub fn leave_directories(&mut self) -> bool {
        sys::leave_own_directory();
        self.known.values_mut().for_each(|caller| caller.created = None);
        self.bases.clear();
        self.directories.clear()
    }

    /// Forgets facts that may have changed before this command.
    pub fn on_command(&mut self) {
        self.own.iter().for_each(|own| own.forget());
        self.leave_directories();
    }

    /// Returns whether a thread sees the same files at the same paths as this process, whose mount namespace has this
    /// name.
    pub fn sees_same(&mut self, thread: i32, mounts: &CStr) -> Result<bool, Errno> {
        let known = self.get(thread)?.sees_same;
        let same = known.map_or_else(|| Ok(self.get(thread)?.has_mounts(mounts)), Ok)?;
        if let Some(caller) = self.known.get_mut(&thread) {
            caller.sees_same = Some(same);
        }
        Ok(same)
    }

    /// Returns whether a thread has these rights of this process.
    pub fn is_equal(&mut self, thread: i32, rights: &ThreadRights) -> bool {
        let Some(caller) = self.known.get_mut(&thread) else { return false };
        let directory = caller.directory.as_fd();
        let is_equal = || ThreadRights::of(directory).is_ok_and(|theirs| theirs == *rights);
        *caller.is_equal.get_or_insert_with(is_equal) && rights.is_label_of(directory)
    }

    /// Forgets the threads of a process. Returns its pid.
    pub fn forget_process(&mut self, thread: i32) -> Option<i32> {
        let pid = self.get(thread).ok()?.pid;
        self.known.retain(|_, caller| caller.pid != pid);
        Some(pid)
    }

    /// Returns the process of a thread that has just asked.
    pub fn pid(&self, thread: i32) -> Option<i32> {
        self.known.get(&thread).map(|caller| caller.pid)
    }

    /// Forgets a thread.
    pub fn forget_one(&mut self, thread: i32) {
        self.known.remove(&thread);
    }

    /// Records the umask that a process is about to set.
    pub fn set_umask(&mut self, thread: i32, umask: u32) {
        if let Ok(pid) = self.get(thread).map(|caller| caller.pid) {
            self.known.values_mut().filter(|known| known.pid == pid).for_each(|known| known.umask = umask);
        }
    }
}

/// Reads a string of a thread, once.
fn read_text(thread: i32, at: u64) -> Result<CString, Errno> {
    // Most paths are short.
    let mut first = [0; FIRST];
    let count = FIRST.min((PAGE - at % PAGE) as usize);
    let got = sys::read_foreign(thread, at, &mut first[..count])?;
    if let Some(end) = memchr::memchr(0, &first[..got]) {
        return c_string(&first[..end]);
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
            return c_string(bytes);
        }
        if got == 0 {
            return Err(Errno::EFAULT);
        }
    }
    Err(Errno::ENAMETOOLONG)
}

/// Reads exactly this many bytes of a thread, once.
fn read_bytes(thread: i32, at: u64, count: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; count];
    if count > 0 && sys::read_foreign(thread, at, &mut bytes)? < count {
        return Err(Errno::EFAULT);
    }
    Ok(bytes)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_remembered_beginning_of_a_path_proves_its_caller() {
        let (thread, mut callers) = (nix::unistd::gettid().as_raw(), CallerTable::of_world());
        let (one, other) = (tempfile::tempdir().expect("made"), tempfile::tempdir().expect("made"));
        let [mut one, other] = [&one, &other].map(|place| OwnedFd::from(std::fs::File::open(place).expect("opened")));
        let [first, second] = [&one, &other].map(AsRawFd::as_raw_fd);
        callers.on_call();
        let opened = callers.get(thread).expect("there").open_path_start(first).expect("a directory");
        let known = callers.remember_base(opened);
        assert!(callers.remembered_path_start(thread, first).is_some_and(|base| Arc::ptr_eq(&base, &known)));
        assert!(!callers.is_proven(), "the thread was found at this call");
        callers.on_call();
        assert!(
            callers.remembered_path_start(thread, second).is_none()
                && callers.remembered_path_start(thread, libc::AT_FDCWD).is_none()
        );
        assert!(!callers.is_proven());
        assert!(callers.remembered_path_start(thread, first).is_some());
        assert_eq!(callers.is_proven(), sys::waits_killable());
        let name = c"name";
        assert_eq!(callers.copy_string(thread, name.as_ptr() as u64).as_deref(), Ok(name));
        assert!(!callers.is_proven(), "what was read may be another thread's");
        // The number means another directory now.
        nix::unistd::dup2(&other, &mut one).expect("replaced");
        assert!(callers.remembered_path_start(thread, first).is_none());
        assert!(callers.holds_directories());
        callers.leave_directories();
        assert!(!callers.holds_directories());
    }
}
