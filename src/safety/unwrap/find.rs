//! `find … -exec command {} +`: the command with what is found.

use super::inner::Inner;
use super::items::replaced;
use super::matches::{Matches, Name};
use super::words::weight;
use crate::safety::command::Command;
use crate::safety::value::{Piece, Value};

/// How many start folders and parentheses are looked at.
const STARTS: usize = 16;
const DEPTH: usize = 64;
/// How many times it may print.
pub(super) const PRINTS: usize = 8;
/// How much may be written out in all.
const WEIGHT: usize = 1 << 20;

/// Tests and actions that take a word each.
const VALUED: &[&str] = &[
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-context",
    "-ctime",
    "-flags",
    "-fprint",
    "-fprint0",
    "-fls",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mnewer",
    "-mtime",
    "-name",
    "-newer",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-samefile",
    "-since",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
    "-xattr",
    "-xtype",
    "-Bmin",
    "-Btime",
    "-acl",
];
/// What says nothing of which files are found.
const NEUTRAL: &[&str] = &[
    "-depth",
    "-d",
    "-daystart",
    "-follow",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-mount",
    "-xdev",
    "-x",
    "-noleaf",
    "-nowarn",
    "-warn",
    "-print",
    "-print0",
    "-printx",
    "-prune",
    "-true",
    "-ls",
    "-a",
    "-and",
    "-delete",
    "-regextype",
    "-fstype",
    "-maxdepth",
    "-printf",
    "-fprint",
    "-fprint0",
    "-fls",
    "-mindepth",
];

/// What find runs.
pub(super) fn find(command: &Command) -> Vec<Inner> {
    Walk::of(command.argv).found
}

/// The folders that are searched, and where the expression begins.
fn starts(argv: &[Value]) -> (Vec<Value>, usize) {
    let mut at = 1;
    while let Some(text) = argv.get(at).and_then(Value::known) {
        match text {
            "-H" | "-L" | "-P" | "-E" | "-X" | "-s" | "--" => at += 1,
            "-D" | "-f" => at += 2,
            _ if text.starts_with("-O") => at += 1,
            _ => break,
        }
    }
    let expression = |word: &Value| {
        let text = word.prefix();
        (text.starts_with('-') && text.len() > 1) || matches!(word.known(), Some("(" | ")" | "!" | ","))
    };
    let at = at.min(argv.len());
    let end = argv[at..].iter().position(expression).map_or(argv.len(), |length| at + length);
    let mut starts: Vec<_> = argv[at..end].iter().take(STARTS).cloned().collect();
    if end - at > STARTS {
        starts.push(Value::unknown());
    }
    if starts.is_empty() {
        starts.push(Value::of("."));
    }
    (starts, end)
}

/// The expression while it is read.
pub(super) struct Walk<'a> {
    argv: &'a [Value],
    /// The folders that are searched.
    pub(super) starts: Vec<Value>,
    /// Where the expression begins.
    pub(super) first: usize,
    /// What is found without a test.
    all: Matches,
    /// What holds around each open parenthesis: the alternatives before it, what its own list came to, and whether it is negated.
    outer: Vec<(Option<Matches>, Matches, bool)>,
    /// The alternatives before the last `-o`.
    any: Option<Matches>,
    /// What the tests since then let through.
    here: Matches,
    budget: usize,
    found: Vec<Inner>,
    /// What each `-print` prints, and what stands behind each line.
    pub(super) prints: Vec<(Matches, char)>,
}

impl<'a> Walk<'a> {
    /// Reads all of it.
    pub(super) fn of(argv: &'a [Value]) -> Self {
        let (starts, first) = starts(argv);
        let deep = argv.windows(2).any(|pair| pair[0].known() == Some("-mindepth") && pair[1].known() != Some("0"));
        let all = if deep { Matches::inside() } else { Matches::everything() };
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

    /// What the whole expression lets through.
    pub(super) fn whole(mut self) -> Matches {
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
                    let name = value.map(|value| Name { pattern: value.clone(), whole });
                    self.narrow(name.map_or_else(Matches::some, Matches::named));
                }
                "-type" | "-xtype" if !not => {
                    // The start is a folder.
                    let folders = value.and_then(Value::known).is_none_or(|kinds| kinds.contains('d'));
                    self.narrow(if folders { Matches::everything() } else { Matches::inside() });
                }
                "-print" | "-print0" if self.prints.len() <= PRINTS => {
                    let end = if word == "-print" { '\n' } else { '\0' };
                    self.prints.push((self.so_far(), end));
                }
                _ if NEUTRAL.contains(&word) || not => {}
                _ if word.starts_with('-') => self.narrow(Matches::some()),
                _ => {}
            }
            let valued = VALUED.contains(&word) || (word.starts_with("-newer") && word.len() == 8);
            at += if valued { 2 } else { 1 };
            not = false;
        }
    }

    fn narrow(&mut self, by: Matches) {
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

    /// What is let through up to here.
    fn so_far(&self) -> Matches {
        self.outer.iter().fold(self.here.clone(), |matches, (_, around, _)| matches.and(around.clone()))
    }

    /// A command that is run for what is found so far.
    fn action(&mut self, word: &str, from: usize, to: usize) {
        let argv = self.argv;
        let words = &argv[from.min(argv.len())..to.min(argv.len())];
        let words =
            if words.last().is_some_and(|last| last.known() == Some("+")) { &words[..words.len() - 1] } else { words };
        if words.is_empty() {
            return;
        }
        let via = format!("find {word}");
        let marked =
            |word: &Value| word.pieces().iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains("{}")));
        if !words.iter().any(marked) {
            let mut inner = Inner::words(from, from + words.len(), via);
            if let Inner::Words { prefix, .. } = &mut inner {
                *prefix = false;
            }
            self.found.push(inner);
            return;
        }
        let matches = self.so_far();
        let beside = word.ends_with("dir");
        let cost = weight(words);
        for start in &self.starts {
            for (folder, item) in matches.items(start, beside) {
                if cost > self.budget {
                    self.found.push(Inner::Opaque { via });
                    return;
                }
                self.budget -= cost;
                let made = words.iter().map(|word| replaced(word, "{}", &item).unwrap_or_else(|| word.clone()));
                let mut inner = Inner::argv(made.collect(), via.as_str());
                if let Inner::Argv { cwd, .. } = &mut inner {
                    *cwd = folder;
                }
                self.found.push(inner);
            }
        }
    }
}

/// Where an action's command ends: at `;`, or at `+` behind `{}`.
fn end(argv: &[Value], from: usize) -> usize {
    for at in from..argv.len() {
        match argv[at].known() {
            Some(";") => return at,
            Some("+") if at > from && argv[at - 1].known() == Some("{}") => return at,
            _ => {}
        }
    }
    argv.len()
}
