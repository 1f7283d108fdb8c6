//! The text of a command as bash reads it: with its aliases expanded.
//!
//! Bash reads a line, runs it, and reads the next one with the aliases that it has by then. It expands those in a
//! substitution only when it runs that.

use std::collections::BTreeMap;
use std::ops::Range;

use safety::parse::{
    AndOrList, CommandList, CommandNode, CommandNodeKind, ParsedScript, SubstitutedCommands, SyntaxVisitor, WordSyntax,
    read_pieces, visit_list,
};

use crate::canonical_form::{literal_value, span_of_and_or, span_of_list};

/// Most pieces of a command that are read: as many as a command can have that bash takes as an argument, and so can be
/// watched. A longer one is a script, of which the text alone decides.
pub const PIECES: usize = 128 << 10;

/// Reads a text, if it is not too much.
pub fn read_bounded(text: &str) -> ParsedScript {
    read_pieces(text, PIECES)
}

/// The aliases of a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellAliases {
    /// The text of each alias.
    pub texts: BTreeMap<String, String>,
    /// Whether the shell expands them: `shopt -s expand_aliases`.
    pub expands: bool,
}

/// A command with its aliases expanded.
#[derive(Default)]
pub struct ExpandedCommand {
    pub text: String,
    /// Whether bash surely expands the same words, as far as the text tells.
    pub settled: bool,
    /// From each of these places on, substitutions see these aliases.
    seen: Vec<(usize, ShellAliases)>,
    expansions: Vec<AliasText>,
}

/// The text of an alias in place of its name.
struct AliasText {
    name: String,
    place: Range<usize>,
    /// The length of the name in the command. `None` for an alias in the text of another one.
    replaced: Option<usize>,
}

/// Most bytes that are read to expand the aliases of one text: each takes another reading of the text.
const MOST_READ: usize = 512 << 10;
/// Words that may begin a command, and that an alias must not replace here.
const RESERVED: [&str; 19] = [
    "!", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "select", "then",
    "time", "until", "while", "{", "}",
];

impl ExpandedCommand {
    /// Expands the aliases in a command, of those that its shell has before it.
    pub fn of(command: &str, known: &ShellAliases) -> Self {
        let mut expanded = Self { text: command.to_owned(), settled: true, ..Self::default() };
        if known.expands && !known.texts.is_empty() || command.contains("expand_aliases") {
            expanded.settled = !known.texts.keys().any(|name| RESERVED.contains(&name.as_str()));
            let (mut from, mut bytes) = (0, 0);
            let is_whole = loop {
                bytes += expanded.text.len();
                if bytes > MOST_READ {
                    break false;
                }
                match expanded.expand_next(known, from) {
                    Some(place) => from = place,
                    None => break true,
                }
            };
            expanded.settled &= is_whole;
        }
        expanded
    }

    /// Expands the list of a substitution, if it has aliases. It needs a text of its own then.
    pub fn of_substitution(&mut self, nested: &SubstitutedCommands, text: &str, at: Option<usize>) -> Option<Self> {
        let earlier = |(from, _): &&(usize, ShellAliases)| at.is_none_or(|at| *from <= at);
        let known = &self.seen.iter().rev().find(earlier)?.1;
        let mut source = text.get(span_of_list(&nested.list))?.to_owned();
        if nested.list.last().is_some_and(|entry| entry.background) {
            source.push_str(" &");
        }
        let expanded = Self::of(&source, known);
        self.settled &= expanded.settled && (expanded.expansions.is_empty() || !source.contains("<<"));
        (!expanded.expansions.is_empty()).then_some(expanded)
    }

    /// Returns the place of a span in the command as it was written. `None` if an alias stands there.
    pub fn written_span(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let (mut before, mut after) = (0, 0);
        for AliasText { place, replaced, .. } in &self.expansions {
            let Some(replaced) = replaced else { continue };
            if place.end <= span.start {
                (before, after) = (before + replaced, after + place.len());
            } else if place.start < span.end {
                return None;
            }
        }
        Some(span.start + before - after..span.end + before - after)
    }

