//! Values of expressions, as far as a glance tells.

use super::item::{Arg, Item, length};
use super::program::Program;
use super::token::{Part, Token};
use crate::safety::unwrap::items::words;
use crate::safety::unwrap::matches::as_glob;
use crate::safety::value::{Piece, Value};

/// How deep expressions are followed.
const DEPTH: usize = 12;

/// How many parts of one statement are looked at, but for what is in brackets.
const STATEMENT: usize = 1024;

/// How many values are put together in one expression.
const OPERANDS: usize = 64;

/// Words that end an expression.
const END: &[&str] = &["if", "unless", "and", "or", "do", "then", "while", "end"];

/// Words that a value may stand behind.
const BEFORE: &[&str] =
    &["new", "await", "return", "my", "our", "local", "const", "let", "var", "yield", "move", "async", "do"];

/// Tokens with the places where brackets close.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    /// For a bracket that opens, where it closes; for one that closes, where it opened.
    pub(super) partner: Vec<usize>,
    /// Where the statement ends that goes on there.
    ends: Vec<usize>,
}

impl Tokens {
    /// Finds the partners.
    pub(super) fn of(list: Vec<Token>) -> Self {
        let end = list.len();
        let mut partner = vec![end; end];
        let mut open = Vec::new();
        for (at, token) in list.iter().enumerate() {
            match token {
                Token::Sign("(" | "[" | "{") => open.push(at),
                Token::Sign(")" | "]" | "}") => {
                    if let Some(from) = open.pop() {
                        partner[from] = at;
                        partner[at] = from;
                    }
                }
                _ => {}
            }
        }
        let mut ends = vec![end; end + 1];
        for at in (0..end).rev() {
            ends[at] = match &list[at] {
                Token::Sign("(" | "[" | "{") => ends[(partner[at] + 1).min(end)],
                Token::Sign(")" | "]" | "}" | ";") | Token::Line => at,
                Token::Word(word) if END.contains(&word.as_str()) => at,
                _ => ends[at + 1],
            };
        }
        Self { list, partner, ends }
    }

    /// Where the statement ends that goes on there; a very long one is cut.
    pub(super) fn line(&self, from: usize) -> usize {
        let end = self.ends.get(from).copied().unwrap_or(self.list.len());
        end.min(from + STATEMENT).max(from.min(self.list.len()))
    }

    /// The token there.
    pub(super) fn get(&self, at: usize) -> Option<&Token> {
        self.list.get(at)
    }

    /// Whether this sign stands there.
    pub(super) fn is(&self, at: usize, sign: &str) -> bool {
        self.get(at).is_some_and(|token| token.is(sign))
    }

    /// The name there.
    pub(super) fn word(&self, at: usize) -> Option<&str> {
        self.get(at).and_then(Token::word)
    }

    /// Whether what stands there leads to a member: `a.b`, `a::b`, `a->b`.
    pub(super) fn leads(&self, at: usize) -> bool {
        matches!(self.get(at), Some(Token::Sign("." | "::" | "->" | "?.")))
    }

    /// What stands before the member there: `os` of `os.system`.
    pub(super) fn owner(&self, at: usize) -> &str {
        match at.checked_sub(2) {
            Some(before) if self.leads(at - 1) => self.word(before).unwrap_or(""),
            _ => "",
        }
    }
}

