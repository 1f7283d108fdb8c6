//! Copies the changes of a draft, for a fork, and for a commit to another mount.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use nix::sys::stat::{Mode, SFlag, mknod};

use super::layer::show_attributes;
use undo::path_lookup::read_state;

/// Copies the things of a layer, with owners, modes, attributes, times and further names of the same file. Contents are
/// shared where the file system can.
pub struct LayerCopier {
    /// Whether copies have the marks of the overlay.
    marks: bool,
    /// The copies of files with several names, by the number of the file: where each is, and its own number.
    names: HashMap<u64, (PathBuf, u64)>,
    /// The numbers of files that were copied since the last move.
    unmoved: Vec<u64>,
}

impl LayerCopier {
    /// Returns a copier for another layer.
    pub fn for_layer() -> Self {
        Self { marks: true, names: HashMap::new(), unmoved: Vec::new() }
    }

    /// Returns a copier for a place outside, which gets what commands of the draft see.
    pub fn for_base() -> Self {
        Self { marks: false, names: HashMap::new(), unmoved: Vec::new() }
    }

    /// Gives the copy of a file another name. Returns `false` if it was not copied yet, or if somebody has replaced the
    /// copy.
    fn link(&self, number: u64, to: &Path) -> io::Result<bool> {
        let Some((other, own)) = self.names.get(&number) else { return Ok(false) };
        let is_linked = fs::hard_link(other, to).is_ok();
        if is_linked && fs::symlink_metadata(to)?.ino() != *own {
            fs::remove_file(to)?;
            return Ok(false);
        }
        Ok(is_linked)
    }

    /// Learns that the last copy was moved, with all that is in it.
    pub fn follow(&mut self, from: &Path, to: &Path) {
        for number in self.unmoved.drain(..) {
            let Some((path, _)) = self.names.get_mut(&number) else { continue };
            if let Ok(below) = path.strip_prefix(from) {
                *path = if below.as_os_str().is_empty() { to.to_owned() } else { to.join(below) };
            }
        }
    }

    /// Copies everything in a directory into another one.
    ///
    /// # Errors
    /// If something cannot be read or written.
    pub fn copy_entries(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::read_dir(from)?.try_for_each(|entry| {
            let entry = entry?;
            self.copy(&entry.path(), &to.join(entry.file_name()))
        })
    }

    /// Copies a thing with all that is in it to where nothing is.
    ///
    /// # Errors
    /// As [`LayerCopier::copy_entries`].
    pub fn copy(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let data = fs::symlink_metadata(from)?;
        let kind = data.file_type();
        if !kind.is_dir() && self.link(data.ino(), to)? {
            return Ok(());
        }
        if kind.is_dir() {
            fs::create_dir(to)?;
            self.copy_entries(from, to)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(from)?, to)?;
        } else if kind.is_file() {
            undo::run_images::copy_file(from, to)?;
        } else {
            let (kind, mode) =
                (SFlag::from_bits_truncate(data.mode() as _), Mode::from_bits_truncate(data.mode() as _));
            mknod(to, kind, mode, data.rdev() as _)?;
        }
        let mut wanted = read_state(from)?;
        if !self.marks {
            show_attributes(&mut wanted);
        }
        if let Some(meta) = wanted.meta() {
            undo::apply_metadata(to, &read_state(to)?, meta)?;
        }
        undo::run_images::set_mtime(to, data.modified()?.into())?;
        if data.nlink() > 1 && !kind.is_dir() {
            self.names.insert(data.ino(), (to.to_owned(), fs::symlink_metadata(to)?.ino()));
            self.unmoved.push(data.ino());
        }
        Ok(())
    }
}
