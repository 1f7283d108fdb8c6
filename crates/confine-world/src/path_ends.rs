//! Where hidden paths lead. A path may be a symbolic link or become one, and a directory may be mounted at several
//! places.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::mount_table::MountTable;

/// The most symbolic links that are followed in a row, as the kernel does.
const LINKS: usize = 40;

/// The places of paths at one moment.
#[derive(Debug, Default)]
pub(super) struct PathEnds {
    /// The names of what exists and is no link, each with the first path that leads to it.
    pub present: BTreeMap<PathBuf, PathBuf>,
    /// What may appear.
    pub missing: BTreeSet<PathBuf>,
    /// The links on the way.
    pub links: BTreeSet<PathBuf>,
    /// Directories, each with its path without links. `None`: it is missing.
    directories: HashMap<PathBuf, Option<PathBuf>>,
}

impl PathEnds {
    /// Follows paths, with the other names that their ends have in these mounts. A place above one of `kept` is left
    /// out: whoever may change a link must not hide all from others.
    pub fn of(named: &[PathBuf], kept: &[PathBuf], mounts: &MountTable) -> Self {
        let mut aims = Self::default();
        let is_above = |end: &Path| end.components().count() < 3 || kept.iter().any(|one| one.starts_with(end));
        for path in named {
            match aims.follow_to_end(path) {
                Some((end, _)) if is_above(&end) && !named.contains(&end) => {}
                Some((end, true)) => {
                    for name in mounts.aliases(&end).into_iter().chain([end]) {
                        aims.present.entry(name).or_insert_with(|| path.clone());
                    }
                }
                Some((end, false)) => drop(aims.missing.insert(end)),
                None => {}
            }
        }
        aims
    }

    /// Returns all paths that are to be hidden, with the links that lead to them.
    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.present.keys().chain(&self.missing).chain(&self.links)
    }

    /// Returns the path that a path leads to, and whether it exists. `None`: it leads nowhere.
    fn follow_to_end(&mut self, named: &Path) -> Option<(PathBuf, bool)> {
        let mut path = named.to_owned();
        for _ in 0..LINKS {
            let Some((above, name)) = path.parent().zip(path.file_name()) else {
                return path.canonicalize().ok().map(|path| (path, true));
            };
            let Some(above) = self.resolve_directory(above) else { return Some((path, false)) };
            let here = above.join(name);
            let text = match here.read_link() {
                Ok(text) => text,
                Err(error) => return Some((here, error.kind() != ErrorKind::NotFound)),
            };
            path = above.join(text);
            self.links.insert(here);
        }
        None
    }

    /// Returns the path of a directory without links. Nothing is below a directory that is missing.
    fn resolve_directory(&mut self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.directories.get(path) {
            return known.clone();
        }
        let is_below = path.parent().is_none_or(|above| self.resolve_directory(above).is_some());
        let real = if is_below { path.canonicalize().ok().filter(|real| real.is_dir()) } else { None };
        self.directories.insert(path.to_owned(), real.clone());
        real
    }

    /// Returns the directories in which a change may lead a path elsewhere: all above it, of which each may be moved.
    pub fn parent_directories(&mut self) -> BTreeSet<PathBuf> {
        let all: Vec<_> = self.all().cloned().collect();
        let above: BTreeSet<_> = all.iter().flat_map(|path| path.ancestors().skip(1)).collect();
        above.into_iter().filter_map(|above| self.resolve_directory(above)).collect()
    }
}

/// Returns the path that a path leads to, whether it exists or not.
pub(super) fn end_of_path(path: &Path) -> Option<PathBuf> {
    PathEnds::default().follow_to_end(path).map(|(end, _)| end)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_followed_through_its_links() {
        let base = tempfile::tempdir().expect("a directory");
        let base = base.path().canonicalize().expect("a path");
        let at = |name: &str| base.join(name);
        fs::create_dir_all(at("real/a")).expect("made");
        fs::write(at("real/file"), "").expect("written");
        for (to, link) in [("real", "dir"), ("dir/file", "one"), ("one", "two"), ("gone/x", "three"), ("self", "self")]
        {
            symlink(to, at(link)).expect("linked");
        }
        symlink("/", at("root")).expect("linked");
        let ends = |name: &str| {
            let found = PathEnds::of(&[at(name)], &[at("real")], &MountTable::default());
            found.present.into_keys().chain(found.missing).collect::<Vec<_>>()
        };
        for (name, end) in [
            ("real/file", "real/file"),
            ("dir/file", "real/file"),
            ("two", "real/file"),
            ("three", "gone/x"),
            ("none/x", "none/x"),
        ] {
            assert_eq!(ends(name), [at(end)], "{name}");
        }
        for name in ["self", "root", "dir"] {
            assert!(ends(name).is_empty(), "{name}");
        }
        let mut found = PathEnds::of(&[at("two")], &[], &MountTable::default());
        assert_eq!(found.links, ["one", "two"].map(at).into());
        let above = base.ancestors().map(Path::to_owned).chain([at("real")]);
        assert_eq!(found.parent_directories(), above.collect());
    }
}
