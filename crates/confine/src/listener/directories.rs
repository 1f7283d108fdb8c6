//! The directories of recent changes. One call tells which of them a path leads to, where opening the path takes
//! several calls. They stay open until an unmount, or until a tenth of a second passes without a change.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use sys::PlaceId;

/// The most directories that are remembered. Beyond that, all are forgotten.
const REMEMBERED: usize = 64;

/// Directories that stay open, so that no other directory gets their numbers.
#[derive(Default)]
pub(super) struct Directories(HashMap<PlaceId, Arc<OwnedFd>>);

impl Directories {
    /// Returns the remembered directory that a path leads to. `None`: the path leads elsewhere, or nowhere.
    pub fn find(&self, base: BorrowedFd<'_>, path: &[u8]) -> Option<Arc<OwnedFd>> {
        if self.0.is_empty() {
            return None;
        }
        let id = sys::place_id(base, &CString::new(path).ok()?).ok()?;
        self.0.get(&id).cloned()
    }

    /// Remembers a directory.
    pub fn remember(&mut self, directory: OwnedFd) -> Arc<OwnedFd> {
        let Ok(id) = sys::place_id(directory.as_fd(), c"") else { return Arc::new(directory) };
        if self.0.len() >= REMEMBERED {
            self.0.clear();
        }
        Arc::clone(self.0.entry(id).or_insert_with(|| Arc::new(directory)))
    }

    /// Closes all directories, so that their file systems can be unmounted. Returns whether there were any.
    pub fn clear(&mut self) -> bool {
        let were = !self.0.is_empty();
        self.0.clear();
        were
    }
}
