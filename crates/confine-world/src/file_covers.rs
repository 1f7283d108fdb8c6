//! Files that the commands of a world without namespaces find in the place of those of the machine.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file of the world in the place of one of the machine.
#[derive(Debug, Clone)]
struct FileCover {
    /// The path that is covered, without links.
    at: PathBuf,
    /// The device and the inode of the file there, by whatever name it is opened. `None`: there was none.
    id: Option<(u64, u64)>,
    /// When that file was made. A later file may have its inode.
    born: Option<SystemTime>,
    cover: PathBuf,
}

/// The covers of a world.
#[derive(Debug, Clone, Default)]
pub struct FileCovers(Vec<FileCover>);

impl FileCovers {
    /// Lets commands find `cover` at a path.
    pub(super) fn add(&mut self, at: &Path, cover: PathBuf) {
        let at = at.canonicalize().unwrap_or_else(|_| at.to_owned());
        let (id, born) = (id_of(&at), birth_of(&at).flatten());
        self.0.push(FileCover { at, id, born, cover });
    }

    /// Returns the cover of the file at a path without links, or with this device and inode, which may be those of a
    /// file that a covered path leads to by now. `None`: the file does not exist.
    pub fn of(&self, path: &Path, id: Option<(u64, u64)>) -> Option<&Path> {
        // A file that cannot be looked up, since it has no name any more, may be the covered one.
        let is_it = |cover: &FileCover| cover.id == id && birth_of(path).is_none_or(|born| born == cover.born);
        let has_id = |cover: &FileCover| id.is_some() && (is_it(cover) || id_of(&cover.at) == id);
        let found = self.0.iter().find(|cover| cover.at == path || has_id(cover))?;
        Some(&found.cover)
    }

    /// Returns whether the file at a path stands in the place of another.
    pub fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|cover| cover.cover == path)
    }
}

/// Returns the device and the inode of the file that a path leads to. `None`: there is none.
fn id_of(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|data| (data.dev(), data.ino()))
}

/// Returns when the file at a path was made, where its file system says so. `None`: there is no such file.
fn birth_of(path: &Path) -> Option<Option<SystemTime>> {
    path.metadata().ok().map(|data| data.created().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_covered_file_is_found_by_its_path_and_by_its_other_names() {
        let place = tempfile::tempdir().expect("a directory");
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("file"), "").expect("written");
        std::fs::hard_link(at("file"), at("other")).expect("linked");
        std::os::unix::fs::symlink(at("file"), at("link")).expect("linked");
        let mut covers = FileCovers::default();
        covers.add(&at("link"), at("cover"));
        covers.add(&at("missing"), at("second"));
        let of = |name: &str, id: Option<(u64, u64)>| {
            covers.of(&at(name).canonicalize().unwrap_or_else(|_| at(name)), id).map(Path::to_owned)
        };
        let id = |name: &str| at(name).metadata().ok().map(|data| (data.dev(), data.ino()));
        assert_eq!(of("other", id("other")), Some(at("cover")));
        assert_eq!(of("nameless", id("other")), Some(at("cover")));
        std::fs::remove_file(at("file")).expect("removed");
        std::fs::write(at("file"), "of later").expect("written");
        assert_eq!([of("file", Some((0, 0))), of("link", None)], [Some(at("cover")), Some(at("cover"))]);
        assert_eq!([of("missing", None), of("more", None)], [Some(at("second")), None]);
        assert!(covers.has(&at("second")) && !covers.has(&at("file")));
        std::fs::write(at("elsewhere"), "of later").expect("written");
        std::fs::remove_file(at("file")).expect("removed");
        std::os::unix::fs::symlink(at("elsewhere"), at("file")).expect("linked");
        assert_eq!(of("elsewhere", id("elsewhere")), Some(at("cover")));
        assert_eq!(of("other", id("other")), Some(at("cover")));
        // The covered file was an older one with this inode.
        let mut older = covers.clone();
        older.0[0].born = Some(SystemTime::UNIX_EPOCH);
        assert_eq!(older.of(&at("other").canonicalize().expect("it exists"), id("other")), None);
    }
}
