//! The values of calls and methods that run nothing: homes, paths, joined texts.

use super::inline_value::{InlineArgument, InlineValue};
use super::program_search::InlineProgramSearch;
use crate::unwrap::argument_items::words;
use crate::unwrap::placeholder_text::PlaceholderText;
use crate::unwrap::search_matches::as_glob;
use crate::word_value::{ValuePiece, WordValue};

impl InlineProgramSearch<'_> {
    /// Returns an environment variable.
    pub(super) fn variable(&self, name: Option<&str>) -> InlineValue {
        match name {
            Some("HOME" | "USERPROFILE") => InlineValue::of(self.home),
            Some("PWD") => InlineValue::Text(self.folder.clone()),
            _ => InlineValue::Unknown,
        }
    }

    /// Returns the value of a call that runs nothing.
    pub(super) fn value_of(&self, owner: &str, name: &str, args: Vec<InlineArgument>) -> InlineValue {
        let mut given = args.into_iter().filter(|arg| arg.name.is_none()).map(|arg| arg.item);
        match (owner, name) {
            ("os", "homedir") | ("", "homedir") | ("Path", "home") | ("Dir", "home") => InlineValue::of(self.home),
            (_, "getcwd" | "getcwdb" | "cwd" | "pwd") => InlineValue::Text(self.folder.clone()),
            ("env" | "environ", "get") | (_, "getenv" | "Getenv") | ("ENV", "fetch") => {
                let key = given.next();
                self.variable(key.as_ref().and_then(InlineValue::text).and_then(WordValue::known))
            }
            (_, "expanduser" | "expand_path") => match given.next() {
                Some(InlineValue::Text(text)) => InlineValue::Text(self.with_home(&text)),
                _ => InlineValue::Unknown,
            },
            ("path" | "File" | "posixpath", "join" | "resolve")
            | (_, "Path" | "PurePath" | "PosixPath" | "Pathname" | "resolve") => path(given),
            ("Pathname", "new") => path(given),
            (
                _,
                "abspath" | "realpath" | "normpath" | "fspath" | "str" | "String" | "quote" | "normalize" | "escape"
                | "escapeshellarg",
            ) => given.next().unwrap_or(InlineValue::Unknown),
            ("glob", "glob" | "iglob" | "sync")
            | ("Dir", "glob")
            | ("", "glob" | "iglob" | "globSync")
            | ("fs", "globSync") => match given.next() {
                Some(InlineValue::Text(text)) => InlineValue::Text(as_glob(&text)),
                _ => InlineValue::Unknown,
            },
            (_, "listdir" | "readdirSync" | "children" | "scandir") => {
                let mut any = WordValue::default();
                any.push(ValuePiece::Glob("*".to_owned()));
                InlineValue::Text(any)
            }
            ("shlex" | "Shellwords", "split") => match given.next() {
                Some(InlineValue::Text(text)) => split(&text),
                _ => InlineValue::Unknown,
            },
            ("", "array" | "list" | "tuple") => InlineValue::List(given.collect()),
            ("", "sprintf" | "format") | ("string", "format") => match given.next() {
                Some(text) => filled(text, "%", InlineValue::List(given.collect())),
                None => InlineValue::Unknown,
            },
            _ => InlineValue::Unknown,
        }
    }

    /// Replaces `~` at the beginning by the home.
    fn with_home(&self, text: &WordValue) -> WordValue {
        let rest = match text.prefix().strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => text.after(1),
            _ => return text.clone(),
        };
        let mut whole = WordValue::of(self.home);
        whole.extend(&rest);
        whole
    }

    pub(super) fn method(&self, item: InlineValue, name: &str, args: Vec<InlineArgument>) -> InlineValue {
        let mut given = args.into_iter().map(|arg| arg.item);
        match (item, name) {
            (InlineValue::Text(text), "split") => match given.next() {
                Some(InlineValue::Text(sign)) if sign.known().is_some_and(|sign| sign.trim() != "") => {
                    InlineValue::Unknown
                }
                _ => split(&text),
            },
            (InlineValue::Text(text), "format") => {
                filled(InlineValue::Text(text), "{", InlineValue::List(given.collect()))
            }
            (InlineValue::Text(text), "expanduser" | "expand_path") => InlineValue::Text(self.with_home(&text)),
            (InlineValue::Text(text), "joinpath") => path(std::iter::once(InlineValue::Text(text)).chain(given)),
            (InlineValue::Text(_), "parent" | "dirname") => InlineValue::Unknown,
            (InlineValue::Text(between), "join") => match (given.next(), between.known()) {
                (Some(list), Some(between)) => joined(list, between),
                _ => InlineValue::Unknown,
            },
            (list @ InlineValue::List(_), "join") => match given.next() {
                None => joined(list, if self.grammar.syntax.bare_calls { "" } else { "," }),
                Some(InlineValue::Text(between)) => {
                    between.known().map_or(InlineValue::Unknown, |between| joined(list, between))
                }
                Some(_) => InlineValue::Unknown,
            },
            (list @ InlineValue::List(_), "concat") => given.fold(list, |list, more| list.joined(more, "")),
            (
                same,
                "strip" | "rstrip" | "lstrip" | "trim" | "encode" | "decode" | "to_s" | "toString" | "freeze" | "chomp"
                | "resolve" | "absolute" | "as_posix" | "shellescape" | "valueOf" | "flat" | "sort" | "to_a" | "dup",
            ) => same,
            // `require('os').homedir()`
            (InlineValue::Unknown, "homedir" | "getcwd" | "cwd" | "expanduser") => {
                let given = given.map(|item| InlineArgument { name: None, item }).collect();
                self.value_of("", name, given)
            }
            _ => InlineValue::Unknown,
        }
    }
}

