//! GNU parallel, its `sem`, and the parallel of moreutils.

use super::argument_items::{ItemSplitting, bound_items, replace_mark, split_items};
use super::inner_command::InnerCommand;
use super::words::{joined, weight};
use crate::options::parse;
use crate::programs;
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::word_value::{ValuePiece, WordValue};

/// Most text that is written out in all.
const WEIGHT: usize = 1 << 19;
/// Most items that get a script of their own.
const ITEMS: usize = 64;

/// Returns the scripts that parallel runs: its words with an item in them. With `-q` they are commands, whose words
/// stay words.
pub(super) fn parallel(command: &SimpleCommandView, name: &str, input: &CommandStdin) -> Vec<InnerCommand> {
    let args = command.args();
    let parsed = parse(args, &programs::of("parallel").options);
    if parsed.has("dry-run version V help h shellquote citation") {
        return Vec::new();
    }
    let remote = parsed.has("S sshlogin sshloginfile");
    let start = parsed.operands.first().copied().unwrap_or(args.len());
    let rest = &args[start..];
    let separator = |word: &WordValue| matches!(word.known(), Some(":::" | ":::+" | "::::" | "::::+"));
    // moreutils: `parallel cmd -- items`
    let length = rest.iter().position(separator).or_else(|| rest.iter().position(|word| word.known() == Some("--")));
    let template = &rest[..length.unwrap_or(rest.len())];
    let sources =
        sources(&rest[length.unwrap_or(rest.len())..], input, name == "sem" || parsed.has("pipe pipepart semaphore"));
    let mark = parsed.value("I i").and_then(WordValue::known).unwrap_or("{}").to_owned();
    let most = ITEMS.min(1 + WEIGHT / weight(template).max(1));
    let rows = sources.map(|sources| combinations(sources, most));
    let found: Vec<InnerCommand> = if parsed.has("q quote") && !template.is_empty() {
        let commands = match rows {
            None => vec![template.to_vec()],
            Some(rows) => rows.iter().map(|items| fill_words(template, &mark, items)).collect(),
        };
        commands.into_iter().map(|argv| InnerCommand::argv(argv, name)).collect()
    } else {
        let text = joined(template);
        let scripts = match rows {
            None => vec![text],
            Some(rows) => rows.iter().map(|items| fill(&text, template, &mark, items)).collect(),
        };
        scripts.into_iter().filter_map(|script| InnerCommand::script(script, name)).collect()
    };
    found.into_iter().map(|inner| inner.without_stdin().elsewhere(remote)).collect()
}

/// Returns the lists of items: behind `:::`, or from standard input.
fn sources(words: &[WordValue], input: &CommandStdin, no_items: bool) -> Option<Vec<Vec<WordValue>>> {
    let mut sources: Vec<Vec<WordValue>> = Vec::new();
    for word in words {
        match (word.known(), sources.last_mut()) {
            (Some(":::" | ":::+" | "--"), _) => sources.push(Vec::new()),
            (Some("::::" | "::::+"), _) => sources.push(vec![WordValue::unknown()]),
            (_, Some(last)) if last.first() != Some(&WordValue::unknown()) => last.push(word.clone()),
            _ => {}
        }
    }
    if !sources.is_empty() {
        return Some(sources);
    }
    match input {
        _ if no_items => None,
        CommandStdin::Text(text, _) => Some(vec![split_items(text, ItemSplitting::Lines)]),
        _ => Some(vec![vec![WordValue::unknown().with_contents(input.contents())]]),
    }
}

/// Returns the rows that combine each item of a list with each item of the other lists.
fn combinations(sources: Vec<Vec<WordValue>>, most: usize) -> Vec<Vec<WordValue>> {
    let mut all: Vec<Vec<WordValue>> = vec![Vec::new()];
    for source in sources.into_iter().take(8) {
        let items = bound_items(source, most);
        let room = (most / items.len().max(1)).max(1);
        all = all
            .iter()
            .take(room)
            .flat_map(|row| items.iter().map(move |item| [row.as_slice(), std::slice::from_ref(item)].concat()))
            .collect();
    }
    all
}

/// Returns the script for one row of items.
fn fill(text: &WordValue, template: &[WordValue], mark: &str, items: &[WordValue]) -> WordValue {
    // Without a command, the items are the commands.
    if template.is_empty() {
        return joined(items);
    }
    let items: Vec<WordValue> = items.iter().map(quoted).collect();
    with_items(text, mark, &items).unwrap_or_else(|| {
        let mut made = text.clone();
        made.push(ValuePiece::Text(" ".to_owned()));
        made.extend(&joined(&items));
        made
    })
}

/// Returns the words for one row of items.
fn fill_words(template: &[WordValue], mark: &str, items: &[WordValue]) -> Vec<WordValue> {
    let mut hit = false;
    let mut words = Vec::new();
    for word in template {
        if word.known() == Some(mark) {
            words.extend_from_slice(items);
            hit = true;
            continue;
        }
        let filled = with_items(word, mark, items);
        hit |= filled.is_some();
        words.push(filled.unwrap_or_else(|| word.clone()));
    }
    if !hit {
        words.extend_from_slice(items);
    }
    words
}

/// Returns a text with items in the place of their marks. `None` if it has no mark.
fn with_items(text: &WordValue, mark: &str, items: &[WordValue]) -> Option<WordValue> {
    let mut made = None;
    let mut put = |mark: &str, item: &WordValue| {
        if let Some(next) = replace_mark(made.as_ref().unwrap_or(text), mark, item) {
            made = Some(next);
        }
    };
    put(mark, &joined(items));
    for (index, item) in items.iter().enumerate() {
        put(&format!("{{{}}}", index + 1), item);
    }
    // Marks for parts of an item, and for numbers.
    for part in ["{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{1/.}", "{1.}", "{1/}"] {
        put(part, &WordValue::unknown());
    }
    made
}

/// Returns an item as one word of a script.
fn quoted(item: &WordValue) -> WordValue {
    match item.known() {
        Some(text) if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-=:@%+,".contains(&byte)) => {
            item.clone()
        }
        Some(text) => WordValue::of(format!("'{}'", text.replace('\'', "'\\''"))).derived_from(item),
        None => item.clone(),
    }
}