impl Program<'_> {
    /// The arguments in the brackets that open there.
    pub(super) fn arguments(&mut self, tokens: &Tokens, open: usize, depth: usize) -> Vec<Arg> {
        let end = tokens.partner[open].min(tokens.list.len());
        self.list(tokens, open + 1, end, depth)
    }

    /// Arguments between two places.
    pub(super) fn list(&mut self, tokens: &Tokens, from: usize, to: usize, depth: usize) -> Vec<Arg> {
        let mut args = Vec::new();
        let mut start = from;
        let mut at = from;
        while at <= to && start < to {
            let ends = at == to || tokens.is(at, ",");
            if ends {
                if at > start {
                    args.push(self.argument(tokens, start, at, depth));
                }
                start = at + 1;
            } else if matches!(tokens.get(at), Some(Token::Sign("(" | "[" | "{"))) {
                at = tokens.partner[at].min(to.saturating_sub(1)).max(at);
            }
            at += 1;
        }
        args
    }

    fn argument(&mut self, tokens: &Tokens, from: usize, to: usize, depth: usize) -> Arg {
        let from = (from..to).find(|at| tokens.get(*at) != Some(&Token::Line)).unwrap_or(to);
        let named = matches!(tokens.get(from + 1), Some(Token::Sign("=" | ":" | "=>"))) && from + 2 < to;
        // Ruby's `:name => value`
        let symbol = tokens.is(from, ":") && tokens.is(from + 2, "=>");
        let name = match tokens.get(if symbol { from + 1 } else { from }) {
            Some(Token::Word(name)) if named || symbol => Some(name.clone()),
            Some(Token::Text(parts, _)) if named => match parts.as_slice() {
                [Part::Text(name)] => Some(name.clone()),
                _ => None,
            },
            _ => None,
        };
        let start = match (&name, symbol) {
            (Some(_), true) => from + 3,
            (Some(_), false) => from + 2,
            (None, _) => from,
        };
        Arg { item: self.expression(tokens, start.min(to), to, depth), name }
    }

    /// The value of what stands between two places.
    pub(super) fn expression(&mut self, tokens: &Tokens, from: usize, to: usize, depth: usize) -> Item {
        let from = (from..to).find(|at| tokens.get(*at) != Some(&Token::Line)).unwrap_or(to);
        if from >= to {
            return Item::Unknown;
        }
        let (mut left, mut at) = self.primary(tokens, from, to, depth);
        let mut turns = 0;
        while at < to && self.fuel > 0 {
            turns += 1;
            if turns > OPERANDS {
                return left.joined(Item::Unknown, "");
            }
            let (right, next) = match tokens.get(at) {
                Some(Token::Line) => {
                    at += 1;
                    continue;
                }
                Some(Token::Sign(sign)) if self.language.syntax.joins.contains(sign) => {
                    self.primary(tokens, at + 1, to, depth)
                }
                Some(Token::Text(..) | Token::Word(_)) if self.language.syntax.adjacent => {
                    self.primary(tokens, at, to, depth)
                }
                Some(Token::Sign("/")) => {
                    let (right, next) = self.primary(tokens, at + 1, to, depth);
                    left = path([left, right]);
                    at = next.max(at + 1);
                    continue;
                }
                Some(Token::Sign("%")) => {
                    let (right, next) = self.primary(tokens, at + 1, to, depth);
                    left = filled(left, "%", right);
                    at = next.max(at + 1);
                    continue;
                }
                Some(Token::Sign("||" | "&&" | ";")) => break,
                Some(Token::Sign("?")) => return Item::Unknown,
                _ => {
                    left = left.joined(Item::Unknown, "");
                    break;
                }
            };
            if let Some(Token::Word(word)) = tokens.get(at)
                && matches!(word.as_str(), "if" | "unless" | "or" | "and" | "else" | "for" | "do" | "while" | "then")
            {
                break;
            }
            self.fuel = self.fuel.saturating_sub(left.text().map_or(1, length) / 64);
            left = left.joined(right, "");
            at = next.max(at + 1);
        }
        left
    }

    /// One value and where it ends.
    fn primary(&mut self, tokens: &Tokens, at: usize, to: usize, depth: usize) -> (Item, usize) {
        self.fuel = self.fuel.saturating_sub(1);
        if depth > DEPTH || self.fuel == 0 || at >= to {
            return (Item::Unknown, to);
        }
        let close = tokens.partner.get(at).copied().unwrap_or(to).min(to);
        let (item, next) = match tokens.get(at) {
            Some(Token::Text(parts, _)) => (self.text(parts, depth), at + 1),
            Some(Token::List(words)) => {
                (Item::List(words.iter().map(|word| Item::Text(self.flat.value(word))).collect()), at + 1)
            }
            Some(Token::Sign("(")) => {
                let mut args = self.arguments(tokens, at, depth + 1);
                let one = args.len() == 1 && !tokens.is(close.saturating_sub(1), ",");
                let item = if one { args.remove(0).item } else { items(args) };
                (item, close + 1)
            }
            Some(Token::Sign("[")) => (items(self.arguments(tokens, at, depth + 1)), close + 1),
            Some(Token::Sign("{")) => (map(self.arguments(tokens, at, depth + 1)), close + 1),
            Some(Token::Sign("*" | "..." | "**" | "&" | "\\" | "@" | ":" | "$" | "%")) => {
                return self.primary(tokens, at + 1, to, depth + 1);
            }
            Some(Token::Word(word)) if BEFORE.contains(&word.as_str()) => {
                return self.primary(tokens, at + 1, to, depth + 1);
            }
            Some(Token::Word(word)) => self.named(tokens, word, at, to, depth),
            _ => (Item::Unknown, at + 1),
        };
        self.members(tokens, item, next, to, depth)
    }

    /// A string.
    pub(super) fn text(&mut self, parts: &[Part], depth: usize) -> Item {
        let mut whole: Option<Item> = None;
        for part in parts {
            let item = match part {
                Part::Text(text) => Item::Text(self.flat.value(text)),
                Part::Code(code) => self.code(code, depth + 1),
            };
            whole = Some(match whole {
                Some(before) => before.joined(item, ""),
                None => item,
            });
        }
        whole.unwrap_or_else(|| Item::of(""))
    }

    /// Code inside of a string.
    fn code(&mut self, code: &str, depth: usize) -> Item {
        self.fuel = self.fuel.saturating_sub(code.len());
        if depth > DEPTH || self.fuel == 0 || code.len() > 1000 {
            return Item::Unknown;
        }
        let tokens = Tokens::of(self.cut(code).0);
        self.expression(&tokens, 0, tokens.list.len(), depth + 1)
    }

    /// A name, and what it is called with.
    fn named(&mut self, tokens: &Tokens, word: &str, at: usize, to: usize, depth: usize) -> (Item, usize) {
        let mut name = at;
        let mut owner = "";
        while tokens.leads(name + 1) && name + 2 < to && tokens.word(name + 2).is_some() {
            // Methods of a value that is known are for `members`.
            if self.variables.contains_key(tokens.word(name).unwrap_or("")) {
                break;
            }
            owner = tokens.word(name).unwrap_or("");
            name += 2;
        }
        let last = tokens.word(name).unwrap_or("");
        if name == at {
            match word {
                "true" | "True" | "TRUE" | "1" => return (Item::Flag(true), at + 1),
                "false" | "False" | "FALSE" | "None" | "null" | "nil" | "undefined" | "0" => {
                    return (Item::Flag(false), at + 1);
                }
                _ => {}
            }
            if let Some(item) = self.variables.get(word) {
                self.fuel = self.fuel.saturating_sub(item.text().map_or(8, length) / 64);
                return (item.clone(), at + 1);
            }
        }
        // `ENV['HOME']`, `$ENV{HOME}`, `process.env.HOME`
        let environment =
            matches!(word, "ENV" | "$ENV" | "ENVIRON" | "$_ENV" | "$_SERVER") || last == "environ" || last == "env";
        if environment && matches!(tokens.get(name + 1), Some(Token::Sign("[" | "{"))) {
            let close = tokens.partner[name + 1].min(to);
            let key = match tokens.get(name + 2) {
                Some(Token::Word(key)) => Some(key.as_str()),
                Some(Token::Text(parts, _)) => match parts.as_slice() {
                    [Part::Text(key)] => Some(key.as_str()),
                    _ => None,
                },
                _ => None,
            };
            return (self.variable(key), close + 1);
        }
        if owner == "env" && last == "HOME" {
            return (self.variable(Some("HOME")), name + 1);
        }
        let called = tokens.is(name + 1, "(");
        let (args, next) = if called {
            (self.arguments(tokens, name + 1, depth + 1), tokens.partner[name + 1].min(to) + 1)
        } else {
            (Vec::new(), name + 1)
        };
        (self.value_of(owner, last, args), next)
    }

    /// An environment variable.
    fn variable(&self, name: Option<&str>) -> Item {
        match name {
            Some("HOME" | "USERPROFILE") => Item::of(self.home),
            Some("PWD") => Item::Text(self.folder.clone()),
            _ => Item::Unknown,
        }
    }

    /// What a call that runs nothing comes to.
    fn value_of(&self, owner: &str, name: &str, args: Vec<Arg>) -> Item {
        let mut given = args.into_iter().filter(|arg| arg.name.is_none()).map(|arg| arg.item);
        match (owner, name) {
            ("os", "homedir") | ("", "homedir") | ("Path", "home") | ("Dir", "home") => Item::of(self.home),
            (_, "getcwd" | "getcwdb" | "cwd" | "pwd" | "getwd") => Item::Text(self.folder.clone()),
            ("env" | "environ", "get") | (_, "getenv" | "Getenv") | ("ENV", "fetch") => {
                let key = given.next();
                self.variable(key.as_ref().and_then(Item::text).and_then(Value::known))
            }
            (_, "expanduser" | "expand_path" | "path_expand") => match given.next() {
                Some(Item::Text(text)) => Item::Text(self.with_home(&text)),
                _ => Item::Unknown,
            },
            ("path" | "File" | "posixpath", "join" | "resolve")
            | (_, "Path" | "PurePath" | "PosixPath" | "Pathname" | "resolve") => path(given),
            ("Pathname", "new") => path(given),
            (
                _,
                "abspath" | "realpath" | "normpath" | "fspath" | "str" | "String" | "quote" | "normalize" | "escape"
                | "escapeshellarg",
            ) => given.next().unwrap_or(Item::Unknown),
            ("glob", "glob" | "iglob" | "sync")
            | ("Dir", "glob")
            | ("", "glob" | "iglob" | "globSync")
            | ("fs", "globSync") => match given.next() {
                Some(Item::Text(text)) => Item::Text(as_glob(&text)),
                _ => Item::Unknown,
            },
            (_, "listdir" | "readdirSync" | "children" | "scandir") => {
                let mut any = Value::default();
                any.push(Piece::Glob("*".to_owned()));
                Item::Text(any)
            }
            ("shlex" | "Shellwords", "split") => match given.next() {
                Some(Item::Text(text)) => split(&text),
                _ => Item::Unknown,
            },
            // R's and PHP's lists
            ("", "c" | "array" | "list" | "tuple") => Item::List(given.collect()),
            ("", "paste0") => given.reduce(|all, item| all.joined(item, "")).unwrap_or(Item::Unknown),
            ("", "paste") => given.reduce(|all, item| all.joined(item, " ")).unwrap_or(Item::Unknown),
            ("", "sprintf" | "format") | ("string", "format") => match given.next() {
                Some(text) => filled(text, "%", Item::List(given.collect())),
                None => Item::Unknown,
            },
            _ => Item::Unknown,
        }
    }

    /// `~` at the beginning as the home.
    fn with_home(&self, text: &Value) -> Value {
        let rest = match text.prefix().strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => crate::safety::unwrap::words::after(text, 1),
            _ => return text.clone(),
        };
        let mut whole = Value::of(self.home);
        whole.extend(&rest);
        whole
    }

    /// What methods make of a value.
    fn members(&mut self, tokens: &Tokens, item: Item, from: usize, to: usize, depth: usize) -> (Item, usize) {
        let mut item = item;
        let mut at = from;
        while at < to && self.fuel > 0 {
            // Perl and PHP join with a dot.
            let joins = tokens.is(at, ".") && self.language.syntax.joins.contains(&".");
            if !joins && tokens.leads(at) && tokens.word(at + 1).is_some() {
                let name = tokens.word(at + 1).unwrap_or("").to_owned();
                let called = tokens.is(at + 2, "(");
                let args = if called { self.arguments(tokens, at + 2, depth + 1) } else { Vec::new() };
                at = if called { tokens.partner[at + 2].min(to) + 1 } else { at + 2 };
                item = self.method(item, &name, args);
            } else if matches!(tokens.get(at), Some(Token::Sign("[" | "("))) && !self.language.syntax.adjacent {
                at = tokens.partner[at].min(to) + 1;
                item = Item::Unknown;
            } else if tokens.is(at, "[") {
                // A part of it.
                at = tokens.partner[at].min(to) + 1;
                item = Item::Unknown;
            } else {
                break;
            }
        }
        (item, at)
    }

    fn method(&self, item: Item, name: &str, args: Vec<Arg>) -> Item {
        let mut given = args.into_iter().map(|arg| arg.item);
        match (item, name) {
            (Item::Text(text), "split") => match given.next() {
                Some(Item::Text(sign)) if sign.known().is_some_and(|sign| sign.trim() != "") => Item::Unknown,
                _ => split(&text),
            },
            (Item::Text(text), "format") => filled(Item::Text(text), "{", Item::List(given.collect())),
            (Item::Text(text), "expanduser" | "expand_path") => Item::Text(self.with_home(&text)),
            (Item::Text(text), "joinpath") => path(std::iter::once(Item::Text(text)).chain(given)),
            (Item::Text(_), "parent" | "dirname") => Item::Unknown,
            (Item::Text(between), "join") => match (given.next(), between.known()) {
                (Some(list), Some(between)) => joined(list, between),
                _ => Item::Unknown,
            },
            (list @ Item::List(_), "join") => match given.next() {
                None => joined(list, if self.language.syntax.bare_calls { "" } else { "," }),
                Some(Item::Text(between)) => between.known().map_or(Item::Unknown, |between| joined(list, between)),
                Some(_) => Item::Unknown,
            },
            (list @ Item::List(_), "concat") => given.fold(list, |list, more| list.joined(more, "")),
            (
                same,
                "strip" | "rstrip" | "lstrip" | "trim" | "encode" | "decode" | "to_s" | "toString" | "freeze" | "chomp"
                | "resolve" | "absolute" | "as_posix" | "shellescape" | "valueOf" | "flat" | "sort" | "to_a" | "dup",
            ) => same,
            // `require('os').homedir()`
            (Item::Unknown, "homedir" | "getcwd" | "cwd" | "expanduser") => {
                let given = given.map(|item| Arg { name: None, item }).collect();
                self.value_of("", name, given)
            }
            _ => Item::Unknown,
        }
    }
}

