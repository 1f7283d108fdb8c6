//! Builtins that set variables to what they read: `read`, `mapfile`, `getopts`.

use std::borrow::Cow;

use super::call::Call;
use super::evaluator::Evaluator;
use super::frame::Frame;
use super::shell::{Separators, Shell};
use super::variables::MAX_CHOICES;
use crate::choices::alternatives;
use crate::command::{Input, Redirect};
use crate::contents;
use crate::options::{OptionSpec, Parsed, parse};
use crate::value::{Piece, Value};

/// Builtins that set the variables that they name.
pub(super) fn set_named(
    evaluator: &mut Evaluator<'_>,
    shell: &mut Shell,
    call: &Call,
    frame: &Frame,
) -> Option<Box<Shell>> {
    let (builtin, args) = call.argv.split_first()?;
    let (spec, always): (_, &[&str]) = match builtin.known()? {
        "read" => (READ, &["REPLY"]),
        "getopts" => (OptionSpec::leading("", ""), &["OPTARG", "OPTIND"]),
        _ => (MAPFILE, &["MAPFILE"]),
    };
    let given = parse(args, &spec);
    let skipped = usize::from(builtin.known() == Some("getopts"));
    let mut named: Vec<Value> = given.operands.iter().skip(skipped).map(|at| args[*at].clone()).collect();
    named.extend(given.value("a").cloned());
    if builtin.known() == Some("getopts") {
        named.truncate(1);
    }
    shell.variables.forgetful |= named.iter().any(|name| name.known().is_none());
    let names: Vec<&str> = named.iter().filter_map(Value::known).map(variable).chain(always.iter().copied()).collect();
    let elsewhere = Input::Opaque { program: None, contents: None };
    let input = match &call.input {
        Input::Inherited if call.redirects.iter().any(Redirect::gives_input) => &elsewhere,
        Input::Inherited => &shell.input,
        own => own,
    };
    let read = match (builtin.known()?, input) {
        ("read", Input::Text(text, _)) => lines_read(&given, text, &names, call.separators(shell)),
        ("mapfile" | "readarray", Input::Text(text, _)) => lines_mapped(&given, text),
        _ => None,
    };
    let contents = input.contents().cloned().or_else(|| contents::read(call.redirects.iter().chain(&shell.redirects)));
    let contents = contents.filter(|_| skipped == 0);
    for (at, name) in names.into_iter().enumerate() {
        let unknown = || vec![Value::unknown_words().with_contents(contents.as_ref())];
        let values = read.as_ref().and_then(|read| read.get(at).cloned()).unwrap_or_else(unknown);
        evaluator.set(shell, name, values, frame);
    }
    None
}

/// Options of `read`.
pub(super) const READ: OptionSpec = OptionSpec::leading("a:d:ei:n:N:p:rst:u:", "");
/// Options of `mapfile`.
const MAPFILE: OptionSpec = OptionSpec::leading("d:n:O:s:tu:C:c:", "");

/// The variable of an operand, without its subscript.
pub(super) fn variable(operand: &str) -> &str {
    operand.split(|next: char| !next.is_ascii_alphanumeric() && next != '_').next().unwrap_or_default()
}

/// The values that `read` gives to variables. In a loop each line is read in its turn, so that a variable may have a
/// word of any line.
fn lines_read(given: &Parsed, text: &Value, names: &[&str], separators: Separators<'_>) -> Option<Vec<Vec<Value>>> {
    let texts = alternatives(text);
    let texts: Vec<&str> = texts.iter().map(Value::known).collect::<Option<_>>()?;
    let lines: Vec<&str> = texts.into_iter().flat_map(str::lines).collect();
    let lines: Vec<Cow<'_, str>> =
        lines.into_iter().map(|line| unescaped(line, given.has("r"))).collect::<Option<_>>()?;
    if given.has("a d i n N u") || lines.len() > MAX_CHOICES || separators != Separators::Default {
        return None;
    }
    // REPLY is the last, and set if it is the only one.
    let count = (names.len() - 1).max(1);
    let mut read = vec![Vec::new(); count];
    for line in &lines {
        let mut rest = line.trim_matches([' ', '\t']);
        for (at, texts) in read.iter_mut().enumerate() {
            let (word, behind) =
                if at + 1 < count { rest.split_once([' ', '\t']).unwrap_or((rest, "")) } else { (rest, "") };
            texts.push(word.to_owned());
            rest = behind.trim_start_matches([' ', '\t']);
        }
    }
    let value = |mut texts: Vec<String>| {
        texts.dedup();
        match texts.as_slice() {
            [] => Value::default(),
            [text] => Value::of(text.as_str()),
            _ => Value::from(Piece::OneOf(texts)),
        }
    };
    Some(read.into_iter().map(|texts| vec![value(texts).derived_from(text)]).collect())
}

/// A line as `read` takes it. `None` if a backslash joins it to the next word or line.
fn unescaped(line: &str, raw: bool) -> Option<Cow<'_, str>> {
    if raw || !line.contains('\\') {
        return Some(Cow::Borrowed(line));
    }
    let mut text = String::new();
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        text.push(if sign == '\\' { signs.next().filter(|next| !next.is_whitespace())? } else { sign });
    }
    Some(Cow::Owned(text))
}

/// The elements that `mapfile` gives to an array.
fn lines_mapped(given: &Parsed, text: &Value) -> Option<Vec<Vec<Value>>> {
    if given.has("d n O s u") {
        return None;
    }
    let texts: Option<Vec<String>> = alternatives(text).iter().map(|text| text.known().map(str::to_owned)).collect();
    let texts = texts?;
    if let [whole] = texts.as_slice() {
        return Some(vec![whole.lines().map(|line| Value::of(line).derived_from(text)).collect()]);
    }
    let lines = texts.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
    Some(vec![vec![Value::from(Piece::OneOf(lines)).derived_from(text)]])
}
