//! Finds text that has scrolled off by the end of one drawing step, and so need not be drawn. Both functions suppose
//! that the whole screen scrolls.

use memchr::{memchr_iter, memchr2, memrchr_iter};

/// The least number of bytes that is worth skipping.
const LEAST: usize = 512;

/// An instruction to draw `first`, move the cursor to the last row, and go on at `from`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScrollSkip<'a> {
    pub(super) first: &'a [u8],
    /// Whether the cursor also goes to the first column.
    pub(super) home: bool,
    pub(super) from: usize,
}

/// Returns the start of a line after which all rows of the screen are written anew.
///
/// The skipped text must have no lasting effect except on cells: SO and SI choose a character set. The cursor is in the
/// last row at that line, because each line end moves it down and nothing moves it up. Then as many line ends as there
/// are rows make all earlier rows scroll off.
pub(super) fn skip_lines(text: &[u8], rows: usize, row: usize) -> Option<ScrollSkip<'_>> {
    if text.len() < LEAST {
        return None;
    }
    let from = memrchr_iter(b'\n', text)
        .skip(rows)
        .find(|end| end.checked_sub(1).is_some_and(|before| text[before] == b'\r'))?
        + 1;
    let (unseen, seen) = text.split_at(from);
    let needed = rows - 1 - row;
    if unseen.len() < LEAST
        || memchr2(0x0e, 0x0f, unseen).is_some()
        || memchr_iter(b'\n', unseen).take(needed).count() < needed
    {
        return None;
    }
    // `CSI b` repeats the last character, even if its line is gone.
    let first = if seen.iter().any(|byte| is_character(*byte)) { &[][..] } else { last_character(unseen)? };
    Some(ScrollSkip { first, home: true, from })
}

/// Skips within a line of ASCII only that is so long that it fills the screen by wrapping. Supposes that lines wrap and
/// that characters are not inserted.
///
/// A character reaches the first column without a wrap only at the beginning, so the first character is drawn. Then
/// each row of characters leads to the same column.
pub(super) fn skip_wrapped_line(text: &[u8], rows: usize, cols: usize) -> Option<ScrollSkip<'_>> {
    let kept = 1 + (rows + 1) * cols;
    if text.len() < LEAST + kept {
        return None;
    }
    let length = text.iter().position(|byte| !matches!(byte, b' '..=b'~')).unwrap_or(text.len());
    let unseen = length.checked_sub(kept)? / cols;
    (unseen >= rows).then(|| ScrollSkip { first: &text[..1], home: false, from: 1 + unseen * cols })
}

/// Returns whether a byte surely belongs to a character. After 0xC2, control characters can follow.
fn is_character(byte: u8) -> bool {
    matches!(byte, b' '..=0x7f | 0xc3..)
}

/// Returns the last character if it is ASCII, nothing if there is none.
fn last_character(text: &[u8]) -> Option<&[u8]> {
    match text.iter().rposition(|byte| *byte >= b' ') {
        None => Some(&[]),
        Some(last) => text[last].is_ascii().then(|| &text[last..=last]),
    }
}
