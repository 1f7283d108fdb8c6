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
use crate::steps;
use crate::triggers::Kinds;

/// Finds the secrets of these kinds in a text.
pub fn scan<'t>(word: &'t Decoded<'t>, kinds: Kinds, spans: &mut Spans) {
    let scan = Scan { word, text: &word.text, bytes: word.text.as_bytes() };
    let mut pass = |of: Kinds, pass: fn(&Scan<'t>, &mut Spans)| {
        if kinds.has(of) {
            steps::add(scan.bytes.len());
            pass(&scan, spans);
        }
    };
    pass(Kinds::TOKEN, Scan::tokens);
    pass(Kinds::KEY, Scan::keys);
    pass(Kinds::ADDRESS, Scan::addresses);
    pass(Kinds::NAME, Scan::pairs);
    pass(Kinds::NAME, Scan::defaults);
    pass(Kinds::NAME, Scan::phrases);
    pass(Kinds::NAME, Scan::named_values);
    pass(Kinds::SENT, Scan::sent);
    pass(Kinds::CALL, Scan::calls);
    pass(Kinds::ROW, Scan::rows);
    pass(Kinds::FILE, Scan::files);
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
        let count = self.bytes.get(from..).unwrap_or_default().iter().take(most).take_while(|byte| test(byte)).count();
        steps::add(count + 1);
        count
    }

    /// Counts the same before a place.
    fn count_back(&self, to: usize, test: impl Fn(&u8) -> bool, most: usize) -> usize {
        let count = self.bytes[..to].iter().rev().take(most).take_while(|byte| test(byte)).count();
        steps::add(count + 1);
        count
    }
}
