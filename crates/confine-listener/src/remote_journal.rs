//! A journal in another process. A listener sees the files of its world, and the journal sees the files of the host. So
//! each directory travels as its path with its device and inode. A file of the host is about to change only if both
//! processes find the same directory there. Private directories and overlays differ.

use std::cell::RefCell;
use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::fstatat;
use serde::{Deserialize, Serialize};

use super::file_change_journal::{
    DirectoryEntryLocation, FileChangeJournal, JournaledChange, PendingChangeKind, PendingFileChange,
};
use super::proc_links::c_string;
use super::recent_directories::RecentDirectories;
use sys::LinkResolution;

/// The largest message, bytes: two paths with their names.
const MESSAGE: usize = 20 * 1024;
/// The most names that are told later, at ten bytes each.
const NAMES: usize = 1024;
/// The device and the inode of a file.
type JournalFileId = (u64, u64);

/// A message to a journal.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum JournalMessage {
    /// A change is about to be made.
    Change(RemoteEntryLocation, RemoteChangeKind),
    /// See [`FileChangeJournal::record_own_names`].
    Names(Vec<u64>),
    /// See [`FileChangeJournal::set_resting`].
    Rest(bool),
    /// A change cannot be followed.
    Miss {
        #[serde(with = "as_bytes")]
        path: PathBuf,
        why: String,
    },
}

/// The answer of a journal.
#[derive(Debug, Serialize, Deserialize)]
struct JournalAnswer {
    /// An error number, or 0.
    errno: i32,
    /// See [`JournaledChange::own`].
    own: [bool; 2],
}

/// The largest answer, bytes.
const ANSWER: usize = 16;

/// See [`PendingChangeKind`].
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum RemoteChangeKind {
    Rewrite,
    Write,
    Create,
    MakeDirectory,
    Remove,
    Meta,
    Times,
    Link(RemoteEntryLocation),
    Rename(RemoteEntryLocation),
    Swap(RemoteEntryLocation),
}

/// See [`DirectoryEntryLocation`].
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RemoteEntryLocation {
    #[serde(with = "as_bytes")]
    parent: PathBuf,
    directory: JournalFileId,
    name: CString,
    /// Id of the file or directory with this name, if one exists.
    thing: Option<JournalFileId>,
}

/// Paths as bytes.
mod as_bytes {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().as_bytes().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Vec::<u8>::deserialize(deserializer).map(|bytes| OsString::from_vec(bytes).into())
    }
}

fn id_of(directory: BorrowedFd<'_>, name: &CString) -> Option<JournalFileId> {
    let status = fstatat(directory, name.as_c_str(), AtFlags::AT_SYMLINK_NOFOLLOW).ok()?;
    Some((status.st_dev as u64, status.st_ino))
}

impl RemoteEntryLocation {
    fn of(spot: &DirectoryEntryLocation) -> Result<Self, Errno> {
        let directory = sys::file_status(spot.directory.as_fd())?.id;
        let thing = id_of(spot.directory.as_fd(), &spot.name);
        Ok(Self { parent: spot.parent.clone(), directory, name: spot.name.clone(), thing })
    }

    /// Opens the directory, to which no link may lead.
    fn open_directory(&self, directories: &mut RecentDirectories) -> Option<Arc<OwnedFd>> {
        let path = self.parent.as_os_str().as_bytes();
        let known = directories.find(AT_FDCWD, path).map(|known| known.directory).filter(sys::work_in_directory);
        if let Some(directory) = known
            && nix::unistd::getcwd().is_ok_and(|there| there == self.parent)
        {
            return Some(directory);
        }
        let directory = sys::open_directory(AT_FDCWD, &c_string(path).ok()?, LinkResolution::Nothing).ok()?;
        Some(directories.remember(directory))
    }

    /// Returns the same name for this process.
    fn translate(self, directories: &mut RecentDirectories) -> Result<DirectoryEntryLocation, UntranslatableName> {
        let is_vacant = self.thing.is_none();
        match self.directory_here(directories) {
            Some(directory) => {
                Ok(DirectoryEntryLocation { directory, parent: self.parent, name: self.name, is_vacant })
            }
            None if self.is_of_host() => Err(UntranslatableName::Changed(self.parent.join(to_path(&self.name)))),
            None => Err(UntranslatableName::Private),
        }
    }

    /// Returns the directory, if it is the same directory here, or the same file has the name in it.
    fn directory_here(&self, directories: &mut RecentDirectories) -> Option<Arc<OwnedFd>> {
        let directory = self.open_directory(directories)?;
        // The directory above a mount point of a world may be another directory there.
        let is_same = self.thing.is_some() || sys::file_status(directory.as_fd()).ok()?.id == self.directory;
        (is_same && id_of(directory.as_fd(), &self.name) == self.thing).then_some(directory)
    }

