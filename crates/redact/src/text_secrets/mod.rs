//! Secrets that any text shows, whatever its language. Each pass goes over the text once.

mod calls;
mod files;
mod pairs;
mod phrases;
mod quotes;
mod shapes;
mod sql;

use std::ops::Range;

use crate::secret_spans::SecretSpans;
use crate::secret_triggers::SecretKinds;
use crate::step_count;
use crate::unquoted_word::UnquotedWord;

/// Finds the secrets of these kinds in a text.
pub fn find_text_secrets<'t>(word: &'t UnquotedWord<'t>, kinds: SecretKinds, spans: &mut SecretSpans) {
    let scan = SecretTextScan { word, text: &word.text, bytes: word.text.as_bytes() };
    let mut pass = |of: SecretKinds, pass: fn(&SecretTextScan<'t>, &mut SecretSpans)| {
        if kinds.has(of) {
            step_count::add(scan.bytes.len());
            pass(&scan, spans);
        }
    };
    pass(SecretKinds::TOKEN, SecretTextScan::tokens);
    pass(SecretKinds::KEY, SecretTextScan::keys);
    pass(SecretKinds::ADDRESS, SecretTextScan::addresses);
    pass(SecretKinds::NAME, SecretTextScan::pairs);
    pass(SecretKinds::NAME, SecretTextScan::defaults);
    pass(SecretKinds::NAME, SecretTextScan::phrases);
    pass(SecretKinds::NAME, SecretTextScan::named_values);
    pass(SecretKinds::SENT, SecretTextScan::sent);
    pass(SecretKinds::CALL, SecretTextScan::calls);
    pass(SecretKinds::ROW, SecretTextScan::rows);
    pass(SecretKinds::FILE, SecretTextScan::files);
}

struct SecretTextScan<'t> {
    word: &'t UnquotedWord<'t>,
    text: &'t str,
    bytes: &'t [u8],
}

impl SecretTextScan<'_> {
    /// Adds a secret, unless it is an expansion.
    fn add(&self, secret: Range<usize>, spans: &mut SecretSpans) {
        spans.add_secret(self.word, secret);
    }

    /// Counts the bytes from a place on that pass a test, at most `most`.
    fn count(&self, from: usize, test: impl Fn(&u8) -> bool, most: usize) -> usize {
        let count = self.bytes.get(from..).unwrap_or_default().iter().take(most).take_while(|byte| test(byte)).count();
        step_count::add(count + 1);
        count
    }

    /// Counts the same before a place.
    fn count_back(&self, to: usize, test: impl Fn(&u8) -> bool, most: usize) -> usize {
        let count = self.bytes[..to].iter().rev().take(most).take_while(|byte| test(byte)).count();
        step_count::add(count + 1);
        count
    }
}
