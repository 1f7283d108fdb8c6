//! The kinds of bytes.

/// The kinds of bytes that the estimate tells apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Start,
    Lower,
    Upper,
    Digit,
    Blank,
    Newline,
    Punctuation,
    Foreign,
}

/// The kind of each byte.
pub(super) const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Punctuation; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' => Kind::Lower,
            b'A'..=b'Z' => Kind::Upper,
            b'0'..=b'9' => Kind::Digit,
            b' ' | b'\t' => Kind::Blank,
            b'\n' | b'\r' => Kind::Newline,
            0x80.. => Kind::Foreign,
            _ => Kind::Punctuation,
        };
        byte += 1;
    }
    kinds
};
