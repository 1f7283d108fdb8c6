//! Looks many paths up, and each directory above them once: most hidden paths do not exist.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use sys::MountedFile;

/// The directories that were looked up, with whether they exist. It is as old as its first lookup, so it serves one
/// pass over the paths.
#[derive(Debug, Default)]
pub(super) struct Lookups<'a>(HashMap<&'a Path, bool>);

impl<'a> Lookups<'a> {
    /// Returns what a path leads to, as [`sys::mount_of`] does.
    pub fn mount_of(&mut self, path: &'a Path) -> io::Result<MountedFile> {
        if !self.is_directory(path.parent().unwrap_or(path)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        sys::mount_of(path)
    }

    /// Returns the nearest existing directory above a path.
    pub fn above(&mut self, path: &'a Path) -> Option<&'a Path> {
        path.ancestors().skip(1).find(|parent| self.is_directory(parent))
    }

    fn is_directory(&mut self, path: &'a Path) -> bool {
        if let Some(known) = self.0.get(path) {
            return *known;
        }
        // Nothing is below a directory that is missing.
        let is_there = path.parent().is_none_or(|above| self.is_directory(above)) && path.is_dir();
        self.0.insert(path, is_there);
        is_there
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn directories_are_looked_up_once() {
        let base = tempfile::tempdir().expect("a directory");
        let [there, missing] = ["there", "missing"].map(|name| base.path().join(name));
        fs::create_dir(&there).expect("made");
        fs::write(there.join("file"), "").expect("written");
        std::os::unix::fs::symlink(&there, base.path().join("link")).expect("linked");
        let paths: Vec<PathBuf> =
            ["there/file", "there/none", "missing/a/b", "missing/a/c", "link/file", "there/file/x"]
                .map(|path| base.path().join(path))
                .into();
        let mut lookups = Lookups::default();
        let found: Vec<_> = paths.iter().map(|path| lookups.mount_of(path).is_ok()).collect();
        assert_eq!(found, [true, false, false, false, true, false]);
        assert_eq!(lookups.above(&paths[2]), Some(base.path()));
        assert_eq!(lookups.above(&paths[0]), Some(there.as_path()));
        fs::create_dir_all(missing.join("a")).expect("made");
        fs::write(missing.join("a/b"), "").expect("written");
        assert!(lookups.mount_of(&paths[2]).is_err(), "it is known");
        assert!(Lookups::default().mount_of(&paths[2]).is_ok());
    }
}