    /// Expands the first alias from a place on. Returns its place.
    fn expand_next(&mut self, known: &ShellAliases, from: usize) -> Option<usize> {
        let text = self.text.clone();
        let read = read_bounded(&text);
        let mut aliases = known.clone();
        self.seen = vec![(0, aliases.clone())];
        for line in lines_read_at_once(&read.script.body, &text) {
            if aliases.expands {
                let mut names = AliasFinder { expanded: self, aliases: &aliases, from, first: None };
                visit_list(line, &mut names);
                if let Some(word) = names.first {
                    self.replace(&word, &aliases);
                    return Some(word.start);
                }
            }
            self.settled &= apply_line(&mut aliases, line);
            if self.seen.last().is_none_or(|(_, last)| *last != aliases) {
                self.seen.push((line.last().map_or(0, |last| span_of_and_or(last).end), aliases.clone()));
            }
        }
        None
    }

    fn replace(&mut self, word: &Range<usize>, aliases: &ShellAliases) {
        let name = self.text[word.clone()].to_owned();
        // Bash keeps the text from joining what follows.
        let text = format!("{} ", aliases.texts[&name].strip_suffix(' ').unwrap_or(&aliases.texts[&name]));
        let longer = |at: usize| at + text.len() - word.len();
        let mut within = false;
        for AliasText { place, .. } in &mut self.expansions {
            if place.start <= word.start && word.end <= place.end {
                within = true;
                place.end = longer(place.end);
            } else if place.start >= word.end {
                *place = longer(place.start)..longer(place.end);
            }
        }
        self.text.replace_range(word.clone(), &text);
        let place = word.start..word.start + text.len();
        self.expansions.push(AliasText { name, place, replaced: (!within).then_some(word.len()) });
        self.expansions.sort_by_key(|expansion| expansion.place.start);
    }

    /// Returns whether a word stands in the text of the alias that it names.
    fn is_own(&self, word: &Range<usize>, name: &str) -> bool {
        let around = |place: &Range<usize>| place.start <= word.start && word.end <= place.end;
        self.expansions.iter().any(|expansion| expansion.name == name && around(&expansion.place))
    }

    /// Returns whether a word stands right behind the text of an alias that ends in a blank.
    fn follows_open_alias(&self, word: &Range<usize>, aliases: &ShellAliases) -> bool {
        self.expansions.iter().any(|AliasText { name, place, .. }| {
            let blank = aliases.texts.get(name).is_some_and(|text| text.ends_with([' ', '\t']));
            blank
                && self
                    .text
                    .get(place.end..word.start)
                    .is_some_and(|between| between.trim_matches([' ', '\t']).is_empty())
        })
    }
}

/// Finds the first name of an alias in a line, outside of substitutions.
struct AliasFinder<'e> {
    expanded: &'e ExpandedCommand,
    aliases: &'e ShellAliases,
    from: usize,
    first: Option<Range<usize>>,
}

impl AliasFinder<'_> {
    fn add(&mut self, word: Range<usize>) {
        let name = self.expanded.text.get(word.clone()).unwrap_or_default();
        let is_first = word.start >= self.from && self.first.as_ref().is_none_or(|first| word.start < first.start);
        if is_first && self.aliases.texts.contains_key(name) && !self.expanded.is_own(&word, name) {
            self.first = Some(word);
        }
    }
}

impl SyntaxVisitor for AliasFinder<'_> {
    fn add_node(&mut self, node: &CommandNode) {
        match &node.kind {
            CommandNodeKind::Simple(simple) => {
                let bare = |word: &&WordSyntax| word.bare().is_some();
                for (at, word) in simple.words.iter().enumerate().filter(|(_, word)| bare(word)) {
                    if at == 0 || self.expanded.follows_open_alias(&word.span, self.aliases) {
                        self.add(word.span.clone());
                    }
                }
            }
            CommandNodeKind::Function { name, .. } => self.add(node.span.start..node.span.start + name.len()),
            _ => {}
        }
    }

    fn may_enter(&mut self, _nested: &SubstitutedCommands) -> bool {
        false
    }
}

