//! Outputs that are surely numbers. Arithmetic on any other text may run code in it.

use crate::name_lists::has_word;
use crate::options::{OptionSpec, parse};
use crate::simple_command_view::CommandStdin;
use crate::word_value::{ValuePiece, WordValue};

/// Variables that bash sets to numbers.
pub(super) const VARIABLES: &str = "BASHPID BASH_SUBSHELL COLUMNS EPOCHSECONDS EUID HISTCMD LINENO LINES OPTIND PPID \
                                    RANDOM SECONDS SHLVL SRANDOM UID";

/// Programs that print numbers, given the right words.
const PROGRAMS: &str =
    "cat date egrep fgrep ggrep git grep head id nproc printf seq sort stat tail tput tr uniq wc xargs";

/// Returns whether a command prints numbers alone, and blanks.
pub(super) fn prints_only_numbers(name: &str, args: &[WordValue], input: &CommandStdin) -> bool {
    if !has_word(PROGRAMS, name) {
        return false;
    }
    let Some(words) = args.iter().map(WordValue::known).collect::<Option<Vec<&str>>>() else {
        return matches!(name, "printf")
            && matches!(args.first().and_then(WordValue::known), Some("%d" | "%d\\n" | "%i"));
    };
    match name {
        "nproc" => true,
        "seq" => words.iter().all(|word| is_number(word)),
        "id" => matches!(words.as_slice(), ["-u" | "-g" | "-ur" | "-gr"]),
        "date" => {
            matches!(words.as_slice(), [format] if format.strip_prefix('+').is_some_and(|format| is_format(format, "sNYmdHMSjyuw")))
        }
        "wc" => matches!(words.as_slice(), ["-l" | "-c" | "-w" | "-m" | "-L"]),
        "stat" => matches!(words.as_slice(), ["-c", format, _] if is_format(format, "sYXZugahi")),
        "tput" => matches!(words.as_slice(), ["cols" | "lines" | "colors"]),
        "git" => words.starts_with(&["rev-list"]) && words.contains(&"--count"),
        "grep" | "egrep" | "fgrep" | "ggrep" => {
            counts(args)
                || matches!(words.as_slice(), ["-o" | "-oE" | "-Eo", pattern] | ["-o" | "-oE" | "-Eo", pattern, _] if is_digits(pattern))
        }
        "tr" => {
            matches!(words.as_slice(), ["-cd" | "-dc" | "-Cd", "0-9" | "[:digit:]" | "[0-9]" | "0-9\\n"])
                || words.first() == Some(&"-d") && of(input)
        }
        "cat" | "head" | "sort" | "tail" | "uniq" => of(input) && words.iter().all(|word| word.starts_with('-')),
        "xargs" => of(input) && words.is_empty(),
        _ => false,
    }
}

/// Returns whether a text is surely numbers and blanks, or nothing.
pub(super) fn is_numeric(value: &WordValue) -> bool {
    value.pieces().iter().all(|piece| match piece {
        ValuePiece::Text(text) => is_number(text),
        ValuePiece::OneOf(texts) => texts.iter().all(|text| is_number(text)),
        ValuePiece::Unknown(_) | ValuePiece::Glob(_) => false,
    })
}

/// Returns whether `${x//PATTERN/}` leaves digits alone.
pub(super) fn leaves_digits(pattern: &str) -> bool {
    matches!(pattern, "[^0-9]" | "[!0-9]" | "[^[:digit:]]" | "[![:digit:]]" | "[^0-9]/" | "[!0-9]/")
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace() || byte == b'-')
}

fn of(input: &CommandStdin) -> bool {
    input.text().is_some_and(is_numeric)
}

/// Whether a format has these conversions, and no letters.
fn is_format(format: &str, conversions: &str) -> bool {
    let mut signs = format.chars();
    while let Some(sign) = signs.next() {
        let fits = match sign {
            '%' => signs.next().is_some_and(|letter| conversions.contains(letter)),
            sign => sign.is_ascii_digit(),
        };
        if !fits {
            return false;
        }
    }
    true
}

/// `grep -c PATTERN`, with at most one file, whose name is not printed.
fn counts(args: &[WordValue]) -> bool {
    let given = parse(
        args,
        &OptionSpec::gnu(
            "e:f:A:B:C:m:cEFGPivwxqsnrRlLoH",
            "count recursive with-filename files-with-matches files-without-match",
        ),
    );
    given.has("c count")
        && !given.has("r R recursive H with-filename e f l L o files-with-matches files-without-match")
        && given.operands.len() <= 2
}

/// Whether a pattern fits digits alone.
fn is_digits(pattern: &str) -> bool {
    let rest = pattern.replace("[0-9]", "").replace("[[:digit:]]", "").replace("\\+", "");
    rest.len() < pattern.len() && rest.chars().all(|sign| matches!(sign, '+' | '*' | '^' | '$'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simple_command_view::StdinTextSource;

    #[test]
    fn programs_that_print_numbers_are_known() {
        let of = |line: &str, input: &CommandStdin| {
            let words: Vec<WordValue> = line.split(' ').map(WordValue::of).collect();
            prints_only_numbers(line.split(' ').next().unwrap(), &words[1..], input)
        };
        for line in [
            "nproc",
            "seq 1 5",
            "wc -l",
            "date +%s",
            "date +%Y%m%d",
            "grep -c x f",
            "id -u",
            "stat -c %s f",
            "git rev-list --count HEAD",
            "grep -oE [0-9]+ f",
            "tr -cd 0-9",
        ] {
            assert!(of(line, &CommandStdin::Inherited), "{line}");
        }
        for line in
            ["wc -l f", "date", "date +%Y-%B", "grep -rc x .", "cat f", "stat -c %n f", "grep -o .* f", "tr -d x"]
        {
            assert!(!of(line, &CommandStdin::Inherited), "{line}");
        }
        let number = CommandStdin::Text(WordValue::number(), StdinTextSource::Pipe);
        assert!(of("tr -d x", &number) && of("xargs", &number) && of("head -1", &number) && !of("tr 0-9 a-z", &number));
    }
}
