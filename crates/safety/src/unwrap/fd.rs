//! Reads `fd pattern -x command`: fd runs the command with the files that it finds.

use super::argument_items::replace_mark;
use super::inner_command::InnerCommand;
use super::search_matches::SearchMatches;
use crate::file_listings::listed_files;
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::WordValue;

/// `fd pattern -x command`
pub(super) fn fd(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let argv = command.argv;
    let starts_command = |word: &WordValue| matches!(word.known(), Some("-x" | "--exec" | "-X" | "--exec-batch"));
    let Some(at) = argv.iter().position(starts_command) else { return Vec::new() };
    let words = &argv[at + 1..];
    let words = &words[..words.iter().position(|word| word.known() == Some(";")).unwrap_or(words.len())];
    if words.is_empty() {
        return Vec::new();
    }
    let narrows = |word: &WordValue| {
        !matches!(word.known(), Some("." | "-H" | "--hidden" | "-I" | "--no-ignore" | "-HI" | "-IH" | "-u" | "-uu"))
    };
    let matches = match argv[1..at].iter().any(narrows) {
        true => SearchMatches::some_files(),
        false => SearchMatches::without_start(),
    };
    let marks = ["{}", "{/}", "{//}", "{.}", "{/.}"];
    let via = format!("fd {}", argv[at].known().unwrap_or("-x"));
    let items = matches.items(&WordValue::of("."), false);
    let files = listed_files(&argv[..at], command.cwd);
    let of = |(_, item): (Option<WordValue>, WordValue)| {
        let item = item.with_contents(files.as_ref());
        let mut hit = false;
        let mut made: Vec<WordValue> = words
            .iter()
            .map(|word| {
                marks.iter().fold(word.clone(), |word, mark| match replace_mark(&word, mark, &item) {
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