/// Returns a text's words, as `split` makes them.
fn split(text: &WordValue) -> InlineValue {
    let flat = PlaceholderText::of(text);
    InlineValue::List(words(&flat.text).iter().map(|word| InlineValue::Text(flat.value(word))).collect())
}

/// Joins a list's texts with a text between.
fn joined(list: InlineValue, between: &str) -> InlineValue {
    let InlineValue::List(items) = list else { return InlineValue::Unknown };
    items.into_iter().reduce(|all, item| all.joined(item, between)).unwrap_or_else(|| InlineValue::of(""))
}

/// Joins the parts of a path. An absolute part discards the parts before it.
pub(super) fn path(parts: impl IntoIterator<Item = InlineValue>) -> InlineValue {
    let mut whole: Option<InlineValue> = None;
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
    whole.unwrap_or(InlineValue::Unknown)
}

/// Fills the `%s` or `{}` of a text with values.
pub(super) fn filled(text: InlineValue, mark: &str, values: InlineValue) -> InlineValue {
    let Some(known) = text.text().and_then(WordValue::known) else { return InlineValue::Unknown };
    let mut values = match values {
        InlineValue::List(values) => values.into_iter(),
        other => vec![other].into_iter(),
    };
    let mut whole = InlineValue::of("");
    let mut rest = known;
    while let Some(at) = rest.find(mark) {
        whole = whole.joined(InlineValue::of(&rest[..at]), "");
        let behind = &rest[at + 1..];
        let end = if mark == "%" {
            behind.find(|letter: char| letter.is_ascii_alphabetic() || letter == '%')
        } else {
            behind.find('}')
        };
        let Some(end) = end else { return whole.joined(InlineValue::Unknown, "") };
        if behind[end..].starts_with('%') {
            whole = whole.joined(InlineValue::of("%"), "");
        } else {
            whole = match (whole, values.next().unwrap_or(InlineValue::Unknown)) {
                // A text whose beginning is unknown is unknown.
                (InlineValue::Text(text), InlineValue::Unknown) if text.pieces().is_empty() => {
                    return InlineValue::Unknown;
                }
                (whole, value) => whole.joined(value, ""),
            };
        }
        rest = &behind[end + 1..];
    }
    whole.joined(InlineValue::of(rest), "")
}
