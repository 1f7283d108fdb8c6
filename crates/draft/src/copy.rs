//! Copies the changes of a draft, for a fork, and for a commit to another mount.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use nix::sys::stat::{Mode, SFlag, mknod};

use undo::path_lookup::read_state;

/// Copies everything in a directory into another one, with owners, modes, attributes, times and further names of the
/// same file. Contents are shared where the file system can.
///
/// # Errors
/// If something cannot be read or written.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    copy_entries(from, to, &mut HashMap::new())
}

/// Copies a thing with all that is in it to where nothing is.
///
/// # Errors
/// As [`copy_tree`].
pub fn copy_thing(from: &Path, to: &Path) -> io::Result<()> {
    copy_named(from, to, &mut HashMap::new())
}

fn copy_entries(from: &Path, to: &Path, names: &mut HashMap<u64, PathBuf>) -> io::Result<()> {
    fs::read_dir(from)?.try_for_each(|entry| {
        let entry = entry?;
        copy_named(&entry.path(), &to.join(entry.file_name()), names)
    })
}

/// Copies a thing. `names`: the copies of things with several names.
fn copy_named(from: &Path, to: &Path, names: &mut HashMap<u64, PathBuf>) -> io::Result<()> {
    let data = fs::symlink_metadata(from)?;
    let kind = data.file_type();
    if data.nlink() > 1 && !kind.is_dir() {
        if let Some(other) = names.get(&data.ino()) {
            return fs::hard_link(other, to);
        }
        names.insert(data.ino(), to.to_owned());
    }
    if kind.is_dir() {
        fs::create_dir(to)?;
        copy_entries(from, to, names)?;
    } else if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
    } else if kind.is_file() {
        undo::run_images::copy_file(from, to)?;
    } else {
        let (kind, mode) = (SFlag::from_bits_truncate(data.mode() as _), Mode::from_bits_truncate(data.mode() as _));
        mknod(to, kind, mode, data.rdev() as _)?;
    }
    let wanted = read_state(from)?;
    if let Some(meta) = wanted.meta() {
        undo::apply_metadata(to, &read_state(to)?, meta)?;
    }
    undo::run_images::set_mtime(to, data.modified()?.into())
}
