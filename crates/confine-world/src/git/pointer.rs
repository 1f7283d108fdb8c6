//! `.git` files, and the way back from the git directory that such a file names.
//!
//! A linked work tree has `gitdir` in its git directory, which names the `.git` file. A submodule has `core.worktree`
//! in its configuration, which names the work tree. A directory of `git init --separate-git-dir` has neither.

use std::path::{Path, PathBuf};

use crate::git_settings;

use super::directory::{ExaminedDirectory, GitEntryKind, path_in};
use super::git_directories::{GitDirectories, refusal_note};

/// Finds the git directories that the `.git` file of a work tree names.
///
/// # Errors
/// Why they do not count, as a note.
pub(super) fn follow_pointer(top: &ExaminedDirectory) -> Result<GitDirectories, String> {
    let file = top.path.join(".git");
    let Ok(bytes) = top.read(c".git") else { return Err(refusal_note(&file, "it is no file that git can read")) };
    let aim = bytes.strip_prefix(b"gitdir: ").and_then(path_in);
    let Some(aim) = aim else { return Err(refusal_note(&file, "it does not begin with gitdir:")) };
    let Some(own) = top.open_named(aim) else {
        return Err(refusal_note(&top.path.join(aim), &format!("{} names it, and it is no directory", file.display())));
    };
    let has = |name| own.entry_kind(name).is_ok_and(|entry| entry != GitEntryKind::None);
    let checked = match (has(c"gitdir"), has(c"commondir")) {
        (false, false) => check_submodule(top, &own).map(|()| None),
        _ => check_linked_worktree(top, &own).map(Some),
    };
    match checked {
        Ok(common) => Ok(GitDirectories { own, common }),
        Err(why) => Err(refusal_note(&own.path, &format!("{} names it, but {why}", file.display()))),
    }
}

/// Returns the work tree to which the git directory of a linked work tree leads back, if the work tree exists.
pub fn work_tree_of(git: &Path) -> Option<PathBuf> {
    let git = ExaminedDirectory::open(git).ok()?;
    let back = git.read_path(c"gitdir")?;
    Some(git.open_named(back.parent()?)?.path)
}

/// Checks the git directory of a linked work tree. Returns the one that it shares.
fn check_linked_worktree(top: &ExaminedDirectory, own: &ExaminedDirectory) -> Result<ExaminedDirectory, &'static str> {
    let back = own.read_path(c"gitdir").ok_or("it has no gitdir that leads back")?;
    let leads_back = back.file_name().is_some_and(|name| name == ".git")
        && back.parent().and_then(|above| own.open_named(above)).is_some_and(|above| above.is_same_directory(top));
    if !leads_back {
        return Err("its gitdir leads to another work tree");
    }
    let above = |directory: &ExaminedDirectory| directory.open_parent().ok().flatten();
    let place =
        above(own).zip(own.path.file_name()).filter(|(all, _)| all.path.file_name() == Some("worktrees".as_ref()));
    let (all, name) = place.ok_or("it does not lie in the worktrees of a repository")?;
    let common = above(&all).ok_or("it does not lie in the worktrees of a repository")?;
    // Names lead down the same way, so no directory was moved meanwhile.
    let leads_down = common.open_child("worktrees".as_ref()).is_ok_and(|found| found.is_same_directory(&all))
        && all.open_child(name).is_ok_and(|found| found.is_same_directory(own));
    let names_common = || {
        own.read_path(c"commondir")
            .and_then(|text| own.open_named(&text))
            .is_some_and(|named| named.is_same_directory(&common))
    };
    if leads_down && names_common() { Ok(common) } else { Err("its commondir leads to another repository") }
}

/// Checks the git directory of a submodule.
fn check_submodule(top: &ExaminedDirectory, own: &ExaminedDirectory) -> Result<(), &'static str> {
    let config = own.read(c"config").map_err(|_| "it has no config that leads back")?;
    let back = git_settings::work_tree(&config).ok_or("it has no gitdir and no core.worktree that leads back")?;
    let leads_back = own.open_named(&back).is_some_and(|back| back.is_same_directory(top));
    if leads_back { Ok(()) } else { Err("its core.worktree is another directory") }
}
