//! Finds tokens by the shapes in which vendors give them out: the rows of `data/shapes.txt`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

/// The characters of a part of a token.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum CharacterClass {
    Digit,
    Lower,
    Capital,
    Alnum,
    Hex,
    Word,
    Dotted,
    Base64,
    Any,
}

/// A part of a shape.
#[derive(Clone, Copy, Debug)]
pub(super) enum ShapePiece {
    Text(&'static str),
    /// So many characters. `most` is `None` if there may be any number more.
    Run {
        class: CharacterClass,
        least: usize,
        most: Option<usize>,
    },
}

/// What a token must show besides its characters.
#[derive(Clone, Copy, PartialEq)]
enum TokenCheck {
    Nothing,
    Random,
    Dot,
}

/// A row of the data.
pub(super) struct TokenShape {
    pub(super) vendor: &'static str,
    pub(super) pieces: Vec<ShapePiece>,
    /// The piece by which a text is searched: its first text that is long enough to be rare.
    anchor: usize,
    /// Pieces before the secret, whose letters count in any case.
    lead: usize,
    check: TokenCheck,
}

/// The rows without their sources.
const DATA: &str = include_str!(concat!(env!("OUT_DIR"), "/shapes.txt"));

/// Bytes of a part by which a token is told from other text. Without a bound, a text of many leads would take quadratic
/// time.
const SEEN: usize = 512;

/// All shapes, by the first two bytes of their anchors.
struct TokenShapeTable {
    shapes: Vec<TokenShape>,
    /// A bit for each pair of bytes with which an anchor begins.
    pairs: Vec<u64>,
    /// The shapes of these pairs, in order.
    by_pair: Vec<AnchorPair>,
}

/// The shapes whose anchors begin with the same two bytes.
struct AnchorPair {
    bytes: u16,
    /// A bit for the low five bits of each third byte.
    third: u32,
    rows: Vec<u16>,
}

static TABLE: LazyLock<TokenShapeTable> =
    LazyLock::new(|| TokenShapeTable::new(DATA.lines().filter_map(TokenShape::parse).collect()));

/// Returns all shapes.
pub(super) fn all_shapes() -> &'static [TokenShape] {
    &TABLE.shapes
}

/// Returns the tokens of a text, each of them once. Of a shape with a lead that is no part of it, only the secret.
pub fn find_tokens(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let (table, mut at) = (&*TABLE, 0);
    std::iter::from_fn(move || table.next(text, &mut at))
}

