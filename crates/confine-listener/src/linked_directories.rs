//! Where files have several names, as far as one command has shown or searched it.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use nix::dir::{Dir, Type};
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;

/// The most entries of directories that a search looks at. Names beyond it count as lying elsewhere.
const SEARCHED: usize = 2_000_000;
/// The most files whose names are remembered from links that were made.
const REMEMBERED: usize = 10_000;
/// The flags by which a directory is read.
pub(super) const PLAIN: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);
/// The directories in which files with several names have them.
#[derive(Default)]
pub(super) struct LinkedDirectories {
    /// The directories, by the number of the inode.
    pub directories: HashMap<u64, BTreeSet<PathBuf>>,
    /// Whether they were searched for the current command.
    pub is_searched: bool,
}

impl LinkedDirectories {
    /// Forgets all directories before another command.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Remembers directories in which a file has names.
    pub fn add(&mut self, inode: u64, directories: impl Iterator<Item = PathBuf>) {
        if self.directories.len() < REMEMBERED {
            self.directories.entry(inode).or_default().extend(directories);
        }
    }

    /// Searches directories for inodes with several names.
    pub fn search_linked_files(&mut self, roots: &[PathBuf]) {
        self.is_searched = true;
        let (mut queue, mut found, mut left) = (roots.to_vec(), Vec::new(), SEARCHED);
        let mut first: HashMap<u64, usize> = HashMap::new();
        while let Some(path) = queue.pop() {
            let Ok(entries) = Dir::open(&path, PLAIN, Mode::empty()) else { continue };
            let at = found.len();
            for entry in entries.into_iter().flatten() {
                let name = entry.file_name().to_bytes();
                if left == 0 {
                    return;
                }
                left -= 1;
                match entry.file_type() {
                    Some(Type::Directory) if matches!(name, b"." | b"..") => {}
                    Some(Type::Directory) => queue.push(path.join(OsStr::from_bytes(name))),
                    _ => {
                        if let Some(before) = first.insert(entry.ino(), at) {
                            let before = found.get(before).unwrap_or(&path).clone();
                            self.directories.entry(entry.ino()).or_default().extend([before, path.clone()]);
                        }
                    }
                }
            }
            found.push(path);
        }
    }
}
