//! Changes that are recorded after they happened, from a comparison with the earlier state.

use std::io;
use std::path::{Path, PathBuf};

use super::ChangeJournal;
use crate::manifest::{ManifestRecord, RecordedRename};
use crate::path_state::PathState;
use crate::run_images::RunImages;

impl ChangeJournal {
    /// Records the earlier thing at an earlier path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn note_before(&mut self, path: PathBuf, state: PathState) -> io::Result<()> {
        if self.before.contains_key(&path) { Ok(()) } else { self.write_before(path, state) }
    }

    /// Records that the run has made a thing at a path where nothing was.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn note_made(&mut self, path: &Path, is_directory: bool) -> io::Result<()> {
        self.record_appearance(path)?;
        if is_directory {
            self.writer.append(&ManifestRecord::Made { path: path.to_owned() })?;
            self.names.make(path);
            self.directory = None;
        }
        Ok(())
    }

    /// Records that a directory was moved.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn note_moved(&mut self, moved: RecordedRename) -> io::Result<()> {
        self.record_appearance(&moved.to)?;
        self.writer.append(&ManifestRecord::Renamed(moved.clone()))?;
        moved.apply(&mut self.names);
        self.directory = None;
        Ok(())
    }

    /// Returns the directory of the kept files in the store.
    pub(crate) fn image_directory(&self) -> PathBuf {
        self.store.image_directory(&self.header.run).unwrap_or_default()
    }

    /// Returns the kept files.
    pub(crate) fn images(&mut self) -> &mut RunImages {
        &mut self.images
    }
}
