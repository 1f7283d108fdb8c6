//! The output of a search behind `grep`, `sort` or `head`.

use crate::word_value::{ValuePiece, WordValue};

/// The lines of a search that a filter prints. `None` for any other program or text.
pub(super) fn filtered_lines(name: &str, args: &[WordValue], text: &WordValue) -> Option<WordValue> {
    let path = |piece: &ValuePiece| !matches!(piece, ValuePiece::Text(text) if text.contains([' ', '\t']));
    if !(text.has_unknown() || text.has_glob()) || !text.pieces().iter().all(path) {
        return None;
    }
    let flags = |plain: fn(&str) -> bool| args.iter().all(|arg| arg.known().is_some_and(plain));
    match name {
        "sort" | "gsort" => flags(|flag| {
            flag.strip_prefix('-').is_some_and(|flag| flag.bytes().all(|next| b"bdfghinruVz".contains(&next)))
        })
        .then(|| text.clone()),
        "uniq" | "tac" | "shuf" => flags(|flag| matches!(flag, "-u" | "-i" | "-z")).then(|| text.clone()),
        "head" => {
            // `head -n -1` is all but the last.
            let most = |pair: &[WordValue]| !(pair[0].known() == Some("-n") && pair[1].prefix().starts_with('-'));
            // The first line is the start directory.
            (flags(count) && args.windows(2).all(most))
                .then(|| unknown_line_part(text, &ValuePiece::Unknown(false), StartDirectoryHandling::Printed))
        }
        // `tail -n +2` leaves out the start directory only.
        "tail" => flags(count)
            .then(|| unknown_line_part(text, &ValuePiece::Glob("*".to_owned()), StartDirectoryHandling::OnlyBelow)),
        "grep" | "egrep" | "fgrep" | "ggrep" => grep(args, text),
        _ => None,
    }
}

fn grep(args: &[WordValue], text: &WordValue) -> Option<WordValue> {
    let mut inverted = false;
    let mut patterns = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.known().and_then(|word| word.strip_prefix('-')) {
            Some("e") => patterns.push(words.next()?),
            Some("-invert-match") => inverted = true,
            Some(flags) if flags.bytes().all(|flag| b"aEFGPivwxz".contains(&flag)) => inverted |= flags.contains('v'),
            Some(_) => return None,
            None => patterns.push(word),
        }
    }
    let [pattern] = patterns.as_slice() else { return None };
    if inverted {
        return Some(text.clone());
    }
    // `grep .` prints every line, and a pattern that fits `.git` must not hide it.
    let pattern = pattern.known()?;
    let longest = pattern.split(|next: char| !next.is_alphanumeric()).map(str::len).max()?;
    (longest >= 3 && !pattern.contains("git") && !pattern.contains(['|', '\n', '*', '?']))
        .then(|| unknown_line_part(text, &ValuePiece::Unknown(false), StartDirectoryHandling::OnlyBelow))
}

/// Whether a flag is a number of lines: `-5`, `-n 5`, `-n +5`, `--lines=5`.
fn count(flag: &str) -> bool {
    let flag = flag.strip_prefix("--lines=").or_else(|| flag.strip_prefix("-n")).unwrap_or(flag);
    flag.trim_start_matches(['-', '+']).bytes().all(|next| next.is_ascii_digit()) && !flag.starts_with("--")
}

/// The handling of a search's start directory by a filter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StartDirectoryHandling {
    /// The filter prints the directory.
    Printed,
    /// The filter prints only paths below the directory.
    OnlyBelow,
}

/// An unknown part of the lines.
fn unknown_line_part(text: &WordValue, inside: &ValuePiece, start: StartDirectoryHandling) -> WordValue {
    let mut part = WordValue::default();
    // Whether a part of the line is not known.
    let mut open = false;
    for piece in text.pieces() {
        let ValuePiece::Text(text) = piece else {
            open = true;
            part.push(match (piece, inside) {
                (ValuePiece::Glob(_), ValuePiece::Unknown(_)) => inside.clone(),
                _ => piece.clone(),
            });
            continue;
        };
        for line in text.split_inclusive(['\n', '\0']) {
            let name = line.trim_end_matches(['\n', '\0']);
            part.push(ValuePiece::Text(name.to_owned()));
            if name.len() == line.len() {
                continue;
            }
            if !open && start == StartDirectoryHandling::OnlyBelow {
                part.push(ValuePiece::Text("/".to_owned()));
                part.push(inside.clone());
            }
            part.push(ValuePiece::Text(line[name.len()..].to_owned()));
            open = false;
        }
    }
    part
}
