//! The inputs of a policy besides its options: the home, variables, and links in the file system.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// The host as far as a policy depends on it.
pub trait Surroundings {
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
    /// Returns whether a link is at the end of a path whose directories are resolved.
    ///
    /// # Errors
    /// As [`Surroundings::resolve`].
    fn is_link(&self, path: &Path) -> io::Result<bool>;
    /// Returns whether a resolved path is a directory.
    fn is_directory(&self, path: &Path) -> bool;
}

/// The real host.
pub struct Host<'a> {
    /// Environment of the host: `NAME=VALUE`, each ended by a NUL.
    pub environment: &'a str,
}

impl Surroundings for Host<'_> {
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

    fn is_link(&self, path: &Path) -> io::Result<bool> {
        Ok(path.symlink_metadata()?.is_symlink())
    }

    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }
}

/// A host that looks each directory up once, while one policy is made. Most of the paths of the default lists lie in a
/// few directories, or in directories that do not exist.
pub struct Remembering<'a, H> {
    host: &'a H,
    /// The resolved paths, or the numbers of the errors, by the text: a slash at the end has a meaning.
    known: RefCell<HashMap<OsString, Result<PathBuf, i32>>>,
}

impl<'a, H: Surroundings> Remembering<'a, H> {
    /// Returns a host of which nothing is known yet.
    pub fn new(host: &'a H) -> Self {
        Self { host, known: RefCell::default() }
    }

    /// Resolves a path in the directory that is resolved already, unless the path ends in a link or in `..`.
    fn look(&self, path: &Path) -> io::Result<PathBuf> {
        let (Some(parent), Some(Component::Normal(name))) = (path.parent(), path.components().next_back()) else {
            return self.host.resolve(path);
        };
        // Behind a slash, a file would be an error.
        let ends_plainly = path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes());
        if parent.as_os_str().is_empty() || !ends_plainly {
            return self.host.resolve(path);
        }
        let plain = self.resolve(parent)?.join(name);
        if self.host.is_link(&plain)? { self.host.resolve(path) } else { Ok(plain) }
    }
}

impl<H: Surroundings> Surroundings for Remembering<'_, H> {
    fn variable(&self, name: &str) -> Option<&str> {
        self.host.variable(name)
    }

    fn home(&self) -> Option<&Path> {
        self.host.home()
    }

    fn user(&self) -> u32 {
        self.host.user()
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let known = self.known.borrow().get(path.as_os_str()).cloned();
        if let Some(known) = known {
            return known.map_err(io::Error::from_raw_os_error);
        }
        let found = self.look(path);
        // An error without a number is none of the system's, and not remembered.
        let kept = found.as_ref().map_or_else(|error| error.raw_os_error().map(Err), |path| Some(Ok(path.clone())));
        self.known.borrow_mut().extend(kept.map(|kept| (path.as_os_str().to_owned(), kept)));
        found
    }

    fn is_link(&self, path: &Path) -> io::Result<bool> {
        self.host.is_link(path)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.host.is_directory(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_those_of_the_environment_that_was_given() {
        let host = Host { environment: "HOME=/home/ann\0EMPTY=\0ODD\0A=b=c\0" };
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
        let host = Host { environment: "" };
        assert_eq!(host.resolve(&link.join("../link")).expect("it exists"), real);
        assert!(host.is_directory(&real) && host.resolve(&real.join("none")).is_err());
    }

    #[test]
    fn a_host_that_remembers_gives_the_same_answers() {
        let directory = tempfile::tempdir().expect("a directory");
        let top = directory.path().canonicalize().expect("it exists");
        std::fs::create_dir_all(top.join("a/b")).expect("created");
        std::fs::write(top.join("file"), "").expect("written");
        for (link, aim) in [("there", "a/b"), ("nowhere", "none"), ("a/up", "../file"), ("circle", "circle")] {
            std::os::unix::fs::symlink(aim, top.join(link)).expect("linked");
        }
        let host = Host { environment: "" };
        let remembering = Remembering::new(&host);
        for name in [
            "",
            "a",
            "a/b",
            "a/b/",
            "a/./b",
            "a/../file",
            "a/..",
            "there",
            "there/..",
            "there/../b",
            "there/none",
            "none",
            "none/none",
            "file",
            "file/",
            "file/.",
            "file/x",
            "file/..",
            "nowhere",
            "nowhere/x",
            "a/up",
            "a/up/x",
            "circle",
            "circle/x",
            ".",
        ] {
            let path = top.join(name);
            for _ in 0..2 {
                let text = |found: io::Result<PathBuf>| found.map_err(|error| error.raw_os_error());
                assert_eq!(text(remembering.resolve(&path)), text(host.resolve(&path)), "{name}");
            }
        }
        for path in ["/", "/..", "none/relative", ""] {
            assert_eq!(remembering.resolve(Path::new(path)).ok(), host.resolve(Path::new(path)).ok(), "{path}");
        }
    }
}
