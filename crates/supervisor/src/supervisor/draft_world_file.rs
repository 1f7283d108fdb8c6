//! The file that names the world of a draft. Hosts that use a draft at the same time share one world: of two views of a
//! directory neither would show what the other one writes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use confine_policy::DraftedTree;

/// Most bytes of a path.
const MOST: u64 = libc::PATH_MAX as u64;

/// The locked file.
pub struct DraftWorldFile(File);

impl DraftWorldFile {
    /// Waits until no other supervisor searches or makes the world.
    ///
    /// # Errors
    /// If the draft is gone, or the system refuses.
    pub fn lock(draft: &DraftedTree) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = sys::open_regular(&draft.world(), &mut options)?;
        file.lock()?;
        Ok(Self(file))
    }

    /// Returns the directory with the private files of the world that was made last.
    pub fn home(&mut self) -> Option<PathBuf> {
        let mut path = Vec::new();
        Read::by_ref(&mut self.0).take(MOST).read_to_end(&mut path).ok()?;
        (!path.is_empty()).then(|| OsString::from_vec(path).into())
    }

    /// Names the world that was just made.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn name(&mut self, home: &Path) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.rewind()?;
        self.0.write_all(home.as_os_str().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_names_the_world_that_was_made_last() {
        let folder = tempfile::tempdir().expect("a directory");
        let draft = DraftedTree { room: folder.path().into(), generation: 3, max_bytes: 1, directories: Vec::new() };
        let open = || DraftWorldFile::lock(&draft).expect("locked");
        assert_eq!(open().home(), None);
        for home in ["/a/longer/path", "/b"] {
            let mut file = open();
            file.home();
            file.name(Path::new(home)).expect("written");
            drop(file);
            assert_eq!(open().home(), Some(home.into()));
        }
        let next = DraftedTree { generation: 4, ..draft.clone() };
        assert_eq!(DraftWorldFile::lock(&next).expect("locked").home(), None);
    }
}
