//! The place that an operand points to, as far as it can be known without reading a directory.

use std::borrow::Cow;

use crate::glob::{GlobCoverage, PathComponentGlob};
use crate::name_lists::has_word;
use crate::programs::devices::SYSTEM_DIRECTORIES;
use crate::simple_command_view::CommandDirectories;
use crate::word_value::{FileSet, ValuePiece, WordValue};

/// The place of an operand, seen from a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandPlace {
    /// An empty word: no file at all.
    Nothing,
    /// The root, a top directory, a home, the first directory or a parent of it, a `.git`, or everything in one of
    /// these.
    Critical {
        /// False if only a part of such a directory may be meant, or an unknown part may lead elsewhere.
        sure: bool,
    },
    /// Below the first directory.
    Inside,
    /// Below a directory for temporary files, or where a confinement lets nothing be changed.
    Temp,
    /// Elsewhere.
    Outside,
    /// Any of these.
    Unknown,
}

/// One component of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathComponent<'a> {
    /// This name.
    Name(Cow<'a, str>),
    /// Names that a glob stands for.
    Glob(PathComponentGlob),
}

impl PathComponent<'_> {
    /// Returns whether the component is, or stands for, this name.
    pub fn covers(&self, name: &str) -> bool {
        match self {
            Self::Name(own) => own == name,
            Self::Glob(glob) => glob.covers(name),
        }
    }

    fn is(&self, name: &str) -> bool {
        matches!(self, Self::Name(own) if own == name)
    }

    fn coverage(&self) -> GlobCoverage {
        match self {
            Self::Name(_) => GlobCoverage::Some,
            Self::Glob(glob) => glob.coverage(),
        }
    }
}

/// A path, absolute and without `.`, `..` and `//`. Unknown parts are read as empty.
#[derive(Clone, Debug, Default)]
pub struct OperandPath<'a> {
    /// The components.
    pub parts: Vec<PathComponent<'a>>,
    /// The number of components before the first unknown one.
    pub known: usize,
    /// Whether a part is not known.
    pub has_unknown: bool,
    /// Whether a `..` follows an unknown part.
    climbs: bool,
}

impl<'a> OperandPath<'a> {
    /// Resolves an operand of a program that runs in `cwd`.
    pub fn new(word: &'a WordValue, cwd: &'a WordValue) -> Self {
        let mut reader = OperandPathReader::default();
        let unknown = matches!(word.pieces(), [ValuePiece::Unknown(_) | ValuePiece::OneOf(_), ..]);
        if !unknown && !word.prefix().starts_with('/') {
            if !cwd.prefix().starts_with('/') {
                reader.hole = true;
            }
            cwd.pieces().iter().for_each(|piece| reader.piece(piece));
            reader.end();
        }
        word.pieces().iter().for_each(|piece| reader.piece(piece));
        reader.end();
        let mut path = reader.path;
        if !path.has_unknown {
            path.known = path.parts.len();
        }
        path
    }

    /// Returns whether the path lies below this directory for every value of its unknown parts.
    pub fn is_below(&self, folder: &str) -> bool {
        let mut depth = 0;
        for name in names(folder) {
            if !self.parts.get(depth).is_some_and(|part| part.is(name)) {
                return false;
            }
            depth += 1;
        }
        !self.climbs && self.parts.len() > depth && self.known >= depth
    }
}

#[derive(Default)]
struct OperandPathReader<'a> {
    path: OperandPath<'a>,
    part: PathComponentPart<'a>,
    hole: bool,
}

/// The part of a component that has been read. A name that lies in one text is not copied.
#[derive(Default)]
enum PathComponentPart<'a> {
    #[default]
    Nothing,
    Name(Cow<'a, str>),
    Glob(Vec<ValuePiece>),
}

impl<'a> OperandPathReader<'a> {
    fn piece(&mut self, piece: &'a ValuePiece) {
        match piece {
            ValuePiece::Text(text) => {
                let mut names = text.split('/');
                self.text(names.next().unwrap_or_default());
                for name in names {
                    self.end();
                    self.text(name);
                }
            }
            ValuePiece::Glob(_) => match &mut self.part {
                PathComponentPart::Nothing => self.part = PathComponentPart::Glob(vec![piece.clone()]),
                PathComponentPart::Name(name) => {
                    self.part = PathComponentPart::Glob(vec![
                        ValuePiece::Text(std::mem::take(name).into_owned()),
                        piece.clone(),
                    ]);
                }
                PathComponentPart::Glob(pieces) => pieces.push(piece.clone()),
            },
            ValuePiece::Unknown(_) | ValuePiece::OneOf(_) => self.hole = true,
        }
    }

