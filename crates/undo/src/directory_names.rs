//! The directories that a command moved or made: the current path of each earlier path, and the reverse. Pure.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::path_map::{PathMap, ancestors};

/// The current places of the directories that existed before the command. Only moved and new directories are listed.
///
/// An *earlier* path names a place in the tree before the command. A *current* path names a place in the current tree.
/// Both are equal unless a directory above was moved or made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectoryNames {
    /// Origins, by the current path.
    current: PathMap<DirectoryOrigin>,
    /// The current paths of the moved directories, by the earlier path.
    moved: PathMap<PathBuf>,
}

/// The origin of a listed directory.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DirectoryOrigin {
    /// The directory was moved from this earlier path.
    Moved(PathBuf),
    /// The command made the directory.
    Made,
}

impl DirectoryNames {
    /// Returns the earlier path for a current path, and `None` below a directory that the command made.
    pub fn earlier_path(&self, now: &Path) -> Option<PathBuf> {
        if self.current.is_empty() {
            return Some(now.to_owned());
        }
        for above in ancestors(now) {
            match self.current.get(above) {
                Some(DirectoryOrigin::Moved(before)) => return Some(rebase_path(before, now, above)),
                Some(DirectoryOrigin::Made) if above == now => {}
                Some(DirectoryOrigin::Made) => return None,
                None => {}
            }
        }
        Some(now.to_owned())
    }

    /// Returns the current path of the *entry* with this earlier path: its name in its directory, wherever that
    /// directory is now. The entry itself may have been moved away.
    pub fn current_entry(&self, before: &Path) -> PathBuf {
        match (before.parent(), before.file_name()) {
            (Some(parent), Some(name)) if !self.moved.is_empty() => self.current_path(parent).join(name),
            _ => before.to_owned(),
        }
    }

