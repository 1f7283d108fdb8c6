//! Folds lines that are repeated, and blocks of lines: `[x37]`, `[last 3 lines x12]`.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};

use super::fold_mark::FoldMark;
use super::folded_line::FoldedLine;
use crate::estimate::hundredths;

/// Longest block, in lines.
const BLOCK: usize = 8;
/// Tokens of a mark, in hundredths: `[x37]` and `[last 3 lines x12]` with their newlines.
const MARK: u64 = 480;
const BLOCK_MARK: u64 = 1_000;

/// Folds repeats. All other lines stay unchanged.
pub(super) fn fold_repeats<'a>(lines: &[&'a str]) -> Vec<FoldedLine<'a>> {
    let hasher = RandomState::new();
    let hashes: Vec<u64> = lines.iter().map(|line| hasher.hash_one(line)).collect();
    let same = |a: usize, b: usize, count: usize| {
        hashes[a..a + count] == hashes[b..b + count] && lines[a..a + count] == lines[b..b + count]
    };
    let mut folded = Vec::with_capacity(lines.len());
    let mut at = 0;
    while at < lines.len() {
        match best(lines, at, &same) {
            Some((size, count)) => {
                folded.extend(lines[at..at + size].iter().map(|line| FoldedLine::Text(line)));
                folded.push(FoldedLine::Mark(if size == 1 {
                    FoldMark::Repeat(count)
                } else {
                    FoldMark::Block(size, count)
                }));
                at += size * count;
            }
            None => {
                folded.push(FoldedLine::Text(lines[at]));
                at += 1;
            }
        }
    }
    folded
}

/// Returns the block at a line that saves most: its length in lines, and the number of repeats.
fn best(lines: &[&str], at: usize, same: &impl Fn(usize, usize, usize) -> bool) -> Option<(usize, usize)> {
    let mut best = None;
    let mut saves = 0;
    for size in 1..=BLOCK.min((lines.len() - at) / 2) {
        let mut count = 1;
        while at + (count + 1) * size <= lines.len() && same(at, at + count * size, size) {
            count += 1;
        }
        if count == 1 {
            continue;
        }
        let one: u64 = lines[at..at + size].iter().map(|line| line_cost(line)).sum();
        let mark = if size == 1 { MARK } else { BLOCK_MARK };
        let saved = (one * (count as u64 - 1)).saturating_sub(mark);
        if saved > saves {
            saves = saved;
            best = Some((size, count));
        }
        // A longer block of the same lines saves no more.
        if size == 1 {
            break;
        }
    }
    best
}

/// Returns the tokens of a line with its newline. Blank lines in a row cost next to nothing.
fn line_cost(line: &str) -> u64 {
    if line.is_empty() { 10 } else { hundredths(line) + 75 }
}

/// Repeats the lines before a mark. `None` if there are not enough.
pub(super) fn expand(lines: &mut Vec<Cow<'_, str>>, mark: FoldMark) -> Option<()> {
    let (size, count) = match mark {
        FoldMark::Repeat(count) => (1, count),
        FoldMark::Block(size, count) => (size, count),
        _ => return None,
    };
    let start = lines.len().checked_sub(size)?;
    for _ in 1..count {
        for at in start..start + size {
            lines.push(lines[at].clone());
        }
    }
    Some(())
}
