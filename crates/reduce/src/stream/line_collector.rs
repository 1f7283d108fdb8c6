//! Holds the lines of a long stream that may be shown: its start, its end, the lines that must stay, and the lines that
//! tell most.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::hash::{Hash, Hasher};

use crate::failure::FailureSeverity;
use crate::fold::{FEWEST, LineSeries};
use crate::reduced_view::LineVerdict;
use crate::salience::output_unit::OutputUnit;

/// Most bytes that are held of each part, including the properties of the lines.
const START: usize = 4 << 10;
const END: usize = 10 << 10;
const PINNED: usize = 48 << 10;
const BEST: usize = 12 << 10;
/// Bytes that a line takes beside its text: its properties, and its share of what a part has reserved.
const BESIDE: usize = 112;
/// Number of lines by which a part grows. None of its lines is moved then.
const STEP: usize = 16;
/// Most lines at the end.
const LINES_OF_END: usize = END / BESIDE + 2;
/// Largest text that is reused.
pub(super) const SPARE: usize = 1 << 10;

/// Lines of a stream.
#[derive(Default)]
pub(super) struct LineCollector {
    start: CollectedPart,
    pinned: CollectedPart,
    /// Headers of failed tests with a line that must stay. They take the room of the lines that tell most, and those
    /// that find no room are left out.
    headers: CollectedPart,
    /// The last header. No line of its test must stay so far.
    header: Option<OutputUnit<'static>>,
    best: BinaryHeap<Reverse<RankedUnit>>,
    best_size: usize,
    end: VecDeque<OutputUnit<'static>>,
    end_size: usize,
    /// Number of lines that went from the last lines to another part.
    left: usize,
    /// Whether more lines must stay than can be held.
    overflows: bool,
    /// Texts of dropped lines, for reuse.
    spare: Vec<String>,
}

#[derive(Default)]
struct CollectedPart {
    units: Vec<Vec<OutputUnit<'static>>>,
    size: usize,
}

impl CollectedPart {
    fn has_room(&self, unit: &OutputUnit, limit: usize) -> bool {
        self.size + size(unit) <= limit
    }

    fn add(&mut self, unit: OutputUnit<'static>) {
        self.size += size(&unit);
        match self.units.last_mut().filter(|units| units.len() < STEP) {
            Some(units) => units.push(unit),
            None => {
                let mut units = Vec::with_capacity(STEP);
                units.push(unit);
                self.units.push(units);
            }
        }
    }
}

