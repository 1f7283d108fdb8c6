//! The meaning of a pathspec of git.

use super::operand_paths::{OperandPath, PathComponent};
use crate::glob::{GlobCoverage, PathComponentGlob};
use crate::word_value::{ValuePiece, WordValue};

/// A pathspec without its magic.
#[derive(Debug, PartialEq, Eq)]
pub struct Pathspec<'a> {
    /// Whether the pathspec excludes files: `:!x`, `:^x`, `:(exclude)x`.
    pub exclude: bool,
    /// Whether the pathspec starts at the top of the work tree: `:/x`, `:(top)x`.
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
    /// Returns whether the pathspec means all of the command's directory, of the first directory, or of a parent of
    /// these.
    pub fn is_whole(&self, cwd: &WordValue, first: &WordValue) -> bool {
        let absolute = self.path.starts_with('/');
        let here = WordValue::default();
        let own = OperandPath::new(&here, cwd);
        // The names that the pathspec adds to the directory, and the levels that it climbs out of it.
        let mut names: Vec<PathComponentGlob> = Vec::new();
        let mut above = 0;
        for name in self.path.split('/') {
            match name {
                "" | "." => {}
                ".." => above += usize::from(names.pop().is_none()),
                name => names.push(PathComponentGlob::parse(name)),
            }
        }
        while names.last().is_some_and(|last| last.coverage() == GlobCoverage::All) {
            names.pop();
        }
        if names.is_empty() && (self.top || !absolute) {
            return true;
        }
        if self.top || own.has_unknown && !absolute {
            return false;
        }
        let start = if absolute { 0 } else { own.parts.len().saturating_sub(above) };
        let covers = |folder: &OperandPath| {
            let (before, further) = folder.parts.split_at(start.min(folder.parts.len()));
            let same = own.parts.get(..start) == Some(before);
            let fits = |(part, glob): (&PathComponent, &PathComponentGlob)| matches!(part, PathComponent::Name(name) if glob.covers(name));
            same && names.len() <= further.len() && further.iter().zip(&names).all(fits)
        };
        covers(&own) && !own.has_unknown || covers(&OperandPath::new(&here, first))
    }
}

/// Returns the text of a pathspec. Git expands quoted globs, too.
pub fn text(word: &WordValue) -> Option<String> {
    let parts = word.pieces().iter().map(|piece| match piece {
        ValuePiece::Text(text) | ValuePiece::Glob(text) => Some(text.as_str()),
        ValuePiece::Unknown(_) | ValuePiece::OneOf(_) => None,
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
        let (cwd, other) = (WordValue::of("/home/dev/project"), WordValue::of("/elsewhere"));
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
            assert!(read(whole).is_whole(&cwd, &other), "{whole}");
        }
        for part in ["src", "src/", "*.js", "src/*", ":/src", "/home/dev/project/src", "/opt", "../other", "\\*x"] {
            assert!(!read(part).is_whole(&cwd, &other), "{part}");
        }
        assert!(read("project").is_whole(&WordValue::of("/home/dev"), &cwd));
        assert!(!read("other").is_whole(&WordValue::of("/home/dev"), &cwd));
        assert!(!read("project").is_whole(&WordValue::of("/opt"), &cwd));
        assert!(read("/home/dev").is_whole(&WordValue::unknown(), &cwd));
    }
}
