//! The entries that `declare -p` prints, one for each variable.

use std::collections::BTreeMap;

use super::quoting::{push_quoted, word, word_until};

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeclaredVariable {
    /// The letters of the attributes, as bash prints them: `x`, `ir`, `a` …
    pub flags: String,
    pub value: DeclaredValue,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DeclaredValue {
    /// The variable is declared without a value.
    Unset,
    Text(Vec<u8>),
    /// The texts of an indexed array.
    Indexed(BTreeMap<u64, Vec<u8>>),
    /// The texts of an associative array.
    Associative(BTreeMap<Vec<u8>, Vec<u8>>),
}

/// Reads entries to the end. Of two entries for a name, the later one counts.
pub(super) fn variables(mut text: &[u8]) -> Option<BTreeMap<Vec<u8>, DeclaredVariable>> {
    let mut found = BTreeMap::new();
    while !text.is_empty() {
        let (name, variable, rest) = entry(text)?;
        found.insert(name, variable);
        text = rest;
    }
    Some(found)
}

fn entry(text: &[u8]) -> Option<(Vec<u8>, DeclaredVariable, &[u8])> {
    let (flags, text) = flags(text)?;
    let length = text.iter().position(|byte| matches!(byte, b'=' | b'\n'))?;
    let name = text[..length].to_vec();
    let rest = &text[length + 1..];
    if text[length] == b'\n' {
        return Some((name, DeclaredVariable { flags, value: DeclaredValue::Unset }, rest));
    }
    let associative = flags.contains('A');
    let (value, rest) = if associative || flags.contains('a') {
        if rest.first() == Some(&b'(') {
            list(rest, associative)?
        } else {
            // bash before 4.4 quotes the whole list.
            let (inner, rest) = word(rest)?;
            (list(&inner, associative)?.0, rest)
        }
    } else {
        let (value, rest) = word(rest)?;
        (DeclaredValue::Text(value), rest)
    };
    Some((name, DeclaredVariable { flags, value }, rest.strip_prefix(b"\n")?))
}

/// Parses `declare -FLAGS `, where a second dash means no flags.
pub(super) fn flags(text: &[u8]) -> Option<(String, &[u8])> {
    let text = text.strip_prefix(b"declare -")?;
    let length = memchr::memchr(b' ', text)?;
    let flags = std::str::from_utf8(&text[..length]).ok()?;
    let known = flags == "-" || flags.bytes().all(|byte| byte.is_ascii_alphabetic());
    known.then(|| (flags.trim_start_matches('-').to_owned(), &text[length + 1..]))
}

/// Parses `([KEY]=VALUE …)`.
fn list(text: &[u8], associative: bool) -> Option<(DeclaredValue, &[u8])> {
    let mut text = text.strip_prefix(b"(")?;
    let mut found = BTreeMap::new();
    loop {
        text = text.strip_prefix(b" ").unwrap_or(text);
        if let Some(rest) = text.strip_prefix(b")") {
            text = rest;
            break;
        }
        let (key, rest) = word_until(text.strip_prefix(b"[")?, |byte| byte == b']')?;
        let (value, rest) = word(rest.strip_prefix(b"]=")?)?;
        found.insert(key, value);
        text = rest;
    }
    if associative {
        return Some((DeclaredValue::Associative(found), text));
    }
    let number = |(key, value): (Vec<u8>, Vec<u8>)| Some((std::str::from_utf8(&key).ok()?.parse().ok()?, value));
    Some((DeclaredValue::Indexed(found.into_iter().map(number).collect::<Option<_>>()?), text))
}

impl DeclaredValue {
    pub fn is_text(&self, text: &[u8]) -> bool {
        matches!(self, Self::Text(own) if own == text)
    }
}

impl DeclaredVariable {
    /// Returns the flags of variables that one command can declare together: plain texts, and exported texts.
    pub fn batch(&self) -> Option<&str> {
        (matches!(self.value, DeclaredValue::Text(_)) && matches!(self.flags.as_str(), "" | "x")).then_some(&self.flags)
    }

    /// Adds the command that declares all of these variables, which belong to one batch.
    pub fn push_declare_all<'a>(&self, code: &mut Vec<u8>, batch: impl Iterator<Item = (&'a [u8], &'a Self)>) {
        push_command(code, "builtin declare", &self.flags);
        for (name, variable) in batch {
            code.push(b' ');
            code.extend_from_slice(name);
            variable.push_value(code);
        }
        code.push(b'\n');
    }

    /// Adds the commands that declare the variable. Attributes that transform an assignment follow the value, which may
    /// be older.
    pub fn push_declare(&self, code: &mut Vec<u8>, name: &[u8]) {
        let changing = |flag: &char| "ilucr".contains(*flag);
        let (late, early): (String, String) = self.flags.chars().partition(changing);
        let early = if self.value == DeclaredValue::Unset { &self.flags } else { &early };
        // After `builtin` a list is not parsed as a list. No function can get in the way yet.
        let is_list = matches!(self.value, DeclaredValue::Indexed(_) | DeclaredValue::Associative(_));
        push_command(code, if is_list { "declare" } else { "builtin declare" }, early);
        code.push(b' ');
        code.extend_from_slice(name);
        self.push_value(code);
        code.push(b'\n');
        if !(late.is_empty() || self.value == DeclaredValue::Unset) {
            push_command(code, "builtin declare", &late);
            code.push(b' ');
            code.extend_from_slice(name);
            code.push(b'\n');
        }
    }

    fn push_value(&self, code: &mut Vec<u8>) {
        match &self.value {
            DeclaredValue::Unset => {}
            DeclaredValue::Text(text) => {
                code.push(b'=');
                push_quoted(code, text);
            }
            DeclaredValue::Indexed(list) => {
                code.extend_from_slice(b"=(");
                for (index, text) in list {
                    code.extend_from_slice(format!("[{index}]=").as_bytes());
                    push_quoted(code, text);
                    code.push(b' ');
                }
                code.push(b')');
            }
            DeclaredValue::Associative(list) => {
                code.extend_from_slice(b"=(");
                for (key, text) in list {
                    code.push(b'[');
                    push_quoted(code, key);
                    code.extend_from_slice(b"]=");
                    push_quoted(code, text);
                    code.push(b' ');
                }
                code.push(b')');
            }
        }
    }
}

fn push_command(code: &mut Vec<u8>, declare: &str, flags: &str) {
    code.extend_from_slice(declare.as_bytes());
    code.extend_from_slice(b" -");
    code.extend_from_slice(if flags.is_empty() { b"-" } else { flags.as_bytes() });
}
