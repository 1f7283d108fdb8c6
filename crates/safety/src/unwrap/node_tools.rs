//! Tools of Node.js: `nodemon --exec`, `rimraf`.

use super::inner_command::InnerCommand;
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::WordValue;

/// Reads `nodemon --exec 'command line' words…`. The words that follow belong to the command line.
pub(super) fn nodemon(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let args = command.args();
    let given = args.iter().enumerate().find_map(|(at, word)| match word.known() {
        Some("--exec" | "-x") => Some((args.get(at + 1)?.clone(), at + 2)),
        _ => word.prefix().starts_with("--exec=").then(|| (word.after("--exec=".len()), at + 1)),
    });
    let Some((line, next)) = given else { return Vec::new() };
    let plain = line.known().filter(|line| !line.contains(|next: char| "'\"\\$`;&|<>(){}*?#~\n".contains(next)));
    match plain {
        Some(line) => {
            let words = line.split_whitespace().map(WordValue::of);
            let rest = args.get(next..).unwrap_or_default();
            vec![InnerCommand::argv(words.chain(rest.iter().cloned()).collect(), "nodemon --exec")]
        }
        None => InnerCommand::script(line, "nodemon --exec").into_iter().collect(),
    }
}

/// Reads `rimraf paths…` as rm.
pub(super) fn rimraf(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let paths = command.args().iter().filter(|word| !word.prefix().starts_with('-'));
    let argv: Vec<_> = ["rm", "-rf", "--"].into_iter().map(WordValue::of).chain(paths.cloned()).collect();
    vec![InnerCommand::argv(argv, "rimraf")]
}
