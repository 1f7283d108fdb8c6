//! Finds the shell.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The shell if the caller names none.
const DEFAULT: &str = "bash";

/// Where programs are looked for when the host has no PATH, as libc does.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The most shells that are remembered. A process that uses more combinations searches again.
const CACHED: usize = 8;

/// The shell does not exist. The text says how to get bash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShellNotFound {
    /// No executable file of that name in any directory of the PATH.
    #[error("no {name} found on PATH ({}){}", shortened(.path), advice(.name))]
    OnPath {
        /// The name that was looked for.
        name: String,
        /// The PATH that was searched.
        path: String,
    },
    /// The path of a shell, without an executable file there.
    #[error("shell {}: {}", if *.exists { "is not an executable file" } else { "does not exist" }, .path.display())]
    NotExecutable {
        /// The path that was tried, made absolute.
        path: PathBuf,
        /// Whether anything is there.
        exists: bool,
    },
    /// The name is empty or has a NUL.
    #[error("shell: not a name or a path: {0:?}")]
    NotAName(String),
}

struct FoundShell {
    name: String,
    path: Option<String>,
    shell: PathBuf,
}

static FOUND: Mutex<Vec<FoundShell>> = Mutex::new(Vec::new());

/// Returns the absolute path of the shell.
///
/// - `shell`: None means `bash` on PATH. A value with a slash is a path, relative to `cwd`; any other value is a name
///   on PATH.
/// - `path`: the host's PATH; None is `/usr/local/bin:/usr/bin:/bin`. Empty and relative entries are skipped, unlike in
///   libc: with them a command's own directory, such as a fresh clone, could supply the shell.
///
/// A shell found on PATH is remembered until [`forget_shells`]. Failures are not remembered, so that a bash installed
/// meanwhile is found.
///
/// # Errors
/// When there is no executable regular file (links are followed).
pub fn find_shell(shell: Option<&str>, path: Option<&str>, cwd: &Path) -> Result<PathBuf, ShellNotFound> {
    let name = shell.unwrap_or(DEFAULT);
    if name.is_empty() || name.contains('\0') {
        return Err(ShellNotFound::NotAName(name.to_owned()));
    }
    if name.contains('/') {
        let path = cwd.join(name);
        return match is_executable(&path) {
            Ok(true) => Ok(path),
            other => Err(ShellNotFound::NotExecutable { path, exists: other.is_ok() }),
        };
    }
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(hit) = found.iter().find(|hit| hit.name == name && hit.path.as_deref() == path) {
        return Ok(hit.shell.clone());
    }
    let folders = path.unwrap_or(DEFAULT_PATH);
    let shell = std::env::split_paths(OsStr::new(folders))
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| matches!(is_executable(file), Ok(true)))
        .ok_or_else(|| ShellNotFound::OnPath { name: name.to_owned(), path: folders.to_owned() })?;
    if found.len() == CACHED {
        found.remove(0);
    }
    found.push(FoundShell { name: name.to_owned(), path: path.map(str::to_owned), shell: shell.clone() });
    Ok(shell)
}

/// Forgets every shell found so far, after a start has shown that a shell is gone.
pub fn forget_shells() {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Returns whether a regular file with an execute bit is there. An error if nothing is.
fn is_executable(path: &Path) -> std::io::Result<bool> {
    let metadata = fs::metadata(path)?;
    Ok(metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

fn advice(name: &str) -> &'static str {
    if name == DEFAULT { "; install it: apk add bash, apt-get install bash or brew install bash" } else { "" }
}

/// Returns a PATH short enough for a message.
fn shortened(path: &str) -> String {
    const MOST: usize = 300;
    match path.char_indices().nth(MOST) {
        _ if path.is_empty() => "which is empty".to_owned(),
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with a few files in it, removed when dropped.
    struct ProgramDirectory(PathBuf);

    impl ProgramDirectory {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("agent-bash-shell-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(path.join("directory/bash")).expect("folder");
            for (file, mode) in [("run/bash", 0o755), ("run/zsh", 0o755), ("plain/bash", 0o644)] {
                let file = path.join(file);
                fs::create_dir_all(file.parent().expect("a parent")).expect("folder");
                fs::write(&file, "#!/bin/sh\n").expect("file");
                fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("mode");
            }
            Self(path)
        }

        fn path(&self, folders: &[&str]) -> String {
            folders.iter().map(|folder| self.0.join(folder).display().to_string()).collect::<Vec<_>>().join(":")
        }
    }

    impl Drop for ProgramDirectory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_first_executable_file_on_the_path() {
        let folder = ProgramDirectory::new("first");
        let path = folder.path(&["missing", "directory", "plain", "run"]);
        assert_eq!(find_shell(None, Some(&path), Path::new("/")), Ok(folder.0.join("run/bash")));
        assert_eq!(find_shell(Some("zsh"), Some(&path), Path::new("/")), Ok(folder.0.join("run/zsh")));
    }

    #[test]
    fn the_working_folder_supplies_no_shell() {
        let folder = ProgramDirectory::new("relative");
        for path in ["", ":", ".", "run", "run:.:"] {
            assert!(find_shell(None, Some(path), &folder.0).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_path_is_taken_from_the_working_folder() {
        let folder = ProgramDirectory::new("slash");
        assert_eq!(find_shell(Some("run/bash"), None, &folder.0), Ok(folder.0.join("run/bash")));
        let absolute = folder.path(&["run/zsh"]);
        assert_eq!(find_shell(Some(&absolute), None, Path::new("/")), Ok(PathBuf::from(&absolute)));
        for (shell, exists) in [("plain/bash", true), ("directory/bash", true), ("missing/bash", false)] {
            let path = folder.0.join(shell);
            assert_eq!(find_shell(Some(shell), None, &folder.0), Err(ShellNotFound::NotExecutable { path, exists }));
        }
    }

    #[test]
    fn without_a_path_the_usual_folders_are_searched() {
        let shell = find_shell(Some("sh"), None, Path::new("/")).expect("every system has sh");
        assert!(shell.is_absolute());
    }

    #[test]
    fn found_ones_are_remembered_and_failures_are_not() {
        let folder = ProgramDirectory::new("cache");
        let path = folder.path(&["late"]);
        assert!(find_shell(None, Some(&path), Path::new("/")).is_err());
        let late = folder.0.join("late");
        fs::rename(folder.0.join("run"), &late).expect("moved");
        assert_eq!(find_shell(None, Some(&path), Path::new("/")), Ok(late.join("bash")));
        fs::remove_dir_all(&late).expect("removed");
        // another test may forget meanwhile, so only what follows from forgetting is asserted
        forget_shells();
        assert!(find_shell(None, Some(&path), Path::new("/")).is_err());
    }

    #[test]
    fn messages() {
        let folder = ProgramDirectory::new("messages");
        let message = |shell: Option<&str>, path: Option<&str>| {
            find_shell(shell, path, &folder.0).expect_err("not there").to_string()
        };
        assert_eq!(
            message(None, Some("/no-such:/neither")),
            "no bash found on PATH (/no-such:/neither); \
             install it: apk add bash, apt-get install bash or brew install bash"
        );
        assert_eq!(message(Some("no-such-sh"), Some("")), "no no-such-sh found on PATH (which is empty)");
        assert!(message(Some("./x"), None).starts_with("shell does not exist: /"));
        assert!(message(Some("./plain/bash"), None).starts_with("shell is not an executable file: /"));
        assert_eq!(message(Some(""), None), "shell: not a name or a path: \"\"");
        assert!(message(None, Some(&"/é".repeat(1000))).len() < 800);
    }
}
