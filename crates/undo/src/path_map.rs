//! Maps from paths, in the order of their bytes. Comparing bytes takes a tenth of the time of comparing components.

use std::collections::{BTreeMap, btree_map};
use std::ffi::{OsStr, OsString};
use std::ops::{Bound, Index};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A map from absolute paths, without `.`, `..` and double slashes. A directory comes before everything in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathMap<V>(BTreeMap<OsString, V>);

#[expect(missing_docs, reason = "as of a map of the standard library, where nothing is said")]
impl<V> PathMap<V> {
    /// Returns a map without entries.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn contains_key(&self, path: &Path) -> bool {
        self.0.contains_key(path.as_os_str())
    }

    pub fn get(&self, path: &Path) -> Option<&V> {
        self.0.get(path.as_os_str())
    }

    pub fn get_key_value(&self, path: &Path) -> Option<(&Path, &V)> {
        self.0.get_key_value(path.as_os_str()).map(|(path, value)| (Path::new(path), value))
    }

    pub fn get_mut(&mut self, path: &Path) -> Option<&mut V> {
        self.0.get_mut(path.as_os_str())
    }

    pub fn insert(&mut self, path: PathBuf, value: V) -> Option<V> {
        self.0.insert(path.into_os_string(), value)
    }

    /// Adds a value, unless the path has one.
    pub fn add(&mut self, path: PathBuf, value: V) {
        self.0.entry(path.into_os_string()).or_insert(value);
    }

    pub fn remove(&mut self, path: &Path) -> Option<V> {
        self.0.remove(path.as_os_str())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Path, &V)> {
        self.0.iter().map(|(path, value)| (Path::new(path), value))
    }

    pub fn keys(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(Path::new)
    }

    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.values()
    }

    /// Removes and returns everything below a directory.
    pub fn take_below(&mut self, directory: &Path) -> Vec<(PathBuf, V)> {
        // `0` follows `/`.
        let end = |byte: &[u8]| OsString::from_vec([directory.as_os_str().as_bytes(), byte].concat());
        let inside = (Bound::Excluded(end(b"/")), Bound::Excluded(end(b"0")));
        let paths: Vec<OsString> = self.0.range(inside).map(|(path, _)| path.clone()).collect();
        paths
            .into_iter()
            .filter_map(|path| self.0.remove_entry(&path))
            .map(|(path, value)| (path.into(), value))
            .collect()
    }
}

/// Returns the lengths of a path and of the directories above it, the longest first, without the root.
pub fn prefixes(path: &[u8]) -> impl Iterator<Item = usize> {
    let above = path.iter().enumerate().rev().filter(|(at, byte)| **byte == b'/' && *at > 0).map(|(at, _)| at);
    std::iter::once(path.len()).chain(above)
}

/// Returns whether a path leads to a directory, or to something in it.
pub fn is_within(path: &Path, directory: &Path) -> bool {
    let (path, directory) = (path.as_os_str().as_bytes(), directory.as_os_str().as_bytes());
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]) || directory.ends_with(b"/"))
}

/// Returns the directory of a path, and its name there. `None`: the path is the root.
pub fn split(path: &Path) -> Option<(&Path, &OsStr)> {
    let bytes = path.as_os_str().as_bytes();
    let slash = bytes.iter().rposition(|byte| *byte == b'/')?;
    let (directory, name) = (&bytes[..slash.max(1)], &bytes[slash + 1..]);
    (!name.is_empty()).then(|| (Path::new(OsStr::from_bytes(directory)), OsStr::from_bytes(name)))
}

/// Returns a path and the directories above it, the longest first. The path is absolute.
pub fn ancestors(path: &Path) -> impl Iterator<Item = &Path> {
    let bytes = path.as_os_str().as_bytes();
    let root = (bytes.len() > 1).then_some(1);
    prefixes(bytes).chain(root).map(|end| Path::new(OsStr::from_bytes(&bytes[..end])))
}

impl<V> Default for PathMap<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> Index<&Path> for PathMap<V> {
    type Output = V;

    fn index(&self, path: &Path) -> &V {
        &self.0[path.as_os_str()]
    }
}

impl<V> FromIterator<(PathBuf, V)> for PathMap<V> {
    fn from_iter<T: IntoIterator<Item = (PathBuf, V)>>(entries: T) -> Self {
        Self(entries.into_iter().map(|(path, value)| (path.into_os_string(), value)).collect())
    }
}

impl<V> IntoIterator for PathMap<V> {
    type Item = (PathBuf, V);
    type IntoIter = std::iter::Map<btree_map::IntoIter<OsString, V>, fn((OsString, V)) -> (PathBuf, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|(path, value)| (path.into(), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_below_a_directory_is_taken_and_nothing_else() {
        let paths = ["/a", "/a-b", "/a/x", "/a/x/y", "/a0", "/b"];
        let mut map: PathMap<()> = paths.into_iter().map(|path| (path.into(), ())).collect();
        let taken: Vec<_> = map.take_below(Path::new("/a")).into_iter().map(|(path, ())| path).collect();
        assert_eq!(taken, ["/a/x", "/a/x/y"].map(PathBuf::from));
        assert_eq!(map.keys().collect::<Vec<_>>(), ["/a", "/a-b", "/a0", "/b"].map(Path::new));
    }

    #[test]
    fn bytes_and_components_of_a_path_tell_the_same() {
        let paths = ["/", "/a", "/a-b", "/a/b", "/a/b/c", "/b"].map(Path::new);
        for path in paths {
            let parts = path.parent().zip(path.file_name());
            assert_eq!(split(path), parts, "{}", path.display());
            for directory in paths {
                let is_below = path.starts_with(directory);
                assert_eq!(is_within(path, directory), is_below, "{} {}", path.display(), directory.display());
            }
        }
    }

    #[test]
    fn the_ancestors_of_a_path_are_those_of_the_standard_library() {
        for path in ["/", "/a", "/a/b", "/a/b/c"] {
            let path = Path::new(path);
            assert!(ancestors(path).eq(path.ancestors()), "{}", path.display());
        }
    }
}
