//! The ends of runs: what a run and the runs inside it count, and the sums of each runner.

use super::{APART, CommandTermination, TestCounts, TestLineReader, TestRunCounts, TestRunFrame};

impl TestLineReader {
    /// Ends the frame of a runner whose tests add up to its total.
    pub(super) fn close_full(&mut self, rule: usize) {
        let counting = self.rules[rule].1;
        let is_full = |frame: &TestRunFrame| frame.rule == rule && frame.sure && frame.adds_up(counting);
        if counting.adds_up && self.frames.iter().any(is_full) {
            self.close(rule);
        }
    }

    /// Returns the last run of a runner, of which more lines may follow.
    pub(super) fn last_run(&mut self, rule: usize) -> Option<&mut TestRunCounts> {
        let runs = match self.frames.last_mut() {
            Some(frame) => &mut frame.inner,
            None => &mut self.runs,
        };
        runs.iter_mut().rev().find(|run| run.rule == rule)
    }

    /// Ends the frame of a runner.
    pub(super) fn close(&mut self, rule: usize) {
        let Some(at) = self.frames.iter().rposition(|frame| frame.rule == rule) else { return };
        let counting = self.rules[rule].1;
        let inside: Vec<TestRunCounts> = self.frames.drain(at + 1..).flat_map(|frame| frame.inner).collect();
        let Some(mut frame) = self.frames.pop() else { return };
        self.runners[rule].ended_at = self.number;
        frame.names.prepend(std::mem::take(&mut self.runners[rule].names));
        let (mut run, mut inner) = frame.end(counting, true);
        for over in counting.over {
            if let Some(other) = self.rules.iter().position(|(rule, _)| rule.name == *over) {
                self.runners[other].is_off = false;
            }
        }
        inner.extend(inside);
        // A build that does not count itself may run a runner that does.
        if run.passed.is_some() || run.total.is_some() {
            inner.clear();
        }
        match self.frames.last_mut() {
            Some(outer) => {
                inner.push(run);
                add(&mut outer.inner, inner);
            }
            None => {
                if let Some(last) = self.runners[rule].last.filter(|&at| counting.once && self.is_run(at, rule)) {
                    run.names.prepend(std::mem::take(&mut self.runs[last].names));
                    self.runs.truncate(last);
                }
                self.runs.append(&mut inner);
                self.runs.push(run);
                self.runners[rule].last = Some(self.runs.len() - 1);
                self.sum_up_runs();
            }
        }
    }

    fn is_run(&self, at: usize, rule: usize) -> bool {
        self.runs.get(at).is_some_and(|run| run.rule == rule)
    }

    /// Adds up the runs if there are many.
    fn sum_up_runs(&mut self) {
        if self.runs.len() >= APART {
            let runs = std::mem::take(&mut self.runs);
            add(&mut self.sums, runs);
            self.runners.iter_mut().for_each(|runner| runner.last = None);
        }
    }

    pub(super) fn end(mut self, ended: CommandTermination) -> Vec<TestCounts> {
        let mut runs = std::mem::take(&mut self.sums);
        add(&mut runs, std::mem::take(&mut self.runs));
        for mut frame in std::mem::take(&mut self.frames) {
            let rule = frame.rule;
            let is_meant = frame.sure || self.runners[rule].is_proven && frame.has_counts();
            frame.names.prepend(std::mem::take(&mut self.runners[rule].names));
            let (run, mut inner) = frame.end(self.rules[rule].1, false);
            if is_meant {
                // They may be the output of a test of this run.
                inner.iter_mut().for_each(|run| run.complete = false);
                add(&mut runs, vec![run]);
            }
            add(&mut runs, inner);
        }
        for run in &mut runs {
            run.complete &= !self.origin.is_filtered;
            run.complete &= !(ended == CommandTermination::Killed && self.rules[run.rule].1.several);
        }
        let name = |run: &TestRunCounts| self.rules[run.rule].0.name.clone();
        runs.into_iter().map(|run| (name(&run), run)).map(|(name, run)| run.counts(&name)).collect()
    }
}

/// Adds runs to the sums of each runner.
fn add(sums: &mut Vec<TestRunCounts>, runs: Vec<TestRunCounts>) {
    for run in runs {
        match sums.iter_mut().find(|sum| sum.rule == run.rule) {
            Some(sum) => sum.add(run),
            None => sums.push(run),
        }
    }
}
