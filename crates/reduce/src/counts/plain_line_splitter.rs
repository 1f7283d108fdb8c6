//! Splits an output into lines without escape sequences.

use crate::repeat_count::{BlockSearch, count_repeats};

/// Longest line that is read, in bytes.
pub(super) const LONGEST: usize = 1_000;
/// Longest line with its escape sequences.
const RAW: usize = 4 * LONGEST;
/// Stands for a long line, which is no line of a runner and not empty.
const LONG: &[u8] = b"\0";
const ESC: u8 = 0x1b;

/// The line that has begun, and the search for repeats.
#[derive(Clone, Debug, Default)]
pub(super) struct PlainLineSplitter {
    begun: Vec<u8>,
    is_long: bool,
    plain: Vec<u8>,
    search: BlockSearch,
}

impl PlainLineSplitter {
    /// Takes the next bytes, and calls `take` with each line that ended, and how often it was repeated. `take` returns
    /// whether more lines like this one would change nothing but their number: they come as one call, as do the repeats
    /// of a block of such lines, with its last line.
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8], u64) -> bool) {
        let next_sign = |from: usize| memchr::memchr2(b'\r', ESC, &bytes[from..]).map_or(usize::MAX, |at| from + at);
        let (mut from, mut sign) = (0, next_sign(0));
        let (mut ends, mut searched_from) = (memchr::memchr_iter(b'\n', bytes), 0);
        // Lines in a row that changed nothing but their number. Before this call the other stream may have had lines.
        let mut quiet = 0;
        while let Some(end) = ends.next().map(|at| searched_from + at) {
            let (line, start) = (&bytes[from..end], from);
            from = end + 1;
            let mut skipped = 0;
            let is_quiet = if self.begun.is_empty() && !self.is_long {
                let has_sign = sign < end;
                let is_quiet = self.whole(line, has_sign, |line| take(line, 1));
                if is_quiet
                    && !has_sign
                    && let Some(times) = count_repeats(&bytes[start..], line.len() + 1)
                {
                    self.whole(line, has_sign, |line| take(line, times as u64));
                    skipped = times * (line.len() + 1);
                }
                is_quiet
            } else {
                self.begin(line);
                self.finish(|line| take(line, 1))
            };
            quiet = if is_quiet { quiet + 1 } else { 0 };
            // Behind a block that changed nothing, its next one leads back to the same state.
            if skipped == 0
                && let Some(block) = self.search.next(bytes, from).filter(|block| quiet >= 2 * block.lines)
            {
                self.search.succeed();
                self.whole(line, sign < end, |line| take(line, (block.times * block.lines) as u64));
                skipped = block.times * block.length;
            }
            if skipped > 0 {
                from += skipped;
                (ends, searched_from) = (memchr::memchr_iter(b'\n', &bytes[from..]), from);
            }
            if sign < from {
                sign = next_sign(from);
            }
        }
        if from < bytes.len() {
            self.begin(&bytes[from..]);
        }
    }

    /// Calls `take` with a line that stands in one part. `has_sign`: it may have an escape sequence.
    fn whole(&mut self, line: &[u8], has_sign: bool, mut take: impl FnMut(&[u8]) -> bool) -> bool {
        if line.len() > if has_sign { RAW } else { LONGEST } {
            take(LONG)
        } else if has_sign {
            with_plain_line(line, &mut self.plain, take)
        } else {
            take(line)
        }
    }

    /// Ends the output. Calls `take` with a last line that has no newline.
    pub fn end(&mut self, take: impl FnMut(&[u8]) -> bool) {
        if !self.begun.is_empty() || self.is_long {
            self.finish(take);
        }
    }

    fn begin(&mut self, bytes: &[u8]) {
        self.is_long |= self.begun.len() + bytes.len() > RAW;
        if !self.is_long {
            self.begun.extend_from_slice(bytes);
        }
    }

    fn finish(&mut self, mut take: impl FnMut(&[u8]) -> bool) -> bool {
        let result = if self.is_long { take(LONG) } else { with_plain_line(&self.begun, &mut self.plain, take) };
        self.begun.clear();
        self.is_long = false;
        result
    }
}

/// Calls `take` with a line as a terminal shows it: without escape sequences, from its last carriage return on. Returns
/// its result.
fn with_plain_line(line: &[u8], buffer: &mut Vec<u8>, mut take: impl FnMut(&[u8]) -> bool) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = memchr::memrchr(b'\r', line).map_or(line, |at| &line[at + 1..]);
    let Some(first) = memchr::memchr(ESC, line) else {
        return take(if line.len() > LONGEST { LONG } else { line });
    };
    buffer.clear();
    buffer.extend_from_slice(&line[..first]);
    let mut rest = &line[first..];
    while let [byte, after @ ..] = rest {
        rest = if *byte == ESC { behind(after) } else { after };
        if *byte != ESC {
            buffer.push(*byte);
        }
    }
    take(if buffer.len() > LONGEST { LONG } else { buffer })
}

/// Returns what follows an escape sequence. `rest` is behind its first byte.
fn behind(rest: &[u8]) -> &[u8] {
    match rest {
        // A control sequence ends with a letter or a sign.
        [b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte));
            end.map_or(&[], |end| &rest[end + 1..])
        }
        // A title or a link ends with BEL or ESC \.
        [b']', rest @ ..] => match rest.iter().position(|byte| matches!(*byte, 0x07 | ESC)) {
            Some(end) if rest[end] == 0x07 => &rest[end + 1..],
            Some(end) => rest.get(end + 2..).unwrap_or(&[]),
            None => &[],
        },
        [_, rest @ ..] => rest,
        [] => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of a text that is read at once, with the number of calls.
    fn lines(text: &str) -> (Vec<String>, usize) {
        let (mut lines, mut calls) = (Vec::new(), 0);
        PlainLineSplitter::default().push(text.as_bytes(), |line, times| {
            calls += 1;
            lines.extend(std::iter::repeat_n(String::from_utf8_lossy(line).into_owned(), times as usize));
            true
        });
        (lines, calls)
    }

    #[test]
    fn lines_that_repeat_in_turn_come_as_one_call() {
        for block in ["a\nb\n", "a\nb\nb\n", "\x1b[1ma\x1b[0m\nb\r\n", "b\n\x1b[1ma\x1b[0m\n"] {
            let (lines, calls) = lines(&format!("x\n{}\x1b[2my\nz\n", block.repeat(1_000)));
            assert_eq!(lines.len(), 1_000 * block.matches('\n').count() + 3, "{block:?}");
            assert_eq!(lines[lines.len() - 2..], ["y", "z"], "{block:?}");
            assert!(calls < 200, "{calls} calls for {block:?}");
        }
    }
}
