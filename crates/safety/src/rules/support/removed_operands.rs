//! A command that removes directories with their contents.

use super::operand_paths::{DirectoryLandmarks, OperandPlace};
use crate::options::parse;
use crate::programs;
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::{FileSetKind, ValuePiece, WordValue};

/// The programs that remove directories with their contents.
pub static PROGRAMS: &[&str] = &["rm", "grm", "srm"];

/// The removed operands and their places.
#[derive(Debug)]
pub struct RemovedOperands<'a> {
    /// The operands.
    pub operands: Vec<(&'a WordValue, OperandPlace)>,
    /// Whether the option for directories is certain. If not, an unknown word may contain it.
    pub sure: bool,
}

/// Reads a command that removes directories. `None` for any other.
pub fn removed_operands<'a>(command: &SimpleCommandView<'a>) -> Option<RemovedOperands<'a>> {
    let args = command.args();
    let parsed = parse(args, &programs::of("rm").options);
    if parsed.has("help version") {
        return None;
    }
    let folders = parsed.has("r R recursive");
    // An unquoted word that is not known may be `-r`.
    let maybe = || args.iter().any(|arg| matches!(arg.pieces(), [ValuePiece::Unknown(true), ..]));
    let operands: Vec<&WordValue> = parsed.operands.iter().filter_map(|at| args.get(*at)).collect();
    let is_whole = |word: &&WordValue| word.files().is_some_and(|files| files.listing == FileSetKind::All);
    // Without its files a directory is nothing.
    let whole = operands.iter().any(is_whole);
    if !folders && !whole && !maybe() {
        return None;
    }
    let landmarks = DirectoryLandmarks::new(command.directories);
    let place = |word: &'a WordValue| match word.files() {
        Some(files) if is_whole(&word) => landmarks.place_of_files(files, command.cwd),
        _ => landmarks.place_of(word, command.cwd),
    };
    let operands = operands.into_iter().map(|word| (word, place(word))).collect();
    Some(RemovedOperands { operands, sure: folders || whole })
}
