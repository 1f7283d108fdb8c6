//! Finds lines that are repeated, many at once.

use memchr::{memchr_iter, memrchr};

/// Longest block of lines that is looked for, in lines and in bytes.
const LINES: usize = 64;
const BYTES: usize = 8 << 10;
/// Fewest repeats of a block, and fewest lines of them, that are worth a look.
const TIMES: usize = 3;
const REPEATED: usize = 128;
/// Number of lines between two searches for a block: at first, and after many searches in vain.
const SOON: u32 = 64;
const LATE: u32 = 4_096;

/// Returns how often the first `length` bytes are repeated behind themselves. `None` if they are not.
pub fn count_repeats(bytes: &[u8], length: usize) -> Option<usize> {
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

/// A block of lines that is repeated right behind itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedBlock {
    /// Its length in bytes and in lines.
    pub length: usize,
    pub lines: usize,
    /// The number of its repeats.
    pub times: usize,
}

/// Looks for blocks among the lines of a stream, now and then.
#[derive(Clone, Debug)]
pub struct BlockSearch {
    /// Number of lines until the next search.
    left: u32,
    wait: u32,
}

impl Default for BlockSearch {
    fn default() -> Self {
        Self { left: SOON, wait: SOON }
    }
}

impl BlockSearch {
    /// Takes the line that ends before `at`. Returns the block that ends there, if it is time to look for one.
    #[inline]
    pub fn next(&mut self, bytes: &[u8], at: usize) -> Option<RepeatedBlock> {
        self.left -= 1;
        if self.left > 0 {
            return None;
        }
        self.wait = (self.wait * 2).min(LATE);
        self.left = self.wait;
        repeated_block(bytes, at)
    }

    /// Notes that the repeats of a block needed no reading. More may follow.
    pub fn succeed(&mut self) {
        *self = Self::default();
    }
}

/// Returns the shortest block of lines that ends at a place and is repeated from there.
fn repeated_block(bytes: &[u8], at: usize) -> Option<RepeatedBlock> {
    let start_of = |end: usize| memrchr(b'\n', &bytes[..end - 1]).map_or(0, |before| before + 1);
    let last = start_of(at);
    let mut end = last;
    for _ in 0..LINES {
        if end == 0 || at - end > BYTES {
            return None;
        }
        let start = start_of(end);
        if bytes[start..end] == bytes[last..at] && bytes[at..].starts_with(&bytes[end..at]) {
            let (length, block) = (at - end, &bytes[end..at]);
            let lines = memchr_iter(b'\n', block).count();
            let times = count_repeats(&bytes[end..], length)?;
            return (times >= TIMES && times * lines >= REPEATED).then_some(RepeatedBlock { length, lines, times });
        }
        end = start;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the block that ends behind so many bytes of a text.
    fn block(text: &str, at: usize) -> Option<(usize, usize, usize)> {
        repeated_block(text.as_bytes(), at).map(|RepeatedBlock { length, lines, times }| (length, lines, times))
    }

    #[test]
    fn the_shortest_block_that_goes_on_is_found() {
        assert_eq!(block(&"a\nb\n".repeat(100), 8), Some((4, 2, 98)));
        assert_eq!(block(&"a\nb\nb\n".repeat(100), 12), Some((6, 3, 98)));
        assert_eq!(block(&format!("x\n{}y\n", "\né\n".repeat(100)), 10), Some((4, 2, 98)));
        let lines: String = (0..LINES).map(|at| format!("{at}\n")).collect();
        assert_eq!(block(&lines.repeat(9), 2 * lines.len()), Some((lines.len(), LINES, 7)));
    }

    #[test]
    fn what_is_no_block_or_not_worth_one_is_none() {
        let line = format!("{}\n", "x".repeat(BYTES));
        let lines: String = (0..=LINES).map(|at| format!("{at}\n")).collect();
        for (text, at) in [
            ("a\nb\n".repeat(100), 2),
            ("a\nb\n".repeat(9), 8),
            (format!("{line}{line}").repeat(99), 2 * line.len()),
            (lines.repeat(9), 2 * lines.len()),
            ("\n".to_owned(), 1),
        ] {
            assert_eq!(block(&text, at), None, "{:?}", &text[..at.min(80)]);
        }
    }
}
