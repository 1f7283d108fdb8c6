//! The output of programs that print what their words say.

use super::numeric_output;
use super::search_filters::filtered_lines;
use crate::path::normal;
use crate::programs;
use crate::simple_command_view::CommandStdin;
use crate::unwrap::printed_paths;
use crate::word_value::{ValuePiece, WordValue};

/// The output of a command. `None` if it cannot be known. `temp` looks up the directory for temporary files.
pub(super) fn of(
    argv: &[WordValue],
    cwd: &WordValue,
    input: &CommandStdin,
    temp: impl FnOnce() -> Option<String>,
) -> Option<WordValue> {
    let name = argv.first()?.base_name()?;
    let args = &argv[1..];
    if programs::of(name).prints_shell_code(args.first().and_then(WordValue::known)) {
        return Some(shell_code());
    }
    match name {
        "echo" => Some(echo(args)),
        "printf" => {
            printf(args).or_else(|| numeric_output::prints_only_numbers(name, args, input).then(WordValue::number))
        }
        "pwd" => Some(cwd.clone()),
        "cat" => match input {
            CommandStdin::Text(value, _) if args.is_empty() || args[0].known() == Some("-") => Some(value.clone()),
            _ => None,
        },
        "mktemp" => Some(mktemp(args, temp())),
        "dirname" => {
            let path = args.last()?.known()?.trim_end_matches('/');
            Some(WordValue::of(match path.rsplit_once('/') {
                Some(("", _)) => "/",
                Some((directory, _)) => directory,
                None => ".",
            }))
        }
        "basename" => {
            let path = args.first()?;
            if path.known().is_some_and(|path| !path.is_empty() && path.trim_end_matches('/').is_empty()) {
                return Some(WordValue::of("/"));
            }
            let name = path.base_name()?;
            let suffix = args.get(1).map_or(Some(""), WordValue::known)?;
            Some(WordValue::of(name.strip_suffix(suffix).filter(|left| !left.is_empty()).unwrap_or(name)))
        }
        "which" | "command" | "type" => {
            // The directory of the program is not known, but its name is.
            let program = args.last()?.known().filter(|program| !program.starts_with('-') && !program.contains('/'))?;
            let mut value = WordValue::unknown();
            value.push(ValuePiece::Text(format!("/{program}")));
            Some(value)
        }
        "realpath" | "grealpath" | "readlink" | "greadlink" => canonical(name.ends_with("link"), args, cwd),
        "find" | "gfind" => printed_paths(argv),
        "true" | ":" => Some(WordValue::default()),
        name if numeric_output::prints_only_numbers(name, args, input) => Some(WordValue::number()),
        _ => match input {
            CommandStdin::Text(text, _) => filtered_lines(name, args, text),
            _ => None,
        },
    }
}

/// The absolute path of a file, if no link leads elsewhere.
fn canonical(link: bool, args: &[WordValue], cwd: &WordValue) -> Option<WordValue> {
    let mut follows = !link;
    let mut path = None;
    let mut ended = false;
    for arg in args {
        match arg.known() {
            Some("--") if !ended => ended = true,
            Some("-f" | "-e" | "-m" | "--canonicalize" | "--canonicalize-existing" | "--canonicalize-missing") => {
                follows = true;
            }
            Some("-q" | "-s" | "-n" | "-L" | "-P" | "--quiet" | "--strip" | "--no-symlinks") => {}
            _ if !ended && arg.prefix().starts_with('-') || path.is_some() => return None,
            _ => path = Some(arg),
        }
    }
    let path = path.filter(|_| follows)?;
    if path.known() == Some("") {
        return None;
    }
    let climbs = |value: &WordValue| {
        value.pieces().iter().any(|piece| matches!(piece, ValuePiece::Text(text) if text.contains("..")))
    };
    if !path.prefix().starts_with('/') {
        path.known()?;
    }
    let whole = path.seen_from(cwd);
    match whole.known() {
        Some(text) => Some(WordValue::of(normal(text))),
        None => (whole.prefix().starts_with('/') && !climbs(&whole)).then_some(whole),
    }
}

/// Shell code that a program prints for a shell to run, as `ssh-agent -s` does. Its text is not needed.
fn shell_code() -> WordValue {
    let mut code = WordValue::of(CODE);
    code.push(ValuePiece::Unknown(true));
    code
}

/// Whether an output is such code.
pub(super) fn is_shell_code(value: &WordValue) -> bool {
    value.has_unknown() && value.prefix() == CODE
}

/// The beginning of such code. As a comment, it does nothing when the code runs.
const CODE: &str = "# ";

/// An output without the newlines at its end, as a substitution takes it.
pub(super) fn trimmed(value: &WordValue) -> WordValue {
    match value.known() {
        Some(text) => WordValue::of(text.trim_end_matches('\n')).derived_from(value),
        None => {
            let mut pieces = value.pieces().to_vec();
            if let Some(ValuePiece::Text(text)) = pieces.last_mut() {
                text.truncate(text.trim_end_matches('\n').len());
            }
            let mut trimmed = WordValue::default();
            for piece in pieces {
                trimmed.push(piece);
            }
            trimmed.derived_from(value)
        }
    }
}

