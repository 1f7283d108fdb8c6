//! The repository that git would use in a directory.

use std::path::{Path, PathBuf};

use super::directory::{ExaminedDirectory, GitEntryKind};
use super::git_directories::{GitDirectories, refusal_note};
use super::pointer;

/// What git does in a directory.
enum DiscoveryStep {
    /// It looks in the directory above.
    Up,
    /// It needs nothing outside of the write root, or finds a repository that does not count.
    Stop,
    /// It uses these.
    Use(GitDirectories),
}

/// Finds the git directories of the repository that git would use in a write root. `None`: it needs none outside of the
/// root. A repository whose top is `/` or one of these homes counts in its top only.
///
/// # Errors
/// Why a git directory does not count, as a note.
pub(super) fn find(root: &ExaminedDirectory, homes: &[PathBuf]) -> Result<Option<GitDirectories>, String> {
    let mut step = inspect_level(root, true, homes)?;
    let mut above = root.open_parent();
    while let (DiscoveryStep::Up, Ok(Some(level))) = (&step, &above) {
        step = inspect_level(level, false, homes)?;
        above = level.open_parent();
    }
    Ok(if let DiscoveryStep::Use(found) = step { Some(found) } else { None })
}

/// Looks for a repository in a directory.
fn inspect_level(level: &ExaminedDirectory, is_root: bool, homes: &[PathBuf]) -> Result<DiscoveryStep, String> {
    let counts = || level.path.parent().is_some() && !homes.iter().any(|home| is_at(level, home));
    // An error ends the search of git, too.
    let (Ok(entry), git) = (level.entry_kind(c".git"), level.path.join(".git")) else { return Ok(DiscoveryStep::Stop) };
    match entry {
        GitEntryKind::Directory => {
            let Ok(own) = level.open_child(".git".as_ref()) else { return Ok(DiscoveryStep::Stop) };
            let leads_on = own.entry_kind(c"commondir").is_ok_and(|entry| entry != GitEntryKind::None);
            match () {
                () if !own.is_repository() && !leads_on => Ok(DiscoveryStep::Up),
                // It lies below the root.
                () if is_root || !counts() => Ok(DiscoveryStep::Stop),
                () if leads_on => Err(refusal_note(&git, "its commondir leads to another repository")),
                () => Ok(DiscoveryStep::Use(GitDirectories { own, common: None })),
            }
        }
        GitEntryKind::File if is_root || counts() => pointer::follow_pointer(level).map(DiscoveryStep::Use),
        GitEntryKind::File => Ok(DiscoveryStep::Stop),
        GitEntryKind::Other => Err(refusal_note(&git, "it is neither a directory nor a file")),
        GitEntryKind::None if !level.is_repository() => Ok(DiscoveryStep::Up),
        GitEntryKind::None if is_root => Ok(DiscoveryStep::Stop),
        GitEntryKind::None => Err(refusal_note(&level.path, "it is a bare repository, or a git directory itself")),
    }
}

/// Returns whether a directory has this path, perhaps by another name.
fn is_at(directory: &ExaminedDirectory, path: &Path) -> bool {
    let other = path.canonicalize().ok().and_then(|path| ExaminedDirectory::open(&path).ok());
    other.is_some_and(|other| other.is_same_directory(directory))
}
