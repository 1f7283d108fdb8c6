//! Keeps a removed file by making its removal.

use super::{ChangeJournal, JournalError};
use crate::manifest::{ManifestPurpose, ManifestRecord};
use crate::path_lookup::RoutedPath;
use crate::path_state::{FileState, KnownContents, PathState};
use crate::run_images::KeepMethod;

impl ChangeJournal {
    /// Records a removal of a name that is not a directory's. A file is kept by making the removal: it is renamed into
    /// the store. Returns whether it was. The caller makes all other removals.
    ///
    /// # Errors
    /// As [`ChangeJournal::record_before_change`]. The removal is not made then.
    pub fn take_removed_file<'a>(&mut self, at: impl Into<RoutedPath<'a>>) -> Result<bool, JournalError> {
        let at = at.into();
        self.confirm_renames()?;
        let state = at.read_state()?;
        self.note_going(at.path, state.id());
        let room = match &state {
            PathState::File(file) if self.first_recorded_state(at, file).is_none() => self.images.next_image_for(file),
            _ => None,
        };
        let (Some(id), PathState::File(file)) =
            (room.filter(|_| self.header.purpose != ManifestPurpose::Receipt), &state)
        else {
            return self.keep_state(at, state, self.need_of_removal()).map(|()| false);
        };
        let Some(entry) = self.unrecorded_entry(at.path) else { return Ok(false) };
        let file = file.clone();
        // The record comes first, so that the store has no file with an unknown name.
        self.write_before(entry, PathState::File(FileState { contents: KnownContents::Image(id), ..file.clone() }))?;
        if self.images.take_file(at, &file, id).is_ok() {
            return Ok(true);
        }
        let Some(entry) = self.earlier_entry(at.path) else { return Ok(false) };
        let kept = self.images.keep(at, &file, KeepMethod::Link);
        let contents = match &kept {
            Ok(contents) => contents.clone(),
            Err(why) => KnownContents::Nothing { why: why.to_string() },
        };
        self.write_new_places()?;
        if let Some(PathState::File(file)) = self.before.get_mut(&entry) {
            file.contents = contents.clone();
        }
        self.writer.append(&ManifestRecord::Kept { path: entry, contents })?;
        kept.map(|_| false).map_err(Into::into)
    }
}
