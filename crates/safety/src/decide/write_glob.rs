//! A glob for files that may be written: `src/**`, `*.log`, `/tmp/**`.
//!
//! The crate `globset` does not serve here. Its `**` reaches into `.git` like into any directory, and it knows neither
//! `..` nor a base directory. It would also bring the automata of `regex` into the addon.

use crate::glob::PathComponentGlob;

/// A glob over paths. `*` stays within a directory, `**` does not. Names with a leading dot count like all others. Only
/// the name `.git` matches `.git`, because git runs hooks from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteGlob {
    absolute: bool,
    parts: Vec<WriteGlobPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum WriteGlobPart {
    /// `**`
    AnyDirectories,
    /// `..`, at the beginning.
    ParentDirectory,
    /// Names.
    Component { glob: PathComponentGlob, git: bool },
}

/// Most parts of a glob. A longer glob matches no file.
const MAX_PARTS: usize = 128;

impl WriteGlob {
    /// Reads a glob.
    pub fn new(text: &str) -> Self {
        let absolute = text.starts_with('/');
        let mut parts: Vec<WriteGlobPart> = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => match parts.last() {
                    None | Some(WriteGlobPart::ParentDirectory) if !absolute => {
                        parts.push(WriteGlobPart::ParentDirectory)
                    }
                    _ => {
                        parts.pop();
                    }
                },
                "**" if parts.last() == Some(&WriteGlobPart::AnyDirectories) => {}
                "**" => parts.push(WriteGlobPart::AnyDirectories),
                name => {
                    parts.push(WriteGlobPart::Component { glob: PathComponentGlob::parse(name), git: name == ".git" })
                }
            }
        }
        Self { absolute, parts }
    }

    /// Returns whether the glob matches this file. Both paths are absolute and normalised.
    pub fn fits(&self, path: &str, cwd: &str) -> bool {
        let split = |path| str::split(path, '/').filter(|name| !name.is_empty()).collect::<Vec<_>>();
        let names = split(path);
        let ups = self.parts.iter().take_while(|part| **part == WriteGlobPart::ParentDirectory).count();
        let mut start = if self.absolute { Vec::new() } else { split(cwd) };
        start.truncate(start.len().saturating_sub(ups));
        let parts = self.parts.get(ups..).unwrap_or_default();
        let Some(names) = names.strip_prefix(start.as_slice()).filter(|names| !names.is_empty()) else { return false };
        if parts.len() > MAX_PARTS {
            return false;
        }
        // Marks the parts that may come next, name by name.
        let mut places = vec![false; parts.len() + 1];
        places[0] = true;
        skip(parts, &mut places);
        for name in names {
            let mut next = vec![false; places.len()];
            for (at, part) in parts.iter().enumerate().filter(|(at, _)| places[*at]) {
                match part {
                    WriteGlobPart::AnyDirectories => next[at] |= *name != ".git",
                    WriteGlobPart::ParentDirectory => {}
                    WriteGlobPart::Component { glob, git } => {
                        next[at + 1] |= glob.fits(name) && (*git || *name != ".git")
                    }
                }
            }
            skip(parts, &mut next);
            places = next;
        }
        places.last() == Some(&true)
    }
}

/// `**` also matches no directory at all.
fn skip(parts: &[WriteGlobPart], places: &mut [bool]) {
    for (at, part) in parts.iter().enumerate() {
        if places[at] && *part == WriteGlobPart::AnyDirectories {
            places[at + 1] = true;
        }
    }
}

/// Returns a path as a glob that matches only the path itself.
pub fn literal(path: &str) -> String {
    let mut glob = String::with_capacity(path.len());
    for char in path.chars() {
        if matches!(char, '*' | '?' | '[' | '\\') {
            glob.push('\\');
        }
        glob.push(char);
    }
    glob
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_files_it_means() {
        for (glob, path, fits) in [
            ("src/**", "/w/src/a", true),
            ("src/**", "/w/src/a/b.ts", true),
            ("src/**", "/w/src/.env", true),
            ("src/**", "/w/srcs/a", false),
            ("src/**", "/src/a", false),
            ("src/*", "/w/src/a/b", false),
            ("./src/*", "/w/src/a", true),
            ("**", "/w/a/b", true),
            ("**", "/w/.git/hooks/x", false),
            (".git/**", "/w/.git/hooks/x", true),
            ("**", "/other/a", false),
            ("/**", "/other/a", true),
            ("**/*.ts", "/w/a.ts", true),
            ("**/*.ts", "/w/a/b/c.ts", true),
            ("**/*.ts", "/w/a.js", false),
            ("*.log", "/w/x.log", true),
            ("*.log", "/w/x/y.log", false),
            ("/tmp/**", "/tmp/x", true),
            ("/tmp/**", "/tmpx", false),
            ("../other/**", "/other/x", true),
            ("a/../b", "/w/b", true),
            ("/../tmp/x", "/tmp/x", true),
            ("[ab].txt", "/w/b.txt", true),
            ("out.txt", "/w/out.txt", true),
            ("out.txt", "/w/out_txt", false),
        ] {
            assert_eq!(WriteGlob::new(glob).fits(path, "/w"), fits, "{glob} {path}");
        }
        assert!(WriteGlob::new(&literal("a*[b]?\\c")).fits("/w/a*[b]?\\c", "/w"));
    }
}
