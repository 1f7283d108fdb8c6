//! Folds the common prefix of lines into a heading: `src/a.ts: [3 lines]`. Paths of a search, lists of a directory,
//! unchanging columns and times share prefixes.

use super::line::Line;
use super::tree::{Heading, Tree};
use crate::failure::{Severity, severity};

/// Shortest prefix that is folded, in bytes.
const SHORTEST: usize = 4;

/// Folds lines with the same prefix. `None` if folding saves nothing or takes too many steps.
pub(super) fn fold<'a>(lines: &[Line<'a>]) -> Option<Vec<Line<'a>>> {
    let texts: Vec<&'a str> =
        lines.iter().filter_map(|line| if let Line::Text(text) = line { Some(*text) } else { None }).collect();
    let common = common(&texts);
    if common.iter().all(|&length| length == 0) {
        return None;
    }
    let headings = Tree::new(&texts, &common).headings()?;
    if headings.is_empty() { None } else { Some(place(lines, &headings)) }
}

/// Puts headings before their lines, and removes the prefixes.
fn place<'a>(lines: &[Line<'a>], headings: &[Heading]) -> Vec<Line<'a>> {
    let mut placed = Vec::with_capacity(lines.len() + headings.len());
    let mut open: Vec<Heading> = Vec::new();
    let mut next = headings.iter().copied().peekable();
    let mut number = 0;
    for line in lines {
        let Line::Text(text) = *line else {
            placed.push(line.clone());
            continue;
        };
        open.retain(|heading| number < heading.end);
        while let Some(heading) = next.next_if(|heading| heading.start == number) {
            let from = open.last().map_or(0, |outer| outer.length);
            placed.push(Line::Heading(&text[from..heading.length], heading.end - heading.start));
            open.push(heading);
        }
        placed.push(Line::Text(&text[open.last().map_or(0, |heading| heading.length)..]));
        number += 1;
    }
    placed
}

/// Returns the length of the common prefix of each line with the next, in bytes, cut where a path, a word or a column
/// ends.
fn common(texts: &[&str]) -> Vec<usize> {
    let mut tops: Vec<Option<usize>> = vec![None; texts.len()];
    let mut lengths = Vec::with_capacity(texts.len().saturating_sub(1));
    for at in 1..texts.len() {
        let (a, b) = (texts[at - 1], texts[at]);
        // Each line keeps some text of its own.
        let longest_same = a.len().min(b.len()).saturating_sub(1);
        let same = a.bytes().zip(b.bytes()).take(longest_same).take_while(|(a, b)| a == b).count();
        let mut length = boundary(a, same);
        if length >= SHORTEST {
            for side in [at - 1, at] {
                length = length.min(*tops[side].get_or_insert_with(|| longest(texts[side])));
            }
            length = boundary(a, length);
        }
        let says = a.as_bytes()[..length].iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
        lengths.push(if length >= SHORTEST && says >= 2 { length } else { 0 });
    }
    lengths
}

/// Returns the last place at or before `same` where a word or a part of a path ends.
fn boundary(text: &str, same: usize) -> usize {
    let ends = |byte: u8| matches!(byte, b'/' | b':' | b' ' | b'\t' | b'|' | b')' | b']' | b',' | b'=' | b'\\');
    text.as_bytes()[..same].iter().rposition(|&byte| ends(byte)).map_or(0, |at| at + 1)
}

/// Returns the length of the longest part of a line that a heading may take. For a failure, this part is its path.
fn longest(text: &str) -> usize {
    if severity(text) < Severity::Mention {
        return text.len();
    }
    let end = text.bytes().position(|byte| matches!(byte, b':' | b'(' | b' ' | b'\t')).unwrap_or(0);
    let behind = end + usize::from(text.as_bytes().get(end) == Some(&b':'));
    if text[..end].contains('/') || text[..end].contains('.') && behind > end { behind } else { 0 }
}