    /// Returns whether the directory belongs to the host, on the file system that is mounted at its path.
    fn is_of_host(&self) -> bool {
        let device = self.parent.ancestors().find_map(|above| Some(fs::symlink_metadata(above).ok()?.dev()));
        let is_thing_too = self.thing.is_none_or(|thing| thing.0 == self.directory.0);
        device == Some(self.directory.0) && is_thing_too
    }
}

/// Why a listener's name means nothing to this process.
#[derive(Debug, PartialEq, Eq)]
enum UntranslatableName {
    /// The file is in a place that only its world has.
    Private,
    /// Another process has changed the entry at this path, so the target of the call is unknown.
    Changed(PathBuf),
}

fn to_path(name: &CString) -> &Path {
    Path::new(OsStr::from_bytes(name.to_bytes()))
}

impl RemoteChangeKind {
    fn of(act: &PendingChangeKind) -> Result<Self, Errno> {
        Ok(match act {
            PendingChangeKind::Rewrite => Self::Rewrite,
            PendingChangeKind::Write => Self::Write,
            PendingChangeKind::Create => Self::Create,
            PendingChangeKind::MakeDirectory => Self::MakeDirectory,
            PendingChangeKind::Remove | PendingChangeKind::Unlink => Self::Remove,
            PendingChangeKind::Meta => Self::Meta,
            PendingChangeKind::Times => Self::Times,
            PendingChangeKind::Link(to) => Self::Link(RemoteEntryLocation::of(to)?),
            PendingChangeKind::Rename(to) => Self::Rename(RemoteEntryLocation::of(to)?),
            PendingChangeKind::Swap(with) => Self::Swap(RemoteEntryLocation::of(with)?),
        })
    }

    fn translate(self, directories: &mut RecentDirectories) -> Result<PendingChangeKind, UntranslatableName> {
        Ok(match self {
            Self::Rewrite => PendingChangeKind::Rewrite,
            Self::Write => PendingChangeKind::Write,
            Self::Create => PendingChangeKind::Create,
            Self::MakeDirectory => PendingChangeKind::MakeDirectory,
            Self::Remove => PendingChangeKind::Remove,
            Self::Meta => PendingChangeKind::Meta,
            Self::Times => PendingChangeKind::Times,
            Self::Link(to) => PendingChangeKind::Link(to.translate(directories)?),
            Self::Rename(to) => PendingChangeKind::Rename(to.translate(directories)?),
            Self::Swap(with) => PendingChangeKind::Swap(with.translate(directories)?),
        })
    }
}

/// The listener's connection to a journal in another process. The listener waits for each answer, however long the
/// journal takes to keep a file. Without the journal the record has no end, which its readers notice, and the command
/// goes on.
#[derive(Debug)]
pub(super) struct RemoteJournal {
    socket: OwnedFd,
    /// Names that are not told yet.
    names: RefCell<Vec<u64>>,
}

impl RemoteJournal {
    pub fn new(socket: OwnedFd) -> Self {
        Self { socket, names: RefCell::default() }
    }

    /// Returns whether the journal lacks names.
    pub fn is_untold(&self) -> bool {
        !self.names.borrow().is_empty()
    }

    /// Tells the names that are not told yet.
    pub fn tell_names(&self) {
        let names = self.names.take();
        if !names.is_empty() {
            let _lost_with_the_journal = self.ask(&JournalMessage::Names(names));
        }
    }

    fn ask(&self, message: &JournalMessage) -> Result<JournaledChange, Errno> {
        let asked = postcard::to_allocvec(message)
            .map_err(|_| io::ErrorKind::InvalidData.into())
            .and_then(|bytes| sys::send(self.socket.as_fd(), &bytes, &[]))
            .and_then(|_| self.receive_answer());
        match asked {
            Ok(JournalAnswer { errno: 0, own }) => Ok(JournaledChange { made: false, own }),
            Err(_) => Ok(JournaledChange::default()),
            Ok(JournalAnswer { errno, .. }) => Err(Errno::from_raw(errno)),
        }
    }

