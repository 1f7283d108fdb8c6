//! `core.worktree` in a configuration of git.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Returns the last value of `core.worktree` in a file, without included files. `None`: there is none, or the file is
/// written in a way that this function does not know. git reads `a = "b"c ; comment` as `bc`.
pub(super) fn work_tree(config: &[u8]) -> Option<PathBuf> {
    let (mut in_core, mut found) = (false, None);
    for line in config.split(|byte| *byte == b'\n') {
        let mut line = line.trim_ascii();
        if let Some(section) = line.strip_prefix(b"[") {
            let end = section.iter().position(|byte| *byte == b']')?;
            in_core = section[..end].eq_ignore_ascii_case(b"core");
            line = section[end + 1..].trim_ascii();
        }
        let (key, rest) = line.split_at(line.iter().position(|byte| !is_key(*byte)).unwrap_or(line.len()));
        if !in_core || !key.eq_ignore_ascii_case(b"worktree") {
            continue;
        }
        found = Some(value(rest.trim_ascii().strip_prefix(b"=")?)?);
    }
    found.filter(|value| !value.is_empty()).map(|value| PathBuf::from(OsStr::from_bytes(&value)))
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// Returns a value without its quotes, escapes and comment. `None`: it goes on in the next line, or git refuses it.
fn value(text: &[u8]) -> Option<Vec<u8>> {
    let (mut value, mut length, mut is_quoted) = (Vec::new(), 0, false);
    let mut bytes = text.trim_ascii().iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'#' | b';' if !is_quoted => break,
            b'\\' => value.push(match bytes.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'b' => 8,
                byte @ (b'"' | b'\\') => *byte,
                _ => return None,
            }),
            byte => value.push(*byte),
        }
        if is_quoted || !byte.is_ascii_whitespace() {
            length = value.len();
        }
    }
    value.truncate(length);
    (!is_quoted && !value.contains(&0)).then_some(value)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::work_tree;

    #[test]
    fn the_work_tree_is_read_as_git_reads_it() {
        for (config, expected) in [
            ("[core]\n\tworktree = ../../../sub\n", Some("../../../sub")),
            ("[CORE]\nWorkTree=/a b/c  \n", Some("/a b/c")),
            ("[core] worktree = x ; why\n", Some("x")),
            ("[core]\nworktree = \"a # b\" # c\n", Some("a # b")),
            ("[core]\nworktree = a\\\\b\\\"c\n", Some("a\\b\"c")),
            ("[core]\nworktree = a\nbare = false\nworktree = b\n", Some("b")),
            ("[core]\r\nworktree = a\r\n", Some("a")),
            ("[core]\nworktree = a\n[user]\nworktree = b\n", Some("a")),
            ("[core \"x\"]\nworktree = a\n", None),
            ("[core]\nworktrees = a\n", None),
            ("[core]\n# worktree = a\n", None),
            ("[core]\nworktree = \n", None),
            ("[core]\nworktree\n", None),
            ("[core]\nworktree = a\\\nb\n", None),
            ("[core]\nworktree = \"a\n", None),
            ("worktree = a\n", None),
            ("[core\nworktree = a\n", None),
            ("", None),
        ] {
            assert_eq!(work_tree(config.as_bytes()).as_deref(), expected.map(Path::new), "{config:?}");
        }
    }
}
