//! Reads of hidden files, as reported by the messages of programs.
//!
//! Mounts refuse such a read. Noticing the read itself would need a question for each file that any program opens,
//! which costs more than all the rest of confinement. But programs name the files that they could not open. So an
//! output line counts if it names an error and a hidden path. A silent program is not noticed, and a program that
//! prints such a line without having tried is believed. The result informs people and models, and decides nothing.

use std::path::{Component, Path, PathBuf};

use super::{CommandDenials, DenialKind};

/// Parts of messages about a file that cannot be opened, in lower case.
const ERRORS: [&str; 6] = ["denied", "eacces", "no such file", "enoent", "errno 13", "os error 13"];
/// The longest line that is searched, bytes.
const LONGEST: usize = 4096;

/// Returns the hidden paths that an output names in its messages, each as a denial.
///
/// `cwd` is the directory to which paths are relative.
pub fn refused_reads(output: &str, cwd: &Path, hidden: &[PathBuf]) -> CommandDenials {
    let mut denials = CommandDenials::default();
    if hidden.is_empty() {
        return denials;
    }
    for line in output.lines().filter(|line| line.len() <= LONGEST && is_message(line)) {
        let mut named: Vec<PathBuf> = Vec::new();
        for path in line.split(is_border).filter_map(|word| path_of(word, line, cwd)) {
            if hidden.iter().any(|hidden| path.starts_with(hidden)) && !named.contains(&path) {
                denials.add(DenialKind::Read, &path.to_string_lossy(), reporting_program(line), None);
                named.push(path);
            }
        }
    }
    denials
}

fn is_message(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    ERRORS.iter().any(|error| lower.contains(error))
}

/// Returns whether a character can be next to a path in a message.
fn is_border(character: char) -> bool {
    character.is_whitespace() || ":'\"`‘’“”,()".contains(character)
}

/// Returns the absolute path that a word of a message names. A bare name counts only in quotes or before a colon, as
/// messages write names: "no such file" is not about a hidden `file`.
fn path_of(word: &str, line: &str, cwd: &Path) -> Option<PathBuf> {
    let written = |end: &str| line.contains(&format!("{word}{end}"));
    if word.is_empty()
        || !word.contains('/') && !word.starts_with('.') && ![":", "'", "\"", "’"].into_iter().any(written)
    {
        return None;
    }
    let mut path = PathBuf::new();
    for part in cwd.join(word).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    Some(path)
}

/// Returns the program in a line: `cat: PATH: Permission denied`. The name of an error is not a program.
fn reporting_program(line: &str) -> &str {
    let name = line.split_once(": ").map_or("", |(name, _)| name);
    let name = name.rsplit('/').next().unwrap_or_default();
    if name.contains(char::is_whitespace) || name.ends_with("Error") { "" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_hidden_paths_are_denials() {
        let hidden = ["/home/u/.ssh", "/home/u/.netrc", "/home/u/keys"].map(PathBuf::from);
        for (line, expected) in [
            ("cat: /home/u/.ssh/id_rsa: Permission denied", Some(("/home/u/.ssh/id_rsa", "cat"))),
            ("ls: cannot open directory '/home/u/.ssh': Permission denied", Some(("/home/u/.ssh", "ls"))),
            ("ls: cannot open directory '/home/u/.ssh/': Permission denied", Some(("/home/u/.ssh", "ls"))),
            ("/usr/bin/head: .netrc: Permission denied", Some(("/home/u/.netrc", "head"))),
            ("cat: ../../home/u/.netrc: Permission denied", Some(("/home/u/.netrc", "cat"))),
            ("cat: keys: Permission denied", Some(("/home/u/keys", "cat"))),
            ("PermissionError: [Errno 13] Permission denied: 'keys'", Some(("/home/u/keys", ""))),
            ("cat: other keys here: Permission denied, keys", None),
            ("bash: line 1: /home/u/.netrc: Permission denied", Some(("/home/u/.netrc", "bash"))),
            ("PermissionError: [Errno 13] Permission denied: '/home/u/.ssh/config'", Some(("/home/u/.ssh/config", ""))),
            ("Error: EACCES: permission denied, open '/home/u/.netrc'", Some(("/home/u/.netrc", ""))),
            ("stat: cannot statx '/home/u/.ssh/a': No such file or directory", Some(("/home/u/.ssh/a", "stat"))),
            ("cat: /home/u/.sshd/x: Permission denied", None),
            ("cat: /home/u/file: Permission denied", None),
            ("see /home/u/.ssh/config", None),
            ("Permission denied", None),
            ("", None),
        ] {
            let found = refused_reads(line, Path::new("/home/u"), &hidden);
            let found: Vec<_> = found.listed.iter().map(|one| (one.target.as_str(), one.program.as_str())).collect();
            assert_eq!(found, Vec::from_iter(expected), "{line}");
        }
    }

    #[test]
    fn equal_messages_are_counted_together() {
        let output = "cat: /h/.netrc: Permission denied\nok\n".repeat(3);
        let found = refused_reads(&output, Path::new("/"), &["/h/.netrc".into()]);
        assert_eq!((found.total, found.listed.len(), found.listed[0].count), (3, 1, 3));
        assert_eq!(found.listed[0].kind, DenialKind::Read);
        assert_eq!(refused_reads(&output, Path::new("/"), &[]), CommandDenials::default());
    }
}
