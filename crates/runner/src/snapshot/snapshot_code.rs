//! The code that restores a snapshot: the statements of the shell state, without statements that must not be kept.

use std::collections::HashSet;
use std::sync::Arc;

use super::error::SnapshotError;
use super::secret_values::SecretValues;
use protocol::plan;

/// The most bytes of code that a shell may have to read before its command. nvm takes 150 KB, all of bash-completion
/// 100.
const MAX_CODE_BYTES: usize = 1024 * 1024;

/// The user's shell state as bash code.
#[derive(Debug)]
pub struct SnapshotCode {
    whole: Arc<[u8]>,
    /// The code without its PATH, for a command whose PATH the caller gave.
    body: Arc<[u8]>,
    /// Whether the code mentions the word trap.
    pub mentions_trap: bool,
}

impl SnapshotCode {
    /// Takes the statements that restore a state, and the state's PATH.
    ///
    /// # Errors
    /// [`SnapshotError::TooLarge`]
    pub fn of(restore: &[u8], path: Option<&str>, secrets: &SecretValues) -> Result<Self, SnapshotError> {
        let may_stay =
            |statement: &&[u8]| !(sets_path(statement) || replaces_builtin(statement) || secrets.are_in(statement));
        let body: Vec<u8> = statements(restore).filter(may_stay).flatten().copied().collect();
        if body.len() > MAX_CODE_BYTES {
            return Err(SnapshotError::TooLarge { bytes: body.len() });
        }
        let path = path.map(|path| format!("builtin declare -x PATH={}\n", plan::shell_quoted(path)));
        Ok(Self::new(path.filter(|path| !secrets.are_in(path.as_bytes())).unwrap_or_default(), body))
    }

    /// Returns the code with functions as plain text, which bash reads in two thirds of the time. A function that bash
    /// cannot read then spoils the whole code.
    pub fn plain(&self) -> Self {
        let written = |statement: &[u8]| {
            let text = statement.strip_prefix(b"builtin eval '").and_then(|rest| rest.strip_suffix(b"'\n"));
            text.map_or_else(|| statement.to_vec(), |text| [&unquoted(text)[..], b"\n"].concat())
        };
        let path = self.whole.strip_suffix(&self.body[..]).unwrap_or_default();
        Self::new(String::from_utf8_lossy(path).into_owned(), statements(&self.body).flat_map(written).collect())
    }

    /// Restores the code from its [`SnapshotCode::bytes`].
    pub fn from_bytes(whole: &[u8]) -> Self {
        let path = statements(whole).next().filter(|first| sets_path(first)).unwrap_or_default();
        Self::new(String::from_utf8_lossy(path).into_owned(), whole[path.len()..].to_vec())
    }

    fn new(path: String, body: Vec<u8>) -> Self {
        let whole = [path.as_bytes(), &body].concat();
        Self { mentions_trap: crate::shell_state::code_mentions_trap(&body), whole: whole.into(), body: body.into() }
    }

    /// Returns the whole code, its PATH first.
    pub fn bytes(&self) -> &[u8] {
        &self.whole
    }

    /// Returns the user's own PATH.
    pub fn path(&self) -> Option<String> {
        let statement = self.whole.strip_suffix(&self.body[..])?;
        let value = statement.strip_prefix(b"builtin declare -x PATH='")?.strip_suffix(b"'\n")?;
        String::from_utf8(unquoted(value)).ok()
    }

    /// Returns the code for a command. `own_path`: whether the caller gave its PATH.
    pub fn boot(&self, own_path: bool) -> Arc<[u8]> {
        Arc::clone(if own_path { &self.body } else { &self.whole })
    }
}

/// Removes the quotes from a text that stood between single quotes.
fn unquoted(text: &[u8]) -> Vec<u8> {
    let mut found = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, b"'\\''") {
        found.extend_from_slice(&rest[..at + 1]);
        rest = &rest[at + 4..];
    }
    found.extend_from_slice(rest);
    found
}

/// Returns the PATH that the rc files made, followed by the directories that they dropped. A file that sets PATH anew
/// means to add to it, and a command must find the same programs as without the snapshot.
pub fn joined(made: &str, before: &str) -> String {
    let mut seen: HashSet<&str> = made.split(':').collect();
    let dropped = before.split(':').filter(|folder| !folder.is_empty() && seen.insert(folder));
    std::iter::once(made).filter(|made| !made.is_empty()).chain(dropped).collect::<Vec<_>>().join(":")
}

