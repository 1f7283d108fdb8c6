//! The output of programs, by their names and words.

use safety::ProgramOutputKind;

/// The output of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrintedContent {
    /// Nothing that matters.
    Nothing,
    /// Contents of files, differences, data.
    Exact,
    /// Rows of a search or a list.
    Rows,
    /// The program's input, or a part of it.
    Input,
    /// Messages of the program.
    Text,
}

/// Returns whether a program never says anything itself, whatever its words are.
pub(super) fn only_shows(name: &str) -> bool {
    matches!(name, "echo" | "printf" | "journalctl")
        || name != "perl" && ProgramOutputKind::of(name) != ProgramOutputKind::Text
}

/// Returns the output of a program, by its name and its words. `piped`: the program reads the output of another
/// command.
pub(super) fn printed_content(name: &str, words: &[Option<String>], piped: bool) -> PrintedContent {
    let has = |wanted: &str| words.iter().flatten().any(|word| word == wanted);
    if is_data(name, words) {
        return PrintedContent::Exact;
    }
    match name {
        "git" => return of_git(words),
        "gh" if has("diff") || has("--json") || has("--jq") => return PrintedContent::Exact,
        _ => {}
    }
    match ProgramOutputKind::of(name) {
        ProgramOutputKind::Nothing => PrintedContent::Nothing,
        ProgramOutputKind::Filtered => of_filter(name, words, piped),
        ProgramOutputKind::Input if piped => PrintedContent::Input,
        ProgramOutputKind::Data => PrintedContent::Exact,
        ProgramOutputKind::Matches if piped && !reads_operand(words) => PrintedContent::Text,
        ProgramOutputKind::Matches | ProgramOutputKind::Rows => PrintedContent::Rows,
        ProgramOutputKind::Input | ProgramOutputKind::Text => PrintedContent::Text,
    }
}

/// Returns whether options ask for data.
fn is_data(name: &str, words: &[Option<String>]) -> bool {
    let searches = matches!(name, "grep" | "egrep" | "fgrep" | "rg");
    words.iter().enumerate().any(|(at, word)| {
        let Some(word) = word.as_deref() else { return false };
        let next = || words.get(at + 1).and_then(Option::as_deref).unwrap_or("");
        match word {
            "--json"
            | "--porcelain"
            | "--null"
            | "-print0"
            | "--format=json"
            | "--output=json"
            | "--output-format=json"
            | "-ojson"
            | "-oyaml"
            | "--only-matching" => true,
            "-z" => !matches!(name, "tar" | "test" | "["),
            "-o" if searches => true,
            "-o" | "--output" | "--format" | "--output-format" => {
                matches!(next(), "json" | "yaml" | "jsonpath" | "csv")
            }
            _ if searches && word.starts_with('-') && !word.starts_with("--") => word.contains('o'),
            _ => word.starts_with("--porcelain=") || word.starts_with("--json="),
        }
    })
}

/// Returns the output of a program that prints the contents of files if it is given any, and otherwise passes its input
/// on.
fn of_filter(name: &str, words: &[Option<String>], piped: bool) -> PrintedContent {
    let operands =
        words.iter().filter(|word| word.as_deref().is_none_or(|word| !word.starts_with('-') || word == "-")).count();
    let takes = match name {
        // The first operand of these programs is a script, if no option gives it.
        "sed" | "awk" | "gawk" | "perl" => 1,
        "tr" => 2,
        "head" | "tail" => usize::from(words.iter().flatten().any(|word| matches!(word.as_str(), "-n" | "-c"))),
        "cut" => words.iter().flatten().filter(|word| matches!(word.as_str(), "-d" | "-f" | "-c" | "-b")).count(),
        _ => 0,
    };
    if name == "tail" && words.iter().flatten().any(|word| matches!(word.as_str(), "-f" | "-F" | "--follow")) {
        return PrintedContent::Text;
    }
    if operands > takes {
        return match name {
            "sed"
                if words
                    .iter()
                    .flatten()
                    .any(|word| word == "-i" || word.starts_with("-i") || word == "--in-place") =>
            {
                PrintedContent::Nothing
            }
            _ => PrintedContent::Exact,
        };
    }
    match name {
        "awk" | "gawk" | "perl" | "cut" if piped => PrintedContent::Text,
        _ if piped => PrintedContent::Input,
        "perl" => PrintedContent::Text,
        _ => PrintedContent::Nothing,
    }
}

/// Returns whether a search in a pipe is given a file or a directory in addition to its pattern.
fn reads_operand(words: &[Option<String>]) -> bool {
    let operands = words.iter().filter(|word| word.as_deref().is_none_or(|word| !word.starts_with('-'))).count();
    let has_pattern = words.iter().flatten().any(|word| matches!(word.as_str(), "-e" | "-f"));
    // Values of options count as operands here, so only three or more are certain.
    operands > if has_pattern { 1 } else { 2 }
}

fn of_git(words: &[Option<String>]) -> PrintedContent {
    let mut rest = words.iter().flatten().map(String::as_str);
    let mut command = rest.next();
    while let Some(word) = command {
        command = match word {
            "-C" | "-c" | "--git-dir" | "--work-tree" => {
                rest.next();
                rest.next()
            }
            _ if word.starts_with('-') => rest.next(),
            _ => break,
        };
    }
    let has = |wanted: &[&str]| words.iter().flatten().any(|word| wanted.iter().any(|wanted| word.starts_with(wanted)));
    let patch = ["-p", "-u", "--patch", "--unified", "--cc"];
    let shows_patch = words.iter().flatten().any(|word| match word.strip_prefix("-U") {
        Some(lines) => lines.bytes().all(|byte| byte.is_ascii_digit()),
        None => patch.contains(&word.as_str()) || word.starts_with("--unified=") || word.starts_with("--patch-with-"),
    });
    let counts = !shows_patch
        && has(&["--stat", "--name-only", "--name-status", "--shortstat", "--numstat", "--summary", "--quiet"]);
    match command.unwrap_or("") {
        "diff" | "show" | "format-patch" | "range-diff" if !counts => PrintedContent::Exact,
        "blame" | "cat-file" | "annotate" => PrintedContent::Exact,
        "log" | "stash" if shows_patch => PrintedContent::Exact,
        "log" | "grep" | "ls-files" | "ls-tree" | "branch" | "tag" | "reflog" | "remote" | "diff" | "show"
        | "config" | "rev-list" | "worktree" => PrintedContent::Rows,
        "add" | "rev-parse" => PrintedContent::Nothing,
        _ => PrintedContent::Text,
    }
}
