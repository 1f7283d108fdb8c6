//! Kept files from the pack of a snapshot, and kept files that a run turns out not to need.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use super::path_state::{self, ImageId, KnownContents};
use super::run_images::{RunImage, RunImages, UndoLimits, set_mtime};

impl RunImages {
    /// Returns the limits on kept files.
    pub fn limits(&self) -> UndoLimits {
        self.limits
    }

    /// Keeps a file whose contents are in a pack.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_from_pack(
        &mut self,
        file: &path_state::FileState,
        mut pack: &File,
        at: u64,
    ) -> io::Result<KnownContents> {
        if let Some(kept) = self.kept.get(&file.meta.id) {
            return Ok(KnownContents::Image(kept.id));
        }
        self.make_home()?;
        let id = ImageId { place: 0, number: self.next };
        let path = self.path(id);
        let mut to = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
        pack.seek(SeekFrom::Start(at))?;
        if io::copy(&mut pack.take(file.size), &mut to)? < file.size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        set_mtime(&path, file.mtime)?;
        self.next += 1;
        self.add_size(file.size);
        self.kept.insert(file.meta.id, RunImage { id, linked: false });
        Ok(KnownContents::Image(id))
    }

    /// Removes a kept file that the run has not changed.
    pub fn discard_image(&mut self, file: &path_state::FileState) {
        let KnownContents::Image(id) = file.contents else { return };
        if self.kept.remove(&file.meta.id).is_some() {
            self.subtract_size(file.size);
            // A file that stays is removed with the run at the latest.
            let _stays = fs::remove_file(self.path(id));
        }
    }
}
