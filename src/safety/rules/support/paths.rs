//! Where an operand points, as far as that can be told without looking at any folder.

use crate::safety::command::Scene;
use crate::safety::glob::{Glob, Reach};
use crate::safety::tables::devices::SYSTEM_FOLDERS;
use crate::safety::value::{Piece, Value};

/// What an operand is, to somebody who deletes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An empty word: no file at all.
    Nothing,
    /// The root, a top folder, a home, the first folder or a parent of it, a `.git`, or all that is in one of these.
    Critical {
        /// False where only a part of it may be meant, or an unknown part may lead elsewhere.
        sure: bool,
    },
    /// Below the first folder.
    Inside,
    /// Below a folder for temporary files.
    Temp,
    /// Elsewhere.
    Outside,
    /// It may be any of these.
    Unknown,
}

/// One component of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Component {
    /// This name.
    Name(String),
    /// Names that a glob stands for.
    Glob(Glob),
}

impl Component {
    /// Whether it is, or stands for, this name.
    pub fn covers(&self, name: &str) -> bool {
        match self {
            Self::Name(own) => own == name,
            Self::Glob(glob) => glob.covers(name),
        }
    }

    fn is(&self, name: &str) -> bool {
        matches!(self, Self::Name(own) if own == name)
    }

    fn reach(&self) -> Reach {
        match self {
            Self::Name(_) => Reach::Some,
            Self::Glob(glob) => glob.reach(),
        }
    }
}

/// A path, absolute and without `.`, `..` and `//`, read as if what is not known were empty.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// Its components.
    pub parts: Vec<Component>,
    /// How many of them stand before the first that is not known.
    pub known: usize,
    /// Whether a part is not known.
    pub has_hole: bool,
    /// Whether a `..` stands behind what is not known.
    climbs: bool,
}

impl Path {
    /// An operand of a program that runs in `cwd`.
    pub fn new(word: &Value, cwd: &Value) -> Self {
        let mut reader = Reader::default();
        let unknown = matches!(word.pieces(), [Piece::Hole(_) | Piece::OneOf(_), ..]);
        if !unknown && !word.prefix().starts_with('/') {
            if !cwd.prefix().starts_with('/') {
                reader.piece(&Piece::Hole(false));
            }
            cwd.pieces().iter().for_each(|piece| reader.piece(piece));
            reader.end();
        }
        word.pieces().iter().for_each(|piece| reader.piece(piece));
        reader.end();
        let mut path = reader.path;
        if !path.has_hole {
            path.known = path.parts.len();
        }
        path
    }

    /// Whether it lies below this folder, whatever the unknown parts are.
    pub fn below(&self, folder: &[&str]) -> bool {
        !self.climbs
            && self.parts.len() > folder.len()
            && self.known >= folder.len()
            && self.parts.iter().zip(folder).all(|(part, name)| part.is(name))
    }
}

#[derive(Default)]
struct Reader {
    path: Path,
    part: Vec<Piece>,
    hole: bool,
}

impl Reader {
    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Text(text) => {
                let mut names = text.split('/');
                self.text(names.next().unwrap_or_default());
                for name in names {
                    self.end();
                    self.text(name);
                }
            }
            Piece::Glob(_) => self.part.push(piece.clone()),
            Piece::Hole(_) | Piece::OneOf(_) => self.hole = true,
        }
    }

    fn text(&mut self, text: &str) {
        match self.part.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.part.push(Piece::Text(text.to_owned())),
        }
    }

    /// A component is complete.
    fn end(&mut self) {
        let path = &mut self.path;
        if self.hole && !path.has_hole {
            path.has_hole = true;
            path.known = path.parts.len();
        }
        self.hole = false;
        let part = std::mem::take(&mut self.part);
        match part.as_slice() {
            [] => {}
            [Piece::Text(text)] if text == "." => {}
            [Piece::Text(text)] if text == ".." => {
                path.parts.pop();
                path.climbs |= path.has_hole;
            }
            [Piece::Text(text)] => path.parts.push(Component::Name(text.clone())),
            pieces => path.parts.push(Component::Glob(Glob::of(pieces))),
        }
    }
}

/// The folders that places are told by.
#[derive(Debug)]
pub struct Ground<'a> {
    cwd: Vec<&'a str>,
    home: Vec<&'a str>,
    temp: Vec<Vec<&'a str>>,
}

impl<'a> Ground<'a> {
    /// Those of a scene.
    pub fn new(scene: &'a Scene) -> Self {
        Self {
            cwd: names(&scene.cwd),
            home: names(&scene.home),
            temp: scene.temp.iter().map(|dir| names(dir)).collect(),
        }
    }

