//! Programs that take secrets in ways of their own, and programs that run others: the rows of `data/programs.txt`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::secret_names::{holds_secret, is_path, is_random};

/// The part of a value that is the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretPart {
    /// All of it.
    Whole,
    /// Behind the first of these signs: `user:password`. Without the sign there is no secret.
    Behind(char),
    /// Behind the first colon, or all of it.
    Login,
    /// Between the first colon and the last `@`: `user:password@host`.
    Address,
    /// Between `/` and `@`: `scott/tiger@db`.
    Oracle,
    /// `pass:X` of openssl.
    Prefixed,
    /// Cookies, unless it is the path of a file.
    Cookies,
    /// The last word.
    Last,
    /// All of it, if it looks random.
    Random,
    /// Behind the first `=`, if it looks random.
    RandomBehind,
    /// All of it, unless it begins with a slash.
    Unslashed,
    /// All of it, if it is one word.
    Word,
}

/// How the value of an option follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValuePlace {
    /// In the same word.
    Joined,
    /// In the next word.
    Next,
    /// In the next word, also behind a group of options that ends with this one: `-su`.
    Grouped,
}

/// An option of a program.
#[derive(Debug)]
pub struct SecretOption {
    /// The option, with its dashes.
    pub name: &'static str,
    /// The place of its value.
    pub place: OptionValuePlace,
    /// The secret in the value.
    pub part: SecretPart,
}

/// A word that is the secret by its place behind other words.
#[derive(Debug)]
pub struct SecretOperand {
    /// Words that must come before, in this order. A longer word counts if a dot follows: `http-basic.host`.
    pub behind: Vec<&'static str>,
    /// Words without a dash to skip then.
    pub skip: usize,
    /// Whether the last word to skip may be missing.
    pub lenient: bool,
    /// Whether all words from there on are secrets.
    pub all: bool,
    /// The secret in the word.
    pub part: SecretPart,
}

