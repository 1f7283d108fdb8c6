//! The directory of the sockets of a user's hosts.
//!
//! It is `$XDG_RUNTIME_DIR/agent-bash/hosts`. Without that variable it is below `/run/user/UID` if the system has made
//! that directory, and else `/tmp/agent-bash-UID/hosts`, so that a host and a page find each other whatever their
//! environments are. Where another user has taken that name, it is below the state directory of this user. A page with
//! another runtime directory sees the hosts of that directory.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use nix::unistd::{Pid, geteuid};

use capture::open_private;
use protocol::state_directory;

/// The directories below a runtime directory.
const BELOW: [&str; 2] = ["agent-bash", "hosts"];
/// The ending of a socket's name.
const SUFFIX: &str = ".sock";
/// The ending of the name that a socket has until it listens.
const NEW_SUFFIX: &str = ".new";
/// Most sockets of one pid: of several containers, or of two versions of this package in one process.
const SAME_PID: u32 = 10;
/// Most files that are looked at.
const MOST: usize = 4096;

/// The places in which directories of this user may lie.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuntimeDirectories {
    /// The value of `XDG_RUNTIME_DIR`.
    pub named: Option<PathBuf>,
    /// The directory that the system makes for each user who has logged in.
    pub own: PathBuf,
    /// The directory of temporary files.
    pub temp: PathBuf,
    /// The directory of all that is kept for this user, for where nothing else can be had.
    pub state: Option<PathBuf>,
}

impl RuntimeDirectories {
    /// Returns those of this process. Reads the environment, so it belongs on a thread of JavaScript.
    pub fn here() -> Self {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        Self {
            named: variable("XDG_RUNTIME_DIR"),
            own: PathBuf::from(format!("/run/user/{}", geteuid())),
            temp: PathBuf::from("/tmp"),
            state: state_directory(variable),
        }
    }

    /// Returns the directory of agent-bash in which the sockets have theirs.
    fn agent_bash_directory(&self) -> PathBuf {
        let runtime = self.named.iter().chain([&self.own]).find(|path| is_private(path));
        if let Some(path) = runtime {
            return path.join(BELOW[0]);
        }
        let temporary = self.temp.join(format!("{}-{}", BELOW[0], geteuid()));
        // Any user can make a directory of this name.
        let state = self.state.clone().filter(|_| !is_usable(&temporary));
        state.unwrap_or(temporary)
    }

    /// Returns the directory of the sockets, whether it exists or not. `None` if one that is no private directory of
    /// this user is in its place.
    pub fn directory(&self) -> Option<PathBuf> {
        let above = self.agent_bash_directory();
        let path = above.join(BELOW[1]);
        (is_usable(&above) && is_usable(&path)).then_some(path)
    }

    /// Opens the directory of the sockets, and makes it if it is missing.
    fn open(&self) -> io::Result<SocketDirectory> {
        let above = self.agent_bash_directory();
        if let Some(parent) = above.parent() {
            fs::create_dir_all(parent)?;
        }
        open_private(&above).map_err(io::Error::other)?;
        let path = above.join(BELOW[1]);
        let directory = open_private(&path).map_err(io::Error::other)?;
        Ok(SocketDirectory { path, directory })
    }
}

/// Returns whether a path is a private directory of this user, or can become one.
fn is_usable(path: &Path) -> bool {
    is_private(path) || fs::symlink_metadata(path).is_err()
}

/// Returns whether a path is no link but a directory of this user that no other user may enter.
fn is_private(path: &Path) -> bool {
    let is_ours = |data: fs::Metadata| data.is_dir() && data.uid() == geteuid().as_raw() && data.mode() & 0o077 == 0;
    path.is_absolute() && fs::symlink_metadata(path).is_ok_and(is_ours)
}

/// The directory of the sockets, opened.
struct SocketDirectory {
    path: PathBuf,
    directory: File,
}

/// The socket of this host. It is removed when this is dropped, though not by a process that was forked.
#[derive(Debug)]
pub struct BoundSocket {
    pid: u32,
    path: PathBuf,
    inode: (u64, u64),
}

impl BoundSocket {
    /// Returns whether clients of these surroundings find the socket. A cleaner of temporary files may have removed it,
    /// and the system may have made a runtime directory since.
    pub fn is_found(&self, here: &RuntimeDirectories) -> bool {
        self.is_there() && here.directory().as_deref() == self.path.parent()
    }