    fn receive_answer(&self) -> io::Result<JournalAnswer> {
        loop {
            match poll(&mut [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE) {
                Ok(_) => break,
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut answer = [0; ANSWER];
        let length = sys::receive(self.socket.as_fd(), &mut answer, &mut Vec::new())?;
        postcard::from_bytes(&answer[..length]).map_err(|_| io::ErrorKind::UnexpectedEof.into())
    }
}

impl FileChangeJournal for RemoteJournal {
    fn record_before(&self, change: &PendingFileChange) -> Result<JournaledChange, Errno> {
        // A file that cannot be described is gone.
        let Ok(spot) = RemoteEntryLocation::of(&change.spot) else { return Ok(JournaledChange::default()) };
        let Ok(act) = RemoteChangeKind::of(&change.act) else { return Ok(JournaledChange::default()) };
        self.ask(&JournalMessage::Change(spot, act))
    }

    fn record_own_names(&self, keys: Vec<u64>) {
        self.names.borrow_mut().extend(keys);
        if self.names.borrow().len() >= NAMES {
            self.tell_names();
        }
    }

    fn set_resting(&self, rests: bool) {
        let _lost_with_the_journal = self.ask(&JournalMessage::Rest(rests));
    }

    fn record_unfollowed(&self, path: &Path, why: &str) -> Result<(), Errno> {
        self.ask(&JournalMessage::Miss { path: path.to_owned(), why: why.to_owned() }).map(drop)
    }
}

/// Answers the next message of a listener with a journal of this process. Returns `false` once the listener is gone, or
/// sends no valid message.
pub(super) fn answer_message(
    socket: BorrowedFd<'_>,
    journal: Option<&dyn FileChangeJournal>,
    directories: &mut RecentDirectories,
) -> bool {
    let mut buffer = [0; MESSAGE];
    let message = match sys::receive(socket, &mut buffer, &mut Vec::new()) {
        Ok(0) => return false,
        Ok(length) => postcard::from_bytes::<JournalMessage>(&buffer[..length]),
        Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
    };
    let Ok(message) = message else { return false };
    let none = JournaledChange::default();
    let result = journal.map_or(Ok(none), |journal| match message {
        JournalMessage::Change(spot, act) => {
            let change = spot
                .translate(directories)
                .and_then(|spot| Ok(PendingFileChange { spot, act: act.translate(directories)? }));
            match change {
                Ok(change) => journal.record_before(&change),
                Err(UntranslatableName::Private) => Ok(none),
                Err(UntranslatableName::Changed(path)) => {
                    journal.record_unfollowed(&path, "another process changed it at the same time").map(|()| none)
                }
            }
        }
        JournalMessage::Names(names) => {
            journal.record_own_names(names);
            Ok(none)
        }
        JournalMessage::Rest(rests) => {
            journal.set_resting(rests);
            Ok(none)
        }
        JournalMessage::Miss { path, why } => journal.record_unfollowed(&path, &why).map(|()| none),
    });
    let answer = match result {
        Ok(noted) => JournalAnswer { errno: 0, own: noted.own },
        Err(errno) => JournalAnswer { errno: errno as i32, own: none.own },
    };
    postcard::to_allocvec(&answer).is_ok_and(|bytes| sys::send(socket, &bytes, &[]).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a name as the listener of a world without private places would send it.
    fn named(path: &Path) -> RemoteEntryLocation {
        let parent = path.parent().expect("above").to_owned();
        let directory = fs::metadata(&parent).expect("there");
        let name = CString::new(path.file_name().expect("a name").as_bytes()).expect("no NUL");
        let thing = fs::symlink_metadata(path).ok().map(|data| (data.dev(), data.ino()));
        RemoteEntryLocation { parent, directory: (directory.dev(), directory.ino()), name, thing }
    }

    #[test]
    fn a_thing_that_changes_on_the_way_is_not_passed_over() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().canonicalize().expect("real");
        let (path, other) = (root.join("d/f"), root.join("other"));
        fs::create_dir(root.join("d")).expect("made");
        fs::write(&path, "one").expect("written");
        fs::write(&other, "two").expect("written");
        let changed = || UntranslatableName::Changed(path.clone());
        assert!(named(&path).translate(&mut RecentDirectories::default()).is_ok());
        let before = named(&path);
        fs::rename(&other, &path).expect("renamed");
        assert_eq!(before.translate(&mut RecentDirectories::default()).expect_err("another file"), changed());
        let before = named(&path);
        fs::remove_file(&path).expect("removed");
        assert_eq!(before.translate(&mut RecentDirectories::default()).expect_err("no file"), changed());
        let before = named(&path);
        fs::write(&path, "three").expect("written");
        assert_eq!(before.translate(&mut RecentDirectories::default()).expect_err("a new file"), changed());
        fs::remove_file(&path).expect("removed");
        let before = named(&path);
        fs::rename(root.join("d"), root.join("e")).expect("renamed");
        fs::create_dir(root.join("d")).expect("made");
        assert_eq!(before.translate(&mut RecentDirectories::default()).expect_err("another directory"), changed());
        fs::remove_dir(root.join("d")).expect("removed");
        std::os::unix::fs::symlink("e", root.join("d")).expect("linked");
        assert!(named(&root.join("e/f")).translate(&mut RecentDirectories::default()).is_ok());
    }

    #[test]
    fn what_only_a_world_has_is_no_change_of_the_host() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().canonicalize().expect("real");
        fs::write(root.join("f"), "one").expect("written");
        let mut private = named(&root.join("f"));
        // No file system has it.
        private.directory.0 = u64::MAX;
        private.thing = Some((u64::MAX, 1));
        assert_eq!(
            private.translate(&mut RecentDirectories::default()).expect_err("private"),
            UntranslatableName::Private
        );
        let mut covered = named(&root.join("f"));
        covered.thing = Some((u64::MAX, 1));
        assert_eq!(
            covered.translate(&mut RecentDirectories::default()).expect_err("private"),
            UntranslatableName::Private
        );
    }
}
