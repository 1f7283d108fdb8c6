//! Secrets that any text shows, whatever its language. Each pass goes over the text once.

mod calls;
mod files;
mod pairs;
mod phrases;
mod quotes;
mod shapes;
mod sql;

use std::ops::Range;

use crate::decoded::Decoded;
use crate::spans::Spans;

/// Finds the secrets of a text.
pub fn scan(word: &Decoded<'_>, spans: &mut Spans) {
    let scan = Scan { word, text: &word.text, bytes: word.text.as_bytes() };
    scan.tokens(spans);
    scan.keys(spans);
    scan.addresses(spans);
    scan.pairs(spans);
    scan.defaults(spans);
    scan.phrases(spans);
    scan.calls(spans);
    scan.rows(spans);
    scan.files(spans);
}

struct Scan<'t> {
    word: &'t Decoded<'t>,
    text: &'t str,
    bytes: &'t [u8],
}

impl Scan<'_> {
    /// Adds a secret, unless it is an expansion.
    fn add(&self, secret: Range<usize>, spans: &mut Spans) {
        spans.secret(self.word, secret);
    }

    /// Counts the bytes from a place on that pass a test, at most `most`.
    fn count(&self, from: usize, test: impl Fn(&u8) -> bool, most: usize) -> usize {
        self.bytes.get(from..).unwrap_or_default().iter().take(most).take_while(|byte| test(byte)).count()
    }

    /// Counts the same before a place.
    fn count_back(&self, to: usize, test: impl Fn(&u8) -> bool, most: usize) -> usize {
        self.bytes[..to].iter().rev().take(most).take_while(|byte| test(byte)).count()
    }
}
