//! The values of calls and methods that run nothing: homes, paths, joined texts.

use super::item::{Arg, Item};
use super::program::Program;
use crate::unwrap::items::words;
use crate::unwrap::matches::as_glob;
use crate::unwrap::placeholders::PlaceholderText;
use crate::value::{Piece, Value};

impl Program<'_> {
    /// Returns an environment variable.
    pub(super) fn variable(&self, name: Option<&str>) -> Item {
        match name {
            Some("HOME" | "USERPROFILE") => Item::of(self.home),
            Some("PWD") => Item::Text(self.folder.clone()),
            _ => Item::Unknown,
        }
    }

    /// Returns the value of a call that runs nothing.
    pub(super) fn value_of(&self, owner: &str, name: &str, args: Vec<Arg>) -> Item {
        let mut given = args.into_iter().filter(|arg| arg.name.is_none()).map(|arg| arg.item);
        match (owner, name) {
            ("os", "homedir") | ("", "homedir") | ("Path", "home") | ("Dir", "home") => Item::of(self.home),
            (_, "getcwd" | "getcwdb" | "cwd" | "pwd") => Item::Text(self.folder.clone()),
            ("env" | "environ", "get") | (_, "getenv" | "Getenv") | ("ENV", "fetch") => {
                let key = given.next();
                self.variable(key.as_ref().and_then(Item::text).and_then(Value::known))
            }
            (_, "expanduser" | "expand_path") => match given.next() {
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
            ("", "array" | "list" | "tuple") => Item::List(given.collect()),
            ("", "sprintf" | "format") | ("string", "format") => match given.next() {
                Some(text) => filled(text, "%", Item::List(given.collect())),
                None => Item::Unknown,
            },
            _ => Item::Unknown,
        }
    }

    /// Replaces `~` at the beginning by the home.
    fn with_home(&self, text: &Value) -> Value {
        let rest = match text.prefix().strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => text.after(1),
            _ => return text.clone(),
        };
        let mut whole = Value::of(self.home);
        whole.extend(&rest);
        whole
    }

    pub(super) fn method(&self, item: Item, name: &str, args: Vec<Arg>) -> Item {
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
                None => joined(list, if self.grammar.syntax.bare_calls { "" } else { "," }),
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

/// Returns a text's words, as `split` makes them.
fn split(text: &Value) -> Item {
    let flat = PlaceholderText::of(text);
    Item::List(words(&flat.text).iter().map(|word| Item::Text(flat.value(word))).collect())
}

/// Joins a list's texts with a text between.
fn joined(list: Item, between: &str) -> Item {
    let Item::List(items) = list else { return Item::Unknown };
    items.into_iter().reduce(|all, item| all.joined(item, between)).unwrap_or_else(|| Item::of(""))
}

/// Joins the parts of a path. An absolute part discards the parts before it.
pub(super) fn path(parts: impl IntoIterator<Item = Item>) -> Item {
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

/// Fills the `%s` or `{}` of a text with values.
pub(super) fn filled(text: Item, mark: &str, values: Item) -> Item {
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
                // A text whose beginning is unknown is unknown.
                (Item::Text(text), Item::Unknown) if text.pieces().is_empty() => return Item::Unknown,
                (whole, value) => whole.joined(value, ""),
            };
        }
        rest = &behind[end + 1..];
    }
    whole.joined(Item::of(rest), "")
}
