//! Folds the common prefix of lines into a heading: `src/a.ts: [3 lines]`. Paths of a search, lists of a directory,
//! unchanging columns and times share prefixes.

use super::folded_line::FoldedLine;
use super::prefix_tree::{PrefixHeading, PrefixTree};
use crate::failure::{FailureSeverity, severity};

/// Shortest prefix that is folded, in bytes.
const SHORTEST: usize = 4;

/// Folds lines with the same prefix. `None` if folding saves nothing or takes too many steps.
pub(super) fn fold_headings<'a>(lines: &[FoldedLine<'a>]) -> Option<Vec<FoldedLine<'a>>> {
    let texts: Vec<&'a str> =
        lines.iter().filter_map(|line| if let FoldedLine::Text(text) = line { Some(*text) } else { None }).collect();
    let common = common(&texts);
    if common.iter().all(|&length| length == 0) {
        return None;
    }
    let headings = PrefixTree::new(&texts, &common).headings()?;
    if headings.is_empty() { None } else { Some(place(lines, &headings)) }
}

/// Puts headings before their lines, and removes the prefixes.
fn place<'a>(lines: &[FoldedLine<'a>], headings: &[PrefixHeading]) -> Vec<FoldedLine<'a>> {
    let mut placed = Vec::with_capacity(lines.len() + headings.len());
    let mut open: Vec<PrefixHeading> = Vec::new();
    let mut next = headings.iter().copied().peekable();
    let mut number = 0;
    for line in lines {
        let FoldedLine::Text(text) = *line else {
            placed.push(line.clone());
            continue;
        };
        open.retain(|heading| number < heading.end);
        while let Some(heading) = next.next_if(|heading| heading.start == number) {
            let from = open.last().map_or(0, |outer| outer.length);
            placed.push(FoldedLine::Heading(&text[from..heading.length], heading.end - heading.start));
            open.push(heading);
        }
        placed.push(FoldedLine::Text(&text[open.last().map_or(0, |heading| heading.length)..]));
        number += 1;
    }
    placed
}

/// Returns the length of the common prefix of each line with the next, in bytes, cut where a path, a word or a column
/// ends.
fn common(texts: &[&str]) -> Vec<usize> {
    let mut paths: Vec<Option<Option<usize>>> = vec![None; texts.len()];
    let mut lengths = Vec::with_capacity(texts.len().saturating_sub(1));
    for at in 1..texts.len() {
        let (a, b) = (texts[at - 1], texts[at]);
        // Each line keeps some text of its own.
        let longest_same = a.len().min(b.len()).saturating_sub(1);
        let same = a.bytes().zip(b.bytes()).take(longest_same).take_while(|(a, b)| a == b).count();
        let mut length = boundary([a, b], same);
        if length >= SHORTEST {
            for side in [at - 1, at] {
                if let Some(path) = *paths[side].get_or_insert_with(|| path_of_failure(texts[side])) {
                    length = if path <= same { path } else { 0 };
                }
            }
        }
        let says = a.as_bytes()[..length].iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
        lengths.push(if length >= SHORTEST && says >= 2 { length } else { 0 });
    }
    lengths
}

/// Returns the last place at or before `same` where a word or a part of a path ends in both lines. A separator of
/// several signs, such as `::`, stays whole.
fn boundary(lines: [&str; 2], same: usize) -> usize {
    let ends = |byte: u8| matches!(byte, b'/' | b':' | b' ' | b'\t' | b'|' | b')' | b']' | b',' | b'=' | b'\\');
    let goes_on = |at: usize, byte: u8| lines.iter().any(|line| line.as_bytes().get(at + 1) == Some(&byte));
    let is_end = |(at, &byte): (usize, &u8)| ends(byte) && (byte.is_ascii_whitespace() || !goes_on(at, byte));
    lines[0].as_bytes()[..same].iter().enumerate().rposition(is_end).map_or(0, |at| at + 1)
}

/// Returns the length of the path in front of a failure, which is all that a heading may take of it. 0 without a path:
/// the line of a failed test is its name. `None` if the line reports no failure.
fn path_of_failure(text: &str) -> Option<usize> {
    if severity(text) < FailureSeverity::Mention {
        return None;
    }
    let end = text.find([':', '(', ' ', '\t']).unwrap_or(text.len());
    let mut behind = text[end..].chars();
    let sign = behind.next().filter(|_| text[..end].contains(['/', '.']));
    Some(match (sign, behind.next()) {
        (Some(':'), Some(' ' | '0'..='9')) => end + 1,
        (Some('('), Some('0'..='9')) => end,
        _ => 0,
    })
}
