//! The words of a command, as far as they are known without running it.

use safety::parse::{Part, Word};

/// The value of a word. An expansion in it reads `$`, so that the rest of the word can still be judged. `None` if
/// nothing else is in it.
pub(super) fn known(word: &Word) -> Option<String> {
    let mut text = String::new();
    let mut says = false;
    for part in &word.parts {
        add(part, &mut text, &mut says);
    }
    (says || text.is_empty()).then_some(text)
}

fn add(part: &Part, text: &mut String, says: &mut bool) {
    match part {
        Part::Text(part) | Part::Quoted(part) => {
            text.push_str(part);
            *says = true;
        }
        Part::Double(parts) => parts.iter().for_each(|part| add(part, text, says)),
        Part::Pattern(part, _) => {
            text.push_str(part);
            *says = true;
        }
        Part::Parameter(_) | Part::Command(_) | Part::Arithmetic(_) | Part::Process(_) | Part::Array(_) => {
            text.push('$')
        }
    }
}

/// Programs that run the command behind their options.
const WRAPPERS: [&str; 22] = [
    "sudo", "env", "time", "nice", "nohup", "stdbuf", "command", "exec", "builtin", "timeout", "ionice", "setsid",
    "xargs", "npx", "bunx", "pnpx", "uvx", "doas", "unbuffer", "watch", "then", "do",
];

/// The words of a command behind its wrappers: `sudo -E env A=1 timeout 60 npm test` runs npm. `cargo +nightly`,
/// `uv run pytest` and `poetry run pytest` are read as the program that they run.
pub(super) fn without_wrappers(mut words: &[Option<String>]) -> &[Option<String>] {
    for _ in 0..8 {
        let Some(Some(program)) = words.first() else { return words };
        let name = program.rsplit('/').next().unwrap_or(program);
        let behind = if WRAPPERS.contains(&name) {
            1 + words[1..].iter().take_while(|word| is_option(word.as_deref())).count()
        } else if runs_next(name, words.get(1).and_then(Option::as_deref)) {
            2
        } else {
            return words;
        };
        words = words.get(behind..).unwrap_or(&[]);
    }
    words
}

/// Options of a wrapper, their values as far as they look like values, and variables.
fn is_option(word: Option<&str>) -> bool {
    let Some(word) = word else { return false };
    word.starts_with('-')
        || word.starts_with(|c: char| c.is_ascii_digit())
            && word.trim_end_matches(['s', 'm', 'h']).bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        || word.contains('=') && !word.starts_with('=')
        || matches!(word, "{}" | "utf8")
}

/// Whether a program with this first word runs the one behind it: `uv run`, `python -m`.
fn runs_next(name: &str, first: Option<&str>) -> bool {
    match name {
        "uv" | "poetry" | "pipenv" | "hatch" | "rye" | "pdm" | "bundle" => matches!(first, Some("run" | "exec")),
        "python" | "python3" => first == Some("-m"),
        _ => false,
    }
}