/// Splits a list into what bash reads at once.
fn lines_read_at_once<'l>(list: &'l CommandList, text: &'l str) -> impl Iterator<Item = &'l [AndOrList]> {
    let ends = |entry: &AndOrList| span_of_and_or(entry).end;
    list.chunk_by(move |entry, next| {
        text.get(ends(entry)..span_of_and_or(next).start).is_some_and(|between| !between.contains('\n'))
    })
}

/// Changes aliases as a line does. Returns whether it is known what the line does to them.
fn apply_line(aliases: &mut ShellAliases, line: &[AndOrList]) -> bool {
    let mut changes = AliasChanges::default();
    visit_list(line, &mut changes);
    let mut plain = 0;
    for entry in line.iter().filter(|entry| !entry.background) {
        for (_, pipeline) in &entry.pipelines {
            let [CommandNode { kind: CommandNodeKind::Simple(simple), .. }] = pipeline.commands.as_slice() else {
                break;
            };
            let words: Option<Vec<_>> = simple.words.iter().map(|word| literal_value(&word.parts)).collect();
            let Some(words) = words.filter(|words| change_by(aliases, words)) else { break };
            plain += usize::from(changes_aliases(&words[0]));
        }
    }
    plain == changes.commands && (plain == 0 || !changes.substitutes)
}

fn changes_aliases(name: &str) -> bool {
    ["alias", "unalias", "shopt"].contains(&name)
}

/// Changes aliases as a simple command does. Returns whether its effect is known and it succeeds.
fn change_by(aliases: &mut ShellAliases, words: &[String]) -> bool {
    let Some((name, words)) = words.split_first() else { return false };
    match name.as_str() {
        "alias" => {
            for (name, text) in words.iter().filter_map(|word| word.split_once('=')) {
                aliases.texts.insert(name.to_owned(), text.to_owned());
            }
        }
        "unalias" if words.iter().any(|word| word == "-a") => aliases.texts.clear(),
        "unalias" => aliases.texts.retain(|name, _| !words.contains(name)),
        "shopt" if words.iter().any(|word| word == "expand_aliases") => {
            aliases.expands = words[0] == "-s" || aliases.expands && words[0] != "-u";
        }
        "shopt" | ":" | "true" => {}
        _ => return false,
    }
    true
}

/// What in a line may change aliases.
#[derive(Default)]
struct AliasChanges {
    /// The number of commands that change them.
    commands: usize,
    /// Whether the line has a substitution, which may run before or after such a command.
    substitutes: bool,
}

impl SyntaxVisitor for AliasChanges {
    fn add_node(&mut self, node: &CommandNode) {
        if let CommandNodeKind::Simple(simple) = &node.kind {
            let name = simple.words.first().and_then(|word| literal_value(&word.parts));
            self.commands += usize::from(name.is_some_and(|name| changes_aliases(&name)));
        }
    }

    fn may_enter(&mut self, _nested: &SubstitutedCommands) -> bool {
        self.substitutes = true;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expands a script whose first lines define an alias.
    fn expanded(lines: &str) -> ExpandedCommand {
        ExpandedCommand::of(&format!("shopt -s expand_aliases\nalias a=:\n{lines}"), &ShellAliases::default())
    }

    #[test]
    fn aliases_are_expanded_up_to_a_bound_of_work() {
        let few = expanded(&"a x\n".repeat(50));
        assert!(few.settled && few.text.ends_with(&":  x\n".repeat(50)), "{}", few.text);
        assert!(!expanded(&"a x\n".repeat(20_000)).settled);
        assert!(expanded(&"b x\n".repeat(20_000)).settled, "a script that uses none is read once");
    }
}
