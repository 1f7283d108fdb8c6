//! Chooses the lines that are shown: first the lines that must stay, then the lines that tell most, within the budget.

use super::output_unit::OutputUnit;
use crate::CommandStream;
use crate::failure::FailureSeverity;

/// Number of lines at the end that always stay, and number of lines at the end that count more.
pub const LAST: usize = 10;
const TAIL: usize = 15;
/// Number of lines before the first failure that count more.
const LEAD: usize = 3;
/// Length in bytes from which the middle of a line is left out, and the bytes that stay, including the marker.
const LONG: u64 = 2_000;
const SHOWN: u64 = 700;
/// Tokens of a marker, in hundredths.
const MARKER: u64 = 900;

/// The conditions of a selection.
#[derive(Clone, Copy, Debug)]
pub struct SelectionConditions {
    /// Whether something failed.
    pub red: bool,
    /// Whether lines are rows of a search, in which words of failure are text.
    pub rows: bool,
    /// The budget of tokens, in hundredths.
    pub budget: u64,
    /// Number of lines of each stream.
    pub lines: [usize; 2],
    /// Whether the last line of each stream has no newline.
    pub open: [bool; 2],
}

impl SelectionConditions {
    fn lines_behind(&self, unit: &OutputUnit) -> usize {
        self.lines[unit.stream.index()] - (unit.number + unit.count - 1)
    }

    /// Returns the tokens of a unit as shown, in hundredths. A long line is shown in part.
    fn cost(&self, unit: &OutputUnit) -> u64 {
        let length = unit.text.len() as u64;
        let is_open = self.open[unit.stream.index()] && unit.count == 1 && self.lines_behind(unit) == 0;
        let whole = unit.tokens(is_open) + if unit.count > 1 { 480 } else { 0 };
        if length > LONG { whole * SHOWN / length } else { whole }
    }

    /// Returns whether a unit must stay.
    pub fn must_show(&self, unit: &OutputUnit) -> bool {
        if unit.traits.referred {
            return false;
        }
        unit.verdict.kept
            || self.lines_behind(unit) < LAST
            || self.red && self.severity(unit) >= FailureSeverity::Mention && !unit.traits.seen
            || self.red && (unit.traits.in_block || unit.traits.names) && (!self.rows || unit.traits.is_said)
    }

    /// Returns the severity of a unit, limited by the kind of its command.
    fn severity(&self, unit: &OutputUnit) -> FailureSeverity {
        if self.rows && !unit.traits.is_said { FailureSeverity::None } else { unit.severity }
    }

    /// Returns whether a rule drops a unit.
    pub fn drops(&self, unit: &OutputUnit) -> bool {
        unit.verdict.dropped.is_some_and(|dropped| dropped.applies(self.red))
    }

    /// Returns how much a unit tells, including its place at the end.
    pub fn score(&self, unit: &OutputUnit) -> i32 {
        let tail = if self.lines_behind(unit) < TAIL { 5 } else { 0 };
        let stderr = if unit.stream == CommandStream::Stderr { 2 } else { 0 };
        let text = if self.severity(unit) < unit.severity { -6 } else { 0 };
        unit.score + tail + stderr + text
    }
}

/// Returns for each unit whether it is shown.
pub fn select(units: &[OutputUnit], frame: &SelectionConditions) -> Vec<bool> {
    let mut choice = LineSelection::new(units, frame);
    for (at, unit) in units.iter().enumerate() {
        if frame.must_show(unit) {
            choice.show(at);
        }
    }
    let first = units.iter().position(|unit| unit.traits.in_block);
    let lead = |at: usize| frame.red && first.is_some_and(|first| at < first && at + LEAD >= first);
    let costs = units.iter().zip(&choice.costs).filter(|(unit, _)| !frame.drops(unit)).map(|(_, cost)| cost);
    let has_room = costs.sum::<u64>() <= frame.budget;
    let mut rest: Vec<(i32, usize)> = (0..units.len())
        .filter(|&at| !choice.shown[at] && !units[at].traits.referred && !frame.drops(&units[at]))
        // Some lines of a kind show what the others are like.
        .filter(|&at| has_room || !units[at].traits.common || units[at].series.is_some() || lead(at))
        .map(|at| (frame.score(&units[at]) + if lead(at) { 8 } else { 0 }, at))
        .collect();
    rest.sort_unstable_by_key(|&(score, at)| (std::cmp::Reverse(score), at));
    for (_, at) in rest {
        if choice.cost_with_header(at) <= choice.left {
            choice.show(at);
        } else if choice.left < 0 {
            break;
        }
    }
    let LineSelection { mut shown, costs, .. } = choice;
    fill_small_gaps(units, &costs, &mut shown);
    shown
}

