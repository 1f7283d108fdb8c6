//! Folds that lose nothing: each has an inverse, and a folded text is used only if the inverse gives back the input.
//!
//! Repeats are folded first, then lines with the same prefix. The inverse reads the text from start to end.

mod headings;
mod line;
mod mark;
mod repeats;
mod series;
#[cfg(test)]
mod tests;
mod tree;

use crate::estimate::Estimate;
pub use line::Line;
pub use mark::Mark;
pub use series::{FEWEST, Series, unfolded};

/// Name of the fold of repeats, as views list it.
pub const REPEATS: &str = "repeats";
/// Name of the fold of headings, as views list it.
pub const HEADINGS: &str = "headings";
/// Name of the fold of series, as views list it.
pub const SERIES: &str = "series";

/// The result of folding some lines.
#[derive(Clone, Debug, Default)]
pub struct Folded<'a> {
    /// The lines of the folded text.
    pub lines: Vec<Line<'a>>,
    /// The folds that were used.
    pub used: Vec<&'static str>,
}

/// Folds lines. `allowed` says which folds the whole input permits.
pub fn fold<'a>(lines: &[&'a str], allowed: Allowed) -> Folded<'a> {
    let plain: Vec<Line<'a>> = lines.iter().map(|line| Line::Text(line)).collect();
    let mut folded = Folded { lines: plain, used: Vec::new() };
    if allowed.repeats {
        let repeated = repeats::fold(lines);
        if repeated.iter().any(|line| matches!(line, Line::Mark(_))) {
            folded = Folded { lines: repeated, used: vec![REPEATS] };
        }
    }
    if allowed.headings
        && let Some(headed) = headings::fold(&folded.lines)
    {
        folded.lines = headed;
        folded.used.push(HEADINGS);
    }
    if folded.used.is_empty() || holds(lines, &folded.lines, allowed) {
        return folded;
    }
    Folded { lines: lines.iter().map(|line| Line::Text(line)).collect(), used: Vec::new() }
}

/// The folds that a text permits. A text with a line that reads like a mark of a fold does not permit this fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Allowed {
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

impl Default for Allowed {
    fn default() -> Self {
        Self { repeats: true, headings: true, series: true, gaps: true, references: true }
    }
}

impl Allowed {
    /// Takes a line of the input into account.
    pub fn note(&mut self, line: &str) {
        self.series &= !series::is_series(line);
        if !line.ends_with(']') && !line.starts_with("[... ") {
            return;
        }
        match Mark::parse(line) {
            Some(Mark::Repeat(_) | Mark::Block(..)) => self.repeats = false,
            Some(Mark::Heading(_)) => self.headings = false,
            Some(Mark::Gap) => self.gaps = false,
            Some(Mark::Reference) => self.references = false,
            None => {}
        }
    }
}

/// Returns whether the folded text is smaller, in bytes and in tokens, and unfolds to the same lines.
fn holds(lines: &[&str], folded: &[Line], allowed: Allowed) -> bool {
    let (mut before, mut bytes) = (Estimate::default(), 0);
    for line in lines {
        before.add(line.as_bytes());
        before.add(b"\n");
        bytes += line.len() + 1;
    }
    let mut text = String::with_capacity(bytes);
    write(&mut text, folded);
    let mut after = Estimate::default();
    after.add(text.as_bytes());
    text.len() < bytes
        && after.hundredths() < before.hundredths()
        && read(&text, allowed).and_then(|read| unfold_lines(&read)).is_some_and(|unfolded| unfolded == lines)
}

/// Appends folded lines to a text, each with its newline.
pub fn write(text: &mut String, lines: &[Line]) {
    use std::fmt::Write;
    for line in lines {
        match line {
            Line::Text(line) | Line::Series(line) => text.push_str(line),
            Line::Mark(mark) => drop(write!(text, "{mark}")),
            Line::Heading(prefix, count) => drop(write!(text, "{prefix} [{count} lines]")),
        }
        text.push('\n');
    }
}

/// Unfolds separate lines. `None` if a mark has nothing to repeat.
fn unfold_lines<'a>(folded: &[Line<'a>]) -> Option<Vec<std::borrow::Cow<'a, str>>> {
    let mut lines = Vec::new();
    let mut headings: Vec<(&str, usize)> = Vec::new();
    for line in folded {
        match line {
            Line::Heading(prefix, count) => headings.push((prefix, *count)),
            Line::Text(text) if headings.is_empty() => lines.push((*text).into()),
            Line::Text(text) => {
                let mut whole: String = headings.iter().map(|(prefix, _)| *prefix).collect();
                whole.push_str(text);
                lines.push(whole.into());
                headings.iter_mut().for_each(|(_, count)| *count -= 1);
                headings.retain(|(_, count)| *count > 0);
            }
            Line::Mark(mark) => repeats::expand(&mut lines, *mark)?,
            Line::Series(text) => lines.extend(unfolded(text)?),
        }
    }
    headings.is_empty().then_some(lines)
}

/// Returns the lines of a folded text, each with its newline.
fn read(text: &str, allowed: Allowed) -> Option<Vec<Line<'_>>> {
    let body = text.strip_suffix('\n')?;
    let lines = body.split('\n').map(|line| match Mark::parse(line) {
        Some(mark @ (Mark::Repeat(_) | Mark::Block(..))) if allowed.repeats => Line::Mark(mark),
        Some(Mark::Heading(count)) if allowed.headings => Line::Heading(&line[..line.rfind(" [").unwrap_or(0)], count),
        _ if allowed.series && series::is_series(line) => Line::Series(line),
        _ => Line::Text(line),
    });
    Some(lines.collect())
}

/// Unfolds a folded text. `allowed`: the folds that its input permitted.
#[cfg(test)]
pub fn unfold(text: &str, allowed: Allowed) -> Option<String> {
    if text.is_empty() {
        return Some(String::new());
    }
    let whole = format!("{}\n", text.strip_suffix('\n').unwrap_or(text));
    let lines = unfold_lines(&read(&whole, allowed)?)?;
    Some(lines.join("\n") + if text.ends_with('\n') { "\n" } else { "" })
}
