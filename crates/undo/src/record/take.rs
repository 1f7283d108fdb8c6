//! Keeps a removed file by making its removal.

use super::{Recorder, TouchError};
use crate::images::Keeping;
use crate::look::At;
use crate::manifest::{Purpose, Record};
use crate::node::{Contents, File, Node};

impl Recorder {
    /// Records a removal of a name that is not a directory's. A file is kept by making the removal: it is renamed into
    /// the store. Returns whether it was. The caller makes all other removals.
    ///
    /// # Errors
    /// As [`Recorder::touch`]. The removal is not made then.
    pub fn take<'a>(&mut self, at: impl Into<At<'a>>) -> Result<bool, TouchError> {
        let at = at.into();
        self.confirm()?;
        let node = at.look()?;
        self.note_going(at.path, node.id());
        let room = match &node {
            Node::File(file) if self.known(at, file).is_none() => self.images.room_for(file),
            _ => None,
        };
        let (Some(id), Node::File(file)) = (room.filter(|_| self.header.purpose != Purpose::Receipt), &node) else {
            return self.keep_node(at, node, self.need_of_removal()).map(|()| false);
        };
        let Some(entry) = self.new_entry(at.path) else { return Ok(false) };
        let file = file.clone();
        // The record comes first, so that the store has no file with an unknown name.
        self.write(entry, Node::File(File { contents: Contents::Image(id), ..file.clone() }))?;
        if self.images.take(at, &file, id).is_ok() {
            return Ok(true);
        }
        let Some(entry) = self.entry(at.path) else { return Ok(false) };
        let kept = self.images.keep(at, &file, Keeping::Link);
        let contents = match &kept {
            Ok(contents) => contents.clone(),
            Err(why) => Contents::Nothing { why: why.to_string() },
        };
        self.write_places()?;
        if let Some(Node::File(file)) = self.before.get_mut(&entry) {
            file.contents = contents.clone();
        }
        self.writer.append(&Record::Kept { path: entry, contents })?;
        kept.map(|_| false).map_err(Into::into)
    }
}