    /// Where an operand points.
    pub fn place(&self, word: &Value, cwd: &Value) -> Place {
        if word.pieces().is_empty() {
            return Place::Nothing;
        }
        let path = Path::new(word, cwd);
        let inside = self.owns_cwd() && path.below(&self.cwd);
        let temp = self.temp.iter().any(|dir| path.below(dir));
        if let Some(sure) = self.critical(&path, inside, temp) {
            return match path.has_hole {
                false => Place::Critical { sure },
                true if path.parts.last().is_some_and(|last| last.is(".git")) => Place::Critical { sure: false },
                true => Place::Unknown,
            };
        }
        match () {
            () if inside => Place::Inside,
            () if temp && !self.temp.iter().any(|dir| path.below(dir) && all_of(&path, dir)) => Place::Temp,
            () if path.climbs || path.has_hole && path.known == 0 => Place::Unknown,
            () => Place::Outside,
        }
    }

    /// The folder is somebody's own, not one of the system's, in which nothing is.
    fn owns_cwd(&self) -> bool {
        self.cwd.first().is_some_and(|first| self.cwd.len() > 1 || !SYSTEM_FOLDERS.contains(first))
    }

    /// Whether it is critical, and whether that is sure.
    fn critical(&self, path: &Path, inside: bool, temp: bool) -> Option<bool> {
        let mut parts = path.parts.as_slice();
        let mut sure = true;
        if self.is_critical(parts, inside, temp) {
            return Some(sure);
        }
        while let Some((last, rest)) = parts.split_last() {
            match last.reach() {
                Reach::All => {}
                Reach::Most => sure = false,
                Reach::Some => return None,
            }
            parts = rest;
            if self.is_critical(parts, inside, temp) {
                return Some(sure);
            }
        }
        None
    }

    fn is_critical(&self, parts: &[Component], inside: bool, temp: bool) -> bool {
        let parts = match parts {
            [first, rest @ ..] if first.is("private") && rest.len() == 1 => rest,
            parts => parts,
        };
        let covers = |names: &[&str]| parts.iter().zip(names).all(|(part, name)| part.covers(name));
        let git = || match parts {
            // What was cloned into a temporary folder may go.
            _ if temp && !inside => false,
            // `sub/.*` is all that is hidden in a folder, which may go where the folder may.
            [.., last] if last.covers(".git") && last.reach() != Reach::All => true,
            [.., folder, last] => folder.is(".git") && (last.is("objects") || last.is("refs")),
            _ => false,
        };
        parts.len() < 2 || parts.len() <= self.cwd.len() && covers(&self.cwd) || self.is_home(parts) || git()
    }

    fn is_home(&self, parts: &[Component]) -> bool {
        let own = !self.home.is_empty()
            && parts.len() == self.home.len()
            && parts.iter().zip(&self.home).all(|(part, name)| part.covers(name));
        own || matches!(parts, [folder, _] if folder.is("home") || folder.is("Users"))
            || matches!(parts, [var, root] if var.is("var") && root.is("root"))
    }

    /// The file below a home whose path from there begins with a dot, as `.ssh/config`; not within a first folder that
    /// is itself in such a place.
    pub fn home_dotfile(&self, word: &Value, cwd: &Value) -> Option<String> {
        let path = Path::new(word, cwd);
        let parts = path.parts.as_slice();
        let depth = if !self.home.is_empty() && parts.len() > self.home.len() && self.is_home(&parts[..self.home.len()])
        {
            self.home.len()
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
        let hidden = |part: &Component| match part {
            Component::Name(name) => name.starts_with('.'),
            Component::Glob(glob) => glob.covers(".bashrc") || glob.covers(".ssh") || glob.covers(".profile"),
        };
        if !parts.get(depth).is_some_and(hidden) {
            return None;
        }
        let in_own = self.cwd.len() > depth && self.cwd[depth].starts_with('.') && path.below(&self.cwd);
        let name = |part: &Component| match part {
            Component::Name(name) => name.clone(),
            Component::Glob(_) => "*".to_owned(),
        };
        (!in_own).then(|| parts[depth..].iter().take(16).map(name).collect::<Vec<_>>().join("/"))
    }

    /// Whether it is the first folder or one for temporary files, or below it.
    pub fn within_reach(&self, word: &Value, cwd: &Value) -> bool {
        let path = Path::new(word, cwd);
        let is = |folder: &[&str]| {
            let same =
                path.parts.len() == folder.len() && path.parts.iter().zip(folder).all(|(part, name)| part.is(name));
            path.below(folder) || same && !path.has_hole
        };
        self.owns_cwd() && is(&self.cwd) || self.temp.iter().any(|folder| is(folder))
    }

    /// Whether it is a home.
    pub fn home(&self, word: &Value, cwd: &Value) -> bool {
        let path = Path::new(word, cwd);
        !path.has_hole && (self.is_home(&path.parts) || matches!(path.parts.as_slice(), [root] if root.is("root")))
    }
}

fn all_of(path: &Path, folder: &[&str]) -> bool {
    path.parts[folder.len()..].iter().all(|part| part.reach() != Reach::Some)
}

fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty() && *name != ".").collect()
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