/// A line ordered by how much it tells. Among equal lines, an earlier line is worth more.
struct RankedUnit(Box<OutputUnit<'static>>);

impl RankedUnit {
    fn rank(&self) -> (i32, Reverse<usize>) {
        rank(&self.0)
    }
}

fn rank(unit: &OutputUnit) -> (i32, Reverse<usize>) {
    (unit.score + if unit.verdict.dropped.is_some() { -100 } else { 0 }, Reverse(unit.number))
}

impl Ord for RankedUnit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for RankedUnit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedUnit {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for RankedUnit {}

fn size(unit: &OutputUnit) -> usize {
    unit.text.len() + BESIDE + unit.series.as_ref().map_or(0, |_| size_of::<LineSeries>())
}

fn must_stay(unit: &OutputUnit) -> bool {
    unit.verdict.kept
        || unit.traits.in_block
        || unit.traits.names
        || unit.severity >= FailureSeverity::Mention && !unit.traits.seen
}

impl LineCollector {
    /// Returns whether more lines must stay than can be held. The stream has no view then.
    pub fn overflows(&self) -> bool {
        self.overflows
    }

    /// Counts the last line this many times more.
    pub fn repeat(&mut self, times: usize) {
        if let Some(last) = self.end.back_mut() {
            last.count += times;
        }
    }

    /// Adds all that decides what becomes of the next lines. `lines`: the number of lines so far. As long as no line
    /// goes to another part, only the last lines change, and a later line is refused where an earlier one was.
    pub fn hash_state(&self, lines: usize, to: &mut impl Hasher) {
        (self.left, self.overflows, self.end.len()).hash(to);
        self.end.iter().for_each(|unit| unit.hash_state(lines, to));
    }

    /// Moves the last lines on by this many lines.
    pub fn move_on(&mut self, lines: usize) {
        self.end.iter_mut().for_each(|unit| unit.number += lines);
    }

    /// Returns whether a line repeats the line before. If so, the line before counts once more.
    pub fn repeats(&mut self, line: &str) -> bool {
        let last = self.end.back_mut().filter(|last| last.repeats(line));
        last.map(|last| last.count += 1).is_some()
    }

    /// Returns whether a line goes on with a series. If so, the series counts it.
    pub fn continues_series(&mut self, line: &str, verdict: LineVerdict) -> bool {
        self.end.back_mut().is_some_and(|last| last.continues_series(line, verdict))
    }

    /// Takes the next line. `lead`: the number of lines right before it that must stay with it.
    pub fn add(&mut self, unit: OutputUnit<'_>, lead: usize) {
        if lead > 0 {
            self.end.iter_mut().rev().take(lead).for_each(|above| above.traits.in_block = true);
        }
        let mut text = self.spare.pop().unwrap_or_default();
        text.clear();
        text.push_str(&unit.text);
        if self.end.capacity() == 0 {
            self.end.reserve_exact(LINES_OF_END);
        }
        let unit = OutputUnit { text: Cow::Owned(text), ..unit };
        self.end_size += size(&unit);
        self.end.push_back(unit);
        self.begin_series();
        // The last line stays, because it may be repeated.
        while self.end_size > END && self.end.len() > 1 {
            let is_refused = self.end.front().is_some_and(|first| self.refuses(first));
            let Some(first) = self.end.pop_front() else { return };
            self.end_size -= size(&first);
            if is_refused { self.let_go(first) } else { self.keep_or_drop(first) }
        }
    }

    /// Joins the last lines if they begin a series.
    fn begin_series(&mut self) {
        if !self.end.back().is_some_and(|last| last.traits.seen) {
            return;
        }
        let mut last = self.end.iter().rev();
        let (Some(third), Some(second), Some(begin)) = (last.next(), last.next(), last.next()) else { return };
        let Some(series) = begin.begun_series([second, third]) else { return };
        for _ in 1..FEWEST {
            let Some(unit) = self.end.pop_back() else { return };
            self.end_size -= size(&unit);
            self.let_go(unit);
        }
        if let Some(begin) = self.end.back_mut() {
            begin.begin_series(series);
            self.end_size += size_of::<LineSeries>();
        }
    }

    /// Returns the last lines, the last first.
    pub fn last(&self) -> impl Iterator<Item = &str> {
        self.end.iter().rev().map(|unit| &*unit.text)
    }

    /// Returns whether a line of no part is among those that tell least, as most lines are.
    fn refuses(&self, unit: &OutputUnit<'static>) -> bool {
        !unit.is_header() && !must_stay(unit) && self.is_too_low(unit)
    }

    /// Returns whether a line tells less than all those that are held, and finds no room.
    fn is_too_low(&self, unit: &OutputUnit<'static>) -> bool {
        self.best_size + size(unit) > self.room_of_best()
            && self.best.peek().is_some_and(|Reverse(least)| rank(unit) <= least.rank())
    }

    /// Takes a line that no longer belongs to the last lines.
    fn keep_or_drop(&mut self, mut unit: OutputUnit<'static>) {
        self.left += 1;
        if let Cow::Owned(text) = &mut unit.text {
            text.shrink_to_fit();
        }
        if self.pinned.units.is_empty() && self.best.is_empty() && self.start.has_room(&unit, START) {
            self.start.add(unit);
        } else if must_stay(&unit) {
            let header = self.header.take_if(|header| header.number == unit.header);
            if let Some(header) =
                header.filter(|header| self.headers.has_room(header, self.room_of_best() + self.headers.size))
            {
                self.headers.add(header);
                self.shrink_best();
            }
            if self.pinned.has_room(&unit, PINNED + BEST - self.headers.size) {
                self.pinned.add(unit);
                self.shrink_best();
            } else {
                self.overflows = true;
            }
        } else if unit.is_header() {
            if let Some(header) = self.header.replace(unit) {
                self.keep_best(header);
            }
        } else {
            self.keep_best(unit);
        }
    }

    fn keep_best(&mut self, unit: OutputUnit<'static>) {
        if self.is_too_low(&unit) {
            return self.let_go(unit);
        }
        self.best_size += size(&unit);
        self.best.push(Reverse(RankedUnit(Box::new(unit))));
        self.shrink_best();
    }

    /// Returns the bytes that are left for the lines that tell most.
    fn room_of_best(&self) -> usize {
        (PINNED + BEST).saturating_sub(self.pinned.size.max(PINNED) + self.headers.size)
    }

    fn shrink_best(&mut self) {
        while self.best_size > self.room_of_best()
            && let Some(Reverse(RankedUnit(least))) = self.best.pop()
        {
            self.best_size -= size(&least);
            self.let_go(*least);
        }
    }

    fn let_go(&mut self, unit: OutputUnit<'static>) {
        if let Cow::Owned(text) = unit.text
            && self.spare.is_empty()
            && text.capacity() <= SPARE
        {
            self.spare.push(text);
        }
    }

    /// Returns the lines in order. `None` if more lines must stay than could be held.
    pub fn finish(self) -> Option<Vec<OutputUnit<'static>>> {
        if self.overflows {
            return None;
        }
        let best = self.best.into_iter().map(|Reverse(RankedUnit(unit))| *unit);
        let pinned = self.pinned.units.into_iter().chain(self.headers.units).flatten().chain(self.header);
        let start = self.start.units.into_iter().flatten();
        let mut units: Vec<_> = start.chain(pinned).chain(best).chain(self.end).collect();
        units.sort_unstable_by_key(|unit| unit.number);
        let headers: Vec<usize> = units.iter().filter(|unit| unit.is_header()).map(|unit| unit.number).collect();
        let is_named = |unit: &OutputUnit| unit.header == 0 || headers.binary_search(&unit.header).is_ok();
        units.retain(|unit| must_stay(unit) || is_named(unit));
        Some(units)
    }
}
