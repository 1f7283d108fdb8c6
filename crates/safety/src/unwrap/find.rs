//! Reads `find … -exec command {} +`: find runs the command with the files that it finds.

use std::rc::Rc;

use super::argument_items::replace_mark;
use super::inner_command::InnerCommand;
use super::search_matches::{SearchMatches, SearchedName};
use super::words::weight;
use crate::name_lists::has_word;
use crate::programs::search::{NARROWING_TESTS, NEUTRAL_TESTS, OTHER_VALUED_TESTS};
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::{FileSet, FileSetKind, ValueContents, ValuePiece, WordValue};

/// Most start directories, and most open parentheses, that are read.
const STARTS: usize = 16;
const DEPTH: usize = 64;
/// Most `-print` actions that are read.
pub(super) const PRINTS: usize = 8;
/// Most text that is written out in all.
const WEIGHT: usize = 1 << 20;

/// Returns the commands that find runs.
pub(super) fn find(command: &SimpleCommandView) -> Vec<InnerCommand> {
    FindExpressionWalk::of(command.argv).found
}

/// Returns the directories that are searched, and the index of the expression.
fn starts(argv: &[WordValue]) -> (Vec<WordValue>, usize) {
    let mut at = 1;
    while let Some(text) = argv.get(at).and_then(WordValue::known) {
        match text {
            "-H" | "-L" | "-P" | "-E" | "-X" | "-s" | "--" => at += 1,
            "-D" | "-f" => at += 2,
            _ if text.starts_with("-O") => at += 1,
            _ => break,
        }
    }
    let expression = |word: &WordValue| {
        let text = word.prefix();
        (text.starts_with('-') && text.len() > 1) || matches!(word.known(), Some("(" | ")" | "!" | ","))
    };
    let at = at.min(argv.len());
    let end = argv[at..].iter().position(expression).map_or(argv.len(), |length| at + length);
    let mut starts: Vec<_> = argv[at..end].iter().take(STARTS).cloned().collect();
    if end - at > STARTS {
        starts.push(WordValue::unknown());
    }
    if starts.is_empty() {
        starts.push(WordValue::of("."));
    }
    (starts, end)
}

/// The state of reading the expression.
pub(super) struct FindExpressionWalk<'a> {
    argv: &'a [WordValue],
    /// The directories that are searched.
    pub(super) starts: Vec<WordValue>,
    /// The index of the expression.
    pub(super) first: usize,
    /// The matches without a test.
    all: SearchMatches,
    /// The state around each open parenthesis: the alternatives before it, the matches of its own list, and whether it
    /// is negated.
    outer: Vec<(Option<SearchMatches>, SearchMatches, bool)>,
    /// The matches of the alternatives before the last `-o`. `None` without one.
    any: Option<SearchMatches>,
    /// The matches of the tests since the last `-o`.
    here: SearchMatches,
    budget: usize,
    found: Vec<InnerCommand>,
    /// The matches that each `-print` prints, and the end of its lines.
    pub(super) prints: Vec<(SearchMatches, char)>,
}

impl<'a> FindExpressionWalk<'a> {
    /// Reads the whole expression.
    pub(super) fn of(argv: &'a [WordValue]) -> Self {
        let (starts, first) = starts(argv);
        let deep = argv.windows(2).any(|pair| pair[0].known() == Some("-mindepth") && pair[1].known() != Some("0"));
        let all = if deep { SearchMatches::without_start() } else { SearchMatches::everything() };
        let mut walk = Self {
            argv,
            starts,
            first,
            here: all.clone(),
            all,
            outer: Vec::new(),
            any: None,
            budget: WEIGHT,
            found: Vec::new(),
            prints: Vec::new(),
        };
        walk.run();
        walk
    }

    /// Returns the matches of the whole expression.
    pub(super) fn whole(mut self) -> SearchMatches {
        while !self.outer.is_empty() {
            self.close();
        }
        match self.any.take() {
            Some(any) => any.or(self.here),
            None => self.here,
        }
    }

