//! Writes the shown lines, with a marker for each gap.

use std::borrow::Cow;
use std::sync::Arc;

use super::line_selection::follows;
use super::output_unit::OutputUnit;
use crate::earlier_results::EarlierLineRun;
use crate::estimate::hundredths;
use crate::failure::FailureSeverity;
use crate::fold::{self, AllowedFolds, FoldMark, FoldedLine};
use crate::reduced_view::{CommandStream, ElidedRange, ElisionReason, grouped};
use crate::rules::{self, OutputRule};

/// Longest line that is shown whole: in characters, and for a failure in bytes.
const LONG: usize = 2_000;
const LONG_FAILURE: usize = 8 << 10;
/// Characters of a long line that stay, at its start and at its end.
const START: usize = 400;
const END: usize = 200;
/// Tokens that a series must save, in hundredths, and number of its lines that are enough to tell.
const MARK: u64 = 480;
const ENOUGH: usize = 16;
/// Least number of repeats for which a unit is written by itself.
const MANY: usize = 64;

/// A text that is being written.
#[derive(Debug, Default)]
pub struct ViewWriter {
    /// The text.
    pub text: String,
    /// The omitted lines, in order.
    pub elided: Vec<ElidedRange>,
    /// The folds that were used.
    pub used: Vec<&'static str>,
    /// Number of lines of content.
    pub shown: usize,
}

/// The facts about a stream that its rendering needs.
#[derive(Clone, Copy, Debug)]
pub struct StreamRendering<'a> {
    /// The stream.
    pub stream: CommandStream,
    /// The number of lines.
    pub lines: usize,
    /// The number of lines in the streams before. Markers count through all streams.
    pub before: usize,
    /// Whether something failed.
    pub red: bool,
    /// The folds that may be used.
    pub allowed: AllowedFolds,
    /// Whether lines are folded at all.
    pub folds: bool,
    /// Whether the middle of long lines is left out.
    pub shortens: bool,
    /// Runs of lines that earlier results show, in order.
    pub runs: &'a [EarlierLineRun],
    /// Rules of the user.
    pub own: &'a [Arc<OutputRule>],
}

/// The lines of a unit that a view shows.
enum ShownUnitLines<'u> {
    Line(Cow<'u, str>),
    /// The lines of a series that is not folded.
    Lines(Vec<String>),
    Series(String),
}

impl ViewWriter {
    /// Appends the units of one stream.
    pub fn stream(&mut self, units: &[OutputUnit], shown: &[bool], rendering: &StreamRendering) {
        let mut run: Vec<&OutputUnit> = Vec::new();
        let mut next = 1;
        let mut rule = None;
        for (unit, shown) in units.iter().zip(shown) {
            if !shown {
                if let Some(dropped) = unit.verdict.dropped.filter(|dropped| dropped.applies(rendering.red)) {
                    rule = Some(dropped.rule);
                }
                continue;
            }
            if unit.number > next {
                self.write_run(&mut run, rendering);
                self.write_gap(next, unit.number - 1, rule, rendering);
            }
            rule = None;
            run.push(unit);
            next = unit.number + unit.count;
        }
        self.write_run(&mut run, rendering);
        if next <= rendering.lines {
            self.write_gap(next, rendering.lines, rule, rendering);
        }
    }

    /// Writes a gap between two lines: a reference for each run that an earlier result shows, and a marker for the
    /// rest. `rule`: the number of the rule that drops these lines, if any.
    fn write_gap(&mut self, from: usize, to: usize, rule: Option<u32>, rendering: &StreamRendering) {
        let mut next = from;
        for run in rendering.runs.iter().filter(|run| run.start + 1 >= from && run.start < to) {
            if run.start + 1 > next {
                self.marker(next, run.start, rule, rendering);
            }
            self.text.push_str(&run.reference());
            self.text.push('\n');
            let (from, to) = (run.start + 1, run.start + run.lines);
            self.elided.push(ElidedRange { stream: rendering.stream, from, to, why: ElisionReason::Seen });
            next = to + 1;
        }
        if next <= to {
            self.marker(next, to, rule, rendering);
        }
    }

    fn marker(&mut self, from: usize, to: usize, rule: Option<u32>, rendering: &StreamRendering) {
        self.text.push_str(&marker(rendering.stream, from + rendering.before, to + rendering.before));
        self.text.push('\n');
        let why =
            rule.map_or(ElisionReason::Salience, |rule| ElisionReason::Rule(rules::rule_name(rule, rendering.own)));
        self.elided.push(ElidedRange { stream: rendering.stream, from, to, why });
    }

