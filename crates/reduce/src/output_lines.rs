//! The lines of an output, and the view that is made of them.

use std::borrow::Cow;
use std::sync::Arc;

use super::class::{OutputClass, OutputProfile};
use super::earlier_results::{EarlierLineRun, EarlierLines, lines_of};
use super::estimate::TokenEstimate;
use super::fold::FEWEST;
use super::reduction_options::ReductionOptions;
use super::rules::OutputRule;
use super::salience::line_selection::{SelectionConditions, select};
use super::salience::output_unit::{LineJudge, NewLine, OutputUnit};
use super::salience::view_writer::{StreamRendering, ViewWriter};
use super::{CommandStream, ElisionReason, ExitOutcome, ReducedView, ReductionLevel, ViewRuleName};

/// Least size in bytes of an output that is worth a gap.
const SMALL: usize = 1 << 10;
/// Factor of the budget for a failed command.
const RED: u64 = 4;
/// Tokens of the closing line, in hundredths.
const CLOSING: u64 = 4_000;
/// The lines of an output and their properties.
#[derive(Debug, Default)]
pub(super) struct OutputLines<'a> {
    pub units: Vec<OutputUnit<'a>>,
    pub totals: [StreamTotals; 2],
    /// Rules of the user.
    pub own: &'a [Arc<OutputRule>],
    /// Runs of lines of each stream that earlier results show.
    pub runs: [Vec<EarlierLineRun>; 2],
}

/// All that is known about one stream.
#[derive(Debug, Default)]
pub(super) struct StreamTotals {
    pub judge: LineJudge,
    pub estimate: TokenEstimate,
    pub bytes: usize,
    /// Whether the last line has no newline.
    pub is_open: bool,
}

impl<'a> OutputLines<'a> {
    /// Reads the lines of a whole output.
    pub fn of(stdout: &'a str, stderr: &'a str, options: &ReductionOptions<'a>, printed: &OutputProfile) -> Self {
        let mut lines = Self { own: options.own, ..Self::default() };
        lines.add(CommandStream::Stdout, stdout, options, printed);
        lines.add(CommandStream::Stderr, stderr, options, printed);
        if let Some(shown) = options.earlier.filter(|_| !printed.exact) {
            lines.mark_earlier_lines(CommandStream::Stdout, stdout, shown);
            lines.mark_earlier_lines(CommandStream::Stderr, stderr, shown);
        }
        lines
    }

    fn add(&mut self, stream: CommandStream, text: &'a str, options: &ReductionOptions, printed: &OutputProfile) {
        let mut rules = options.rules(printed);
        let total = &mut self.totals[stream.index()];
        total.bytes = text.len();
        total.is_open = !text.is_empty() && !text.ends_with('\n');
        let first = self.units.len();
        total.estimate.add(text.as_bytes());
        for line in lines_of(text) {
            if let Some(last) = self.units[first..].last_mut().filter(|last| last.repeats(line)) {
                last.count += 1;
                total.judge.repeat(1);
                continue;
            }
            let verdict = options.verdict(line, &mut rules);
            if self.units[first..].last_mut().is_some_and(|last| last.continues_series(line, verdict)) {
                total.judge.continue_series(line);
                continue;
            }
            let own = NewLine { text: Cow::Borrowed(line), stream, verdict };
            let above = self.units[first..].iter().rev().map(|unit| &*unit.text);
            let unit = total.judge.next(own, above);
            self.units.push(unit);
            let above = self.units[first..].iter_mut().rev().skip(1).take(total.judge.lead);
            above.for_each(|unit| unit.traits.in_block = true);
            if let [.., begin, second, third] = &mut self.units[first..]
                && !printed.exact
                && let Some(series) = begin.begun_series([second, third])
            {
                begin.begin_series(series);
                self.units.truncate(self.units.len() + 1 - FEWEST);
            }
        }
    }

    /// Marks the lines that earlier results show.
    fn mark_earlier_lines(&mut self, stream: CommandStream, text: &str, shown: &EarlierLines) {
        if !self.totals[stream.index()].judge.allowed.references {
            return;
        }
        let lines: Vec<&str> = lines_of(text).collect();
        let mut runs = shown.find_runs(&lines);
        let mut units = self.units.iter_mut().filter(|unit| unit.stream == stream).peekable();
        runs.retain_mut(|run| {
            // Equal lines in a row are one unit. A run begins and ends with whole units.
            while units.next_if(|unit| unit.number <= run.start).is_some() {}
            let end = run.start + run.lines;
            let skipped = units.peek().map_or(0, |unit| unit.number - 1 - run.start);
            (run.start, run.from, run.lines) = (run.start + skipped, run.from + skipped, 0);
            while let Some(unit) = units.next_if(|unit| unit.number + unit.count - 1 <= end) {
                unit.traits.referred = true;
                run.lines += unit.count;
            }
            run.lines > 0
        });
        self.runs[stream.index()] = runs;
    }

