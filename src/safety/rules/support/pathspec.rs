//! What a pathspec of git means.

use super::glob::{Glob, Reach};
use super::paths::Path;
use crate::safety::value::{Piece, Value};

/// A pathspec, its magic taken off.
#[derive(Debug, PartialEq, Eq)]
pub struct Pathspec<'a> {
    /// It takes files out: `:!x`, `:^x`, `:(exclude)x`.
    pub exclude: bool,
    /// It starts at the top of the work tree: `:/x`, `:(top)x`.
    pub top: bool,
    /// The rest.
    pub path: &'a str,
}

/// Reads the magic at the beginning of a pathspec.
pub fn read(text: &str) -> Pathspec<'_> {
    let mut spec = Pathspec { exclude: false, top: false, path: text };
    let Some(rest) = text.strip_prefix(':') else { return spec };
    if let Some((words, path)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        spec.path = path;
        for word in words.split(',') {
            spec.top |= word == "top";
            spec.exclude |= word == "exclude";
        }
        return spec;
    }
    let signs = rest.len() - rest.trim_start_matches(['/', '!', '^']).len();
    spec.top = rest[..signs].contains('/');
    spec.exclude = rest[..signs].contains(['!', '^']);
    let path = &rest[signs..];
    spec.path = path.strip_prefix(':').unwrap_or(path);
    spec
}

impl Pathspec<'_> {
    /// Whether it means all of the folder that the command stands in, or of a parent of it.
    pub fn is_whole(&self, cwd: &Value) -> bool {
        let mut names: Vec<&str> = Vec::new();
        let absolute = self.path.starts_with('/');
        for name in self.path.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    names.pop();
                }
                name => names.push(name),
            }
        }
        while names.last().is_some_and(|last| last.contains(['*', '?', '[']) && Glob::parse(last).reach() == Reach::All)
        {
            names.pop();
        }
        if !absolute || self.top {
            return names.is_empty();
        }
        let own = Path::new(&Value::default(), cwd);
        !own.has_hole
            && names.len() <= own.parts.len()
            && own.parts.iter().zip(&names).all(|(part, name)| part.covers(name))
    }
}

/// The text of a pathspec; quoted globs are globs to git.
pub fn text(word: &Value) -> Option<String> {
    let parts = word.pieces().iter().map(|piece| match piece {
        Piece::Text(text) | Piece::Glob(text) => Some(text.as_str()),
        Piece::Hole(_) | Piece::OneOf(_) => None,
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magic() {
        for (text, exclude, top, path) in [
            (".", false, false, "."),
            (":/", false, true, ""),
            (":", false, false, ""),
            ("::src", false, false, "src"),
            (":!x", true, false, "x"),
            (":/!x", true, true, "x"),
            (":^x", true, false, "x"),
            (":(top,glob)**/*", false, true, "**/*"),
            (":(exclude)x", true, false, "x"),
            (":(top", false, false, "(top"),
        ] {
            assert_eq!(read(text), Pathspec { exclude, top, path }, "{text}");
        }
    }

    #[test]
    fn whole_folders() {
        let cwd = Value::of("/home/dev/project");
        for whole in [
            ".",
            "./",
            "..",
            "../..",
            "src/..",
            ":/",
            ":",
            "*",
            "**",
            "./*",
            "**/*",
            ":(top)",
            ":/.",
            "*.*",
            "/home/dev/project",
            "/home/dev",
            "/home/dev/project/*",
            "../*",
            ":(glob)**",
        ] {
            assert!(read(whole).is_whole(&cwd), "{whole}");
        }
        for part in ["src", "src/", "*.js", "src/*", ":/src", "/home/dev/project/src", "/opt", "../other", "\\*x"] {
            assert!(!read(part).is_whole(&cwd), "{part}");
        }
    }
}