    /// Like [`Self::current_entry`], if the directory of the entry still exists, or a new directory is in its place.
    /// `None` if another earlier directory was moved there.
    pub fn current_slot<'a>(&self, before: &'a Path) -> Option<Cow<'a, Path>> {
        if self.moved.is_empty() {
            return Some(before.into());
        }
        let entry = self.current_entry(before);
        let (Some(parent), Some(of)) = (before.parent(), entry.parent()) else { return Some(entry.into()) };
        let is_there = self.is_made(of) || self.earlier_path(of).as_deref() == Some(parent);
        is_there.then_some(entry.into())
    }

    /// Returns the earlier path of a current entry: its name in its directory, wherever that directory was. `None` in a
    /// directory that the command made, and where a directory was until it was moved away.
    pub fn earlier_path_of_entry(&self, now: &Path) -> Option<PathBuf> {
        let (Some(parent), Some(name)) = (now.parent(), now.file_name()) else { return Some(now.to_owned()) };
        self.earlier_path_of_directory(parent).map(|of| of.join(name))
    }

    /// Returns where this directory was before the command. `None` if the command made the directory, or if another
    /// directory was there until it was moved away.
    pub fn earlier_path_of_directory(&self, now: &Path) -> Option<PathBuf> {
        if self.is_made(now) {
            return None;
        }
        self.earlier_path(now).filter(|of| self.moved.is_empty() || self.current_path(of) == now)
    }

    /// Returns the current path of the thing with this earlier path, which differs if the thing or a directory above
    /// was moved.
    pub fn current_path(&self, before: &Path) -> PathBuf {
        let found = ancestors(before).find_map(|above| Some((above, self.moved.get(above)?)));
        found.map_or_else(|| before.to_owned(), |(above, now)| rebase_path(now, before, above))
    }

    /// Returns the moved directories: the earlier path, and the current path.
    pub fn moved_directories(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.moved.iter().map(|(before, now)| (before, now.as_path()))
    }

    /// Returns whether the directory with this earlier path was moved.
    pub fn has_moved(&self, before: &Path) -> bool {
        self.moved.contains_key(before)
    }

    /// Returns whether the directory with this current path was moved.
    pub fn is_moved(&self, now: &Path) -> bool {
        matches!(self.current.get(now), Some(DirectoryOrigin::Moved(_)))
    }

    /// Returns whether the command made the directory with this current path.
    pub fn is_made(&self, now: &Path) -> bool {
        matches!(self.current.get(now), Some(DirectoryOrigin::Made)) || self.earlier_path(now).is_none()
    }

    /// Returns the current paths of the directories that the command made. Directories inside a new directory are not
    /// listed separately.
    pub fn made_directories(&self) -> impl Iterator<Item = &Path> {
        self.current.iter().filter(|(_, origin)| **origin == DirectoryOrigin::Made).map(|(now, _)| now)
    }

    /// Records that a directory is made.
    pub fn make(&mut self, now: &Path) {
        self.forget(now);
        self.current.insert(now.to_owned(), DirectoryOrigin::Made);
    }

    /// Records that a directory is removed. Nothing is left below it.
    pub fn remove(&mut self, now: &Path) {
        self.forget(now);
    }

    /// Records that a directory is renamed, over an empty directory or where nothing was.
    pub fn rename(&mut self, from: &Path, to: &Path) {
        let origin = self.take_origin(from);
        self.forget(to);
        let below = self.take_entries_below(from);
        self.set_origin(to, origin);
        self.insert_entries_below(below, from, to);
    }

    /// Records that two directories swap their places.
    pub fn swap(&mut self, one: &Path, other: &Path) {
        let (first, second) = (self.take_origin(one), self.take_origin(other));
        let (below_one, below_other) = (self.take_entries_below(one), self.take_entries_below(other));
        self.set_origin(one, second);
        self.set_origin(other, first);
        self.insert_entries_below(below_one, one, other);
        self.insert_entries_below(below_other, other, one);
    }

    /// Removes a directory from the lists and returns its origin.
    fn take_origin(&mut self, now: &Path) -> DirectoryOrigin {
        let origin = match self.current.get(now) {
            Some(DirectoryOrigin::Made) => DirectoryOrigin::Made,
            _ => self.earlier_path(now).map_or(DirectoryOrigin::Made, DirectoryOrigin::Moved),
        };
        self.forget(now);
        origin
    }

    fn set_origin(&mut self, now: &Path, origin: DirectoryOrigin) {
        if let DirectoryOrigin::Moved(before) = &origin {
            // The directory is back at its earlier place, as far as the directories above are.
            if self.earlier_path(now).as_ref() == Some(before) {
                return;
            }
            self.moved.insert(before.clone(), now.to_owned());
        }
        self.current.insert(now.to_owned(), origin);
    }

    fn forget(&mut self, now: &Path) {
        if let Some(DirectoryOrigin::Moved(before)) = self.current.remove(now) {
            self.moved.remove(&before);
        }
    }

    /// Removes everything below a directory from the lists.
    fn take_entries_below(&mut self, from: &Path) -> Vec<(PathBuf, DirectoryOrigin)> {
        self.current.take_below(from)
    }

    fn insert_entries_below(&mut self, entries: Vec<(PathBuf, DirectoryOrigin)>, from: &Path, to: &Path) {
        for (path, origin) in entries {
            let now = rebase_path(to, &path, from);
            if let DirectoryOrigin::Moved(before) = &origin {
                self.moved.insert(before.clone(), now.clone());
            }
            self.current.insert(now, origin);
        }
    }
}