    fn is_there(&self) -> bool {
        inode_of(&self.path) == Some(self.inode)
    }
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        if self.pid == process::id() && self.is_there() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn inode_of(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|data| (data.dev(), data.ino()))
}

/// Listens, and removes what dead hosts have left.
///
/// # Errors
/// If a directory on the way is a link or another user's.
pub fn bind(here: &RuntimeDirectories) -> io::Result<(UnixListener, BoundSocket)> {
    let place = here.open()?;
    place.remove_dead_sockets();
    place.bind()
}

impl SocketDirectory {
    /// Listens under a name that no client looks for, and then takes the name of a host: a client that finds a socket
    /// can connect to it.
    fn bind(&self) -> io::Result<(UnixListener, BoundSocket)> {
        let pid = process::id();
        let socket = self.short_socket_path(&format!("{pid}-{}{NEW_SUFFIX}", sys::monotonic_ns()));
        let listener = UnixListener::bind(&socket)?;
        let path = self.take_name(pid, &socket).inspect_err(|_| drop(fs::remove_file(&socket)))?;
        listener.set_nonblocking(true)?;
        let inode = inode_of(&path).ok_or(io::ErrorKind::NotFound)?;
        Ok((listener, BoundSocket { pid, path, inode }))
    }

    /// Gives a socket the first free name of this host.
    fn take_name(&self, pid: u32, socket: &Path) -> io::Result<PathBuf> {
        let is_used = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
        for name in (0..SAME_PID).map(|copy| name_of(pid, copy)) {
            let path = self.short_socket_path(&name);
            let mut taken = sys::rename_new(socket, &path);
            // An earlier process with this pid may have left it.
            if taken.as_ref().is_err_and(is_used) && refuses_connections(&path) {
                let _ = fs::remove_file(&path);
                taken = sys::rename_new(socket, &path);
            }
            match taken {
                Err(error) if is_used(&error) => {}
                taken => return taken.map(|()| self.path.join(name)),
            }
        }
        Err(io::ErrorKind::AddrInUse.into())
    }

    /// Returns a path for a name in the directory that fits into a socket address.
    fn short_socket_path(&self, name: &str) -> PathBuf {
        sys::short_path(&self.directory, &self.path.join(name))
    }

    /// Removes the sockets of hosts that are gone.
    fn remove_dead_sockets(&self) {
        for (name, pid) in self.sockets() {
            let path = self.short_socket_path(&name);
            let is_gone = || sys::living_identity(pid).is_none();
            if is_gone() && refuses_connections(&path) && is_gone() {
                let _ = fs::remove_file(&path);
            }
        }
    }

    /// Returns the names of the sockets, with the pids in them.
    fn sockets(&self) -> Vec<(String, Pid)> {
        let Ok(entries) = fs::read_dir(&self.path) else { return Vec::new() };
        let is_socket = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_socket());
        let names =
            entries.flatten().take(MOST).filter(is_socket).filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| pid_of(&name).map(|pid| (name, pid))).collect()
    }
}

/// Returns whether no process listens on a socket.
fn refuses_connections(path: &Path) -> bool {
    // A listener with a full queue must not block.
    let connected = || {
        let connection = socket(AddressFamily::Unix, SockType::Stream, SockFlag::empty(), None)?;
        sys::set_cloexec(&connection)?;
        sys::set_nonblocking(&connection)?;
        connect(connection.as_raw_fd(), &UnixAddr::new(path)?)?;
        io::Result::Ok(())
    };
    connected().is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

fn name_of(pid: u32, copy: u32) -> String {
    if copy == 0 { format!("{pid}{SUFFIX}") } else { format!("{pid}-{copy}{SUFFIX}") }
}

fn pid_of(name: &str) -> Option<Pid> {
    let name = name.strip_suffix(SUFFIX).or_else(|| name.strip_suffix(NEW_SUFFIX))?;
    let digits = name.split_once('-').map_or(name, |(pid, _)| pid);
    let pid: i32 = digits.parse().ok()?;
    (pid > 0 && pid.to_string() == digits).then_some(Pid::from_raw(pid))
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