    /// Returns the view of these lines. `None` if nothing is gained.
    pub fn view(&self, printed: &OutputProfile, end: ExitOutcome, level: ReductionLevel) -> Option<ReducedView> {
        let rows = printed.rows && end != ExitOutcome::Failed;
        let failed = self.totals.iter().any(|total| if rows { total.judge.said } else { total.judge.failed });
        let class = OutputClass::of(printed, end == ExitOutcome::Failed || failed);
        let salient = match level {
            ReductionLevel::Lossless => None,
            ReductionLevel::Salient { budget } => self.salient_view(class, rows, budget),
        };
        if salient.is_some() || class == OutputClass::Exact {
            return salient;
        }
        self.lossless_view(class)
    }

    /// Returns all lines, folded. `None` if they take no fewer tokens, or if lines are missing.
    fn lossless_view(&self, class: OutputClass) -> Option<ReducedView> {
        if self.units.iter().any(|unit| unit.cut.is_some()) {
            return None;
        }
        let shown: Vec<bool> = self.units.iter().map(|unit| !unit.traits.referred).collect();
        let view = self.render(class, &shown, FoldingMode { folds: true, shortens: false });
        let bytes: usize = self.totals.iter().map(|total| total.bytes).sum();
        let gains = view.after < view.before && view.text.len() < bytes + LABELS;
        (gains && !(view.elided.is_empty() && view.rules.is_empty())).then_some(view)
    }

    fn allows_series(&self, stream: CommandStream) -> bool {
        self.totals[stream.index()].judge.allowed.series
    }

    /// Returns the lines that tell most. `None` if too little is left out.
    fn salient_view(&self, class: OutputClass, rows: bool, budget: usize) -> Option<ReducedView> {
        let bytes: usize = self.totals.iter().map(|total| total.bytes).sum();
        if bytes < SMALL || self.totals.iter().any(|total| !total.judge.allowed.gaps) {
            return None;
        }
        // A text that holds the mark of a series shows all its lines.
        if self.units.iter().any(|unit| unit.series.is_some() && !self.allows_series(unit.stream)) {
            return None;
        }
        let shown = if class == OutputClass::Exact {
            vec![true; self.units.len()]
        } else {
            let red = class == OutputClass::Red;
            // The model also reads the closing line.
            let budget = (budget as u64 * 100 * if red { RED } else { 1 }).saturating_sub(CLOSING);
            let lines = [0, 1].map(|at: usize| self.totals[at].judge.lines());
            let open = [0, 1].map(|at: usize| self.totals[at].is_open);
            select(&self.units, &SelectionConditions { red, rows, budget, lines, open })
        };
        let view = self.render(class, &shown, FoldingMode { folds: class != OutputClass::Exact, shortens: true });
        let after = view.after as u64 * 100 + CLOSING;
        (!view.elided.is_empty() && shown.contains(&true) && after * 10 <= view.before as u64 * 900).then_some(view)
    }

    fn render(&self, class: OutputClass, shown: &[bool], folding: FoldingMode) -> ReducedView {
        let mut rendered = ViewWriter::default();
        let split = self.units.partition_point(|unit| unit.stream == CommandStream::Stdout);
        let (stdout, stderr) = (self.totals[0].judge.lines(), self.totals[1].judge.lines());
        let mut before = TokenEstimate::default();
        for (stream, range, start) in
            [(CommandStream::Stdout, 0..split, 0), (CommandStream::Stderr, split..self.units.len(), stdout)]
        {
            let total = &self.totals[stream.index()];
            if total.judge.lines() == 0 {
                continue;
            }
            if stream == CommandStream::Stderr || stderr > 0 {
                let label = if stream == CommandStream::Stdout {
                    "stdout:\n"
                } else if stdout > 0 {
                    "\nstderr:\n"
                } else {
                    "stderr:\n"
                };
                rendered.text.push_str(label);
                before.add(label.as_bytes());
            }
            let allowed = total.judge.allowed;
            let FoldingMode { folds, shortens } = folding;
            let runs = &self.runs[stream.index()];
            let (lines, red, own) = (total.judge.lines(), class == OutputClass::Red, self.own);
            let rendering = StreamRendering { stream, lines, before: start, red, allowed, folds, shortens, runs, own };
            rendered.stream(&self.units[range.clone()], &shown[range], &rendering);
            if total.is_open && (stream == CommandStream::Stderr || stderr == 0) {
                rendered.text.pop();
            }
        }
        let mut after = TokenEstimate::default();
        after.add(rendered.text.as_bytes());
        let before = self.totals.iter().map(|total| total.estimate.hundredths()).sum::<u64>() + before.hundredths();
        let mut rules: Vec<ViewRuleName> = rendered.used.into_iter().map(ViewRuleName::Borrowed).collect();
        for elided in &rendered.elided {
            if let ElisionReason::Rule(rule) = &elided.why
                && !rules.contains(rule)
            {
                rules.push(rule.clone());
            }
        }
        let before = usize::try_from((before + 50) / 100).unwrap_or(usize::MAX);
        let lines = [stdout, stderr];
        ReducedView { text: rendered.text, before, after: after.tokens(), class, elided: rendered.elided, rules, lines }
    }
}

#[derive(Clone, Copy)]
struct FoldingMode {
    folds: bool,
    shortens: bool,
}

/// Length of the labels of both streams, in bytes.
const LABELS: usize = 17;
