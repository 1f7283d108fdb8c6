//! The files that a search finds, as far as its tests say.

use crate::value::{Piece, Value};

/// How many names are remembered.
const NAMES: usize = 16;

/// A name that is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// As it is written.
    pub(super) pattern: Value,
    /// Whether it matches the whole path, not only its last part.
    pub(super) whole: bool,
}

/// The files that tests let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Matches {
    /// The start directory itself.
    pub(super) start: bool,
    /// All that is in it.
    all: bool,
    /// Unknown files in it.
    some: bool,
    /// Files with one of these names.
    names: Vec<Name>,
}

impl Matches {
    /// No test.
    pub(super) fn everything() -> Self {
        Self { start: true, all: true, some: false, names: Vec::new() }
    }

    /// Every file, but not the start directory.
    pub(super) fn inside() -> Self {
        Self { start: false, ..Self::everything() }
    }

    /// A test that lets some files through.
    pub(super) fn some() -> Self {
        Self { start: false, all: false, some: true, names: Vec::new() }
    }

    /// Files of this name.
    pub(super) fn named(name: Name) -> Self {
        Self { start: false, all: false, some: false, names: vec![name] }
    }

    /// The files that both let through.
    pub(super) fn and(self, other: Self) -> Self {
        let start = self.start && other.start;
        let narrower = if self.all || (!other.all && self.names.is_empty()) { other } else { self };
        Self { start, ..narrower }
    }

    /// The files that either lets through.
    pub(super) fn or(self, other: Self) -> Self {
        let mut names = self.names;
        names.extend(other.names);
        let over = names.len() > NAMES;
        names.truncate(NAMES);
        let all = self.all || other.all;
        if all {
            names.clear();
        }
        Self { start: self.start || other.start, all, some: !all && (self.some || other.some || over), names }
    }

    /// Its paths, each with the directory of its command if that is the file's own.
    pub(super) fn items(&self, start: &Value, beside: bool) -> Vec<(Option<Value>, Value)> {
        if self.start {
            return vec![(None, start.clone())];
        }
        let mut items = Vec::new();
        let mut put = |between: bool, last: &Value| {
            let mut folder = start.clone();
            if start.known() != Some("/") {
                folder.push(Piece::Text("/".to_owned()));
            }
            if between {
                folder.push(Piece::Unknown(false));
            }
            let mut item = if beside { Value::of("./") } else { folder.clone() };
            if between && !beside && last.pieces().first() != Some(&Piece::Unknown(false)) {
                item.push(Piece::Text("/".to_owned()));
            }
            item.extend(last);
            items.push((beside.then_some(folder), item));
        };
        if self.all {
            let mut any = Value::default();
            any.push(Piece::Glob("*".to_owned()));
            put(false, &any);
        }
        if self.some {
            put(false, &Value::unknown());
        }
        for name in self.names.iter().filter(|name| !name.whole) {
            let last = as_glob(&name.pattern);
            // Near `/` a name is far more likely a deep file than a top directory.
            let top = start
                .known()
                .is_some_and(|text| text.starts_with('/') && text.trim_matches('/').matches('/').count() < 1);
            if !top || last.has_glob() {
                put(false, &last);
            }
            put(true, &last);
        }
        items.extend(self.names.iter().filter(|name| name.whole).map(|name| (None, as_glob(&name.pattern))));
        items
    }
}

/// A pattern as it is written for find, as the shell's own glob.
pub(super) fn as_glob(pattern: &Value) -> Value {
    let mut glob = Value::default();
    for piece in pattern.pieces() {
        match piece {
            Piece::Text(text) => {
                let mut rest = text.as_str();
                while let Some(at) = rest.find(['*', '?', '[']) {
                    glob.push(Piece::Text(rest[..at].to_owned()));
                    let length = match rest.as_bytes()[at] {
                        b'[' => rest[at..].find(']').map_or(1, |end| end + 1),
                        _ => 1,
                    };
                    glob.push(Piece::Glob(rest[at..at + length].to_owned()));
                    rest = &rest[at + length..];
                }
                glob.push(Piece::Text(rest.to_owned()));
            }
            piece => glob.push(piece.clone()),
        }
    }
    glob
}
