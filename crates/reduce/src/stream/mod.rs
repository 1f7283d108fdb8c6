//! Reduces an output while it runs, in bounded memory. The split into chunks does not affect the view.

mod line_collector;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher};

use line_collector::{LineCollector, SPARE};
use memchr::memchr;

use super::class::OutputProfile;
use super::earlier_results::{EarlierLines, lines_of};
use super::estimate::TokenEstimate;
use super::output_lines::{OutputLines, StreamTotals};
use super::reduction_options::ReductionOptions;
use super::repeat_count::{BlockSearch, RepeatedBlock, count_repeats};
use super::rules::StreamRules;
use super::salience::output_unit::{NewLine, RemovedMiddle};
use super::{CommandStream, ExitOutcome, ReducedView, ReductionLevel};

/// Largest output whose lines are all held, in bytes.
pub(super) const WHOLE: usize = 64 << 10;
/// Size in bytes of the parts in which a small output is held. Each is freed as it is passed on.
const PART: usize = 2 << 10;
/// Longest line that is held whole, and the lengths of the start and the end that are held of a longer line, in bytes.
const LINE: usize = 10 << 10;
const LINE_START: usize = 8 << 10;
const LINE_END: usize = 1 << 10;

/// A view that is being made.
pub struct OutputReducer<'a> {
    options: ReductionOptions<'a>,
    printed: OutputProfile,
    /// The output so far, while it is small.
    small: Option<[Vec<String>; 2]>,
    size: usize,
    streams: [Option<LongStream<'a>>; 2],
}

/// One stream of an output that is no longer small.
#[derive(Default)]
struct LongStream<'a> {
    total: StreamTotals,
    rules: StreamRules<'a>,
    collector: LineCollector,
    search: BlockSearch,
    line: String,
    /// The tokens of the line so far.
    tokens: TokenEstimate,
    /// The number of characters that were removed from the line, at [`LINE_START`].
    cut: usize,
    /// The place in `line` of the removed characters.
    cut_at: usize,
}

impl<'a> OutputReducer<'a> {
    /// Makes a reducer of one output.
    pub fn new(options: &ReductionOptions<'a>) -> Self {
        let printed = options.output_profile();
        Self { options: *options, printed, small: Some(Default::default()), size: 0, streams: [None, None] }
    }

    /// Makes the reducer take into account the lines that a conversation shows already. May be called once the output
    /// is whole.
    pub fn with_earlier_lines<'b>(self, shown: &'b EarlierLines<'b>) -> OutputReducer<'b>
    where
        'a: 'b,
    {
        let mut reducer: OutputReducer<'b> = self;
        reducer.options.earlier = Some(shown);
        reducer
    }

    /// Returns whether the output is small enough to be held whole.
    pub fn is_whole(&self) -> bool {
        self.small.is_some()
    }

    /// Takes the next part of a stream.
    pub fn push(&mut self, stream: CommandStream, text: &str) {
        if let Some(small) = &mut self.small {
            self.size += text.len();
            if self.size <= WHOLE {
                append(&mut small[stream.index()], text);
                return;
            }
            let [stdout, stderr] = self.small.take().unwrap_or_default();
            stdout.into_iter().for_each(|part| self.pass_on(CommandStream::Stdout, &part));
            stderr.into_iter().for_each(|part| self.pass_on(CommandStream::Stderr, &part));
        }
        self.pass_on(stream, text);
    }

    fn pass_on(&mut self, stream: CommandStream, text: &str) {
        let options = &self.options;
        let rules = || options.rules(&self.printed);
        let running =
            self.streams[stream.index()].get_or_insert_with(|| LongStream { rules: rules(), ..LongStream::default() });
        running.total.bytes += text.len();
        // Long exact contents have no view.
        if self.printed.exact || running.collector.overflows() {
            return;
        }
        let bytes = text.as_bytes();
        let (mut start, mut counted) = (0, 0);
        while let Some(length) = memchr(b'\n', &bytes[start..]) {
            let (line, next) = (&text[start..start + length], start + length + 1);
            if running.line.is_empty() && line.len() <= LINE {
                if running.take_line(line, stream, options)
                    && let Some(times) = count_repeats(&bytes[start..], length + 1)
                {
                    // Each of them costs as many tokens, because the line before it is the same.
                    running.total.estimate.add(&bytes[counted..start]);
                    let before = running.total.estimate.hundredths();
                    running.total.estimate.add(&bytes[start..next]);
                    let tokens = running.total.estimate.hundredths() - before;
                    running.total.estimate.repeat(tokens, times);
                    running.total.judge.repeat(times);
                    running.collector.repeat(times);
                    start = next + times * (length + 1);
                    counted = start;
                    continue;
                }
            } else {
                running.append_to_line(line);
                running.end_line(stream, options);
            }
            start = next;
            if let Some(block) = running.search.next(bytes, start) {
                running.total.estimate.add(&bytes[counted..start]);
                start += running.take_block(&text[start..], block, stream, options);
                counted = start;
            }
        }
        running.total.estimate.add(&bytes[counted..]);
        running.append_to_line(&text[start..]);
    }

