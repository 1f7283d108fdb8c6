//! The files that a search finds, as far as its tests say.

use crate::word_value::{ValuePiece, WordValue};

/// Most names that are remembered.
const NAMES: usize = 16;

/// A name that is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SearchedName {
    /// The pattern as written.
    pub(super) pattern: WordValue,
    /// Whether the pattern matches the whole path, not only the last part.
    pub(super) whole: bool,
}

/// The files that pass the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SearchMatches {
    /// Whether the start directory itself passes.
    pub(super) start: bool,
    /// Whether everything in the directory passes.
    all: bool,
    /// Whether unknown files in the directory pass.
    some: bool,
    /// Names of files that pass.
    names: Vec<SearchedName>,
}

impl SearchMatches {
    /// Makes the matches without a test.
    pub(super) fn everything() -> Self {
        Self { start: true, all: true, some: false, names: Vec::new() }
    }

    /// Returns whether no test leaves out a file of the directory.
    pub(super) fn is_everything(&self) -> bool {
        self.all
    }

    /// Makes the matches of every file except the start directory.
    pub(super) fn without_start() -> Self {
        Self { start: false, ..Self::everything() }
    }

    /// Makes the matches of a test that lets some files through.
    pub(super) fn some_files() -> Self {
        Self { start: false, all: false, some: true, names: Vec::new() }
    }

    /// Makes the matches of files of this name.
    pub(super) fn named(name: SearchedName) -> Self {
        Self { start: false, all: false, some: false, names: vec![name] }
    }

    /// Returns the files that pass both tests.
    pub(super) fn and(self, other: Self) -> Self {
        let start = self.start && other.start;
        let narrower = if self.all || (!other.all && self.names.is_empty()) { other } else { self };
        Self { start, ..narrower }
    }

    /// Returns the files that pass either test.
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

    /// Returns the paths. With `beside` each path is relative to the directory of the file, in which the command runs.
    pub(super) fn items(&self, start: &WordValue, beside: bool) -> Vec<(Option<WordValue>, WordValue)> {
        if self.start {
            return vec![(None, start.clone())];
        }
        let mut items = Vec::new();
        let mut put = |between: bool, last: &WordValue| {
            let mut folder = start.clone();
            if start.known() != Some("/") {
                folder.push(ValuePiece::Text("/".to_owned()));
            }
            if between {
                folder.push(ValuePiece::Unknown(false));
            }
            let mut item = if beside { WordValue::of("./") } else { folder.clone() };
            if between && !beside && last.pieces().first() != Some(&ValuePiece::Unknown(false)) {
                item.push(ValuePiece::Text("/".to_owned()));
            }
            item.extend(last);
            items.push((beside.then_some(folder), item));
        };
        if self.all {
            let mut any = WordValue::default();
            any.push(ValuePiece::Glob("*".to_owned()));
            put(false, &any);
        }
        if self.some {
            put(false, &WordValue::unknown());
        }
        for name in self.names.iter().filter(|name| !name.whole) {
            let last = as_glob(&name.pattern);
            // Directly below `/`, a name is far more likely a deep file than a top directory.
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

/// Returns a pattern written for find as a glob of the shell.
pub(super) fn as_glob(pattern: &WordValue) -> WordValue {
    let mut glob = WordValue::default();
    for piece in pattern.pieces() {
        match piece {
            ValuePiece::Text(text) => {
                let mut rest = text.as_str();
                while let Some(at) = rest.find(['*', '?', '[']) {
                    glob.push(ValuePiece::Text(rest[..at].to_owned()));
                    let length = match rest.as_bytes()[at] {
                        b'[' => rest[at..].find(']').map_or(1, |end| end + 1),
                        _ => 1,
                    };
                    glob.push(ValuePiece::Glob(rest[at..at + length].to_owned()));
                    rest = &rest[at + length..];
                }
                glob.push(ValuePiece::Text(rest.to_owned()));
            }
            piece => glob.push(piece.clone()),
        }
    }
    glob
}
