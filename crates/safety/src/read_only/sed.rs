//! Tells whether a call of sed only reads: not with -i or -I, and not with commands that write or run.

use crate::analysis::ReadOnly;
use crate::options::{may_be_option, parse};
use crate::programs;
use crate::word_value::WordValue;

/// Returns whether a call of sed only reads.
pub fn read_only(args: &[WordValue]) -> ReadOnly {
    let parsed = parse(args, &programs::of("sed").options);
    if parsed.has("i I in-place") {
        return ReadOnly::No;
    }
    if parsed.has("help version") {
        return ReadOnly::Yes;
    }
    let until = parsed.dashes.unwrap_or(args.len());
    if parsed.has("f file") || args[..until].iter().any(may_be_option) {
        return ReadOnly::Unknown;
    }
    let given = parsed.options.iter().filter(|given| matches!(given.name.as_str(), "e" | "expression"));
    let mut scripts: Vec<Option<&WordValue>> = given.map(|given| given.value.as_ref()).collect();
    if scripts.is_empty() {
        scripts.push(parsed.operands.first().and_then(|at| args.get(*at)));
    }
    let judged =
        scripts.into_iter().map(|script| script.and_then(WordValue::known).map_or(ReadOnly::Unknown, script_reads));
    judged.max().unwrap_or(ReadOnly::Unknown)
}

/// Reads command by command. A command that is not understood makes the answer unknown.
fn script_reads(script: &str) -> ReadOnly {
    let chars: Vec<char> = script.chars().collect();
    let mut at = 0;
    loop {
        while chars.get(at).is_some_and(|char| char.is_whitespace() || matches!(char, ';' | '{' | '}')) {
            at += 1;
        }
        let Some(next) = address(&chars, at) else { return ReadOnly::Unknown };
        at = next;
        let Some(&command) = chars.get(at) else { return ReadOnly::Yes };
        at += 1;
        let line =
            |from: usize| chars[from..].iter().position(|char| *char == '\n').map_or(chars.len(), |end| from + end);
        let word = |from: usize| {
            chars[from..].iter().position(|char| matches!(char, '\n' | ';' | '}')).map_or(chars.len(), |end| from + end)
        };
        match command {
            '{' => {}
            'd' | 'D' | 'p' | 'P' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'z' | 'F' => {}
            'q' | 'Q' | 'l' | 'L' => {
                while chars.get(at).is_some_and(|char| char.is_ascii_digit() || *char == ' ') {
                    at += 1;
                }
            }
            'b' | 't' | 'T' | ':' => at = word(at),
            'r' | 'R' | '#' => at = line(at),
            // Text. A backslash at the end of a line continues it.
            'a' | 'i' | 'c' => loop {
                at = line(at);
                if at < chars.len() && chars[at - 1] == '\\' {
                    at += 1;
                } else {
                    break;
                }
            },
            's' | 'y' => {
                let Some(&mark) = chars.get(at).filter(|mark| !matches!(mark, '\n' | '\\')) else {
                    return ReadOnly::Unknown;
                };
                let Some(end) = part(&chars, at + 1, mark).and_then(|middle| part(&chars, middle + 1, mark)) else {
                    return ReadOnly::Unknown;
                };
                at = end + 1;
                while let Some(flag) = chars.get(at).filter(|flag| !flag.is_whitespace() && !matches!(flag, ';' | '}'))
                {
                    match flag {
                        'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => at += 1,
                        'w' => return ReadOnly::No,
                        _ => return ReadOnly::Unknown,
                    }
                }
            }
            'w' | 'W' => return ReadOnly::No,
            _ => return ReadOnly::Unknown,
        }
    }
}

/// Returns the position behind an address, if there is one.
fn address(chars: &[char], mut at: usize) -> Option<usize> {
    loop {
        match chars.get(at) {
            Some('0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ') => at += 1,
            Some('/') => at = flags(chars, part(chars, at + 1, '/')? + 1),
            Some('\\') => at = flags(chars, part(chars, at + 2, *chars.get(at + 1)?)? + 1),
            _ => return Some(at),
        }
    }
}

fn flags(chars: &[char], mut at: usize) -> usize {
    while matches!(chars.get(at), Some('I' | 'M')) {
        at += 1;
    }
    at
}

/// Returns the position of the next mark. A mark in brackets or behind a backslash does not count.
fn part(chars: &[char], mut at: usize, mark: char) -> Option<usize> {
    loop {
        match *chars.get(at)? {
            '\\' => at += 2,
            char if char == mark => return Some(at),
            _ => at += 1,
        }
    }
}