    /// Returns the view of the whole output. `None` if nothing is gained, or if more lines must stay than can be held.
    pub fn finish(mut self, end: ExitOutcome) -> Option<ReducedView> {
        if let Some(small) = self.small.take() {
            let [stdout, stderr] = small.map(|parts| parts.concat());
            let lines = OutputLines::of(&stdout, &stderr, &self.options, &self.printed);
            return lines.view(&self.printed, end, self.options.level);
        }
        if self.printed.exact || self.options.level == ReductionLevel::Lossless {
            return None;
        }
        let mut lines = OutputLines { own: self.options.own, ..OutputLines::default() };
        for stream in [CommandStream::Stdout, CommandStream::Stderr] {
            let Some(mut running) = self.streams[stream.index()].take() else { continue };
            if !running.line.is_empty() {
                running.total.is_open = true;
                running.end_line(stream, &self.options);
            }
            lines.units.extend(running.collector.finish()?);
            lines.totals[stream.index()] = running.total;
        }
        lines.view(&self.printed, end, self.options.level)
    }
}

/// Appends to the parts of a small output.
fn append(to: &mut Vec<String>, text: &str) {
    let mut rest = text;
    while !rest.is_empty() {
        let room = to.last().map_or(0, |part| PART - part.len());
        let (fits, behind) = rest.split_at(rest.floor_char_boundary(room));
        if fits.is_empty() {
            to.push(String::with_capacity(PART));
        } else if let Some(part) = to.last_mut() {
            part.push_str(fits);
        }
        rest = behind;
    }
}

impl LongStream<'_> {
    /// Adds to the incomplete line. If the line is long, its middle is dropped.
    fn append_to_line(&mut self, text: &str) {
        self.tokens.add(text.as_bytes());
        let mut rest = text;
        while !rest.is_empty() {
            let room = (LINE - self.line.len().min(LINE)).min(rest.len());
            let mut part = rest.floor_char_boundary(room);
            if part == 0 {
                part = rest.ceil_char_boundary(1);
            }
            // A line that is long becomes longer.
            if self.line.len() + part > self.line.capacity().max(SPARE) {
                self.line.reserve_exact(LINE + char::MAX_LEN_UTF8 - self.line.len());
            }
            self.line.push_str(&rest[..part]);
            rest = &rest[part..];
            if self.line.len() >= LINE {
                self.shorten();
            }
        }
    }

    fn shorten(&mut self) {
        let start = if self.cut > 0 { self.cut_at } else { self.line.floor_char_boundary(LINE_START) };
        let end = self.line.ceil_char_boundary(self.line.len() - LINE_END);
        self.cut += self.line[start..end].chars().count();
        self.cut_at = start;
        self.line.replace_range(start..end, "");
    }

    fn end_line(&mut self, stream: CommandStream, options: &ReductionOptions) {
        let line = std::mem::take(&mut self.line);
        let cut = std::mem::take(&mut self.cut);
        let mut tokens = std::mem::take(&mut self.tokens);
        if cut == 0 {
            self.take_line(&line, stream, options);
        } else {
            let verdict = options.verdict(&line, &mut self.rules);
            let own = NewLine { text: Cow::Borrowed(&*line), stream, verdict };
            let mut unit = self.total.judge.next(own, self.collector.last());
            tokens.add(if self.total.is_open { b"" } else { b"\n" });
            unit.cut = Some(Box::new(RemovedMiddle { at: self.cut_at, characters: cut, tokens: tokens.hundredths() }));
            self.collector.add(unit, self.total.judge.lead);
        }
        if line.capacity() <= SPARE {
            self.line = line;
            self.line.clear();
        }
    }

    /// Takes the first repeat of a block, and all others with it if the first one changes nothing but numbers. Returns
    /// the length of what it took.
    fn take_block(
        &mut self,
        text: &str,
        block: RepeatedBlock,
        stream: CommandStream,
        options: &ReductionOptions,
    ) -> usize {
        let RepeatedBlock { length, lines, times } = block;
        let (before, tokens) = (self.state(), self.total.estimate.hundredths());
        for line in lines_of(&text[..length]) {
            self.take_line(line, stream, options);
        }
        self.total.estimate.add(&text.as_bytes()[..length]);
        if self.state() != before {
            return length;
        }
        self.search.succeed();
        let (tokens, more) = (self.total.estimate.hundredths() - tokens, times - 1);
        self.total.estimate.repeat(tokens, more);
        self.total.judge.repeat(more * lines);
        self.collector.move_on(more * lines);
        times * length
    }

    /// Returns a number for all that decides what the next lines do, apart from the numbers that each line moves on.
    fn state(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.total.judge.hash_state(&mut hasher);
        self.rules.hash_state(&mut hasher);
        self.collector.hash_state(self.total.judge.lines(), &mut hasher);
        hasher.finish()
    }

    /// Takes a line. Returns whether it repeats the line before.
    fn take_line(&mut self, line: &str, stream: CommandStream, options: &ReductionOptions) -> bool {
        if self.collector.repeats(line) {
            self.total.judge.repeat(1);
            return true;
        }
        let verdict = options.verdict(line, &mut self.rules);
        if self.collector.continues_series(line, verdict) {
            self.total.judge.continue_series(line);
            return false;
        }
        let own = NewLine { text: Cow::Borrowed(line), stream, verdict };
        let unit = self.total.judge.next(own, self.collector.last());
        self.collector.add(unit, self.total.judge.lead);
        false
    }
}
