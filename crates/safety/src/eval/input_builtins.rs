//! Builtins that set variables to what they read: `read`, `mapfile`, `getopts`.

use std::borrow::Cow;

use super::evaluation_frame::EvaluationFrame;
use super::evaluator::CommandEvaluator;
use super::program_call::ProgramCall;
use super::simulated_shell::{FieldSeparators, SimulatedShell};
use super::variables::MAX_CHOICES;
use crate::options::{OptionSpec, ParsedArguments, parse};
use crate::secret_contents;
use crate::simple_command_view::{CommandStdin, ExpandedRedirect};
use crate::word_alternatives::alternatives;
use crate::word_value::{ValuePiece, WordValue};

/// Builtins that set the variables that they name.
pub(super) fn set_named(
    evaluator: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    frame: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let (builtin, args) = call.argv.split_first()?;
    let (spec, always): (_, &[&str]) = match builtin.known()? {
        "read" => (READ, &["REPLY"]),
        "getopts" => (OptionSpec::leading("", ""), &["OPTARG", "OPTIND"]),
        _ => (MAPFILE, &["MAPFILE"]),
    };
    let given = parse(args, &spec);
    let skipped = usize::from(builtin.known() == Some("getopts"));
    let mut named: Vec<WordValue> = given.operands.iter().skip(skipped).map(|at| args[*at].clone()).collect();
    named.extend(given.value("a").cloned());
    if builtin.known() == Some("getopts") {
        named.truncate(1);
    }
    shell.variables.forgetful |= named.iter().any(|name| name.known().is_none());
    let names: Vec<&str> =
        named.iter().filter_map(WordValue::known).map(variable).chain(always.iter().copied()).collect();
    let elsewhere = CommandStdin::Opaque { program: None, contents: None };
    let input = match &call.input {
        CommandStdin::Inherited if call.redirects.iter().any(ExpandedRedirect::gives_input) => &elsewhere,
        CommandStdin::Inherited => &shell.input,
        own => own,
    };
    let read = match (builtin.known()?, input) {
        ("read", CommandStdin::Text(text, _)) => lines_read(&given, text, &names, call.separators(shell)),
        ("mapfile" | "readarray", CommandStdin::Text(text, _)) => lines_mapped(&given, text),
        _ => None,
    };
    let contents = input
        .contents()
        .cloned()
        .or_else(|| secret_contents::secret_on_stdin(call.redirects.iter().chain(&shell.redirects)));
    let contents = contents.filter(|_| skipped == 0);
    for (at, name) in names.into_iter().enumerate() {
        let unknown = || vec![WordValue::unknown_words().with_contents(contents.as_ref())];
        let values = read.as_ref().and_then(|read| read.get(at).cloned()).unwrap_or_else(unknown);
        evaluator.set_checked_variable(shell, name, values, frame);
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
fn lines_read(
    given: &ParsedArguments,
    text: &WordValue,
    names: &[&str],
    separators: FieldSeparators<'_>,
) -> Option<Vec<Vec<WordValue>>> {
    let texts = alternatives(text);
    let texts: Vec<&str> = texts.iter().map(WordValue::known).collect::<Option<_>>()?;
    let lines: Vec<&str> = texts.into_iter().flat_map(str::lines).collect();
    let lines: Vec<Cow<'_, str>> =
        lines.into_iter().map(|line| unescaped(line, given.has("r"))).collect::<Option<_>>()?;
    if given.has("a d i n N u") || lines.len() > MAX_CHOICES || separators != FieldSeparators::Default {
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
            [] => WordValue::default(),
            [text] => WordValue::of(text.as_str()),
            _ => WordValue::from(ValuePiece::OneOf(texts)),
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
fn lines_mapped(given: &ParsedArguments, text: &WordValue) -> Option<Vec<Vec<WordValue>>> {
    if given.has("d n O s u") {
        return None;
    }
    let texts: Option<Vec<String>> = alternatives(text).iter().map(|text| text.known().map(str::to_owned)).collect();
    let texts = texts?;
    if let [whole] = texts.as_slice() {
        return Some(vec![whole.lines().map(|line| WordValue::of(line).derived_from(text)).collect()]);
    }
    let lines = texts.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
    Some(vec![vec![WordValue::from(ValuePiece::OneOf(lines)).derived_from(text)]])
}