/// A text's words, as `split` makes them.
fn split(text: &Value) -> Item {
    let flat = crate::safety::unwrap::flat::Flat::of(text);
    Item::List(words(&flat.text).iter().map(|word| Item::Text(flat.value(word))).collect())
}

/// Arguments as a list.
fn items(args: Vec<Arg>) -> Item {
    Item::List(args.into_iter().map(|arg| arg.item).collect())
}

/// Arguments as named values.
fn map(args: Vec<Arg>) -> Item {
    Item::Map(args.into_iter().filter_map(|arg| Some((arg.name?, arg.item))).collect())
}

/// A list's texts with something between.
fn joined(list: Item, between: &str) -> Item {
    let Item::List(items) = list else { return Item::Unknown };
    items.into_iter().reduce(|all, item| all.joined(item, between)).unwrap_or_else(|| Item::of(""))
}

/// Parts of a path; one that begins at the root starts it anew.
fn path(parts: impl IntoIterator<Item = Item>) -> Item {
    let mut whole: Option<Item> = None;
    for part in parts {
        let absolute = part.text().is_some_and(|text| text.prefix().starts_with('/'));
        whole = Some(match whole {
            Some(before) if !absolute => {
                let slash = before.text().is_some_and(|text| text.suffix().ends_with('/'));
                before.joined(part, if slash { "" } else { "/" })
            }
            _ => part,
        });
    }
    whole.unwrap_or(Item::Unknown)
}

/// A text whose `%s` or `{}` are taken by values.
fn filled(text: Item, mark: &str, values: Item) -> Item {
    let Some(known) = text.text().and_then(Value::known) else { return Item::Unknown };
    let mut values = match values {
        Item::List(values) => values.into_iter(),
        other => vec![other].into_iter(),
    };
    let mut whole = Item::of("");
    let mut rest = known;
    while let Some(at) = rest.find(mark) {
        whole = whole.joined(Item::of(&rest[..at]), "");
        let behind = &rest[at + 1..];
        let end = if mark == "%" {
            behind.find(|letter: char| letter.is_ascii_alphabetic() || letter == '%')
        } else {
            behind.find('}')
        };
        let Some(end) = end else { return whole.joined(Item::Unknown, "") };
        if behind[end..].starts_with('%') {
            whole = whole.joined(Item::of("%"), "");
        } else {
            whole = match (whole, values.next().unwrap_or(Item::Unknown)) {
                // What begins with something unknown is unknown, but for this text.
                (Item::Text(text), Item::Unknown) if text.pieces().is_empty() => return Item::Unknown,
                (whole, value) => whole.joined(value, ""),
            };
        }
        rest = &behind[end + 1..];
    }
    whole.joined(Item::of(rest), "")
}
