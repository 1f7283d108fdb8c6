//! A directory whose changes a draft holds, and the form in which the kernel's overlay leaves them.
//!
//! The overlay has the directory itself as its lower layer. It writes each changed thing to `upper`, at the same
//! relative path: a file with its whole contents, a removed thing as a *whiteout*, which is a device 0/0. A directory
//! there is *merged* with the one of the base, unless it is *opaque* or the base has none.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::stat::{Mode, SFlag, mknod};
use serde::{Deserialize, Serialize};

use undo::path_lookup::{is_absent, open_file, read_state};
use undo::path_state::{ExtendedAttribute, FileMeta, PathState};

/// The attributes of the overlay begin with this. A command in the overlay can set none of them: the kernel stores
/// those that it sets as `user.overlay.overlay.…`.
const OVERLAY: &[u8] = b"user.overlay.";
/// Set on a directory that hides the one of the base.
const OPAQUE: &str = "user.overlay.opaque";
/// Set on a thing that was copied from the base.
const ORIGIN: &str = "user.overlay.origin";

/// The type bits of the mode of a character device.
const CHARACTER_DEVICE: u32 = 0o020_000;

/// A directory whose changes a draft holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftLayer {
    /// The directory. Absolute, without links in it.
    pub base: PathBuf,
    /// The directory of the draft that holds `upper` and `work`.
    pub room: PathBuf,
    /// Whether the room is on another mount than the base, so that a commit copies.
    pub is_apart: bool,
}

/// A thing as the overlay has left it, or a thing of the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerThing {
    /// The thing without the attributes of the overlay.
    pub state: PathState,
    /// Whether it was copied from the base, at this path or at another one.
    pub is_copied: bool,
    /// Whether it is a directory that hides the one of the base.
    pub is_opaque: bool,
}

/// A path at which a draft differs from its base, or may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerChange {
    /// The path in the base.
    pub path: PathBuf,
    /// The thing of the draft: nothing if it was removed.
    pub draft: LayerThing,
    /// The thing of the base.
    pub base: PathState,
}

impl DraftLayer {
    /// Returns the directory of changed things.
    pub fn upper(&self) -> PathBuf {
        self.room.join("upper")
    }

    /// Returns the directory in which the overlay prepares things.
    pub fn work(&self) -> PathBuf {
        self.room.join("work")
    }

    /// Returns the place in `upper` of a path of the base.
    pub fn place_of(&self, path: &Path) -> Option<PathBuf> {
        path.strip_prefix(&self.base).ok().map(|rest| self.upper().join(rest))
    }

    /// Returns the file or directory that the draft shows at a path: one of `upper`, or that of the base. `None`: there
    /// is none.
    ///
    /// # Errors
    /// If something cannot be read.
    pub fn find(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let Ok(rest) = path.strip_prefix(&self.base) else { return Ok(None) };
        let (mut place, mut is_hidden) = (self.upper(), false);
        let mut names = rest.iter().peekable();
        while let Some(name) = names.next() {
            place.push(name);
            match read_thing(&place)? {
                Some(thing) if thing.state.is_directory() => is_hidden |= thing.is_opaque,
                Some(thing) if thing.state.is_absent() || names.peek().is_some() => return Ok(None),
                Some(_) => {}
                None if is_hidden => return Ok(None),
                None => return Ok(Some(path.to_owned())),
            }
        }
        Ok(Some(place))
    }

    /// Returns each path at which the draft differs from its base, or may. A directory comes before its entries. The
    /// entries of a removed directory are there as well, and those of a new directory if `into` says so.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn changes(&self, into: &dyn Fn(&Path) -> bool) -> io::Result<Vec<LayerChange>> {
        let mut changes = Vec::new();
        walk_entries((&self.upper(), &self.base), BaseDirectory::Merged, into, &mut |change| changes.push(change))?;
        Ok(changes)
    }
}

/// The directory of the base at the path of a directory in `upper`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BaseDirectory {
    /// Its entries show through.
    Merged,
    /// All its entries are gone.
    Hidden,
    /// There is none.
    Absent,
}

impl LayerThing {
    /// Nothing.
    pub const ABSENT: Self = Self { state: PathState::Absent, is_copied: false, is_opaque: false };
}

/// Reads at a path to which no link leads. Commands may put links in the way while something is read.
fn read_without_links<T>(path: &Path, read: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let (_held, reach) = sys::open_without_links(path)?;
    read(&reach)
}

/// Reads a regular file of at most `most` bytes, which is no link and to which none leads.
///
/// # Errors
/// If it is longer, another thing, or cannot be read.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = read_without_links(path, open_file)?;
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Reads a thing in `upper`. `None`: nothing is there, and the base shows through. A whiteout is
/// [`PathState::Absent`].
///
/// # Errors
/// If the system refuses to answer.
pub fn read_thing(place: &Path) -> io::Result<Option<LayerThing>> {
    let mut state = read_state(place)?;
    if state.is_absent() {
        return Ok(None);
    }
    if matches!(state, PathState::Other { device: 0, kind, .. } if kind == CHARACTER_DEVICE) {
        return Ok(Some(LayerThing::ABSENT));
    }
    let has = |meta: &FileMeta, name: &str| meta.xattrs.iter().any(|attribute| attribute.name == name);
    let (is_copied, is_opaque) = state.meta().map_or((false, false), |meta| (has(meta, ORIGIN), has(meta, OPAQUE)));
    show_attributes(&mut state);
    Ok(Some(LayerThing { state, is_copied, is_opaque }))
}

