//! Sets of files that a command empties, deletes or moves away at once.

use super::git_call::GitCall;
use super::operand_paths::{DirectoryLandmarks, OperandPlace};
use super::pathspec;
use crate::options::{OptionSpec, parse};
use crate::programs;
use crate::programs::git::RM;
use crate::simple_command_view::{ExpandedRedirect, SimpleCommandView};
use crate::word_value::{FileSetKind, WordValue};

/// Returns a word by which a command empties or deletes everything in a directory that cannot be restored, or moves it
/// to where nothing is kept.
pub fn lost_file_set<'a>(command: &'a SimpleCommandView<'a>) -> Option<&'a WordValue> {
    let mut emptied = command.redirects.iter().filter(|redirect| replaces(redirect)).map(|redirect| &redirect.target);
    emptied.find(|word| is_whole(word, command)).or_else(|| by_program(command))
}

/// Returns the word of a program that deletes, moves or copies over files.
fn by_program<'a>(command: &'a SimpleCommandView<'a>) -> Option<&'a WordValue> {
    let name = command.name()?;
    let args = command.args();
    let operands = |spec: &OptionSpec| parse(args, spec).operands.into_iter().map(|at| &args[at]);
    match name {
        // Everything in a directory is the matter of `rm-critical`.
        "rm" | "grm" | "unlink" | "gunlink" => {
            let listed = |word: &&WordValue| word.files().is_some_and(|files| files.listing != FileSetKind::All);
            operands(&programs::of("rm").options).find(|word| listed(word) && is_whole(word, command))
        }
        "mv" | "gmv" => set_moved_away(command),
        "cp" | "gcp" | "install" | "tee" | "gtee" => set_copied_over(command, name),
        "git" | "git.exe" => of_git(command),
        _ => None,
    }
}

/// Whether a redirect replaces what is in its file.
fn replaces(redirect: &ExpandedRedirect) -> bool {
    redirect.writes_file() && matches!(redirect.op.as_str(), ">" | ">|" | "&>" | ">&")
}

/// Returns whether a word names every file of a critical directory, or every file at its top.
pub fn is_whole(word: &WordValue, command: &SimpleCommandView) -> bool {
    let landmarks = DirectoryLandmarks::new(command.directories);
    let place = match word.files() {
        Some(files) if files.listing == FileSetKind::Unknown => return false,
        Some(files) => landmarks.place_of_files(files, command.cwd),
        None if word.has_glob() => landmarks.place_of(word, command.cwd),
        None => return false,
    };
    matches!(place, OperandPlace::Critical { sure: true })
}

/// `mv .git /tmp/x`, `mv * /tmp/x`: the sources that are moved to a directory for temporary files.
fn set_moved_away<'a>(command: &'a SimpleCommandView<'a>) -> Option<&'a WordValue> {
    let args = command.args();
    let parsed = parse(args, &programs::of("mv").options);
    let mut operands: Vec<&WordValue> = parsed.operands.iter().map(|at| &args[*at]).collect();
    let target = parsed.value("t target-directory").or_else(|| operands.pop())?;
    let landmarks = DirectoryLandmarks::new(command.directories);
    let is_temp = |word: &WordValue| {
        let inside = matches!(
            landmarks.place_of(word, command.cwd),
            OperandPlace::Inside | OperandPlace::Critical { sure: false }
        );
        landmarks.within_reach(word, command.cwd)
            && !inside
            && landmarks.place_of(word, command.cwd) != OperandPlace::Unknown
    };
    if !is_temp(target) {
        return None;
    }
    operands.into_iter().find(|word| match landmarks.place_of(word, command.cwd) {
        OperandPlace::Critical { .. } => true,
        OperandPlace::Outside => landmarks.in_home(word, command.cwd),
        _ => is_whole(word, command),
    })
}

/// `cp /dev/null FILES`, `tee FILES < /dev/null`
fn set_copied_over<'a>(command: &'a SimpleCommandView<'a>, name: &str) -> Option<&'a WordValue> {
    let parsed = parse(command.args(), &programs::of(name).options);
    let operands: Vec<&WordValue> = parsed.operands.iter().map(|at| &command.args()[*at]).collect();
    let empties = match name {
        "tee" | "gtee" => !parsed.has("a append"),
        _ => operands.first().is_some_and(|source| source.known() == Some("/dev/null")),
    };
    operands.into_iter().find(|word| empties && is_whole(word, command))
}

/// `git rm -rf .`: with -f also what is in no commit. Without it git refuses files that changed.
fn of_git<'a>(command: &'a SimpleCommandView<'a>) -> Option<&'a WordValue> {
    let git = GitCall::of(command, &["rm"])?;
    let parsed = git.parse(&RM);
    if !parsed.has("f force") || parsed.has("cached n dry-run") {
        return None;
    }
    let first = WordValue::of(command.directories.cwd.as_str());
    let is_all = |word: &WordValue| {
        is_whole(word, command)
            || pathspec::text(word).is_some_and(|text| pathspec::read(&text).is_whole(&git.cwd, &first))
    };
    command.args().iter().find(|word| git.operands(&parsed).any(|operand| operand == *word) && is_all(word))
}

/// Returns what is in a set, in words.
pub fn set_contents(word: &WordValue) -> &'static str {
    match word.files().map(|files| files.listing) {
        Some(FileSetKind::Tracked) => "every file of the repository",
        Some(FileSetKind::Changed | FileSetKind::Unknown) => "every file that was changed or that git does not know",
        Some(FileSetKind::Top) | None => "everything at the top of a directory",
        Some(FileSetKind::All) => "every file in a directory, those of .git among them",
    }
}
