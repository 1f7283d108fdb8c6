//! Reads `xargs command words…`.

use super::argument_items::{ItemSplitting, bound_items, replace_mark, split_items};
use super::inner_command::InnerCommand;
use super::words::weight;
use crate::options::{ParsedArguments, parse};
use crate::programs;
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::word_value::{ValuePiece, WordValue};

/// Most text that is written out in all.
const WEIGHT: usize = 1 << 20;
/// Most items that get a command of their own.
const ITEMS: usize = 256;

/// Returns the commands that xargs runs.
pub(super) fn xargs(command: &SimpleCommandView, input: &CommandStdin) -> Vec<InnerCommand> {
    let args = command.args();
    let parsed = parse(args, &programs::of("xargs").options);
    let Some(first) = parsed.operands.first() else { return Vec::new() };
    if parsed.has("help version") {
        return Vec::new();
    }
    let mark = mark(&parsed);
    let items = match input {
        CommandStdin::Text(text, _) if !parsed.has("a arg-file") => {
            split_items(text, delimiter(&parsed, mark.is_some()))
        }
        // Unknown input: several items, or none.
        _ => vec![any(mark.is_none()).with_contents(input.contents())],
    };
    let words = &args[*first..];
    let marked = |word: &WordValue, mark: &str| replace_mark(word, mark, &WordValue::default()).is_some();
    if let Some(mark) = &mark
        && words.iter().any(|word| marked(word, mark))
    {
        let items = bound_items(items, ITEMS.min(1 + WEIGHT / weight(words).max(1)));
        return items.iter().map(|item| with_item(words, mark, item)).collect();
    }
    // BSD: all items replace one word.
    if let Some(mark) = parsed.value("J").and_then(WordValue::known)
        && let Some(at) = words.iter().position(|word| word.known() == Some(mark))
    {
        let argv = words[..at].iter().chain(&items).chain(&words[at + 1..]).cloned().collect();
        return vec![InnerCommand::argv(argv, "xargs").without_stdin()];
    }
    let mut inner = InnerCommand::words(1 + first, command.argv.len(), "xargs");
    if let InnerCommand::Words { items: added, .. } = &mut inner {
        // If the mark is in no word, no item gets into the command.
        *added = if mark.is_some() { Vec::new() } else { items };
    }
    vec![inner.without_stdin()]
}

/// Returns the mark that an item replaces, if xargs has one.
fn mark(parsed: &ParsedArguments) -> Option<String> {
    let given = parsed.last("I i replace")?;
    let written = given.value.as_ref().and_then(WordValue::known);
    Some(written.filter(|mark| !mark.is_empty()).unwrap_or("{}").to_owned())
}

/// Returns how the input is cut.
fn delimiter(parsed: &ParsedArguments, by_line: bool) -> ItemSplitting {
    if parsed.has("0 null") {
        return ItemSplitting::At('\0');
    }
    match parsed.value("d delimiter").map(WordValue::known) {
        Some(Some("\\n")) => ItemSplitting::At('\n'),
        Some(Some("\\0")) => ItemSplitting::At('\0'),
        Some(Some("\\t")) => ItemSplitting::At('\t'),
        Some(Some(text)) => text.chars().next().map_or(ItemSplitting::Words, ItemSplitting::At),
        Some(None) => ItemSplitting::Words,
        None if by_line => ItemSplitting::Lines,
        None => ItemSplitting::Words,
    }
}

/// Returns an item of which nothing is known.
fn any(several: bool) -> WordValue {
    let mut item = WordValue::default();
    item.push(ValuePiece::Unknown(several));
    item
}

/// Returns the command for one item.
fn with_item(words: &[WordValue], mark: &str, item: &WordValue) -> InnerCommand {
    let argv = words.iter().map(|word| replace_mark(word, mark, item).unwrap_or_else(|| word.clone()));
    InnerCommand::argv(argv.collect(), "xargs").without_stdin()
}
