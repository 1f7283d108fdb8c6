//! The room of a drafted directory: where its changes are kept.
//!
//! It lies in the store, if that is on the mount of the directory, else at a place on that mount, as far up as the user
//! may write and outside of the directory. Things are renamed from there when they are committed. If there is no such
//! place, because a mount begins at the directory, the room lies in the store all the same: a commit copies.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::geteuid;

use super::draft_error::{DraftError, system_error};
use super::layer::DraftLayer;
use confine_policy::DRAFTS_PLACE;

/// A link in a room at a place, to the directory of its draft.
const DRAFT: &str = "draft";
/// Age at which a directory without a record belongs to no process that still makes or removes a draft.
pub(super) const HALF_MADE: Duration = Duration::from_mins(10);

/// Makes the room of a draft for a directory. `path`: the directory of the draft. `number`: which of its rooms it is.
///
/// # Errors
/// If the file systems have no attributes, or nothing can be written.
pub(super) fn make_room(path: &Path, number: usize, base: &Path) -> Result<DraftLayer, DraftError> {
    let mount = mount_of(base).map_err(system_error(base))?;
    let of = |room: PathBuf, is_apart| DraftLayer { base: base.to_owned(), room, is_apart };
    let in_store = of(path.join(number.to_string()), mount_of(path).map_err(system_error(path))? != mount);
    let at_place = if in_store.is_apart { make_place(base, mount) } else { None };
    let name = format!("{}-{number}", path.file_name().unwrap_or_default().to_string_lossy());
    let at_place = at_place.map(|place| of(place.join(name), false));
    match at_place.map(|layer| prepare(layer, path)) {
        Some(Ok(layer)) => Ok(layer),
        _ => prepare(in_store, path),
    }
}

/// Makes a room. If it cannot hold changes, nothing is left.
fn prepare(layer: DraftLayer, path: &Path) -> Result<DraftLayer, DraftError> {
    let make = || {
        fill(&layer).map_err(system_error(&layer.room))?;
        check_room(&layer)?;
        let is_elsewhere = layer.room.parent() != Some(path);
        let named = if is_elsewhere { symlink(path, layer.room.join(DRAFT)) } else { Ok(()) };
        named.map_err(system_error(&layer.room))
    };
    let made = make();
    if made.is_err() {
        let _not_more = remove_all(&layer.room);
    }
    made.map(|()| layer)
}

/// Removes a directory and everything in it. The overlay makes directories of mode 000.
///
/// # Errors
/// If something cannot be removed.
pub(super) fn remove_all(directory: &Path) -> io::Result<()> {
    make_removable(directory)?;
    fs::remove_dir_all(directory)
}

fn make_removable(directory: &Path) -> io::Result<()> {
    fs::set_permissions(directory, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_removable(&entry.path())?;
        }
    }
    Ok(())
}

/// Returns the mount of a directory, and its file system: a mount of btrfs has several. Things are renamed within both
/// alone.
fn mount_of(directory: &Path) -> io::Result<(u64, u64)> {
    let sys::MountedFile { mount, id: (device, _), .. } = sys::mount_of(directory)?;
    Ok((mount, device))
}

/// Makes the directory for rooms of this user on a mount, as far up as possible. `None`: there is no place.
fn make_place(base: &Path, mount: (u64, u64)) -> Option<PathBuf> {
    let is_there = |path: &&Path| mount_of(path).is_ok_and(|other| other == mount);
    let above: Vec<&Path> = base.ancestors().skip(1).take_while(is_there).collect();
    let place = above.into_iter().rev().find_map(|path| {
        let place = path.join(format!("{DRAFTS_PLACE}{}", geteuid()));
        capture::open_private(&place).ok().map(|_| place)
    })?;
    sweep(&place);
    Some(place)
}

/// Removes the rooms at a place of which the draft is gone.
fn sweep(place: &Path) {
    for room in fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let age = fs::symlink_metadata(&room).and_then(|data| data.modified()).ok().and_then(|at| at.elapsed().ok());
        if !room.join(DRAFT).exists() && age.is_some_and(|age| age > HALF_MADE) {
            let _not_more = remove_all(&room);
        }
    }
}

/// Makes the directories of a room. What the overlay shows as the base itself has the mode and the owner of the base.
fn fill(layer: &DraftLayer) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(&layer.room)?;
    let data = fs::metadata(&layer.base)?;
    for directory in [layer.upper(), layer.work()] {
        fs::create_dir(&directory)?;
    }
    // Only root may give a directory away.
    let _same_owner = std::os::unix::fs::chown(layer.upper(), Some(data.uid()), Some(data.gid()));
    fs::set_permissions(layer.upper(), Permissions::from_mode(data.mode() & 0o7777))
}

/// Fails if the file system of a room cannot hold the changes of an overlay: it needs attributes of users, in which the
/// overlay keeps its marks, and whiteouts, which overlayfs itself and NFS do not have. FUSE is left out, and so is what
/// the base may be served from: the kernel could hang there.
fn check_room(layer: &DraftLayer) -> Result<(), DraftError> {
    let unsupported = |why| Err(system_error(&layer.room)(io::Error::new(io::ErrorKind::Unsupported, why)));
    if sys::is_served_from(&layer.base, &layer.room) {
        return unsupported(
            "the root is on FUSE, and its program seems to keep files on this file system, which could hang then; name \
             by `dir` a directory on another one, as /dev/shm or a volume of another disk is",
        );
    }
    let mark = OsStr::new("user.agent-bash");
    let has_attributes =
        sys::set_attribute(&layer.room, mark, b"").and_then(|()| sys::remove_attribute(&layer.room, mark)).is_ok();
    if !has_attributes {
        let why = "the file system of the directory of drafts has no attributes of users; name another one by `dir`";
        return Err(DraftError::Root { root: layer.base.clone(), why });
    }
    if sys::can_hold_changes(&layer.work()) {
        return Ok(());
    }
    unsupported(
        "no overlay is possible on this file system, or before Linux 5.11; name by `dir` a directory on another one, as \
         /dev/shm or a volume is",
    )
}