/// One way in which a program takes a secret or runs a command.
#[derive(Debug)]
pub enum SecretForm {
    /// An option with a secret.
    Flag(SecretOption),
    /// A word with a secret.
    Operand(SecretOperand),
    /// The word behind the name of a secret. With an option, only behind that option.
    Named(Option<&'static str>),
    /// A secret on standard input. With a word, if that is among the arguments.
    Sink(Option<&'static str>, SecretPart),
    /// Another program among the arguments. With an option, only behind that option.
    Command(Option<&'static str>),
    /// A script behind this option.
    Script(&'static str),
    /// Scripts in all words with blanks.
    Scripts,
    /// A script on standard input.
    ReadsScript,
    /// Lines on standard input that are read like arguments.
    ReadsLines,
}

/// The forms of some programs.
#[derive(Debug, Default)]
pub struct ProgramSecretForms {
    /// Words of which one must be among the arguments for options and operands to count.
    when: Vec<&'static str>,
    /// The forms.
    pub forms: Vec<SecretForm>,
}

impl ProgramSecretForms {
    /// Returns whether the options and operands of this row count for these arguments.
    pub fn applies_to(&self, mut arguments: impl Iterator<Item: AsRef<str>>) -> bool {
        self.when.is_empty() || arguments.any(|word| self.when.contains(&word.as_ref()))
    }
}

const DATA: &str = include_str!("../data/programs.txt");

static ROWS: LazyLock<HashMap<&'static str, Vec<ProgramSecretForms>>> = LazyLock::new(|| {
    let mut all: HashMap<_, Vec<ProgramSecretForms>> = HashMap::new();
    for line in DATA.lines() {
        let Some((names, forms)) = split_line(line) else { continue };
        for name in names.split(" [").next().unwrap_or_default().split(' ') {
            all.entry(name).or_default().push(parse_row(names, forms));
        }
    }
    all
});

/// Returns the programs and the forms of a line.
fn split_line(line: &'static str) -> Option<(&'static str, &'static str)> {
    line.split_once(": ").filter(|_| !line.starts_with('#'))
}

fn parse_row(names: &'static str, forms: &'static str) -> ProgramSecretForms {
    let when = names.split_once(" [").map_or("", |(_, when)| when.trim_end_matches(']'));
    ProgramSecretForms {
        when: when.split_ascii_whitespace().collect(),
        forms: forms.split(", ").filter_map(parse_form).collect(),
    }
}

/// Reads a form; see the head of the data.
fn parse_form(text: &'static str) -> Option<SecretForm> {
    let words: Vec<&'static str> = text.split(' ').collect();
    Some(match words.as_slice() {
        ["COMMAND"] => SecretForm::Command(None),
        [flag, "COMMAND"] => SecretForm::Command(Some(flag)),
        [flag, "SCRIPT"] if *flag != "<" => SecretForm::Script(flag),
        ["<", "SCRIPT"] => SecretForm::ReadsScript,
        ["<", "LINES"] => SecretForm::ReadsLines,
        ["SCRIPT..."] => SecretForm::Scripts,
        ["SECRET", "X"] => SecretForm::Named(None),
        [flag, "SECRET", "X"] => SecretForm::Named(Some(flag)),
        ["<", value] => SecretForm::Sink(None, parse_secret_part(value)?),
        [word, "<", value] => SecretForm::Sink(Some(word), parse_secret_part(value)?),
        [flag, value] if flag.starts_with('-') => match flag.strip_prefix("-*") {
            Some(letter) => SecretForm::Flag(SecretOption {
                name: letter,
                place: OptionValuePlace::Grouped,
                part: parse_secret_part(value)?,
            }),
            None => SecretForm::Flag(SecretOption {
                name: flag,
                place: OptionValuePlace::Next,
                part: parse_secret_part(value)?,
            }),
        },
        [word] if word.starts_with(['-', '/']) => parse_joined_option(word)?,
        [before @ .., value] => {
            let behind = before.iter().take_while(|word| !word.starts_with('_')).copied().collect::<Vec<_>>();
            let skip = before.len() - behind.len();
            let all = value.ends_with("...");
            let part = parse_secret_part(value.trim_end_matches("..."))?;
            SecretForm::Operand(SecretOperand { behind, skip, lenient: before.ends_with(&["_?"]), all, part })
        }
        [] => return None,
    })
}

/// Reads a form such as `-pX` and `-uuser:X`.
fn parse_joined_option(word: &'static str) -> Option<SecretForm> {
    let (at, part) = (1..word.len()).find_map(|at| Some((at, parse_secret_part(&word[at..])?)))?;
    Some(SecretForm::Flag(SecretOption { name: &word[..at], place: OptionValuePlace::Joined, part }))
}

/// Returns the part that a form shows by its X.
fn parse_secret_part(value: &str) -> Option<SecretPart> {
    Some(match value {
        "X" => SecretPart::Whole,
        "user:X" => SecretPart::Behind(':'),
        "user,X" => SecretPart::Behind(','),
        "user%X" => SecretPart::Behind('%'),
        "name=X" => SecretPart::Behind('='),
        ">X" => SecretPart::Behind('>'),
        "[user:]X" => SecretPart::Login,
        "user:X@host" => SecretPart::Address,
        "user/X@db" => SecretPart::Oracle,
        "pass:X" => SecretPart::Prefixed,
        "cookie=X" => SecretPart::Cookies,
        "~X" => SecretPart::Random,
        "name=~X" => SecretPart::RandomBehind,
        "X!" => SecretPart::Unslashed,
        _ => return None,
    })
}

/// What announces the secret of a form in a text.
#[derive(Debug, PartialEq, Eq)]
pub enum SecretFormSign {
    /// The name of the program, as a word.
    Program(&'static str),
    /// An argument that is long enough to be rare.
    Argument(&'static str),
}

/// Returns the signs of all forms whose secrets no name announces, `is_announced` by itself.
pub fn signs(is_announced: impl Fn(&str) -> bool) -> Vec<SecretFormSign> {
    let mut signs = Vec::new();
    let is_rare = |word: &&str| word.len() >= 8 && word.contains(['-', '_', ':']);
    for (program, row) in ROWS.iter().flat_map(|(name, rows)| rows.iter().map(move |row| (*name, row))) {
        for form in &row.forms {
            let Some(words) = form.words() else { continue };
            if words.iter().any(|word| is_announced(word)) {
                continue;
            }
            if let Some(word) = words.iter().find(|word| is_rare(word)) {
                signs.push(SecretFormSign::Argument(word));
            } else if row.when.is_empty() || !row.when.iter().all(|word| is_announced(word) || is_rare(word)) {
                signs.push(SecretFormSign::Program(program));
            } else {
                let rare = row.when.iter().filter(|word| !is_announced(word));
                signs.extend(rare.map(|word| SecretFormSign::Argument(word)));
            }
        }
    }
    signs
}

impl SecretForm {
    /// Returns the arguments of which each must be there for the form to count. `None` if a name announces its secret.
    fn words(&self) -> Option<Vec<&'static str>> {
        match self {
            Self::Flag(flag) if flag.place == OptionValuePlace::Joined => Some(Vec::new()),
            Self::Flag(flag) => Some(vec![flag.name]),
            Self::Operand(operand) => Some(operand.behind.clone()),
            Self::Sink(word, _) => Some(word.iter().copied().collect()),
            _ => None,
        }
    }
}

/// Returns the rows of the program with this name.
pub fn rows_of(name: &str) -> &'static [ProgramSecretForms] {
    ROWS.get(name).map_or(&[], Vec::as_slice)
}

/// Returns the forms of the program with this name, whatever its arguments.
pub fn forms_of(name: &str) -> impl Iterator<Item = &'static SecretForm> {
    rows_of(name).iter().flat_map(|row| &row.forms)
}

/// Returns the secret in a value.
pub fn secret_in(part: SecretPart, value: &str) -> Option<Range<usize>> {
    let secret = match part {
        SecretPart::Whole => 0..value.len(),
        // `C:\cert` and `/dir:x` are paths.
        SecretPart::Behind(_) if is_path(value) => return None,
        SecretPart::Behind(sign) => match value.find(sign)? {
            // `curl -u KEY:`, with a key in place of the user.
            at if at + 1 == value.len() && is_random(&value[..at]) => 0..at,
            at => at + 1..value.len(),
        },
        SecretPart::Login => value.find(':').map_or(0, |colon| colon + 1)..value.len(),
        SecretPart::Address => value.find(':').filter(|_| !value.contains("://"))? + 1..value.rfind('@')?,
        SecretPart::Oracle => {
            let from = value.find('/')? + 1;
            let end = value[from..].find('@').map_or(value.len(), |at| from + at);
            let is_login = from > 1 && !value[..from].contains(['.', '@', '=']) && !value[from..end].contains('/');
            return (is_login && from < end).then_some(from..end);
        }
        SecretPart::Prefixed => value.strip_prefix("pass:").map(|_| 5)?..value.len(),
        SecretPart::Cookies => value.find('=').map(|_| 0)?..value.len(),
        SecretPart::Last => {
            value.trim_end().rfind(char::is_whitespace).map_or(0, |blank| blank + 1)..value.trim_end().len()
        }
        SecretPart::Random => 0..keys_length(value),
        SecretPart::RandomBehind => value.find('=').filter(|sign| is_random(&value[sign + 1..]))? + 1..value.len(),
        SecretPart::Unslashed if value.starts_with('/') => return None,
        SecretPart::Word if value.trim_end().contains(char::is_whitespace) => return None,
        SecretPart::Word => 0..value.len(),
        SecretPart::Unslashed => 0..value.len(),
    };
    (secret.start < secret.end).then_some(secret)
}

/// Returns the length of a random value that is typed, without the keys that end it: `X\n`, `X^M`. 0 if it is none.
fn keys_length(value: &str) -> usize {
    let typed =
        ["\\n", "\\r", "^M", "\n", "\r"].iter().fold(value, |typed, end| typed.strip_suffix(end).unwrap_or(typed));
    if is_random(typed) { typed.len() } else { 0 }
}

/// Returns whether a word is the name of a secret whose value is the next word.
pub fn names_next(word: &str, next: &str) -> bool {
    let name = word.rsplit([':', '.', '/']).next().unwrap_or(word);
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    is_name && !is_path(word.trim_start_matches('/')) && holds_secret(name, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_data_is_a_comment_or_a_row_of_known_forms() {
        for line in DATA.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (names, forms) = split_line(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(parse_row(names, forms).forms.len(), forms.split(", ").count(), "{line}");
            assert!(line.len() <= 120, "{line}");
        }
    }

    #[test]
    fn the_secret_is_the_part_that_the_form_shows() {
        for (form, value, wanted) in [
            ("X", "a:b", Some("a:b")),
            ("user:X", "me:b:c", Some("b:c")),
            ("user:X", "me", None),
            ("user:X", "/dir:x", None),
            ("user%X", "me%b", Some("b")),
            ("[user:]X", "abc", Some("abc")),
            ("[user:]X", "me:b", Some("b")),
            ("user:X@host", "me:b@c@h:1", Some("b@c")),
            ("user:X@host", "http://h:1/@x", None),
            ("user:X@host", "h:3128", None),
            ("user/X@db", "me/b@//h:1/s", Some("b")),
            ("user/X@db", "/nolog", None),
            ("user/X@db", "dir/sub/file", None),
            ("pass:X", "pass:b", Some("b")),
            ("pass:X", "env:B", None),
            ("cookie=X", "a=b", Some("a=b")),
            ("cookie=X", "jar.txt", None),
        ] {
            let found = parse_secret_part(form).and_then(|part| secret_in(part, value));
            assert_eq!(found.map(|secret| &value[secret]), wanted, "{form} {value}");
        }
    }
}