    fn run(&mut self) {
        let argv = self.argv;
        let mut at = self.first;
        let mut not = false;
        while at < argv.len() {
            let word = argv[at].known().unwrap_or_default();
            let value = argv.get(at + 1);
            match word {
                "!" | "-not" => {
                    not = !not;
                    at += 1;
                    continue;
                }
                "(" if self.outer.len() < DEPTH => {
                    let inside = self.here.clone();
                    self.outer.push((self.any.take(), inside, not));
                    self.here = self.all.clone();
                }
                ")" => self.close(),
                "-o" | "-or" | "," => {
                    let here = std::mem::replace(&mut self.here, self.all.clone());
                    self.any = Some(match self.any.take() {
                        Some(any) => any.or(here),
                        None => here,
                    });
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let end = end(argv, at + 1);
                    self.action(word, at + 1, end);
                    at = end + 1;
                    not = false;
                    continue;
                }
                "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" if !not => {
                    let whole = !word.ends_with("name") || word.ends_with("wholename");
                    let name = value.map(|value| SearchedName { pattern: value.clone(), whole });
                    self.narrow(name.map_or_else(SearchMatches::some_files, SearchMatches::named));
                }
                "-type" | "-xtype" if !not => {
                    // The start directory is a directory, so it matches `d`.
                    let folders = value.and_then(WordValue::known).is_none_or(|kinds| kinds.contains('d'));
                    self.narrow(if folders { SearchMatches::everything() } else { SearchMatches::without_start() });
                }
                "-print" | "-print0" if self.prints.len() <= PRINTS => {
                    let end = if word == "-print" { '\n' } else { '\0' };
                    self.prints.push((self.so_far(), end));
                }
                _ if has_word(NEUTRAL_TESTS, word) || not => {}
                _ if word.starts_with('-') => self.narrow(SearchMatches::some_files()),
                _ => {}
            }
            let valued = has_word(NARROWING_TESTS, word)
                || has_word(OTHER_VALUED_TESTS, word)
                || (word.starts_with("-newer") && word.len() == 8);
            at += if valued { 2 } else { 1 };
            not = false;
        }
    }

    fn narrow(&mut self, by: SearchMatches) {
        self.here = std::mem::replace(&mut self.here, self.all.clone()).and(by);
    }

    fn close(&mut self) {
        let Some((any, around, negated)) = self.outer.pop() else { return };
        let here = std::mem::replace(&mut self.here, around);
        let inside = match self.any.take() {
            Some(any) => any.or(here),
            None => here,
        };
        self.any = any;
        if !negated {
            self.narrow(inside);
        }
    }

    /// Returns the matches up to here.
    fn so_far(&self) -> SearchMatches {
        self.outer.iter().fold(self.here.clone(), |matches, (_, around, _)| matches.and(around.clone()))
    }

    /// Adds a command that runs for the matches so far.
    fn action(&mut self, word: &str, from: usize, to: usize) {
        let argv = self.argv;
        let words = &argv[from.min(argv.len())..to.min(argv.len())];
        let words =
            if words.last().is_some_and(|last| last.known() == Some("+")) { &words[..words.len() - 1] } else { words };
        if words.is_empty() {
            return;
        }
        let via = format!("find {word}");
        let marked = |word: &WordValue| {
            word.pieces().iter().any(|piece| matches!(piece, ValuePiece::Text(text) if text.contains("{}")))
        };
        if !words.iter().any(marked) {
            let mut inner = InnerCommand::words(from, from + words.len(), via);
            if let InnerCommand::Words { prefix, .. } = &mut inner {
                *prefix = false;
            }
            self.found.push(inner);
            return;
        }
        let matches = self.so_far();
        let beside = word.ends_with("dir");
        let cost = weight(words);
        for start in &self.starts {
            let says = matches!(words[0].known(), Some("echo" | "printf"));
            let files = (matches.is_everything() && !says).then(|| {
                ValueContents::Files(Rc::new(FileSet { roots: vec![start.clone()], listing: FileSetKind::All }))
            });
            for (folder, item) in matches.items(start, beside) {
                let item = item.with_contents(files.as_ref());
                if cost > self.budget {
                    self.found.push(InnerCommand::Opaque { via });
                    return;
                }
                self.budget -= cost;
                let made = words.iter().map(|word| replace_mark(word, "{}", &item).unwrap_or_else(|| word.clone()));
                let mut inner = InnerCommand::argv(made.collect(), via.as_str());
                if let InnerCommand::Argv { cwd, .. } = &mut inner {
                    *cwd = folder;
                }
                self.found.push(inner);
            }
        }
    }
}

/// Returns the end of an action's command: `;`, or `+` behind `{}`.
fn end(argv: &[WordValue], from: usize) -> usize {
    for at in from..argv.len() {
        match argv[at].known() {
            Some(";") => return at,
            Some("+") if at > from && argv[at - 1].known() == Some("{}") => return at,
            _ => {}
        }
    }
    argv.len()
}
