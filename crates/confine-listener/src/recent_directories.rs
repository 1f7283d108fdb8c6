//! The directories of recent changes. One call tells which of them a path leads to, where opening the path takes
//! several calls. They stay open until an unmount, or until a tenth of a second passes without a change.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use super::file_change_journal::{PendingChangeKind, PendingFileChange, name_key};
use sys::{LinkResolution, PlaceId};

/// The most directories that are remembered. Beyond that, all are forgotten.
const REMEMBERED: usize = 64;

/// Directories that stay open, so that no other directory gets their numbers.
#[derive(Default)]
pub(super) struct RecentDirectories {
    known: BTreeMap<PlaceId, RememberedDirectory>,
    /// The directories of this run that contain things of before it, by moves and links. An entry may outlive its
    /// directory, and then counts for another one, which is only slower.
    mixed: HashSet<PlaceId>,
    /// The directories in which this run has made symbolic links, or into which it may have moved some. An entry may
    /// outlive its directory, too.
    linked: HashSet<PlaceId>,
    /// Keys of the names that the run may make in its own directories, until they are told.
    names: Vec<u64>,
    /// The run whose own directories are marked.
    run: u64,
}

/// A remembered directory.
#[derive(Debug, Clone)]
pub(super) struct RememberedDirectory {
    pub directory: Arc<OwnedFd>,
    /// The identity of the directory.
    pub id: PlaceId,
    /// Whether the run made the directory, and nothing of before is in it. A change in it needs no record, since all of
    /// its entries are new at the end.
    pub is_own: bool,
}

impl RecentDirectories {
    /// Returns the remembered directory that a path leads to. `None`: the path leads elsewhere, or nowhere.
    pub fn find(&self, base: BorrowedFd<'_>, path: &[u8]) -> Option<RememberedDirectory> {
        self.get(sys::place_id(base, &CString::new(path).ok()?).ok()?)
    }

    /// Returns whether no directory is remembered.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns the remembered directory with this identity.
    pub fn get(&self, id: PlaceId) -> Option<RememberedDirectory> {
        self.known.get(&id).cloned()
    }

    /// Remembers the directory that a path leads to, if it lies in a directory of the run's own: then it is one, too.
    pub fn below_own(&mut self, base: BorrowedFd<'_>, path: &CStr) -> Option<RememberedDirectory> {
        let above = CString::new([path.to_bytes(), b"/.."].concat()).ok()?;
        let parent = self.find(base, above.to_bytes()).filter(|parent| parent.is_own)?;
        // The link in `/proc` that the path begins with is followed.
        let directory = sys::open_directory(base, path, LinkResolution::Everything).ok()?;
        let id = sys::place_id(directory.as_fd(), c"").ok()?;
        let is_there = sys::place_id(directory.as_fd(), c"..").is_ok_and(|above| above == parent.id);
        if !is_there || id.mount != parent.id.mount || self.mixed.contains(&id) {
            return None;
        }
        let directory = self.remember(directory);
        self.mark_own(&directory);
        self.get(id)
    }

    /// Remembers a directory.
    pub fn remember(&mut self, directory: impl Into<Arc<OwnedFd>>) -> Arc<OwnedFd> {
        let directory = directory.into();
        let Ok(id) = sys::place_id(directory.as_fd(), c"") else { return directory };
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let known = || RememberedDirectory { directory, id, is_own: false };
        Arc::clone(&self.known.entry(id).or_insert_with(known).directory)
    }

    /// Marks a remembered directory that the run made.
    fn mark_own(&mut self, directory: &Arc<OwnedFd>) {
        let Ok(id) = sys::place_id(directory.as_fd(), c"") else { return };
        if let Some(known) = self.known.get_mut(&id).filter(|_| !self.mixed.contains(&id)) {
            known.is_own = true;
        }
    }

    /// Returns whether a directory that the run made has nothing of before in it.
    fn is_pure(&self, directory: &Arc<OwnedFd>) -> bool {
        sys::place_id(directory.as_fd(), c"").is_ok_and(|id| !self.mixed.contains(&id))
    }

    /// Records that something of before comes into a directory.
    fn mark_mixed(&mut self, directory: &Arc<OwnedFd>) {
        let Ok(id) = sys::place_id(directory.as_fd(), c"") else { return };
        self.mixed.insert(id);
        if let Some(known) = self.known.get_mut(&id) {
            known.is_own = false;
        }
    }

    /// Records that the run makes a symbolic link in a directory.
    pub fn mark_linked(&mut self, directory: PlaceId) {
        self.linked.insert(directory);
    }

    /// Returns whether the run may have brought a symbolic link into a directory.
    pub fn has_links(&self, id: PlaceId) -> bool {
        self.linked.contains(&id)
    }

    /// Records that the run may make a name in a directory of its own.
    pub fn note_new_name(&mut self, directory: PlaceId, name: &CStr) {
        self.names.push(name_key(directory.inode, name.to_bytes()));
    }

    /// Takes the names that the run may have made since the last call.
    pub fn take_names(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.names)
    }

    /// Records a rename between two directories of the run. A symbolic link may be what moves.
    fn note_rename(&mut self, from: &Arc<OwnedFd>, to: &Arc<OwnedFd>) {
        let id = |directory: &Arc<OwnedFd>| sys::place_id(directory.as_fd(), c"");
        if !self.linked.is_empty() && id(from).is_ok_and(|from| self.has_links(from)) {
            self.linked.extend(id(to));
        }
    }

    /// Marks the directory of a change, if the run made it, so that later changes in it are no news. A directory into
    /// which something of before may come is no longer marked.
    pub fn note_change(&mut self, change: &PendingFileChange, own: [bool; 2]) {
        let from = &change.spot.directory;
        let one = own[0] && self.is_pure(from);
        let (PendingChangeKind::Link(to) | PendingChangeKind::Rename(to) | PendingChangeKind::Swap(to)) = &change.act
        else {
            if one {
                self.mark_own(from);
            }
            return;
        };
        let (to, is_swap) = (&to.directory, matches!(change.act, PendingChangeKind::Swap(_)));
        let other = own[1] && self.is_pure(to);
        if !one {
            self.mark_mixed(to);
        }
        if is_swap && !other {
            self.mark_mixed(from);
        }
        if one && other {
            self.note_rename(from, to);
            if is_swap {
                self.note_rename(to, from);
            }
        }
    }

    /// Takes all directories for those of before, if another run begins.
    pub fn begin_run(&mut self, run: u64) {
        if self.run != run {
            self.run = run;
            self.mixed.clear();
            self.linked.clear();
            self.names.clear();
            self.known.values_mut().for_each(|known| known.is_own = false);
        }
    }

    /// Closes all directories, so that their file systems can be unmounted. Returns whether there were any.
    pub fn clear(&mut self) -> bool {
        let were = !self.known.is_empty();
        self.known.clear();
        were
    }
}
