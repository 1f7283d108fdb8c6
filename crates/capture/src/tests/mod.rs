//! Tests of the stage as a whole.

mod clean;
mod kept;
mod spilled;
mod styled;

use super::{Capture, Captured, Cleaner, Limits, Progress, Sanitize, SpillDir, SpillFile, Truncate};

const COLLAPSE: Sanitize = Sanitize { ansi: true, progress: Progress::Collapse };
const KEEP: Sanitize = Sanitize { ansi: true, progress: Progress::Keep };
const RAW_ANSI: Sanitize = Sanitize { ansi: false, progress: Progress::Collapse };

/// Returns the clean text of pieces, from the live batches.
fn clean<'a>(rules: Sanitize, pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut capture = Capture::new("stdout", Truncate::default(), Some(rules), true);
    let mut text = String::new();
    for piece in pieces {
        capture.push(piece);
        while let Some(batch) = capture.take_live(7) {
            text.push_str(&batch);
        }
    }
    capture.end();
    while let Some(batch) = capture.take_live(usize::MAX) {
        text.push_str(&batch);
    }
    text
}

/// Returns the clean text of an input and checks that every split gives the same text.
fn everywhere(rules: Sanitize, input: &[u8]) -> String {
    let whole = clean(rules, [input]);
    assert_eq!(clean(rules, input.chunks(1)), whole, "byte by byte: {:?}", String::from_utf8_lossy(input));
    for at in 0..input.len() {
        let (a, b) = input.split_at(at);
        assert_eq!(clean(rules, [a, b]), whole, "split at {at}: {:?}", String::from_utf8_lossy(input));
    }
    whole
}
