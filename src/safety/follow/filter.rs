//! What is left of a search that goes through `grep`, `sort` or `head`.

use crate::safety::value::{Piece, Value};

/// What a filter lets through of the lines of a search; `None` for another program, or for a text that is no search.
pub(super) fn filtered(name: &str, args: &[Value], text: &Value) -> Option<Value> {
    if !text.has_hole() && !text.has_glob() {
        return None;
    }
    let flags = |plain: fn(&str) -> bool| args.iter().all(|arg| arg.known().is_some_and(plain));
    match name {
        "sort" | "gsort" => flags(|flag| {
            flag.strip_prefix('-').is_some_and(|flag| flag.bytes().all(|next| b"bdfghinruVz".contains(&next)))
        })
        .then(|| text.clone()),
        "uniq" | "tac" | "shuf" => flags(|flag| matches!(flag, "-u" | "-i" | "-z")).then(|| text.clone()),
        "head" | "tail" => {
            let count = |flag: &str| {
                let flag = flag.strip_prefix("--lines=").unwrap_or(flag);
                flag.trim_start_matches('-')
                    .trim_start_matches('n')
                    .trim_start_matches('+')
                    .bytes()
                    .all(|next| next.is_ascii_digit())
            };
            let count = args.iter().all(|arg| arg.known().is_some_and(count));
            // The first line is the start folder.
            count.then(|| part(text, name == "head"))
        }
        "grep" | "egrep" | "fgrep" | "ggrep" => grep(args, text),
        _ => None,
    }
}

fn grep(args: &[Value], text: &Value) -> Option<Value> {
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
    // `grep .` lets all through, and `git` is the one name that is not to be met by accident.
    let pattern = pattern.known()?;
    let longest = pattern.split(|next: char| !next.is_alphanumeric()).map(str::len).max()?;
    (longest >= 3 && !pattern.contains("git") && !pattern.contains(['|', '\n', '*', '?'])).then(|| part(text, false))
}

/// Some of the lines, nobody knows which: of each folder something that is in it.
fn part(text: &Value, first: bool) -> Value {
    let mut part = Value::default();
    // Whether a part of the line is not known.
    let mut open = false;
    for piece in text.pieces() {
        let Piece::Text(text) = piece else {
            open = true;
            part.push(Piece::Hole(false));
            continue;
        };
        for (index, text) in text.split_inclusive(['\n', '\0']).enumerate() {
            let line = text.trim_end_matches(['\n', '\0']);
            open &= index == 0;
            part.push(Piece::Text(line.to_owned()));
            if line.len() == text.len() {
                continue;
            }
            if !open && !first {
                part.push(Piece::Text("/".to_owned()));
                part.push(Piece::Hole(false));
            }
            part.push(Piece::Text(text[line.len()..].to_owned()));
        }
        if text.ends_with(['\n', '\0']) {
            open = false;
        }
    }
    part
}
