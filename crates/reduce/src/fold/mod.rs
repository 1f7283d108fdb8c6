//! Folds that lose nothing: each has an inverse, and a folded text is used only if the inverse gives back the input.
//!
//! Repeats are folded first, then lines with the same prefix. The inverse reads the text from start to end.

mod fold_mark;
mod folded_line;
mod line_series;
mod prefix_headings;
mod prefix_tree;
mod repeated_blocks;
#[cfg(test)]
mod tests;

use crate::estimate::TokenEstimate;
pub use fold_mark::FoldMark;
pub use folded_line::FoldedLine;
pub use line_series::{FEWEST, LineSeries, unfold_series};

/// Name of the fold of repeats, as views list it.
pub const REPEATS: &str = "repeats";
/// Name of the fold of headings, as views list it.
pub const HEADINGS: &str = "headings";
/// Name of the fold of series, as views list it.
pub const SERIES: &str = "series";

/// The result of folding some lines.
#[derive(Clone, Debug, Default)]
pub struct FoldResult<'a> {
    /// The lines of the folded text.
    pub lines: Vec<FoldedLine<'a>>,
    /// The folds that were used.
    pub used: Vec<&'static str>,
}

/// Folds lines. `allowed` says which folds the whole input permits.
pub fn fold<'a>(lines: &[&'a str], allowed: AllowedFolds) -> FoldResult<'a> {
    let plain: Vec<FoldedLine<'a>> = lines.iter().map(|line| FoldedLine::Text(line)).collect();
    let mut folded = FoldResult { lines: plain, used: Vec::new() };
    if allowed.repeats {
        let repeated = repeated_blocks::fold_repeats(lines);
        if repeated.iter().any(|line| matches!(line, FoldedLine::Mark(_))) {
            folded = FoldResult { lines: repeated, used: vec![REPEATS] };
        }
    }
    if allowed.headings
        && let Some(headed) = prefix_headings::fold_headings(&folded.lines)
    {
        folded.lines = headed;
        folded.used.push(HEADINGS);
    }
    if folded.used.is_empty() || is_lossless_gain(lines, &folded.lines, allowed) {
        return folded;
    }
    FoldResult { lines: lines.iter().map(|line| FoldedLine::Text(line)).collect(), used: Vec::new() }
}

/// The folds that a text permits. A text with a line that reads like a mark of a fold does not permit this fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AllowedFolds {
    /// Whether repeats may be folded.
    pub repeats: bool,
    /// Whether lines with the same prefix may be folded.
    pub headings: bool,
    /// Whether series may be folded.
    pub series: bool,
    /// Whether lines may be left out.
    pub gaps: bool,
    /// Whether lines may refer to an earlier result.
    pub references: bool,
}

impl Default for AllowedFolds {
    fn default() -> Self {
        Self { repeats: true, headings: true, series: true, gaps: true, references: true }
    }
}

impl AllowedFolds {
    /// Takes a line of the input into account.
    pub fn restrict_by(&mut self, line: &str) {
        self.series &= !line_series::is_series(line);
        if !line.ends_with(']') && !line.starts_with("[... ") {
            return;
        }
        match FoldMark::parse(line) {
            Some(FoldMark::Repeat(_) | FoldMark::Block(..)) => self.repeats = false,
            Some(FoldMark::Heading(_)) => self.headings = false,
            Some(FoldMark::Gap) => self.gaps = false,
            Some(FoldMark::Reference) => self.references = false,
            None => {}
        }
    }
}

/// Returns whether the folded text is smaller, in bytes and in tokens, and unfolds to the same lines.
fn is_lossless_gain(lines: &[&str], folded: &[FoldedLine], allowed: AllowedFolds) -> bool {
    let (mut before, mut bytes) = (TokenEstimate::default(), 0);
    for line in lines {
        before.add(line.as_bytes());
        before.add(b"\n");
        bytes += line.len() + 1;
    }
    let mut text = String::with_capacity(bytes);
    write(&mut text, folded);
    let mut after = TokenEstimate::default();
    after.add(text.as_bytes());
    text.len() < bytes
        && after.hundredths() < before.hundredths()
        && read(&text, allowed).and_then(|read| unfold_lines(&read)).is_some_and(|unfolded| unfolded == lines)
}

/// Appends folded lines to a text, each with its newline.
pub fn write(text: &mut String, lines: &[FoldedLine]) {
    use std::fmt::Write;
    for line in lines {
        match line {
            FoldedLine::Text(line) | FoldedLine::Series(line) => text.push_str(line),
            FoldedLine::Mark(mark) => drop(write!(text, "{mark}")),
            FoldedLine::Heading(prefix, count) => drop(write!(text, "{prefix} [{count} lines]")),
        }
        text.push('\n');
    }
}

/// Unfolds separate lines. `None` if a mark has nothing to repeat.
fn unfold_lines<'a>(folded: &[FoldedLine<'a>]) -> Option<Vec<std::borrow::Cow<'a, str>>> {
    let mut lines = Vec::new();
    let mut headings: Vec<(&str, usize)> = Vec::new();
    for line in folded {
        match line {
            FoldedLine::Heading(prefix, count) => headings.push((prefix, *count)),
            FoldedLine::Text(text) if headings.is_empty() => lines.push((*text).into()),
            FoldedLine::Text(text) => {
                let mut whole: String = headings.iter().map(|(prefix, _)| *prefix).collect();
                whole.push_str(text);
                lines.push(whole.into());
                headings.iter_mut().for_each(|(_, count)| *count -= 1);
                headings.retain(|(_, count)| *count > 0);
            }
            FoldedLine::Mark(mark) => repeated_blocks::expand(&mut lines, *mark)?,
            FoldedLine::Series(text) => lines.extend(unfold_series(text)?),
        }
    }
    headings.is_empty().then_some(lines)
}

/// Returns the lines of a folded text, each with its newline.
fn read(text: &str, allowed: AllowedFolds) -> Option<Vec<FoldedLine<'_>>> {
    let body = text.strip_suffix('\n')?;
    let lines = body.split('\n').map(|line| match FoldMark::parse(line) {
        Some(mark @ (FoldMark::Repeat(_) | FoldMark::Block(..))) if allowed.repeats => FoldedLine::Mark(mark),
        Some(FoldMark::Heading(count)) if allowed.headings => {
            FoldedLine::Heading(&line[..line.rfind(" [").unwrap_or(0)], count)
        }
        _ if allowed.series && line_series::is_series(line) => FoldedLine::Series(line),
        _ => FoldedLine::Text(line),
    });
    Some(lines.collect())
}

/// Unfolds a folded text. `allowed`: the folds that its input permitted.
#[cfg(test)]
pub fn unfold(text: &str, allowed: AllowedFolds) -> Option<String> {
    if text.is_empty() {
        return Some(String::new());
    }
    let whole = format!("{}\n", text.strip_suffix('\n').unwrap_or(text));
    let lines = unfold_lines(&read(&whole, allowed)?)?;
    Some(lines.join("\n") + if text.ends_with('\n') { "\n" } else { "" })
}
