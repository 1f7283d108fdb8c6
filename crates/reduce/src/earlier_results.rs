//! Finds lines of an output that an earlier result of the conversation shows: `[56 lines as in #9 L40-95]`.
//!
//! The caller knows which earlier texts are still in the conversation. Only lines that were shown there count. Failures
//! never count.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::estimate::hundredths;
use super::failure::{FailureSeverity, severity};

/// Least savings of a reference, in bytes and hundredths of tokens. A smaller output has no reference.
pub const BYTES: usize = 150;
const TOKENS: u64 = 2_000;
/// Tokens of `[56 lines as in #9 L40-95]` and its newline, in hundredths.
const REFERENCE: u64 = 1_400;
/// Least number of letters and digits of a line that starts a run. Lines with fewer occur in any output.
const TELLING: usize = 4;
/// Most places of a line in earlier results that are tried.
const PLACES: usize = 8;

/// An earlier result that is still in the conversation.
#[derive(Clone, Copy, Debug)]
pub struct EarlierResult<'a> {
    /// The number of the output.
    pub id: u64,
    /// The text of the output: stdout, then stderr.
    pub text: &'a str,
    /// The lines, from 1, that a model does not read in the result: they were left out, or are references themselves.
    pub hidden: &'a [(usize, usize)],
}

/// A run of lines that an earlier result shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlierLineRun {
    /// The first line of the run, from 0.
    pub start: usize,
    /// The number of lines.
    pub lines: usize,
    /// The number of the earlier output.
    pub id: u64,
    /// The first line in the earlier output, from 1.
    pub from: usize,
}

impl EarlierLineRun {
    /// Returns the line that replaces the run.
    pub fn reference(&self) -> String {
        let Self { lines, id, from, .. } = *self;
        format!("[{lines} lines as in #{id} L{from}-{}]", from + lines - 1)
    }
}

/// The lines of earlier results, by their text.
pub struct EarlierLines<'a> {
    /// The lines of each result. `None`: a model does not read this line in the result.
    results: Vec<(u64, Vec<Option<&'a str>>)>,
    places: HashMap<u64, Vec<(usize, usize)>>,
    hasher: RandomState,
}

impl<'a> EarlierLines<'a> {
    /// Reads earlier results, the latest result last.
    pub fn of(earlier: &[EarlierResult<'a>]) -> Self {
        let mut shown = Self { results: Vec::new(), places: HashMap::new(), hasher: RandomState::new() };
        for result in earlier.iter().rev() {
            let mut lines: Vec<Option<&str>> = lines_of(result.text).map(Some).collect();
            for &(from, to) in result.hidden {
                let to = to.min(lines.len());
                lines.get_mut(from.saturating_sub(1)..to).into_iter().flatten().for_each(|line| *line = None);
            }
            for (at, line) in lines.iter().enumerate() {
                let Some(line) = line.filter(|line| is_distinctive(line)) else { continue };
                let places = shown.places.entry(shown.hasher.hash_one(line)).or_default();
                if places.len() < PLACES {
                    places.push((shown.results.len(), at));
                }
            }
            shown.results.push((result.id, lines));
        }
        shown
    }

    /// Returns the runs of lines that earlier results show, in order. Each run is worth its reference.
    pub fn find_runs(&self, lines: &[&str]) -> Vec<EarlierLineRun> {
        let mut runs = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let run = self.longest(lines, at).filter(|run| pays(&lines[run.start..run.start + run.lines]));
            at += run.map_or(1, |run| run.lines);
            runs.extend(run);
        }
        runs
    }

    /// Returns the longest run from a line on. Among equally long runs, the run in the latest result.
    fn longest(&self, lines: &[&str], at: usize) -> Option<EarlierLineRun> {
        let line = lines[at];
        let places = is_distinctive(line).then(|| self.places.get(&self.hasher.hash_one(line)))??;
        let mut best: Option<EarlierLineRun> = None;
        for &(result, from) in places {
            let (id, earlier) = &self.results[result];
            let same = lines[at..].iter().zip(&earlier[from..]);
            let length = same
                .take_while(|(line, earlier)| **earlier == Some(**line) && severity(line) < FailureSeverity::Mention)
                .count();
            if length > best.map_or(1, |best| best.lines) {
                best = Some(EarlierLineRun { start: at, lines: length, id: *id, from: from + 1 });
            }
        }
        best
    }
}

/// Returns the lines of a text, each without its newline.
pub(super) fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line))
}

/// Returns whether a line is distinctive: other lines occur in any output.
fn is_distinctive(line: &str) -> bool {
    line.bytes().filter(u8::is_ascii_alphanumeric).count() >= TELLING
}

fn pays(lines: &[&str]) -> bool {
    let bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
    let tokens: u64 = lines.iter().map(|line| hundredths(line) + 75).sum();
    bytes >= BYTES && tokens >= TOKENS + REFERENCE
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "alpha is the first line of this short text\nbeta is the second line of this text\n\
                        gamma is the third line of this text\ndelta is the fourth line of this text\n";

    fn runs(earlier: &[EarlierResult], text: &str) -> Vec<EarlierLineRun> {
        EarlierLines::of(earlier).find_runs(&text.lines().collect::<Vec<_>>())
    }

    #[test]
    fn lines_of_an_earlier_result_are_found() {
        let text = format!("something new\n{TEXT}more\n");
        let found = runs(&[EarlierResult { id: 9, text: TEXT, hidden: &[] }], &text);
        assert_eq!(found, [EarlierLineRun { start: 1, lines: 4, id: 9, from: 1 }]);
        assert_eq!(found[0].reference(), "[4 lines as in #9 L1-4]");
    }

    #[test]
    fn the_latest_result_is_named() {
        let earlier =
            [EarlierResult { id: 3, text: TEXT, hidden: &[] }, EarlierResult { id: 5, text: TEXT, hidden: &[] }];
        assert_eq!(runs(&earlier, TEXT)[0].id, 5);
    }

    #[test]
    fn lines_that_were_left_out_there_do_not_count() {
        assert_eq!(runs(&[EarlierResult { id: 9, text: TEXT, hidden: &[(1, 4)] }], TEXT), []);
        assert_eq!(runs(&[EarlierResult { id: 9, text: TEXT, hidden: &[(2, 900)] }], TEXT), []);
    }

    #[test]
    fn a_failure_is_never_referred_to() {
        let text = "error: this one thing went wrong here\n".repeat(10);
        assert_eq!(runs(&[EarlierResult { id: 9, text: &text, hidden: &[] }], &text), []);
    }

    #[test]
    fn few_lines_are_not_worth_a_reference() {
        let text = "alpha one\nbeta two\n";
        assert_eq!(runs(&[EarlierResult { id: 9, text, hidden: &[] }], text), []);
    }
}
