//! Tests of the stage as a whole.

mod clean;
mod kept;
mod spilled;
mod styled;

use super::{
    CapturedStream, KeptTextLimits, OutputCleaner, ProgressLineHandling, SanitizeRules, SpillDir, SpillFile,
    StreamCapture, TruncationPolicy,
};

const COLLAPSE: SanitizeRules = SanitizeRules { ansi: true, progress: ProgressLineHandling::Collapse };
const KEEP: SanitizeRules = SanitizeRules { ansi: true, progress: ProgressLineHandling::Keep };
const RAW_ANSI: SanitizeRules = SanitizeRules { ansi: false, progress: ProgressLineHandling::Collapse };

/// Returns the clean text of pieces, from the live batches.
fn clean<'a>(rules: SanitizeRules, pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut capture = StreamCapture::new("stdout", TruncationPolicy::default(), Some(rules), true);
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
fn everywhere(rules: SanitizeRules, input: &[u8]) -> String {
    let whole = clean(rules, [input]);
    assert_eq!(clean(rules, input.chunks(1)), whole, "byte by byte: {:?}", String::from_utf8_lossy(input));
    for at in 0..input.len() {
        let (a, b) = input.split_at(at);
        assert_eq!(clean(rules, [a, b]), whole, "split at {at}: {:?}", String::from_utf8_lossy(input));
    }
    whole
}