    /// Writes units without a gap between them.
    fn write_run(&mut self, run: &mut Vec<&OutputUnit>, rendering: &StreamRendering) {
        debug_assert!(run.windows(2).all(|pair| follows(pair[0], pair[1])));
        let texts: Vec<ShownUnitLines> = run.iter().map(|unit| self.shown_lines(unit, rendering)).collect();
        let mut lines: Vec<&str> = Vec::new();
        for (unit, shown) in run.iter().zip(&texts) {
            self.shown += 1;
            let text = match shown {
                ShownUnitLines::Line(text) => text,
                ShownUnitLines::Lines(all) => {
                    lines.extend(all.iter().map(String::as_str));
                    continue;
                }
                ShownUnitLines::Series(text) => {
                    self.fold(&mut lines, rendering);
                    fold::write(&mut self.text, &[FoldedLine::Series(text)]);
                    self.uses(fold::SERIES);
                    continue;
                }
            };
            if unit.count < MANY || !rendering.folds || !rendering.allowed.repeats {
                lines.extend(std::iter::repeat_n(&**text, unit.count));
                continue;
            }
            self.fold(&mut lines, rendering);
            fold::write(&mut self.text, &[FoldedLine::Text(text), FoldedLine::Mark(FoldMark::Repeat(unit.count))]);
            self.uses(fold::REPEATS);
        }
        self.fold(&mut lines, rendering);
        run.clear();
    }

    /// Returns the lines of a unit that the view shows.
    fn shown_lines<'u>(&mut self, unit: &'u OutputUnit, rendering: &StreamRendering) -> ShownUnitLines<'u> {
        let Some(series) = &unit.series else {
            return ShownUnitLines::Line(self.shorten(unit, rendering).map_or(Cow::Borrowed(&*unit.text), Cow::Owned));
        };
        let folded = series.fold_lines(&unit.text, unit.count);
        let lines = |count: usize| (0..count).map(|number| series.line_at(&unit.text, number));
        let cost = |line: String| hundredths(&line) + 75;
        let gains = hundredths(&folded) + MARK < lines(unit.count.min(ENOUGH)).map(cost).sum();
        if rendering.folds && rendering.allowed.series && gains {
            return ShownUnitLines::Series(folded);
        }
        ShownUnitLines::Lines(lines(unit.count).collect())
    }

    fn fold(&mut self, lines: &mut Vec<&str>, rendering: &StreamRendering) {
        if rendering.folds {
            let folded = fold::fold(lines, rendering.allowed);
            fold::write(&mut self.text, &folded.lines);
            folded.used.iter().for_each(|name| self.uses(name));
        } else {
            for line in &*lines {
                self.text.push_str(line);
                self.text.push('\n');
            }
        }
        lines.clear();
    }

    fn uses(&mut self, name: &'static str) {
        if !self.used.contains(&name) {
            self.used.push(name);
        }
    }

    /// Returns a long line without its middle. `None` if the line is short.
    fn shorten(&mut self, unit: &OutputUnit, rendering: &StreamRendering) -> Option<String> {
        let line = &unit.text;
        let longest = if unit.severity == FailureSeverity::Failure || unit.verdict.kept { LONG_FAILURE } else { LONG };
        let is_long = line.len() > longest && line.chars().count() > longest;
        let may = rendering.allowed.gaps && rendering.shortens && unit.count == 1;
        if unit.cut.is_none() && !(is_long && may) {
            return None;
        }
        let (at, cut) = unit.cut.as_ref().map_or((line.len() / 2, 0), |cut| (cut.at, cut.characters));
        let at = line.floor_char_boundary(at);
        let (mut start, mut end) = (at, at);
        if is_long {
            start = at.min(line.char_indices().nth(START).map_or(at, |(start, _)| start));
            end = at.max(line.char_indices().nth_back(END - 1).map_or(at, |(end, _)| end));
        }
        let left_out = cut + line[start..end].chars().count();
        self.elided.push(ElidedRange {
            stream: rendering.stream,
            from: unit.number,
            to: unit.number,
            why: ElisionReason::Long,
        });
        let number = unit.number + rendering.before;
        Some(format!("{}[... {} characters of L{number}]{}", &line[..start], grouped(left_out), &line[end..]))
    }
}

/// Returns the line that replaces others: `[... L40-95]`.
pub fn marker(stream: CommandStream, from: usize, to: usize) -> String {
    let stream = if stream == CommandStream::Stderr { "stderr " } else { "" };
    if from == to { format!("[... {stream}L{from}]") } else { format!("[... {stream}L{from}-{to}]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_names_its_lines() {
        assert_eq!(marker(CommandStream::Stdout, 40, 95), "[... L40-95]");
        assert_eq!(marker(CommandStream::Stderr, 40, 40), "[... stderr L40]");
    }
}