/// Leaves the attributes that are shown in the draft, as they are shown there.
pub fn show_attributes(state: &mut PathState) {
    if let Some(meta) = state.meta_mut() {
        meta.xattrs = std::mem::take(&mut meta.xattrs).into_iter().filter_map(shown_attribute).collect();
    }
}

/// Returns an attribute as it is shown in the draft. `None`: it is one of the overlay.
fn shown_attribute(attribute: ExtendedAttribute) -> Option<ExtendedAttribute> {
    let Some(rest) = attribute.name.as_bytes().strip_prefix(OVERLAY) else { return Some(attribute) };
    let own = rest.strip_prefix(b"overlay.")?;
    let name = OsString::from_vec([OVERLAY, own].concat());
    Some(ExtendedAttribute { name, ..attribute })
}

/// Takes the attributes of the overlay off a thing that leaves `upper`.
///
/// # Errors
/// If the system refuses it.
pub fn strip(place: &Path) -> io::Result<()> {
    for (name, value) in sys::attributes(place)? {
        if !name.as_bytes().starts_with(OVERLAY) {
            continue;
        }
        if let Some(shown) = shown_attribute(ExtendedAttribute { name: name.clone(), value }) {
            sys::set_attribute(place, &shown.name, &shown.value)?;
        }
        sys::remove_attribute(place, &name)?;
    }
    Ok(())
}

/// Turns an opaque directory of `upper` into a merged one that shows the same: what it hides gets a whiteout each.
///
/// # Errors
/// If the system refuses it.
pub fn make_merged(place: &Path, base: &Path) -> io::Result<()> {
    for name in sorted_names(base)? {
        match mknod(&place.join(name), SFlag::S_IFCHR, Mode::empty(), 0) {
            Err(Errno::EEXIST) => {}
            made => made?,
        }
    }
    match sys::remove_attribute(place, OsStr::new(OPAQUE)) {
        Err(error) if error.raw_os_error() == Some(Errno::ENODATA as i32) => Ok(()),
        removed => removed,
    }
}

fn walk_entries(
    (upper, base): (&Path, &Path),
    shows: BaseDirectory,
    into: &dyn Fn(&Path) -> bool,
    visit: &mut dyn FnMut(LayerChange),
) -> io::Result<()> {
    let names = sorted_names(upper)?;
    for name in &names {
        let (place, path) = (upper.join(name), base.join(name));
        let Some(draft) = read_thing(&place)? else { continue };
        let there = if shows == BaseDirectory::Absent { PathState::Absent } else { read_state(&path)? };
        let next = match (draft.state.is_directory(), there.is_directory()) {
            (true, true) if draft.is_opaque || shows == BaseDirectory::Hidden => Some(BaseDirectory::Hidden),
            (true, true) => Some(BaseDirectory::Merged),
            (true, false) => Some(BaseDirectory::Absent),
            (false, _) => None,
        };
        let is_removed = next.is_none() && there.is_directory();
        let is_copied = draft.is_copied;
        visit(LayerChange { path: path.clone(), draft, base: there });
        if is_removed {
            walk_removed(&path, &mut |_| true, visit)?;
        }
        // A directory that was copied was there before. Others have removed it.
        let is_entered = |next: &BaseDirectory| *next != BaseDirectory::Absent || is_copied || into(&path);
        if let Some(next) = next.filter(is_entered) {
            walk_entries((&place, &path), next, into, visit)?;
        }
    }
    if shows == BaseDirectory::Hidden {
        walk_removed(base, &mut |name| names.binary_search_by(|own| own.as_os_str().cmp(name)).is_err(), visit)?;
    }
    Ok(())
}

/// Visits what is in a directory of the base that is gone in the draft.
fn walk_removed(
    directory: &Path,
    is_gone: &mut dyn FnMut(&OsStr) -> bool,
    visit: &mut dyn FnMut(LayerChange),
) -> io::Result<()> {
    for name in sorted_names(directory)?.into_iter().filter(|name| is_gone(name)) {
        let path = directory.join(name);
        let base = read_state(&path)?;
        let is_directory = base.is_directory();
        visit(LayerChange { path: path.clone(), draft: LayerThing::ABSENT, base });
        if is_directory {
            walk_removed(&path, &mut |_| true, visit)?;
        }
    }
    Ok(())
}

/// Returns the names in a directory, sorted. A directory that is gone, or to which a link leads, has none.
fn sorted_names(directory: &Path) -> io::Result<Vec<OsString>> {
    // The directory of any entry.
    let read = |entry: &Path| fs::read_dir(entry.parent().unwrap_or(directory));
    let entries = match read_without_links(&directory.join("-"), read) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort_unstable();
    Ok(names)
}
