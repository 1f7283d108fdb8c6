//! Functions as `declare -F` and `declare -f` print them.

use std::collections::BTreeMap;

use super::declared_variables::flags;
use super::is_complete;
use super::quoting::push_quoted;

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeclaredFunction {
    /// Definition of the function, with its name.
    pub text: Vec<u8>,
    /// Letters of the attributes: `x`, `t`, `r`.
    pub flags: String,
}

/// Splits the texts of all functions by their names, which are in the same order.
pub(super) fn functions(names: &[u8], mut texts: &[u8]) -> Option<BTreeMap<Vec<u8>, DeclaredFunction>> {
    let lines = names.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let names = lines.map(flags).collect::<Option<Vec<_>>>()?;
    let places = definition_starts(texts);
    let plain = places.len() == names.len();
    let mut found = BTreeMap::new();
    let mut start = 0;
    for (index, (flags, name)) in names.iter().enumerate() {
        if !begins_definition(texts, name) {
            return None;
        }
        let length = match names.get(index + 1) {
            Some(_) if plain => places[index + 1] - start,
            Some((_, next)) => next_definition(texts, next)?,
            None => texts.len(),
        };
        let (text, rest) = texts.split_at_checked(length)?;
        let flags = flags.replace('f', "");
        found.insert(name.to_vec(), DeclaredFunction { text: text.trim_ascii_end().to_vec(), flags });
        texts = rest;
        start += length;
    }
    texts.is_empty().then_some(found)
}

/// Returns where lines start that resemble the first line of a definition.
fn definition_starts(texts: &[u8]) -> Vec<usize> {
    let lines = memchr::memmem::find_iter(texts, b" () \n");
    lines
        .map(|at| memchr::memrchr(b'\n', &texts[..at]).map_or(0, |end| end + 1))
        .filter(|at| texts[*at] != b' ')
        .collect()
}

/// Returns whether a definition of this function starts here.
fn begins_definition(text: &[u8], name: &[u8]) -> bool {
    let text = text.strip_prefix(b"function ").unwrap_or(text);
    text.strip_prefix(name).is_some_and(|rest| rest.starts_with(b" () \n"))
}

/// Returns where the next definition starts. The same line may occur in a heredoc of this function, at which point this
/// function is not complete.
fn next_definition(texts: &[u8], next: &[u8]) -> Option<usize> {
    let mut places =
        memchr::memchr_iter(b'\n', texts).map(|at| at + 1).filter(|at| begins_definition(&texts[*at..], next));
    let first = places.next()?;
    let mut rest = places.peekable();
    if rest.peek().is_none() {
        return Some(first);
    }
    let complete = |at: &usize| is_complete(&String::from_utf8_lossy(&texts[..*at]));
    Some(std::iter::once(first).chain(rest).find(complete).unwrap_or(first))
}

impl DeclaredFunction {
    /// Adds the commands that define the function. A text that bash cannot read again spoils only this function.
    pub fn push_definition(&self, code: &mut Vec<u8>, name: &[u8]) {
        code.extend_from_slice(b"builtin eval ");
        push_quoted(code, &self.text);
        code.push(b'\n');
        if !self.flags.is_empty() {
            code.extend_from_slice(format!("builtin declare -f{} ", self.flags).as_bytes());
            push_quoted(code, name);
            code.push(b'\n');
        }
    }
}
