//! Replaces texts in bytes that arrive in pieces.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use bytes::Bytes;

/// Texts, each with the text that takes its place. The longest of several that begin at one place counts.
#[derive(Debug)]
pub(crate) struct TextReplacements {
    search: AhoCorasick,
    from: Vec<Vec<u8>>,
    to: Vec<Vec<u8>>,
}

impl TextReplacements {
    /// Returns replacements. `None`: there is nothing to replace, or the texts are too many.
    pub fn new(pairs: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Option<Self> {
        let mut pairs: Vec<_> = pairs.into_iter().filter(|(from, to)| !from.is_empty() && from != to).collect();
        // The first of several texts that would take a place is the plain one.
        pairs.sort_by(|one, other| one.0.cmp(&other.0));
        pairs.dedup_by(|one, other| one.0 == other.0);
        let (from, to): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        if from.is_empty() {
            return None;
        }
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&from).ok()?;
        Some(Self { search, from, to })
    }

    /// Returns whether each text is as long as the one that takes its place.
    pub fn keep_length(&self) -> bool {
        self.from.iter().zip(&self.to).all(|(from, to)| from.len() == to.len())
    }

    /// Returns the first text that is found.
    pub fn find(&self, bytes: &[u8]) -> Option<&[u8]> {
        self.search.find(bytes).map(|found| self.from[found.pattern()].as_slice())
    }

    /// Replaces the texts in the whole of some bytes. `None`: none is there.
    pub fn replace(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(bytes.len());
        let done = self.replace_before(bytes, bytes.len(), &mut out);
        done.found.map(|_| out)
    }

    /// Appends bytes with each text replaced that begins before `open`, where the beginning of a text may lie whose
    /// rest has not arrived. Such a text has to be seen whole, as the longest counts.
    fn replace_before(&self, bytes: &[u8], mut open: usize, out: &mut Vec<u8>) -> ReplacedPart {
        let (mut end, mut number) = (0, None);
        for found in self.search.find_iter(bytes) {
            if found.start() >= open {
                break;
            }
            out.extend_from_slice(&bytes[end..found.start()]);
            out.extend_from_slice(&self.to[found.pattern()]);
            (end, number) = (found.end(), Some(found.pattern().as_usize()));
            if end > open {
                open = end + self.open_start(&bytes[end..]);
            }
        }
        out.extend_from_slice(&bytes[end..open]);
        ReplacedPart { end: open, found: number }
    }

    /// Returns where the beginning of a text may lie whose rest has not arrived. Nothing before it is one.
    fn open_start(&self, bytes: &[u8]) -> usize {
        let longest = self.from.iter().map(Vec::len).max().unwrap_or(0);
        let first = bytes.len().saturating_sub(longest.saturating_sub(1));
        let is_open = |at: &usize| {
            let rest = &bytes[*at..];
            self.from.iter().any(|text| text.len() > rest.len() && text.starts_with(rest))
        };
        (first..bytes.len()).find(is_open).unwrap_or(bytes.len())
    }
}

/// The part of some bytes in which texts were replaced.
struct ReplacedPart {
    end: usize,
    /// The number of the last text.
    found: Option<usize>,
}

/// Replaces texts in a stream. It keeps back only what may be the beginning of a text.
#[derive(Debug)]
pub(crate) struct StreamReplacer {
    texts: Arc<TextReplacements>,
    kept: Vec<u8>,
    /// The number of the text that was replaced last.
    found: Option<usize>,
}

impl StreamReplacer {
    /// Begins a stream.
    pub fn new(texts: Arc<TextReplacements>) -> Self {
        Self { texts, kept: Vec::new(), found: None }
    }

    /// Returns the texts.
    pub fn texts(&self) -> &TextReplacements {
        &self.texts
    }

    /// Returns the text that was replaced last.
    pub fn found(&self) -> Option<&[u8]> {
        self.found.map(|number| self.texts.from[number].as_slice())
    }

