//! The kinds of bytes.

/// The kinds of bytes that the estimate tells apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ByteKind {
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
pub(super) const KINDS: [ByteKind; 256] = {
    let mut kinds = [ByteKind::Punctuation; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' => ByteKind::Lower,
            b'A'..=b'Z' => ByteKind::Upper,
            b'0'..=b'9' => ByteKind::Digit,
            b' ' | b'\t' => ByteKind::Blank,
            b'\n' | b'\r' => ByteKind::Newline,
            0x80.. => ByteKind::Foreign,
            _ => ByteKind::Punctuation,
        };
        byte += 1;
    }
    kinds
};