    fn text(&mut self, text: &'a str) {
        match &mut self.part {
            _ if text.is_empty() => {}
            PathComponentPart::Nothing => self.part = PathComponentPart::Name(Cow::Borrowed(text)),
            PathComponentPart::Name(name) => name.to_mut().push_str(text),
            PathComponentPart::Glob(pieces) => match pieces.last_mut() {
                Some(ValuePiece::Text(last)) => last.push_str(text),
                _ => pieces.push(ValuePiece::Text(text.to_owned())),
            },
        }
    }

    /// Ends a component.
    fn end(&mut self) {
        let path = &mut self.path;
        if self.hole && !path.has_unknown {
            path.has_unknown = true;
            path.known = path.parts.len();
        }
        self.hole = false;
        match std::mem::take(&mut self.part) {
            PathComponentPart::Nothing => {}
            PathComponentPart::Name(name) if name == "." => {}
            PathComponentPart::Name(name) if name == ".." => {
                path.parts.pop();
                path.climbs |= path.has_unknown;
            }
            PathComponentPart::Name(name) => path.parts.push(PathComponent::Name(name)),
            PathComponentPart::Glob(pieces) => path.parts.push(PathComponent::Glob(PathComponentGlob::of(&pieces))),
        }
    }
}

/// The directories that decide a place.
#[derive(Debug)]
pub struct DirectoryLandmarks<'a> {
    cwd: &'a str,
    home: &'a str,
    temp: &'a [String],
    writable: Option<&'a [String]>,
}

impl<'a> DirectoryLandmarks<'a> {
    /// Takes the landmarks from a command's directories.
    pub fn new(directories: &'a CommandDirectories) -> Self {
        let CommandDirectories { cwd, home, temp, writable } = directories;
        Self { cwd, home, temp, writable: writable.as_deref() }
    }

    /// Returns the place that an operand points to.
    pub fn place_of(&self, word: &WordValue, cwd: &WordValue) -> OperandPlace {
        if word.pieces().is_empty() {
            return OperandPlace::Nothing;
        }
        let path = OperandPath::new(word, cwd);
        let inside = self.owns_cwd() && path.is_below(self.cwd);
        let temp = self.temp.iter().any(|dir| path.is_below(dir));
        if let Some(sure) = self.critical(&path, inside, temp) {
            return match path.has_unknown {
                false => OperandPlace::Critical { sure },
                true if path.parts.last().is_some_and(|last| last.is(".git")) => OperandPlace::Critical { sure: false },
                true => OperandPlace::Unknown,
            };
        }
        match () {
            () if inside => OperandPlace::Inside,
            () if temp && !self.temp.iter().any(|dir| path.is_below(dir) && all_of(&path, dir)) => OperandPlace::Temp,
            () if path.climbs || path.has_unknown && path.known == 0 => OperandPlace::Unknown,
            () if self.is_shielded(&path) => OperandPlace::Temp,
            () => OperandPlace::Outside,
        }
    }

    /// Returns the place of a set of files: a critical one, if a directory of the set is one.
    pub fn place_of_files(&self, files: &FileSet, cwd: &WordValue) -> OperandPlace {
        let mut places: Vec<OperandPlace> = files.roots.iter().map(|root| self.place_of(root, cwd)).collect();
        let is_critical = |place: &OperandPlace| matches!(place, OperandPlace::Critical { .. });
        let at = places.iter().position(is_critical).unwrap_or(0);
        if places.is_empty() { OperandPlace::Unknown } else { places.swap_remove(at) }
    }

    /// Returns whether a confinement lets nothing be changed at a place, whatever the unknown parts are.
    pub fn is_unchangeable(&self, word: &WordValue, cwd: &WordValue) -> bool {
        self.is_shielded(&OperandPath::new(word, cwd))
    }

    fn is_shielded(&self, path: &OperandPath) -> bool {
        let Some(writable) = self.writable else { return false };
        let known = path.parts.get(..path.known).unwrap_or_default();
        // A path above a writable directory contains it.
        let apart = |root: &String| known.iter().zip(names(root)).any(|(part, name)| !part.covers(name));
        !path.climbs && writable.iter().all(apart)
    }

    /// Returns whether the directory is the user's own. A system directory never is.
    fn owns_cwd(&self) -> bool {
        let mut own = names(self.cwd);
        own.next().is_some_and(|first| own.next().is_some() || !has_word(SYSTEM_DIRECTORIES, first))
    }

