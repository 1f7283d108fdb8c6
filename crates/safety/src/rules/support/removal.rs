//! A command that removes directories with their contents.

use super::paths::{Landmarks, Place};
use crate::command::Command;
use crate::options::parse;
use crate::programs;
use crate::value::{Piece, Value};

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
    if !folders && !maybe() {
        return None;
    }
    let landmarks = Landmarks::new(command.directories);
    let operands = parsed.operands.iter().filter_map(|at| args.get(*at));
    let operands = operands.map(|word| (word, landmarks.place(word, command.cwd)));
    Some(Removal { operands: operands.collect(), sure: folders })
}
