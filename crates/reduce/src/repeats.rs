//! Finds lines that are repeated, many at once.

/// Returns how often the first `length` bytes are repeated behind themselves. `None` if they are not.
pub fn repeats(bytes: &[u8], length: usize) -> Option<usize> {
    /// Bytes that are compared at once.
    const BLOCK: usize = 256;
    let (first, rest) = bytes.split_at_checked(length)?;
    // Most lines are no repetition, and this tells it of most of them.
    if rest.get(length.saturating_sub(2)..length)? != &first[length.saturating_sub(2)..] || !rest.starts_with(first) {
        return None;
    }
    let blocks = || bytes.chunks(BLOCK).zip(rest.chunks(BLOCK));
    let whole = blocks().take_while(|(one, other)| one.get(..other.len()) == Some(other)).count() * BLOCK;
    let whole = whole.min(rest.len());
    let same = bytes[whole..].iter().zip(&rest[whole..]).take_while(|(one, other)| one == other).count();
    Some((whole + same) / length)
}