impl TokenShapeTable {
    fn new(shapes: Vec<TokenShape>) -> Self {
        let mut by_pair: BTreeMap<u16, AnchorPair> = BTreeMap::new();
        for (row, shape) in shapes.iter().enumerate() {
            let anchor = shape.anchor_text().as_bytes();
            let cases = |at: usize| match anchor.get(at) {
                Some(byte) if shape.lead > 0 => vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()],
                Some(byte) => vec![*byte],
                None => (0..=u8::MAX).collect(),
            };
            let third = cases(2).into_iter().fold(0, |bits, byte| bits | 1 << (byte & 31));
            for bytes in cases(0).iter().flat_map(|first| cases(1).into_iter().map(move |second| [*first, second])) {
                let bytes = u16::from_be_bytes(bytes);
                let pair = by_pair.entry(bytes).or_insert(AnchorPair { bytes, third: 0, rows: Vec::new() });
                pair.third |= third;
                pair.rows.push(u16::try_from(row).unwrap_or(u16::MAX));
            }
        }
        let mut pairs = vec![0; 1024];
        for pair in by_pair.keys().map(|pair| usize::from(*pair)) {
            pairs[pair / 64] |= 1 << (pair % 64);
        }
        Self { shapes, pairs, by_pair: by_pair.into_values().collect() }
    }

    /// Returns the longest token whose anchor begins with this pair of bytes at this place, if the token begins at
    /// `from` or later.
    fn longest(&self, text: &[u8], from: usize, at: usize, bytes: u16) -> Option<Range<usize>> {
        let pair = &self.by_pair[self.by_pair.binary_search_by_key(&bytes, |pair| pair.bytes).ok()?];
        if pair.third & 1 << (text.get(at + 2).copied().unwrap_or_default() & 31) == 0 {
            return None;
        }
        let begins = begins_word(text, at);
        let shapes = pair.rows.iter().map(|row| &self.shapes[usize::from(*row)]);
        let near = shapes.filter(|shape| (begins || shape.anchor > 0) && shape.is_at(shape.anchor, text, at));
        near.filter_map(|shape| shape.token(text, from, at)).max_by_key(|token| token.end)
    }

    /// Returns the next token from a place on, and moves the place behind it.
    fn next(&self, text: &[u8], at: &mut usize) -> Option<Range<usize>> {
        let from = *at;
        let mut is_within = from.checked_sub(1).is_some_and(|before| text[before].is_ascii_alphanumeric());
        for (offset, bytes) in text.get(from..)?.windows(2).enumerate() {
            // An anchor begins with a sign, or where a word does.
            let was_within = std::mem::replace(&mut is_within, bytes[0].is_ascii_alphanumeric());
            let pair = u16::from_be_bytes([bytes[0], bytes[1]]);
            let has_pair = self.pairs[usize::from(pair / 64)] & (1 << (pair % 64)) != 0;
            let here = from + offset;
            if has_pair
                && (!(was_within && is_within) || begins_word(text, here))
                && let Some(token) = self.longest(text, from, here, pair)
            {
                *at = token.end;
                return Some(token);
            }
        }
        *at = text.len();
        None
    }
}

/// Returns whether a word begins here: the sign before is no letter or digit, or ends `\n` or `%3D`.
fn begins_word(text: &[u8], at: usize) -> bool {
    let before = |count: usize| at.checked_sub(count).map(|at| text[at]);
    before(1).is_none_or(|byte| !byte.is_ascii_alphanumeric())
        || before(2) == Some(b'\\') && matches!(before(1), Some(b'n' | b'r' | b't'))
        || before(3) == Some(b'%')
}

impl TokenShape {
    /// Reads a row; see the head of the data.
    fn parse(row: &'static str) -> Option<Self> {
        let (form, vendor) = row.split_once(" | ")?;
        let (mut pieces, mut lead, mut check) = (Vec::new(), 0, TokenCheck::Nothing);
        for word in form.split(' ') {
            match word {
                ">" => lead = pieces.len(),
                "~random" => check = TokenCheck::Random,
                "~dot" => check = TokenCheck::Dot,
                _ => pieces.push(ShapePiece::parse(word)),
            }
        }
        let text = |piece: &ShapePiece| if let ShapePiece::Text(text) = piece { text.len() } else { 0 };
        let longest = (0..pieces.len()).max_by_key(|at| text(&pieces[*at]))?;
        let anchor = if text(&pieces[0]) > 0 { 0 } else { longest };
        Some(Self { vendor, pieces, anchor, lead, check })
    }