fn echo(args: &[WordValue]) -> WordValue {
    let mut escapes = false;
    let mut newline = true;
    let mut from = 0;
    for arg in args {
        let flags = arg
            .known()
            .and_then(|text| text.strip_prefix('-'))
            .filter(|flags| !flags.is_empty() && flags.bytes().all(|byte| b"neE".contains(&byte)));
        let Some(flags) = flags else { break };
        escapes |= flags.contains('e');
        newline &= !flags.contains('n');
        from += 1;
    }
    let mut value = WordValue::default();
    for (index, arg) in args[from..].iter().enumerate() {
        if index > 0 {
            value.push(ValuePiece::Text(" ".to_owned()));
        }
        push(&mut value, arg, escapes);
    }
    if newline {
        value.push(ValuePiece::Text("\n".to_owned()));
    }
    value
}

fn push(value: &mut WordValue, arg: &WordValue, escapes: bool) {
    for piece in arg.pieces() {
        value.push(match piece {
            ValuePiece::Text(text) if escapes => ValuePiece::Text(unescaped(text)),
            piece => piece.clone(),
        });
    }
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next != '\\' {
            plain.push(next);
            continue;
        }
        match rest.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some('\\') | None => plain.push('\\'),
            Some('x') => coded(&mut plain, &mut rest, 16, 2),
            Some('0') => coded(&mut plain, &mut rest, 8, 3),
            Some(digit @ '1'..='7') => {
                let mut all = std::iter::once(digit).chain(rest.clone()).collect::<String>();
                all.truncate(3);
                let mut digits = all.chars();
                coded(&mut plain, &mut digits, 8, 3);
                let taken = all.len() - digits.as_str().len();
                for _ in 1..taken {
                    rest.next();
                }
            }
            Some(other) => {
                plain.push('\\');
                plain.push(other);
            }
        }
    }
    plain
}

fn coded(plain: &mut String, rest: &mut std::str::Chars<'_>, radix: u32, most: usize) {
    let mut code = 0;
    for _ in 0..most {
        let Some(digit) = rest.clone().next().and_then(|next| next.to_digit(radix)) else { break };
        code = code * radix + digit;
        rest.next();
    }
    // Bash drops a NUL.
    plain.extend(char::from_u32(code).filter(|next| *next != '\0'));
}

/// The output of `printf` for the formats `%s`, `%b` and `%%`.
fn printf(args: &[WordValue]) -> Option<WordValue> {
    let args = if args.first().and_then(WordValue::known) == Some("--") { &args[1..] } else { args };
    let (format, mut args) = args.split_first()?;
    let format = format.known()?;
    let mut value = WordValue::default();
    loop {
        let before = args.len();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            value.push(ValuePiece::Text(unescaped(&rest[..at])));
            let sign = rest[at + 1..].chars().next()?;
            match sign {
                '%' => value.push(ValuePiece::Text("%".to_owned())),
                's' | 'b' => {
                    if let Some((arg, left)) = args.split_first() {
                        push(&mut value, arg, sign == 'b');
                        args = left;
                    }
                }
                _ => return None,
            }
            rest = &rest[at + 2..];
        }
        value.push(ValuePiece::Text(unescaped(rest)));
        if args.is_empty() || args.len() == before {
            return Some(value);
        }
    }
}

/// The output of `mktemp`: a new name in the directory for temporary files.
fn mktemp(args: &[WordValue], temp: Option<String>) -> WordValue {
    let mut directory = temp.unwrap_or_else(|| "/tmp".to_owned());
    let mut template = None;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = word.known().unwrap_or_default();
        if text == "-p" {
            directory = words.next().and_then(WordValue::known).unwrap_or("").to_owned();
            template.get_or_insert_with(String::new);
        } else if let Some(given) = text.strip_prefix("--tmpdir=").or_else(|| text.strip_prefix("-p")) {
            given.clone_into(&mut directory);
        } else if text == "-t" {
            words.next();
        } else if !text.starts_with('-') {
            template = Some(word.prefix().trim_end_matches('X').to_owned());
        }
    }
    let plain = !args.iter().any(|word| word.prefix().starts_with("-p") || word.prefix().starts_with("--tmpdir"));
    let mut value = match template {
        Some(template) if plain && !template.is_empty() => WordValue::of(template),
        _ => WordValue::of(format!("{directory}/tmp.")),
    };
    value.push(ValuePiece::Unknown(false));
    value
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::eval::inner_commands::displayed_word;
    use crate::simple_command_view::{CommandStdin, StdinTextSource};
    use crate::word_value::WordValue;

    #[test]
    fn programs_print_what_their_words_say() {
        for (line, wanted) in [
            ("echo a b", Some("a b\n")),
            ("echo -n a", Some("a")),
            ("echo -e a\\tb", Some("a\tb\n")),
            ("printf %s-%s a b", Some("a-b")),
            ("printf %d 1", None),
            ("pwd", Some("/p")),
            ("dirname /a/b", Some("/a")),
            ("dirname b", Some(".")),
            ("basename /a/b.c .c", Some("b")),
            ("which git", Some("…/git")),
            ("realpath ../q", Some("/q")),
            ("readlink q", None),
            ("mktemp -d", Some("/t/tmp.…")),
            ("cat", Some("in")),
            ("make", None),
        ] {
            let argv: Vec<WordValue> = line.split(' ').map(WordValue::of).collect();
            let input = CommandStdin::Text(WordValue::of("in"), StdinTextSource::Pipe);
            let printed = of(&argv, &WordValue::of("/p"), &input, || Some("/t".to_owned()));
            assert_eq!(printed.as_ref().map(displayed_word).as_deref(), wanted, "{line}");
        }
    }
}