    /// Returns whether a path is critical, and whether this is certain.
    fn critical(&self, path: &OperandPath, inside: bool, temp: bool) -> Option<bool> {
        let mut parts = path.parts.as_slice();
        let mut sure = true;
        if self.is_critical(parts, inside, temp) {
            return Some(sure);
        }
        while let Some((last, rest)) = parts.split_last() {
            match last.coverage() {
                GlobCoverage::All => {}
                GlobCoverage::Most => sure = false,
                GlobCoverage::Some => return None,
            }
            parts = rest;
            if self.is_critical(parts, inside, temp) {
                return Some(sure);
            }
        }
        None
    }

    fn is_critical(&self, parts: &[PathComponent], inside: bool, temp: bool) -> bool {
        let parts = match parts {
            [first, rest @ ..] if first.is("private") && rest.len() == 1 => rest,
            parts => parts,
        };
        // The first directory, or a directory above it.
        let around = || {
            let mut own = names(self.cwd);
            parts.iter().all(|part| own.next().is_some_and(|name| part.covers(name)))
        };
        let git = || match parts {
            // A clone in a temporary directory may be deleted.
            _ if temp && !inside => false,
            // `sub/.*` are the hidden files of a directory, which may be deleted if the directory may.
            [.., last] if last.covers(".git") && last.coverage() != GlobCoverage::All => true,
            [.., folder, last] => folder.is(".git") && (last.is("objects") || last.is("refs")),
            _ => false,
        };
        parts.len() < 2 || around() || self.is_home(parts) || git()
    }

    fn is_home(&self, parts: &[PathComponent]) -> bool {
        let mut rest = parts;
        let covered = names(self.home).all(|name| match rest.split_first() {
            Some((part, others)) => {
                rest = others;
                part.covers(name)
            }
            None => false,
        });
        let own = covered && rest.is_empty() && !parts.is_empty();
        own || matches!(parts, [folder, _] if folder.is("home") || folder.is("Users"))
            || matches!(parts, [var, root] if var.is("var") && root.is("root"))
    }

    /// Returns the path of a file relative to a home, if the path begins with a dot, such as `.ssh/config`. `None` for
    /// a file of a first directory that is itself in such a place.
    pub fn home_dotfile(&self, word: &WordValue, cwd: &WordValue) -> Option<String> {
        let path = OperandPath::new(word, cwd);
        let parts = path.parts.as_slice();
        let own = names(self.home).count();
        let depth = if own > 0 && parts.len() > own && self.is_home(&parts[..own]) {
            own
        } else {
            match parts {
                [root, _, ..] if root.is("root") => 1,
                [folder, _, _, ..] if folder.is("home") || folder.is("Users") => 2,
                _ => return None,
            }
        };
        if path.known < depth {
            return None;
        }
        let hidden = |part: &PathComponent| match part {
            PathComponent::Name(name) => name.starts_with('.'),
            PathComponent::Glob(glob) => glob.covers(".bashrc") || glob.covers(".ssh") || glob.covers(".profile"),
        };
        if !parts.get(depth).is_some_and(hidden) {
            return None;
        }
        if self.is_shielded(&path) {
            return None;
        }
        let in_own = names(self.cwd).nth(depth).is_some_and(|name| name.starts_with('.')) && path.is_below(self.cwd);
        let name = |part: &PathComponent| match part {
            PathComponent::Name(name) => name.to_string(),
            PathComponent::Glob(_) => "*".to_owned(),
        };
        (!in_own).then(|| parts[depth..].iter().take(16).map(name).collect::<Vec<_>>().join("/"))
    }

    /// Returns whether a file is in, or is, the first directory or a directory for temporary files, or cannot be
    /// changed.
    pub fn within_reach(&self, word: &WordValue, cwd: &WordValue) -> bool {
        let path = OperandPath::new(word, cwd);
        if self.is_shielded(&path) {
            return true;
        }
        let is = |folder: &str| {
            let mut parts = path.parts.iter();
            let starts = names(folder).all(|name| parts.next().is_some_and(|part| part.is(name)));
            path.is_below(folder) || starts && parts.next().is_none() && !path.has_unknown
        };
        self.owns_cwd() && is(self.cwd) || self.temp.iter().any(|folder| is(folder))
    }

    /// Returns whether the operand lies in the user's home.
    pub fn in_home(&self, word: &WordValue, cwd: &WordValue) -> bool {
        OperandPath::new(word, cwd).is_below(self.home)
    }

    /// Returns whether the operand is a home.
    pub fn names_home(&self, word: &WordValue, cwd: &WordValue) -> bool {
        let path = OperandPath::new(word, cwd);
        !path.has_unknown && (self.is_home(&path.parts) || matches!(path.parts.as_slice(), [root] if root.is("root")))
    }
}

fn all_of(path: &OperandPath, folder: &str) -> bool {
    path.parts[names(folder).count()..].iter().all(|part| part.coverage() != GlobCoverage::Some)
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty() && *name != ".")
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