    /// Returns the text with which tokens begin, or the one by which they are found.
    pub(super) fn anchor_text(&self) -> &'static str {
        match self.pieces[self.anchor] {
            ShapePiece::Text(text) => text,
            ShapePiece::Run { .. } => "",
        }
    }

    /// Returns whether the text of this piece is at this place.
    fn is_at(&self, piece: usize, text: &[u8], at: usize) -> bool {
        let ShapePiece::Text(wanted) = self.pieces[piece] else { return false };
        let found = text.get(at..at + wanted.len());
        found.is_some_and(|found| {
            found == wanted.as_bytes() || piece < self.lead && found.eq_ignore_ascii_case(wanted.as_bytes())
        })
    }

    /// Returns the token whose anchor is at this place, if it begins at `from` or later.
    fn token(&self, text: &[u8], from: usize, anchor: usize) -> Option<Range<usize>> {
        let start = self.start(text, from, anchor)?;
        let (mut at, mut secret) = (anchor, start);
        for (number, piece) in self.pieces.iter().enumerate().skip(self.anchor) {
            if number == self.lead && number > 0 {
                secret = at;
            }
            at += match piece {
                ShapePiece::Text(wanted) => self.is_at(number, text, at).then_some(wanted.len())?,
                ShapePiece::Run { class, least, most } => class.run(&text[at..], *least, *most)?,
            };
        }
        let is_open = matches!(self.pieces.last(), Some(ShapePiece::Run { most: None, .. }));
        if !is_open && text.get(at).is_some_and(u8::is_ascii_alphanumeric) {
            return None;
        }
        let seen = &text[anchor + self.anchor_text().len()..at.min(anchor + SEEN)];
        let counts = match self.check {
            TokenCheck::Nothing => true,
            TokenCheck::Random => is_random(seen),
            TokenCheck::Dot => seen.contains(&b'.'),
        };
        if let (true, Some(ShapePiece::Run { class, most: None, .. })) = (counts, self.pieces.last()) {
            at += text[at..].iter().take_while(|byte| class.has(**byte)).count();
        }
        counts.then_some(secret..at)
    }

    /// Returns the start of the token whose anchor is at this place.
    fn start(&self, text: &[u8], from: usize, anchor: usize) -> Option<usize> {
        let mut at = anchor;
        for (number, piece) in self.pieces[..self.anchor].iter().enumerate().rev() {
            at -= match piece {
                ShapePiece::Text(wanted) => {
                    let start = at.checked_sub(wanted.len()).filter(|start| *start >= from)?;
                    self.is_at(number, text, start).then_some(wanted.len())?
                }
                ShapePiece::Run { class, least, most } => {
                    let before = text[from.min(at)..at].iter().rev().take(most.unwrap_or(SEEN));
                    let count = before.take_while(|byte| class.has(**byte)).count();
                    (count >= *least).then_some(count)?
                }
            };
        }
        (self.anchor == 0 || begins_word(text, at)).then_some(at)
    }
}

impl ShapePiece {
    fn parse(word: &'static str) -> Self {
        let run = word.split_once(':').and_then(|(class, number)| Some((CharacterClass::named(class)?, number)));
        let Some((class, number)) = run else { return Self::Text(if word == "\\s" { " " } else { word }) };
        let count = |text: &str| text.parse().unwrap_or(0);
        let (least, most) = match (number.strip_suffix('+'), number.split_once('-')) {
            (Some(least), _) => (count(least), None),
            (None, Some((least, most))) => (count(least), Some(count(most))),
            (None, None) => (count(number), Some(count(number))),
        };
        Self::Run { class, least, most }
    }
}

impl CharacterClass {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "digit" => Self::Digit,
            "lower" => Self::Lower,
            "capital" => Self::Capital,
            "alnum" => Self::Alnum,
            "hex" => Self::Hex,
            "word" => Self::Word,
            "dotted" => Self::Dotted,
            "base64" => Self::Base64,
            "any" => Self::Any,
            _ => return None,
        })
    }

    fn has(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Lower => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Any => !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b';' | b'&'),
        }
    }

    /// Returns the length of the run with which a text begins, if it is long enough.
    fn run(self, text: &[u8], least: usize, most: Option<usize>) -> Option<usize> {
        let count = text.iter().take(most.unwrap_or(SEEN)).take_while(|byte| self.has(**byte)).count();
        (count >= least).then_some(count)
    }
}

