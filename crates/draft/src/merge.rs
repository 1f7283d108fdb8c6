//! Merges files that both the draft and someone outside have changed.
//!
//! A file is merged three ways by lines, as by `git merge-file`: its ancestor is the base as the draft has found it.
//! The merged file takes the place of the one of the draft, and the draft knows the base as it is now. From then on the
//! file is a change like any other.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use similar::{MergeRegion, MergeResolution, TextMerge};

use super::base_memory::{BaseMemory, BaseThing, MOST_KEPT, changed_at};
use super::difference::DraftDifference;
use super::layer::read_file;
use undo::path_lookup::{hash_bytes, read_state};

/// A file whose two versions go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MergedFile {
    /// The path in the base.
    pub path: PathBuf,
    /// The place of the draft's version.
    place: PathBuf,
    /// The contents that have the changes of both.
    text: String,
    /// The base as it was merged, but for where its contents are kept.
    pub base: BaseThing,
    /// The contents of the base.
    pub theirs: String,
}

impl MergedFile {
    /// Merges the file of a difference. `ancestor` reads contents that the draft has kept. `None`: it is no text, its
    /// ancestor is not known, more than its contents has changed outside, or both have changed the same lines.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn of(
        one: &DraftDifference,
        memory: &BaseMemory,
        ancestor: impl FnOnce(&BaseThing) -> Option<Vec<u8>>,
    ) -> io::Result<Option<Self>> {
        let (Some(seen), Some(ours), Some(theirs)) = (memory.get(&one.path), one.draft.state.file(), one.base.file())
        else {
            return Ok(None);
        };
        let has_only_contents = seen.state.file().is_some_and(|seen| seen.meta.has_same_metadata(&theirs.meta));
        // Other names of the draft's file would not get the merged contents.
        let has_one_name = fs::symlink_metadata(&one.place)?.nlink() == 1;
        if !has_only_contents || !has_one_name || [ours.size, theirs.size].iter().any(|size| *size > MOST_KEPT) {
            return Ok(None);
        }
        let since = changed_at(&one.path)?;
        let state = read_state(&one.path)?;
        let texts = [ancestor(seen), Some(read_file(&one.place, MOST_KEPT)?), Some(read_file(&one.path, MOST_KEPT)?)];
        let [Some(ancestor), Some(ours), Some(theirs)] = texts.map(|bytes| bytes.and_then(text)) else {
            return Ok(None);
        };
        let Some(since) = since.filter(|since| changed_at(&one.path).ok() == Some(Some(*since))) else {
            return Ok(None);
        };
        let Some(text) = merge(&ancestor, &ours, &theirs) else { return Ok(None) };
        let contents = Some(hash_bytes(theirs.as_bytes()));
        let base = BaseThing { state, contents, kept: None, since, is_whole: false };
        Ok(Some(Self { path: one.path.clone(), place: one.place.clone(), text, base, theirs }))
    }

    /// Puts the merged file into the draft, in one step. `room` is a directory on its file system.
    ///
    /// # Errors
    /// If it cannot be written. The draft has its own version then.
    pub fn put(&self, room: &Path) -> io::Result<()> {
        let next = room.join("merged");
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&next)?;
        file.write_all(self.text.as_bytes())?;
        drop(file);
        if let Some(meta) = read_state(&self.place)?.meta() {
            undo::apply_metadata(&next, &read_state(&next)?, meta)?;
        }
        fs::rename(&next, &self.place)
    }
}

/// Returns the contents of a file of lines.
fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Merges two versions of a text. `None`: both have changed the same lines, or lines that touch.
fn merge(ancestor: &str, ours: &str, theirs: &str) -> Option<String> {
    let merged = TextMerge::from_lines(ancestor, ours, theirs);
    let of = |region: &MergeRegion, whose| region.resolution() == whose;
    let touch = merged.regions().windows(2).any(|pair| {
        let [one, other] = pair else { return false };
        let are = |first, second| of(one, first) && of(other, second);
        are(MergeResolution::Ours, MergeResolution::Theirs) || are(MergeResolution::Theirs, MergeResolution::Ours)
    });
    (!merged.is_conflicted() && !touch).then(|| merged.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_other_lines_go_together() {
        let ancestor = "1\n2\n3\n4\n5\n";
        for (ours, theirs, merged) in [
            ("1\ntwo\n3\n4\n5\n", "1\n2\n3\nfour\n5\n", Some("1\ntwo\n3\nfour\n5\n")),
            ("1\n2\n3\n4\n5\n6\n", "0\n1\n2\n3\n4\n5\n", Some("0\n1\n2\n3\n4\n5\n6\n")),
            ("1\n3\n4\n5\n", "1\n2\n3\n4\n", Some("1\n3\n4\n")),
            ("1\ntwo\n3\n4\n5\n", "1\ntwo\n3\n4\nfive", Some("1\ntwo\n3\n4\nfive")),
            ("1\ntwo\n3\n4\n5\n", "1\nzwei\n3\n4\n5\n", None),
            ("1\ntwo\n3\n4\n5\n", "1\n2\nthree\n4\n5\n", None),
            ("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\nsix\n", None),
            ("", "1\n2\nthree\n4\n5\n", None),
        ] {
            assert_eq!(merge(ancestor, ours, theirs).as_deref(), merged, "{ours:?} {theirs:?}");
        }
    }

    /// Returns what git makes of three versions. `None`: it finds a conflict.
    fn merged_by_git(folder: &Path, versions: [&str; 3]) -> Option<String> {
        for (name, text) in ["ours", "ancestor", "theirs"].iter().zip(versions) {
            fs::write(folder.join(name), text).expect("written");
        }
        let words = ["merge-file", "-p", "-q", "ours", "ancestor", "theirs"];
        let ended = std::process::Command::new("git").args(words).current_dir(folder).output().expect("git");
        ended.status.success().then(|| String::from_utf8(ended.stdout).expect("text"))
    }

    #[test]
    fn what_is_merged_is_what_git_makes_of_it() {
        use proptest::prelude::*;

        let folder = tempfile::tempdir().expect("a directory");
        let lines = || proptest::collection::vec("[abc]?\n", 0..9).prop_map(|lines| lines.concat());
        let edit = || (0_usize..9, 0_usize..3, "([xy]\n){0,2}");
        let edited = |text: &str, (at, gone, new): (usize, usize, String)| {
            let lines: Vec<_> = text.split_inclusive('\n').collect();
            let at = at.min(lines.len());
            [lines[..at].concat(), new, lines[(at + gone).min(lines.len())..].concat()].concat()
        };
        let cases = proptest::test_runner::Config::with_cases(300);
        proptest::test_runner::TestRunner::new(cases)
            .run(&(lines(), edit(), edit()), |(ancestor, one, other)| {
                let (ours, theirs) = (edited(&ancestor, one), edited(&ancestor, other));
                if let Some(text) = merge(&ancestor, &ours, &theirs) {
                    prop_assert_eq!(Some(text), merged_by_git(folder.path(), [&ours, &ancestor, &theirs]));
                }
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{error}"));
    }
}
