//! Reads `fd pattern -x command`: fd runs the command with the files that it finds.

use super::inner::InnerCommand;
use super::items::replaced;
use super::matches::Matches;
use crate::command::Command;
use crate::listings::listed;
use crate::value::Value;

/// `fd pattern -x command`
pub(super) fn fd(command: &Command) -> Vec<InnerCommand> {
    let argv = command.argv;
    let starts_command = |word: &Value| matches!(word.known(), Some("-x" | "--exec" | "-X" | "--exec-batch"));
    let Some(at) = argv.iter().position(starts_command) else { return Vec::new() };
    let words = &argv[at + 1..];
    let words = &words[..words.iter().position(|word| word.known() == Some(";")).unwrap_or(words.len())];
    if words.is_empty() {
        return Vec::new();
    }
    let narrows = |word: &Value| {
        !matches!(word.known(), Some("." | "-H" | "--hidden" | "-I" | "--no-ignore" | "-HI" | "-IH" | "-u" | "-uu"))
    };
    let matches = match argv[1..at].iter().any(narrows) {
        true => Matches::some(),
        false => Matches::inside(),
    };
    let marks = ["{}", "{/}", "{//}", "{.}", "{/.}"];
    let via = format!("fd {}", argv[at].known().unwrap_or("-x"));
    let items = matches.items(&Value::of("."), false);
    let files = listed(&argv[..at], command.cwd);
    let of = |(_, item): (Option<Value>, Value)| {
        let item = item.with_contents(files.as_ref());
        let mut hit = false;
        let mut made: Vec<Value> = words
            .iter()
            .map(|word| {
                marks.iter().fold(word.clone(), |word, mark| match replaced(&word, mark, &item) {
                    Some(next) => {
                        hit = true;
                        next
                    }
                    None => word,
                })
            })
            .collect();
        if !hit {
            made.push(item.clone());
        }
        InnerCommand::argv(made, via.as_str())
    };
    items.into_iter().map(of).collect()
}
