//! A command that removes folders with all that is in them.

use super::paths::{Ground, Place};
use crate::safety::command::Command;
use crate::safety::options::parse;
use crate::safety::tables::files::RM;
use crate::safety::value::{Piece, Value};

/// The programs that do.
pub static HEADS: &[&str] = &["rm", "grm", "srm"];

/// What it removes, and where that is.
#[derive(Debug)]
pub struct Removal<'a> {
    /// Its operands.
    pub operands: Vec<(&'a Value, Place)>,
    /// Whether a word that is not known may have held the option for folders, or there is none in doubt.
    pub sure: bool,
}

/// Reads a command as one that removes folders; `None` where it is none.
pub fn read<'a>(command: &Command<'a>) -> Option<Removal<'a>> {
    let args = command.args();
    let parsed = parse(args, &RM);
    if parsed.has(&["help", "version"]) {
        return None;
    }
    let folders = parsed.has(&["r", "R", "recursive"]);
    // An unquoted word that is not known may be `-r`.
    let maybe = || args.iter().any(|arg| matches!(arg.pieces(), [Piece::Hole(true), ..]));
    if !folders && !maybe() {
        return None;
    }
    let ground = Ground::new(command.scene);
    let operands = parsed.operands.iter().filter_map(|at| args.get(*at));
    let operands = operands.map(|word| (word, ground.place(word, command.cwd)));
    Some(Removal { operands: operands.collect(), sure: folders })
}