/// The lines that are shown so far, and the remaining tokens.
struct LineSelection<'a> {
    units: &'a [OutputUnit<'a>],
    frame: &'a SelectionConditions,
    /// The tokens of each unit as shown, in hundredths.
    costs: Vec<u64>,
    shown: Vec<bool>,
    /// Remaining tokens, in hundredths. Negative if the lines that must stay take more than the budget.
    left: i64,
}

impl<'a> LineSelection<'a> {
    /// Starts with no line shown: a marker stands for each stream.
    fn new(units: &'a [OutputUnit<'a>], frame: &'a SelectionConditions) -> Self {
        let markers = frame.lines.iter().filter(|lines| **lines > 0).count() as u64 * MARKER;
        let left = signed(frame.budget) - signed(markers);
        let costs = units.iter().map(|unit| frame.cost(unit)).collect();
        Self { units, frame, costs, shown: vec![false; units.len()], left }
    }

    /// Shows a unit, and the header that names its test.
    fn show(&mut self, at: usize) {
        if self.shown[at] {
            return;
        }
        self.left -= self.cost(at);
        self.shown[at] = true;
        if let Some(header) = self.hidden_header(at) {
            self.show(header);
        }
    }

    /// Returns the header of a unit, unless it is shown, here or in an earlier result.
    fn hidden_header(&self, at: usize) -> Option<usize> {
        let place = |unit: &OutputUnit| (unit.stream.index(), unit.number);
        let OutputUnit { stream, header, .. } = self.units[at];
        let found = self.units[..at].binary_search_by_key(&(stream.index(), header), place).ok()?;
        (!self.shown[found] && !self.units[found].traits.referred).then_some(found)
    }

    fn cost_with_header(&self, at: usize) -> i64 {
        self.cost(at) + self.hidden_header(at).map_or(0, |header| self.cost(header))
    }

    /// Returns the tokens that a unit adds to the text. The unit splits a gap, makes it smaller or closes it.
    fn cost(&self, at: usize) -> i64 {
        let gaps = i64::from(!self.is_shown_before(at)) + i64::from(!self.is_shown_behind(at));
        signed(self.costs[at]) + (gaps - 1) * signed(MARKER)
    }

    fn is_shown_before(&self, at: usize) -> bool {
        let unit = &self.units[at];
        match at.checked_sub(1).filter(|&before| self.units[before].stream == unit.stream) {
            Some(before) => self.shown[before] && follows(&self.units[before], unit),
            None => unit.number == 1,
        }
    }

    fn is_shown_behind(&self, at: usize) -> bool {
        let unit = &self.units[at];
        match self.units.get(at + 1).filter(|behind| behind.stream == unit.stream) {
            Some(behind) => self.shown[at + 1] && follows(unit, behind),
            None => self.frame.lines_behind(unit) == 0,
        }
    }
}

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// Shows units that cost no more than the marker in their place.
fn fill_small_gaps(units: &[OutputUnit], costs: &[u64], shown: &mut [bool]) {
    let mut at = 0;
    while at < units.len() {
        if shown[at] {
            at += 1;
            continue;
        }
        let end = at + shown[at..].iter().take_while(|shown| !**shown).count();
        let is_whole = units[at..end].windows(2).all(|pair| follows(&pair[0], &pair[1]));
        let is_referred = units[at..end].iter().any(|unit| unit.traits.referred);
        let tokens: u64 = costs[at..end].iter().sum();
        if is_whole && !is_referred && tokens <= MARKER && borders(units, at, end) {
            shown[at..end].fill(true);
        }
        at = end;
    }
}

/// Returns whether no line is missing between a gap and the units around it.
fn borders(units: &[OutputUnit], start: usize, end: usize) -> bool {
    (start == 0 || follows(&units[start - 1], &units[start]) || units[start - 1].stream != units[start].stream)
        && (end == units.len() || follows(&units[end - 1], &units[end]) || units[end - 1].stream != units[end].stream)
}

/// Returns whether the second unit begins where the first ends.
pub fn follows(first: &OutputUnit, second: &OutputUnit) -> bool {
    first.stream == second.stream && first.number + first.count == second.number
}
