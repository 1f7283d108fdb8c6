//! A command that removes directories with their contents.

use super::paths::{Landmarks, Place};
use crate::command::Command;
use crate::options::parse;
use crate::programs;
use crate::value::{FileSetKind, Piece, Value};

/// The programs that remove directories with their contents.
pub static PROGRAMS: &[&str] = &["rm", "grm", "srm"];

/// The removed operands and their places.
#[derive(Debug)]
pub struct Removal<'a> {
    /// The operands.
    pub operands: Vec<(&'a Value, Place)>,
    /// Whether the option for directories is certain. If not, an unknown word may contain it.
    pub sure: bool,
}

/// Reads a command that removes directories. `None` for any other.
pub fn read<'a>(command: &Command<'a>) -> Option<Removal<'a>> {
    let args = command.args();
    let parsed = parse(args, &programs::of("rm").options);
    if parsed.has("help version") {
        return None;
    }
    let folders = parsed.has("r R recursive");
    // An unquoted word that is not known may be `-r`.
    let maybe = || args.iter().any(|arg| matches!(arg.pieces(), [Piece::Unknown(true), ..]));
    let operands: Vec<&Value> = parsed.operands.iter().filter_map(|at| args.get(*at)).collect();
    let is_whole = |word: &&Value| word.files().is_some_and(|files| files.listing == FileSetKind::All);
    // Without its files a directory is nothing.
    let whole = operands.iter().any(is_whole);
    if !folders && !whole && !maybe() {
        return None;
    }
    let landmarks = Landmarks::new(command.directories);
    let place = |word: &'a Value| match word.files() {
        Some(files) if is_whole(&word) => landmarks.strictest(files, command.cwd),
        _ => landmarks.place(word, command.cwd),
    };
    let operands = operands.into_iter().map(|word| (word, place(word))).collect();
    Some(Removal { operands, sure: folders || whole })
}
