//! Tells whether an awk program only reads: it runs nothing and prints into no file.

use crate::analysis::ReadOnly;
use crate::options::parse;
use crate::programs;
use crate::word_value::WordValue;

/// Returns whether a call of awk only reads.
pub fn read_only(args: &[WordValue]) -> ReadOnly {
    let parsed = parse(args, &programs::of("awk").interpreters[0].options);
    let plain = |name: &str| {
        matches!(name, "F" | "field-separator" | "v" | "assign" | "n" | "N" | "P" | "b" | "c" | "r" | "t" | "S")
    };
    if !parsed.options.iter().all(|given| given.listed && plain(&given.name)) {
        return ReadOnly::Unknown;
    }
    match parsed.operands.first().and_then(|at| args.get(*at)).and_then(WordValue::known) {
        Some(program) if reads(program) => ReadOnly::Yes,
        _ => ReadOnly::Unknown,
    }
}

/// Returns whether a program only reads. Without its strings and patterns it has no pipe, no `system`, and no file
/// behind a `print`.
fn reads(program: &str) -> bool {
    let Some(code) = code(program) else { return false };
    if code.contains("system") || code.contains('@') || code.replace("||", "").contains('|') {
        return false;
    }
    let statements = code.split([';', '\n', '{', '}']);
    statements.into_iter().all(|statement| !(statement.contains("print") && statement.contains('>')))
}

/// Returns a program without its strings, patterns and comments. `None` if one of these does not end.
fn code(program: &str) -> Option<String> {
    let mut code = String::with_capacity(program.len());
    let mut chars = program.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                skip(&mut chars, '"')?;
                code.push('"');
            }
            // Behind a value, `/` divides.
            '/' if !code.trim_end().ends_with(|last: char| last.is_alphanumeric() || "_)]\"$".contains(last)) => {
                skip(&mut chars, '/')?;
                code.push('"');
            }
            '#' => {
                if chars.by_ref().any(|char| char == '\n') {
                    code.push('\n');
                }
            }
            char => code.push(char),
        }
    }
    Some(code)
}

fn skip(chars: &mut std::str::Chars, mark: char) -> Option<()> {
    loop {
        match chars.next()? {
            '\\' => {
                chars.next()?;
            }
            char if char == mark => return Some(()),
            _ => {}
        }
    }
}
