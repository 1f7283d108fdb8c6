//! The marks in a folded text.

use std::fmt;

/// A mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldMark {
    /// `[x37]`: the line before, repeated to this total.
    Repeat(usize),
    /// `[last 3 lines x12]`: the lines before, repeated to this total.
    Block(usize, usize),
    /// `PREFIX [12 lines]`: the prefix of the next lines.
    Heading(usize),
    /// `[... L40-95]`: lines that were left out.
    Gap,
    /// `[56 lines as in #9 L40-95]`: lines of an earlier result.
    Reference,
}

impl FoldMark {
    /// Reads a line. `None` if it is text.
    pub fn parse(line: &str) -> Option<Self> {
        let inside = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(mark) = inside.and_then(inside_brackets) {
            return Some(mark);
        }
        if line.contains("[... ") && line.contains(" characters of L") {
            return Some(Self::Gap);
        }
        let (_, count) = line.strip_suffix(" lines]")?.rsplit_once(" [")?;
        Some(Self::Heading(number(count)?))
    }
}

fn inside_brackets(inside: &str) -> Option<FoldMark> {
    if let Some(count) = inside.strip_prefix('x') {
        return Some(FoldMark::Repeat(number(count)?));
    }
    if let Some(rest) = inside.strip_prefix("last ") {
        let (lines, count) = rest.split_once(" lines x")?;
        return Some(FoldMark::Block(number(lines)?, number(count)?));
    }
    if let Some(rest) = inside.strip_prefix("... ") {
        let rest = rest.strip_prefix("stderr ").unwrap_or(rest);
        return rest
            .strip_prefix('L')
            .is_some_and(|place| place.starts_with(|c: char| c.is_ascii_digit()))
            .then_some(FoldMark::Gap);
    }
    let (count, place) = inside.split_once(" lines as in #")?;
    number(count)?;
    place.contains(" L").then_some(FoldMark::Reference)
}

fn number(text: &str) -> Option<usize> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

impl fmt::Display for FoldMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeat(count) => write!(f, "[x{count}]"),
            Self::Block(lines, count) => write!(f, "[last {lines} lines x{count}]"),
            Self::Heading(count) => write!(f, " [{count} lines]"),
            Self::Gap | Self::Reference => Ok(()),
        }
    }
}