/// Splits code at line ends that are outside of single quotes and not after a backslash. No other quotes occur.
fn statements(code: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = code;
    std::iter::from_fn(move || {
        let mut at = 0;
        while let Some(found) = rest[at..].iter().position(|byte| matches!(byte, b'\n' | b'\'' | b'\\')) {
            at += found;
            at = match rest[at] {
                b'\n' => {
                    let (statement, after) = rest.split_at(at + 1);
                    rest = after;
                    return Some(statement);
                }
                b'\\' => rest.len().min(at + 2),
                _ => memchr::memchr(b'\'', &rest[at + 1..]).map_or(rest.len(), |length| at + length + 2),
            };
        }
        let last = std::mem::take(&mut rest);
        (!last.is_empty()).then_some(last)
    })
}

fn sets_path(statement: &[u8]) -> bool {
    statement
        .strip_prefix(b"builtin declare -")
        .and_then(|rest| rest.splitn(2, |byte| *byte == b' ').nth(1))
        .is_some_and(|rest| rest == b"PATH\n" || rest.starts_with(b"PATH="))
        || statement == b"builtin unset -v PATH\n"
}

/// Returns whether the statement defines `builtin`, on which all code before a command relies.
fn replaces_builtin(statement: &[u8]) -> bool {
    [&b"builtin eval 'builtin () "[..], b"builtin eval 'function builtin () ", b"builtin alias -- 'builtin="]
        .iter()
        .any(|beginning| statement.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(restore: &str, path: Option<&str>) -> String {
        let secrets = SecretValues::of([("DB_PASSWORD", "hunter-2")].into_iter());
        String::from_utf8(SnapshotCode::of(restore.as_bytes(), path, &secrets).unwrap().bytes().to_vec()).unwrap()
    }

    #[test]
    fn statements_end_where_bash_ends_them() {
        let text = "a 'x\ny'\\''\nz'\nb \\\n c\n'd\n'\n";
        let found: Vec<_> =
            statements(text.as_bytes()).map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        assert_eq!(found, ["a 'x\ny'\\''\nz'\n", "b \\\n c\n", "'d\n'\n"]);
        assert_eq!(statements(b"").count(), 0);
    }

    #[test]
    fn a_statement_with_a_secret_is_left_out_alone() {
        let kept = code(
            "builtin alias -- 'a=ls\n'\nbuiltin alias -- 'b=mysql -phunter-2'\nbuiltin eval 'c () \n{ x; }'\n",
            None,
        );
        assert_eq!(kept, "builtin alias -- 'a=ls\n'\nbuiltin eval 'c () \n{ x; }'\n");
    }

    #[test]
    fn the_path_is_one_statement_and_can_be_left_out() {
        let secrets = SecretValues::default();
        let restore = b"builtin declare -x PATH='/a'\nbuiltin alias -- 'PATH=x'\nbuiltin declare -x PATH\n";
        let code = SnapshotCode::of(restore, Some("/b"), &secrets).unwrap();
        for code in [SnapshotCode::from_bytes(code.bytes()), code.plain(), code] {
            assert_eq!(&*code.boot(false), b"builtin declare -x PATH='/b'\nbuiltin alias -- 'PATH=x'\n");
            assert_eq!(&*code.boot(true), b"builtin alias -- 'PATH=x'\n");
            assert_eq!(code.path().as_deref(), Some("/b"));
        }
        let quoted = SnapshotCode::of(b"", Some("/it's:/c"), &secrets).unwrap();
        assert_eq!(quoted.path().as_deref(), Some("/it's:/c"));
        assert_eq!(SnapshotCode::of(b"x=1\n", None, &secrets).unwrap().path(), None);
    }

    #[test]
    fn functions_are_written_out() {
        let quoted = "builtin eval 'f () \n{ \n    echo '\\''a'\\''\n}'\nbuiltin alias -- 'a=b'\n";
        let code = SnapshotCode::from_bytes(quoted.as_bytes()).plain();
        assert_eq!(code.bytes(), b"f () \n{ \n    echo 'a'\n}\nbuiltin alias -- 'a=b'\n");
    }

    #[test]
    fn nothing_takes_the_place_of_builtin() {
        assert_eq!(code("builtin eval 'builtin () \n{ :; }'\nbuiltin alias -- 'builtin=x'\n", None), "");
    }

    #[test]
    fn more_than_a_megabyte_is_refused() {
        let alias = format!("builtin alias -- 'a={}'\n", "x".repeat(MAX_CODE_BYTES));
        assert!(
            SnapshotCode::of(alias.as_bytes(), None, &SecretValues::default())
                .unwrap_err()
                .to_string()
                .contains("1048 KB")
        );
    }

    #[test]
    fn a_path_that_was_set_anew_loses_nothing() {
        assert_eq!(joined("/n:/usr/bin:/n", "/usr/bin:/opt::/n:/opt"), "/n:/usr/bin:/n:/opt");
        assert_eq!(joined("/n::/x", "/x"), "/n::/x");
        assert_eq!(joined("", "/x"), "/x");
    }
}
