//! Private files of a world, in a directory of its own on the host.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, fchmod, fchmodat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// The prefix of the names of private directories.
const PREFIX: &str = "world-";
/// The name of the socket in a private directory by which another supervisor joins the world.
const DOOR: &str = "door";

/// A private directory. It is locked as long as a process has it open, so that living worlds have no
/// [`WorldLeftovers`].
#[derive(Debug)]
pub(super) struct PrivateDirectory {
    lock: File,
    parent: File,
    name: OsString,
    /// The path on the host.
    pub path: PathBuf,
}

impl PrivateDirectory {
    /// Creates a directory with its directories for temporary files.
    pub fn create(state: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(state)?;
        let state = state.canonicalize()?;
        let parent = File::open(&state)?;
        let (lock, path) = loop {
            let path = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&state)?.keep();
            // Until it is locked, another process may take it for a leftover and remove it.
            match File::open(&path) {
                Ok(lock) if is_locked_at(&lock, &path)? => break (lock, path),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        };
        for name in ["tmp", "var-tmp"] {
            let directory = path.join(name);
            fs::create_dir(&directory)?;
            fs::set_permissions(directory, Permissions::from_mode(0o1777))?;
        }
        let name = path.file_name().unwrap_or_default().to_owned();
        Ok(Self { lock, parent, name, path })
    }

    /// Creates the socket for [`connect_to_init`].
    pub fn listen_for_supervisors(&self) -> io::Result<UnixListener> {
        let listener = UnixListener::bind(sys::short_path(&self.lock, &self.path.join(DOOR)))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// Returns the directory for `/tmp`.
    pub fn tmp(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Returns the descriptors that a process needs to remove the directory.
    pub fn descriptors(&self) -> [RawFd; 2] {
        [self.lock.as_raw_fd(), self.parent.as_raw_fd()]
    }

    /// Removes the directory. No path is resolved on the way to it, so this works in any mount namespace.
    pub fn remove(&self) {
        remove_all(&self.parent, &self.name);
    }
}

/// Locks a directory. Returns whether it still has this path.
fn is_locked_at(directory: &File, path: &Path) -> io::Result<bool> {
    directory.lock()?;
    let ours = directory.metadata()?;
    Ok(fs::metadata(path).is_ok_and(|data| (data.dev(), data.ino()) == (ours.dev(), ours.ino())))
}

/// Connects to the init of a world by the path of its private directory, which has to be one of `state`: a command may
/// have made any other, and would answer as a world without bounds.
pub(super) fn connect_to_init(state: &Path, path: &Path) -> io::Result<UnixStream> {
    let state = state.canonicalize()?;
    let name = path.file_name().filter(|name| is_ours(name) && path.parent() == Some(&state));
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let directory = openat(File::open(&state)?, name.ok_or(io::ErrorKind::InvalidInput)?, flags, Mode::empty())?;
    UnixStream::connect(sys::path_in(&directory, OsStr::new(DOOR)))
}

fn is_ours(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(PREFIX))
}

/// Directories that killed worlds have left. They are locked, so that no other process removes them, too.
#[derive(Debug)]
pub struct WorldLeftovers {
    parent: File,
    directories: Vec<(File, OsString)>,
}

impl WorldLeftovers {
    /// Finds leftovers in the directory of [`WorldHostPaths::state`](super::WorldHostPaths::state). `None`: there are
    /// none.
    pub fn of(state: &Path) -> Option<Self> {
        let locked = |entry: fs::DirEntry| {
            if !is_ours(&entry.file_name()) || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                return None;
            }
            let directory = File::open(entry.path()).ok()?;
            directory.try_lock().ok().map(|()| (directory, entry.file_name()))
        };
        let directories: Vec<_> = fs::read_dir(state).ok()?.flatten().filter_map(locked).collect();
        (!directories.is_empty()).then_some(Self { parent: File::open(state).ok()?, directories })
    }

    /// Returns the descriptors that a process needs to remove the leftovers.
    pub fn descriptors(&self) -> Vec<RawFd> {
        let directories = self.directories.iter().map(|(directory, _)| directory.as_raw_fd());
        directories.chain([self.parent.as_raw_fd()]).collect()
    }

    /// Removes the leftovers. This may take long, because a command may have left millions of files.
    pub fn remove(self) {
        for (_, name) in &self.directories {
            remove_all(&self.parent, name);
        }
    }
}

/// Removes a directory with all its contents, including files without permissions. Files that another user's processes
/// made stay. No process changes the directory meanwhile.
///
/// A command may leave a tree that is deeper than any stack, path or number of descriptors. So directories move up to
/// `top` before they are emptied.
fn remove_all(parent: &File, name: &OsStr) {
    let Ok(top) = open_directory(parent, name) else { return };
    let mut number = 0;
    while empty_directory(&top, |inner| move_up(inner, &top, &mut number)) {}
    let _ = unlinkat(parent, name, UnlinkatFlags::RemoveDir);
}