/// Returns whether a token is unlike `sk-learn-examples-2024`: a long run with a digit in it, or long as a whole with
/// letters of both cases.
fn is_random(token: &[u8]) -> bool {
    let has = |text: &[u8], test: fn(&u8) -> bool| text.iter().any(test);
    let is_mixed = |run: &[u8]| has(run, u8::is_ascii_digit) && has(run, u8::is_ascii_alphabetic);
    has(token, u8::is_ascii_digit)
        && (token.split(|byte| matches!(byte, b'-' | b'_' | b'.')).any(|run| run.len() >= 16 && is_mixed(run))
            || (token.len() >= 40 && has(token, u8::is_ascii_uppercase) && has(token, u8::is_ascii_lowercase)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a token of a shape, built here so that the source holds no whole one.
    pub fn example(shape: &TokenShape) -> String {
        let piece = |piece: &ShapePiece| match piece {
            ShapePiece::Text(text) => (*text).to_owned(),
            ShapePiece::Run { class, least, .. } => {
                let alphabet = match class {
                    CharacterClass::Digit => "1234567890",
                    CharacterClass::Lower => "a1b2c3d4e5f6g7h8",
                    CharacterClass::Hex => "0a1b2c3d4e5f",
                    CharacterClass::Capital => "A0B1C2D3",
                    CharacterClass::Dotted if shape.check == TokenCheck::Dot => "a0B1.c2",
                    _ => "a0B1c2D3e4F5g6H7i8J9",
                };
                alphabet.chars().cycle().take(*least).collect()
            }
        };
        shape.pieces.iter().map(piece).collect()
    }

    /// Returns the secret of an example.
    fn secret(shape: &TokenShape) -> String {
        let whole = example(shape);
        let lead: usize = shape.pieces[..shape.lead]
            .iter()
            .map(|piece| match piece {
                ShapePiece::Text(text) => text.len(),
                ShapePiece::Run { least, .. } => *least,
            })
            .sum();
        whole[lead..].to_owned()
    }

    #[test]
    fn every_row_has_a_form_a_vendor_and_a_source() {
        let data = include_str!("../../data/shapes.txt");
        let rows = data.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for row in rows.clone() {
            assert_eq!(row.split(" | ").count(), 3, "{row}");
            assert!(row.len() <= 120, "{row}");
        }
        assert_eq!(rows.clone().count(), all_shapes().len());
        for row in DATA.lines() {
            let shape = TokenShape::parse(row).unwrap_or_else(|| panic!("{row}"));
            let begins = shape.anchor_text().starts_with(|first: char| first.is_ascii_alphanumeric());
            assert!(!shape.anchor_text().is_empty() && (shape.anchor == 0 || !begins), "{row}");
        }
        let mut forms: Vec<_> = rows.map(|row| row.split(" | ").next()).collect();
        forms.sort_unstable();
        assert!(forms.windows(2).all(|pair| pair[0] != pair[1]), "a row twice");
    }

    #[test]
    fn every_token_is_found_where_it_begins_and_ends() {
        for shape in all_shapes() {
            let (whole, secret) = (example(shape), secret(shape));
            for (before, after) in [("", ""), ("é ", " b"), ("{\"k\":\"", "\"}"), ("a=", "\nb"), ("\\n", "")] {
                let text = format!("{before}{whole}{after}");
                let found: Vec<_> = find_tokens(text.as_bytes()).map(|token| &text[token]).collect();
                assert_eq!(found, [&*secret], "{text}");
            }
            assert_eq!(
                find_tokens(format!("x{whole}").as_bytes()).filter(|token| token.start == 1).count(),
                0,
                "x{whole}"
            );
        }
    }

    #[test]
    fn leads_and_shorter_words_are_no_tokens() {
        for shape in all_shapes() {
            let lead = shape.anchor_text();
            for text in [lead.to_owned(), format!("{lead}a1"), format!("{lead} x"), format!("x {lead}")] {
                assert_eq!(find_tokens(text.as_bytes()).count(), 0, "{text}");
            }
        }
        for text in ["sk-learn-examples-of-2024-and-others", "re_write_of_the_2024_importer_and_more", "", "é"] {
            assert_eq!(find_tokens(text.as_bytes()).count(), 0, "{text}");
        }
    }

    #[test]
    fn a_token_longer_than_what_is_seen_is_one() {
        let long = format!("ghp_{}", "a1B2".repeat(SEEN));
        assert!(find_tokens(long.as_bytes()).eq(std::iter::once(0..long.len())));
    }
}
