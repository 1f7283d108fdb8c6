//! Replaces a file: the new content is written beside it, and takes its name when it is whole.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::access_refusal::TargetAccessRefusal;
use crate::random::random_name;

/// The bits of a mode.
pub const MODE_BITS: u32 = 0o7777;
/// The mode of a new file, before the mask.
const NEW_FILE_MODE: u32 = 0o666;
/// Most links that lead from one to the next.
const MAX_LINKS: usize = 40;

/// The new content. If it is dropped before it was placed, nothing of it stays.
pub struct FileReplacement {
    file: File,
    mode: u32,
    beside: PathBuf,
    path: PathBuf,
    /// The directories that were made for it, the outermost first.
    made: MadeParents,
    placed: bool,
}

impl FileReplacement {
    /// Begins to replace the file at this path, or the one that a link there leads to. The file keeps its mode, and its
    /// owner if the system allows that. A new file gets the mode, or that of any new file under the mask.
    ///
    /// # Errors
    /// If there is something else than a file, or the system refuses.
    pub fn begin(path: &Path, mode: Option<u32>, umask: u32) -> Result<Self, TargetAccessRefusal> {
        let refused =
            |source| TargetAccessRefusal::System { what: path.display().to_string(), done: "written", source };
        let target = resolve_links(path).map_err(refused)?;
        let existing = match fs::symlink_metadata(&target) {
            Ok(data) if data.is_dir() => return Err(refused(Errno::EISDIR.into())),
            Ok(data) if !data.is_file() => {
                return Err(TargetAccessRefusal::NotRegular { path: path.display().to_string(), done: "replaced" });
            }
            Ok(data) => Some(data),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(refused(error)),
        };
        let parent = target.parent().ok_or_else(|| refused(Errno::EISDIR.into()))?;
        let made = MadeParents::create(parent).map_err(refused)?;
        let (file, beside) = beside(parent).map_err(refused)?;
        let mode = match &existing {
            Some(data) => {
                // Only root may give files away. Others own what they may replace, or get their own copy.
                let _ours = fchown(&file, Some(data.uid()), Some(data.gid()));
                data.mode() & MODE_BITS
            }
            None => mode.map_or(NEW_FILE_MODE & !umask, |mode| mode & MODE_BITS),
        };
        Ok(Self { file, mode, beside, path: target, made, placed: false })
    }

    /// Writes the next bytes.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Gives the new content its name.
    ///
    /// # Errors
    /// If the system refuses. Then nothing of it stays.
    pub fn commit(mut self) -> io::Result<()> {
        // Writes take bits of a mode away.
        self.file.set_permissions(Permissions::from_mode(self.mode))?;
        fs::rename(&self.beside, &self.path)?;
        self.placed = true;
        self.made.0.clear();
        Ok(())
    }
}

impl Drop for FileReplacement {
    fn drop(&mut self) {
        if !self.placed {
            // A command may have removed it.
            let _gone = fs::remove_file(&self.beside);
        }
    }
}

/// Directories that were made. Those that are empty are removed with this.
struct MadeParents(Vec<PathBuf>);

impl MadeParents {
    /// Makes a directory and its parents, as far as they are missing.
    fn create(path: &Path) -> io::Result<Self> {
        let missing = path.ancestors().take_while(|path| fs::metadata(path).is_err_and(|error| is_missing(&error)));
        let missing: Vec<_> = missing.map(Path::to_owned).collect();
        let mut made = Self(Vec::new());
        for directory in missing.into_iter().rev() {
            match fs::create_dir(&directory) {
                Ok(()) => made.0.push(directory),
                // Another has just made it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(made)
    }
}

impl Drop for MadeParents {
    fn drop(&mut self) {
        for directory in self.0.iter().rev() {
            // Others may have put files into it.
            let _kept = fs::remove_dir(directory);
        }
    }
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Returns the path that the links at this one lead to, whether there is a file or not.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("/")).join(to),
            // It is no link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput || is_missing(&error) => return Ok(path),
            Err(error) => return Err(error),
        }
    }
    Err(Errno::ELOOP.into())
}

/// Makes a file of a new name in a directory.
fn beside(directory: &Path) -> io::Result<(File, PathBuf)> {
    let path = directory.join(format!(".agent-bash-{}", random_name::<8>()?));
    let file = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
    Ok((file, path))
}