    /// Takes the next bytes. Returns those that can be passed on.
    pub fn push(&mut self, bytes: Bytes) -> Bytes {
        if self.kept.is_empty() && self.texts.find(&bytes).is_none() {
            let open = self.texts.open_start(&bytes);
            self.kept.extend_from_slice(&bytes[open..]);
            return bytes.slice(..open);
        }
        let mut all = std::mem::take(&mut self.kept);
        all.extend_from_slice(&bytes);
        let mut out = Vec::with_capacity(all.len());
        let done = self.texts.replace_before(&all, self.texts.open_start(&all), &mut out);
        self.found = done.found.or(self.found);
        self.kept.extend_from_slice(&all[done.end..]);
        out.into()
    }

    /// Ends the stream. Returns the bytes that were kept back.
    pub fn finish(&mut self) -> Bytes {
        let kept = std::mem::take(&mut self.kept);
        let mut out = Vec::with_capacity(kept.len());
        self.found = self.texts.replace_before(&kept, kept.len(), &mut out).found.or(self.found);
        out.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replacements(pairs: &[(&str, &str)]) -> Arc<TextReplacements> {
        let pairs = pairs.iter().map(|(from, to)| (from.as_bytes().to_vec(), to.as_bytes().to_vec()));
        Arc::new(TextReplacements::new(pairs).expect("texts"))
    }

    /// The whole of a stream that arrives in these pieces.
    fn streamed(texts: &Arc<TextReplacements>, pieces: &[&[u8]]) -> Vec<u8> {
        let mut replacer = StreamReplacer::new(Arc::clone(texts));
        let mut out: Vec<u8> =
            pieces.iter().flat_map(|piece| replacer.push(Bytes::copy_from_slice(piece)).to_vec()).collect();
        out.extend_from_slice(&replacer.finish());
        out
    }

    #[test]
    fn texts_are_found_across_pieces_and_the_longest_counts() {
        let texts = replacements(&[("secret", "******"), ("secrets", "#######"), ("key", "a longer one")]);
        for (pieces, expected) in [
            (vec!["a secret."], "a ******."),
            (vec!["a sec", "ret", "."], "a ******."),
            (vec!["secret", "s"], "#######"),
            (vec!["secret"], "******"),
            (vec!["secret", "x"], "******x"),
            (vec!["secsecretkey"], "sec******a longer one"),
            (vec!["secre"], "secre"),
            (vec!["", "k", "", "e", "y"], "a longer one"),
        ] {
            let pieces: Vec<&[u8]> = pieces.iter().map(|piece| piece.as_bytes()).collect();
            assert_eq!(String::from_utf8_lossy(&streamed(&texts, &pieces)), expected);
        }
        assert!(!texts.keep_length());
    }

    #[test]
    fn only_a_possible_beginning_is_kept_back() {
        let mut replacer = StreamReplacer::new(replacements(&[("secret", "******")]));
        assert_eq!(replacer.push(Bytes::from_static(b"data: 1\n\n")), "data: 1\n\n");
        assert_eq!(replacer.push(Bytes::from_static(b"data: se")), "data: ");
        assert_eq!(replacer.push(Bytes::from_static(b"t")), "set");
        assert_eq!(replacer.finish(), "");
    }

    #[test]
    fn nothing_to_replace_is_none() {
        assert!(TextReplacements::new([]).is_none());
        assert!(TextReplacements::new([(Vec::new(), b"a".to_vec()), (b"b".to_vec(), b"b".to_vec())]).is_none());
    }

    proptest! {
        #[test]
        fn pieces_give_what_the_whole_gives(text in "[abc]{0,60}", cuts in prop::collection::vec(0_usize..60, 0..6)) {
            let texts = replacements(&[("ab", "--"), ("abca", "----"), ("cc", "==")]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.push(0);
            cuts.push(text.len());
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]).collect();
            let whole = texts.replace(text.as_bytes()).unwrap_or_else(|| text.clone().into_bytes());
            prop_assert_eq!(String::from_utf8(streamed(&texts, &pieces)), String::from_utf8(whole));
        }
    }
}