/// Returns `path`, which is `above` or below it, with `base` in the place of `above`.
pub fn rebase_path(base: &Path, path: &Path, above: &Path) -> PathBuf {
    match path.strip_prefix(above) {
        Ok(rest) if !rest.as_os_str().is_empty() => base.join(rest),
        _ => base.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    enum DirectoryChange {
        Rename(&'static str, &'static str),
        Swap(&'static str, &'static str),
        Make(&'static str),
        Remove(&'static str),
    }
    use DirectoryChange::{Make, Remove, Rename, Swap};

    fn after(changes: &[DirectoryChange]) -> DirectoryNames {
        let mut names = DirectoryNames::default();
        for change in changes {
            match *change {
                Rename(from, to) => names.rename(Path::new(from), Path::new(to)),
                Swap(one, other) => names.swap(Path::new(one), Path::new(other)),
                Make(path) => names.make(Path::new(path)),
                Remove(path) => names.remove(Path::new(path)),
            }
        }
        names
    }

    #[test]
    fn a_path_of_now_leads_to_the_path_of_before() {
        for (changes, now, before) in [
            (&[][..], "/d/f", Some("/d/f")),
            (&[Rename("/d", "/e")], "/e/f", Some("/d/f")),
            (&[Rename("/d", "/e")], "/e", Some("/d")),
            (&[Rename("/d", "/e"), Make("/d")], "/d/f", None),
            (&[Rename("/d", "/e"), Make("/d")], "/d", Some("/d")),
            (&[Rename("/d", "/e"), Rename("/e", "/g")], "/g/f", Some("/d/f")),
            (&[Rename("/d/x", "/x"), Rename("/d", "/e")], "/x/f", Some("/d/x/f")),
            (&[Rename("/d/x", "/d/y"), Rename("/d", "/e")], "/e/y/f", Some("/d/x/f")),
            (&[Rename("/d", "/e"), Rename("/e", "/d")], "/d/f", Some("/d/f")),
            (&[Make("/n"), Rename("/d", "/n/d")], "/n/d/f", Some("/d/f")),
            (&[Make("/n"), Rename("/d", "/n/d")], "/n/f", None),
            (&[Make("/n"), Rename("/n", "/m")], "/m/f", None),
            (&[Make("/n"), Rename("/n", "/m")], "/n/f", Some("/n/f")),
            (&[Rename("/d", "/e"), Remove("/e")], "/e/f", Some("/e/f")),
            (&[Swap("/a", "/b")], "/a/f", Some("/b/f")),
            (&[Swap("/a", "/b"), Swap("/a", "/b")], "/a/f", Some("/a/f")),
            (&[Rename("/a/i", "/a/j"), Swap("/a", "/b")], "/b/j/f", Some("/a/i/f")),
        ] {
            assert_eq!(after(changes).earlier_path(Path::new(now)).as_deref(), before.map(Path::new), "{now}");
        }
    }

    #[test]
    fn an_entry_of_now_has_a_path_of_before_if_its_directory_has_one() {
        for (changes, now, before) in [
            (&[][..], "/d/f", Some("/d/f")),
            (&[Rename("/d", "/e")], "/e/f", Some("/d/f")),
            (&[Rename("/d", "/e")], "/d/f", None),
            (&[Rename("/d", "/e")], "/d", Some("/d")),
            (&[Rename("/d", "/e")], "/e", Some("/e")),
            (&[Rename("/d", "/e"), Make("/d")], "/d/f", None),
            (&[Remove("/d"), Rename("/e", "/d")], "/d/f", Some("/e/f")),
        ] {
            assert_eq!(after(changes).earlier_path_of_entry(Path::new(now)).as_deref(), before.map(Path::new), "{now}");
        }
    }

    #[test]
    fn the_slot_of_a_path_of_before_is_lost_with_its_directory() {
        for (changes, before, slot) in [
            (&[][..], "/d/f", Some("/d/f")),
            (&[Make("/d")], "/d/f", Some("/d/f")),
            (&[Rename("/d", "/e")], "/d/f", Some("/e/f")),
            (&[Rename("/d", "/e")], "/d", Some("/d")),
            (&[Remove("/d"), Rename("/e", "/d")], "/d/f", None),
            (&[Remove("/d"), Rename("/e", "/d")], "/e/f", Some("/d/f")),
            (&[Rename("/e", "/g"), Make("/d")], "/d/f", Some("/d/f")),
        ] {
            assert_eq!(after(changes).current_slot(Path::new(before)).as_deref(), slot.map(Path::new), "{before}");
        }
    }

    #[test]
    fn a_path_of_before_leads_to_its_entry_and_to_its_place() {
        for (changes, before, entry, place) in [
            (&[][..], "/d", "/d", "/d"),
            (&[Rename("/d", "/e")], "/d", "/d", "/e"),
            (&[Rename("/d", "/e")], "/d/f", "/e/f", "/e/f"),
            (&[Rename("/d/x", "/x"), Rename("/d", "/e")], "/d/x", "/e/x", "/x"),
            (&[Rename("/d/x", "/x"), Rename("/d", "/e")], "/d/x/f", "/x/f", "/x/f"),
            (&[Rename("/d/x", "/d/y"), Rename("/d", "/e")], "/d/x/f", "/e/y/f", "/e/y/f"),
            (&[Rename("/d", "/e"), Remove("/e")], "/d/f", "/d/f", "/d/f"),
            (&[Make("/n"), Rename("/d", "/n/d"), Rename("/n", "/m")], "/d/f", "/m/d/f", "/m/d/f"),
        ] {
            let names = after(changes);
            assert_eq!(names.current_entry(Path::new(before)), Path::new(entry), "entry of {before}");
            assert_eq!(names.current_path(Path::new(before)), Path::new(place), "place of {before}");
        }
    }
}
