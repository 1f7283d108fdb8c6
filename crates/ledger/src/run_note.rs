//! Notes that the host adds to a run.

use std::borrow::Cow;
use std::path::Path;

use super::ledger_line::LedgerLine;
use super::ledger_record::{LedgerRunChanges, LedgerRunNote, MAX_RECORD};

/// Bytes of a record for all but the paths of changes.
const OTHERS: usize = 12 * 1024;

/// Returns the changes of a command, with as many paths as a record can hold.
pub fn run_changes<'p>(
    state: &'static str,
    counts: [u64; 4],
    paths: impl IntoIterator<Item = &'p Path>,
) -> LedgerRunChanges<'static> {
    let mut left = MAX_RECORD - OTHERS;
    let paths = paths.into_iter().map(|path| path.to_string_lossy().into_owned()).take_while(|path| {
        // As JSON, in which one character may be several.
        let length = serde_json::to_string(path).map_or(usize::MAX, |json| json.len() + 1);
        let fits = length <= left;
        left = left.saturating_sub(length);
        fits
    });
    LedgerRunChanges { state: state.into(), counts, paths: paths.map(Cow::Owned).collect() }
}

/// Returns the record of a note.
#[must_use]
pub fn note_line(run: &str, note: &LedgerRunNote<'_>) -> Vec<u8> {
    LedgerLine::of(run).with("note", note).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paths_of_many_changes_are_cut_and_their_numbers_are_not() {
        let paths: Vec<_> = (0..100).map(|at| format!("/srv/{}/{at}", "\u{1}".repeat(400))).collect();
        let changes = run_changes("partial", [5000, 0, 0, 0], paths.iter().map(Path::new));
        assert_eq!((&*changes.state, changes.counts), ("partial", [5000, 0, 0, 0]));
        assert!(!changes.paths.is_empty() && changes.paths.len() < 100);
        let line = note_line("r", &LedgerRunNote { changes: Some(changes), ..LedgerRunNote::default() });
        assert!(line.len() <= MAX_RECORD);
    }
}
