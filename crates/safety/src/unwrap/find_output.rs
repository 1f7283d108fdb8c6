//! The output of `find`, for the programs that read it.

use super::find::{FindExpressionWalk, PRINTS};
use super::search_matches::SearchMatches;
use super::words::weight;
use crate::word_value::{ValuePiece, WordValue};

/// Most text that is written out in all.
const WEIGHT: usize = 1 << 16;

/// Actions that print something other than paths, or run a command that does.
const OTHERS: &[&str] =
    &["-exec", "-execdir", "-ok", "-okdir", "-printf", "-ls", "-printx", "-help", "--help", "-version", "--version"];
/// Actions that suppress the default output. Without a `-print` find prints nothing.
const SILENT: &[&str] = &["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];

/// Returns the printed paths. `None` if they cannot be known.
pub fn printed_paths(argv: &[WordValue]) -> Option<WordValue> {
    let walk = FindExpressionWalk::of(argv);
    let tests = argv.get(walk.first..).unwrap_or_default();
    let has = |words: &[&str]| tests.iter().any(|word| word.known().is_some_and(|word| words.contains(&word)));
    let open = |word: &WordValue| matches!(word.pieces().first(), Some(ValuePiece::Unknown(true)));
    if has(OTHERS) || tests.iter().any(open) || walk.prints.len() > PRINTS {
        return None;
    }
    let starts = walk.starts.clone();
    let prints = match walk.prints.as_slice() {
        [] if has(SILENT) => Vec::new(),
        [] => vec![(walk.whole(), '\n')],
        prints => prints.to_vec(),
    };
    let mut text = WordValue::default();
    let mut budget = WEIGHT;
    for (matches, end) in prints {
        for start in &starts {
            for item in lines(&matches, start) {
                budget = budget.checked_sub(weight(std::slice::from_ref(&item)))?;
                text.extend(&item);
                text.push(ValuePiece::Text(end.to_string()));
            }
        }
    }
    Some(text)
}

/// Returns the directories of which a search prints every file.
pub fn finds_everything(argv: &[WordValue]) -> Option<Vec<WordValue>> {
    let walk = FindExpressionWalk::of(argv);
    let tests = argv.get(walk.first..).unwrap_or_default();
    let has = |words: &[&str]| tests.iter().any(|word| word.known().is_some_and(|word| words.contains(&word)));
    let starts = walk.starts.clone();
    let whole = match walk.prints.as_slice() {
        [] if has(OTHERS) || has(SILENT) => false,
        [] => walk.whole().is_everything(),
        prints => prints.iter().any(|(matches, _)| matches.is_everything()),
    };
    whole.then_some(starts)
}

/// Returns the lines for a start directory: its matches and, if it matches itself, its contents.
fn lines(matches: &SearchMatches, start: &WordValue) -> Vec<WordValue> {
    let mut lines: Vec<WordValue> = matches.items(start, false).into_iter().map(|(_, item)| item).collect();
    if matches.start {
        let mut inside = start.clone();
        if !start.suffix().ends_with('/') {
            inside.push(ValuePiece::Text("/".to_owned()));
        }
        inside.push(ValuePiece::Unknown(false));
        lines.push(inside);
    }
    lines
}
