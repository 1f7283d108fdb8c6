//! Splits an output into lines without escape sequences.

use crate::repeats::repeats;

/// Longest line that is read, in bytes.
pub(super) const LONGEST: usize = 1_000;
/// Longest line with its escape sequences.
const RAW: usize = 4 * LONGEST;
/// Stands for a long line, which is no line of a runner and not empty.
const LONG: &[u8] = b"\0";
const ESC: u8 = 0x1b;

/// The line that has begun.
#[derive(Clone, Debug, Default)]
pub(super) struct Splitter {
    begun: Vec<u8>,
    is_long: bool,
    plain: Vec<u8>,
}

impl Splitter {
    /// Takes the next bytes, and calls `take` with each line that ended, and how often it was repeated. `take` returns
    /// whether more lines like this one would change nothing but their number: they come as one call.
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8], u64) -> bool) {
        let next_sign = |from: usize| memchr::memchr2(b'\r', ESC, &bytes[from..]).map_or(usize::MAX, |at| from + at);
        let (mut from, mut sign) = (0, next_sign(0));
        let (mut ends, mut searched_from) = (memchr::memchr_iter(b'\n', bytes), 0);
        while let Some(end) = ends.next().map(|at| searched_from + at) {
            let start = from;
            let line = &bytes[start..end];
            from = end + 1;
            let is_whole = self.begun.is_empty() && !self.is_long;
            if is_whole && sign > end {
                let shown = if line.len() > LONGEST { LONG } else { line };
                if take(shown, 1)
                    && let Some(times) = repeats(&bytes[start..], line.len() + 1)
                {
                    take(shown, times as u64);
                    from += times * (line.len() + 1);
                    (ends, searched_from) = (memchr::memchr_iter(b'\n', &bytes[from..]), from);
                }
                continue;
            }
            if is_whole && line.len() <= RAW {
                plain(line, &mut self.plain, |line| take(line, 1));
            } else {
                self.begin(line);
                self.finish(|line| take(line, 1));
            }
            if sign < end {
                sign = next_sign(from);
            }
        }
        if from < bytes.len() {
            self.begin(&bytes[from..]);
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

    fn finish(&mut self, mut take: impl FnMut(&[u8]) -> bool) {
        if self.is_long {
            take(LONG);
        } else {
            plain(&self.begun, &mut self.plain, take);
        }
        self.begun.clear();
        self.is_long = false;
    }
}

/// Calls `take` with a line as a terminal shows it: without escape sequences, from its last carriage return on.
fn plain(line: &[u8], buffer: &mut Vec<u8>, mut take: impl FnMut(&[u8]) -> bool) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = memchr::memrchr(b'\r', line).map_or(line, |at| &line[at + 1..]);
    let Some(first) = memchr::memchr(ESC, line) else {
        take(if line.len() > LONGEST { LONG } else { line });
        return;
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
    take(if buffer.len() > LONGEST { LONG } else { buffer });
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