/// Removes the entries of `top`, except for directories two levels below, which get new names in it. Returns whether
/// anything has changed.
fn empty_directory(top: &File, mut move_up: impl FnMut(LeftoverEntry<'_>) -> bool) -> bool {
    any_name(top, |name| {
        remove(top, name) || {
            let Ok(directory) = open_directory(top, name) else { return false };
            let emptied = any_name(&directory, |inner| remove(&directory, inner) || move_up((&directory, inner)));
            unlinkat(top, name, UnlinkatFlags::RemoveDir).is_ok() || emptied
        }
    })
}

/// A name in a directory.
type LeftoverEntry<'a> = (&'a File, &'a OsStr);

/// Moves a directory to a free name.
fn move_up((directory, name): LeftoverEntry<'_>, top: &File, number: &mut u64) -> bool {
    let mut permitted = false;
    loop {
        *number += 1;
        match renameat(directory, name, top, number.to_string().as_str()) {
            Err(Errno::EEXIST | Errno::ENOTEMPTY | Errno::ENOTDIR) => {}
            Err(Errno::EACCES) if !permitted => {
                permit_owner(directory, name);
                permitted = true;
            }
            moved => return moved.is_ok(),
        }
    }
}

/// Removes a file or an empty directory.
fn remove(directory: &File, name: &OsStr) -> bool {
    [UnlinkatFlags::NoRemoveDir, UnlinkatFlags::RemoveDir].iter().any(|how| unlinkat(directory, name, *how).is_ok())
}

/// Calls a closure with each name in a directory. Returns whether any call returned `true`.
fn any_name(directory: &File, mut call: impl FnMut(&OsStr) -> bool) -> bool {
    let Ok(mut list) = Dir::openat(directory, ".", FLAGS, Mode::empty()) else { return false };
    let names = list.iter().flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    // Each closure has to be called, so `any` would end too early.
    names.filter(|name| name != "." && name != "..").filter(|name| call(name)).count() > 0
}

/// Opens a directory, and lets its owner read and change it.
fn open_directory(parent: &File, name: &OsStr) -> nix::Result<File> {
    let open = || openat(parent, name, FLAGS, Mode::empty()).map(File::from);
    let directory = open().or_else(|_| {
        permit_owner(parent, name);
        open()
    })?;
    if directory.metadata().is_ok_and(|data| data.mode() & 0o700 != 0o700) {
        let _ = fchmod(&directory, Mode::S_IRWXU);
    }
    Ok(directory)
}

/// Makes a directory, which is no link, readable and writable for its owner.
fn permit_owner(parent: &File, name: &OsStr) {
    let _ = fchmodat(parent, name, Mode::S_IRWXU, FchmodatFlags::FollowSymlink);
}

/// The flags with which directories are opened.
const FLAGS: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn only_directories_of_ended_worlds_are_swept() {
        let state = tempfile::tempdir().expect("a directory");
        let living = PrivateDirectory::create(state.path()).expect("created");
        let ended = PrivateDirectory::create(state.path()).expect("created");
        fs::create_dir_all(ended.tmp().join("a/b")).expect("made");
        fs::set_permissions(ended.tmp().join("a"), Permissions::from_mode(0o000)).expect("changed");
        let gone = ended.path.clone();
        drop(ended);
        fs::create_dir(state.path().join("other")).expect("made");
        fs::write(state.path().join("world-file"), "").expect("written");
        WorldLeftovers::of(state.path()).expect("one").remove();
        assert!(WorldLeftovers::of(state.path()).is_none());
        assert!(!gone.exists() && living.path.exists());
        assert!(state.path().join("other").exists() && state.path().join("world-file").exists());
        living.remove();
        assert!(!living.path.exists());
    }

    #[test]
    fn no_door_is_opened_but_that_of_a_directory_of_ours() {
        let (state, elsewhere) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let world = PrivateDirectory::create(state.path()).expect("created");
        let forged = PrivateDirectory::create(elsewhere.path()).expect("created");
        let _doors = [world.listen_for_supervisors().expect("bound"), forged.listen_for_supervisors().expect("bound")];
        std::os::unix::fs::symlink(&forged.path, state.path().join("world-link")).expect("linked");
        let state = state.path().canonicalize().expect("a path");
        assert!(connect_to_init(&state, &world.path).is_ok());
        for path in [forged.path.clone(), state.join("world-link"), world.path.join("tmp"), state.join("..")] {
            assert!(connect_to_init(&state, &path).is_err(), "{}", path.display());
        }
    }

    #[test]
    fn directories_are_created_while_others_sweep() {
        let state = tempfile::tempdir().expect("a directory");
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let sweep = || {
                while !done.load(Ordering::Relaxed) {
                    if let Some(left) = WorldLeftovers::of(state.path()) {
                        left.remove();
                    }
                }
            };
            let sweepers = [scope.spawn(sweep), scope.spawn(sweep), scope.spawn(sweep)];
            let created = (0..3_000).try_for_each(|_| PrivateDirectory::create(state.path()).map(drop));
            done.store(true, Ordering::Relaxed);
            created.expect("each");
            sweepers.into_iter().for_each(|sweeper| sweeper.join().expect("swept"));
        });
    }

    #[test]
    fn a_tree_of_any_depth_is_removed() {
        const DEPTH: usize = 5_000;
        let state = tempfile::tempdir().expect("a directory");
        let world = PrivateDirectory::create(state.path()).expect("created");
        for name in ["1", "2"] {
            fs::create_dir_all(world.tmp().join(name).join("3/4")).expect("made");
            fs::write(world.tmp().join(name).join("file"), "").expect("written");
        }
        std::os::unix::fs::symlink("/", world.tmp().join("link")).expect("linked");
        let mut directory = File::open(world.tmp()).expect("opened");
        for _ in 0..DEPTH {
            nix::sys::stat::mkdirat(&directory, "deep", Mode::S_IRWXU).expect("made");
            directory = File::from(openat(&directory, "deep", FLAGS, Mode::empty()).expect("opened"));
        }
        fchmod(&directory, Mode::empty()).expect("changed");
        world.remove();
        assert!(!world.path.exists());
    }
}
