//! The inputs of a policy besides its options: the home, variables, and links in the file system.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::unistd::{AccessFlags, access};

/// The host as far as a policy depends on it.
pub trait PolicyEnvironment {
    /// Returns the value of a variable of the host, if it is not empty.
    fn variable(&self, name: &str) -> Option<&str>;
    /// Returns the user's home in the user database.
    fn home(&self) -> Option<&Path>;
    /// Returns the number of the user.
    fn user(&self) -> u32;
    /// Returns the path of an existing file without links and `..`.
    ///
    /// # Errors
    /// The system's error, if the file does not exist or cannot be looked up.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;
    /// Like [`Self::resolve`], of a path whose directory is resolved.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    fn resolve_entry(&self, path: &Path) -> io::Result<PathBuf> {
        self.resolve(path)
    }
    /// Returns whether a resolved path is a directory.
    fn is_directory(&self, path: &Path) -> bool;
    /// Returns the text of a file.
    ///
    /// # Errors
    /// The system's error, or one for a file that is no text.
    fn read_text(&self, path: &Path) -> io::Result<String>;
    /// Returns whether one of these stores may keep files in a directory, at any time: it is on another mount, and the
    /// user may write there.
    fn may_keep(&self, directory: &Path, stores: &[PathBuf]) -> bool;
}

/// The real host.
pub struct RealHost<'a> {
    /// Environment of the host: `NAME=VALUE`, each ended by a NUL.
    pub environment: &'a str,
}

impl PolicyEnvironment for RealHost<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        let entries = self.environment.split('\0').filter_map(|entry| entry.split_once('='));
        entries.filter(|(one, value)| *one == name && !value.is_empty()).map(|(_, value)| value).next_back()
    }

    fn home(&self) -> Option<&Path> {
        // The database may be on a distant server.
        static HOME: OnceLock<Option<PathBuf>> = OnceLock::new();
        HOME.get_or_init(|| sys::home().map(PathBuf::from)).as_deref()
    }

    fn user(&self) -> u32 {
        nix::unistd::geteuid().as_raw()
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn resolve_entry(&self, path: &Path) -> io::Result<PathBuf> {
        match path.read_link() {
            Ok(_) => self.resolve(path),
            // A name may be there in other letters.
            Err(_) if cfg!(target_os = "macos") => self.resolve(path),
            // It is there, and is no link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(path.to_owned()),
            Err(error) => Err(error),
        }
    }

    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn read_text(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn may_keep(&self, directory: &Path, stores: &[PathBuf]) -> bool {
        // A store may not be there yet.
        let mount_of = |path: &Path| path.ancestors().find_map(|path| sys::mount_of(path).ok());
        let mount = |path: &Path| mount_of(path).map(|file| (file.mount, file.id.0));
        let is_apart = stores.iter().any(|store| mount(store) != mount(directory));
        is_apart && access(directory, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_those_of_the_environment_that_was_given() {
        let host = RealHost { environment: "HOME=/home/ann\0EMPTY=\0ODD\0A=b=c\0" };
        assert_eq!(host.variable("HOME"), Some("/home/ann"));
        assert_eq!(host.variable("A"), Some("b=c"));
        assert_eq!((host.variable("EMPTY"), host.variable("ODD"), host.variable("NONE")), (None, None, None));
    }

    #[test]
    fn paths_are_resolved_through_links() {
        let directory = tempfile::tempdir().expect("a directory");
        let real = directory.path().canonicalize().expect("it exists").join("real");
        std::fs::create_dir(&real).expect("created");
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&real, &link).expect("created");
        let host = RealHost { environment: "" };
        assert_eq!(host.resolve(&link.join("../link")).expect("it exists"), real);
        assert!(host.is_directory(&real) && host.resolve(&real.join("none")).is_err());
        for name in ["real", "link"] {
            let entry = real.with_file_name(name);
            assert_eq!(host.resolve_entry(&entry).expect("it exists"), real, "{name}");
        }
        assert!(host.resolve_entry(&real.join("none")).is_err());
    }
}
