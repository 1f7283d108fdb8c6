//! Reads a file from its end, in blocks of whole lines.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::ledger_record::MAX_RECORD;

/// Bytes of one read.
const BLOCK: usize = 256 * 1024;

/// Bytes between two samples of a file, and the bytes of one that has the beginning of a line.
const SAMPLES: (u64, usize) = (64 * 1024, 4 * 1024);

/// A file on its way from its end to its beginning.
#[derive(Debug)]
pub struct BackwardReader {
    file: File,
    /// Bytes before the part that was read.
    left: u64,
    block: Vec<u8>,
    /// The end of a line whose beginning was not read yet.
    rest: Vec<u8>,
    /// Whether that line is too long for a record.
    is_too_long: bool,
    /// Lines that were too long.
    pub too_long: u64,
    /// Whether older starts stand behind newer ones.
    pub is_mixed: bool,
}

impl BackwardReader {
    /// Begins at this length of the file, even if it grows meanwhile.
    pub fn new(file: File, length: u64) -> Self {
        let (block, rest, is_too_long, too_long, is_mixed) = (Vec::new(), Vec::new(), false, 0, false);
        Self { file, left: length, block, rest, is_too_long, too_long, is_mixed }
    }

    /// Returns the next block: whole lines in the order of the file. The last line of the file may have no newline.
    /// `None` at the beginning of the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next_block(&mut self) -> io::Result<Option<&[u8]>> {
        while self.left > 0 {
            let length = usize::try_from(self.left).map_or(BLOCK, |left| left.min(BLOCK));
            self.left -= length as u64;
            self.block.resize(length, 0);
            self.file.read_exact_at(&mut self.block, self.left)?;
            let is_first = self.left == 0;
            let first = if is_first { Some(0) } else { memchr::memchr(b'\n', &self.block).map(|at| at + 1) };
            let Some(first) = first else {
                self.keep_rest();
                continue;
            };
            let beginning = self.block[..first].to_vec();
            if self.is_too_long {
                // The end of the long line is in front of the first newline that follows.
                self.is_too_long = false;
                self.too_long += 1;
                self.block.truncate(memchr::memrchr(b'\n', &self.block).map_or(0, |at| at + 1));
            } else {
                self.block.append(&mut self.rest);
            }
            self.rest.clear();
            self.block.drain(..first);
            self.rest = beginning;
            if self.block.is_empty() {
                continue;
            }
            return Ok(Some(&self.block));
        }
        Ok(None)
    }

    /// Reads samples of the part that was not read yet, and returns whether a line in one of them fits. `fits` returns
    /// `None` for lines that do not count.
    pub fn has_before(&self, fits: impl Fn(&str) -> Option<bool>) -> bool {
        let (step, part) = SAMPLES;
        let mut bytes = vec![0; usize::try_from(step).unwrap_or(part)];
        let mut from = self.left.saturating_sub(step);
        loop {
            let found = [part, bytes.len()].into_iter().find_map(|length| {
                let length = usize::try_from(self.left - from).map_or(length, |left| left.min(length));
                let read = self.file.read_exact_at(&mut bytes[..length], from).is_ok();
                let lines = read.then(|| bytes[..length].split(|byte| *byte == b'\n').skip(usize::from(from > 0)))?;
                lines.filter_map(|line| fits(std::str::from_utf8(line).ok()?)).next()
            });
            match (found, from) {
                (Some(true), _) => return true,
                (_, 0) => return false,
                _ => from = from.saturating_sub(step),
            }
        }
    }

    /// Keeps a block that has no beginning of a line, unless its line is too long.
    fn keep_rest(&mut self) {
        self.block.append(&mut self.rest);
        std::mem::swap(&mut self.block, &mut self.rest);
        if self.rest.len() > MAX_RECORD {
            self.is_too_long = true;
            self.rest.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines(text: &[u8]) -> (Vec<Vec<u8>>, u64) {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(text).expect("written");
        let mut reader = BackwardReader::new(file, text.len() as u64);
        let mut all = Vec::new();
        while let Some(block) = reader.next_block().expect("read") {
            let mut found: Vec<Vec<u8>> = block.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            if found.last().is_some_and(Vec::is_empty) {
                found.pop();
            }
            all.extend(found.into_iter().rev());
        }
        (all, reader.too_long)
    }

    #[test]
    fn lines_come_from_the_end() {
        assert_eq!(lines(b""), (vec![], 0));
        assert_eq!(lines(b"a\nb\n"), (vec![b"b".to_vec(), b"a".to_vec()], 0));
        assert_eq!(lines(b"a\n\nb"), (vec![b"b".to_vec(), vec![], b"a".to_vec()], 0));
    }

    #[test]
    fn lines_across_blocks_are_whole() {
        let line = |at: usize| format!("{at}:{}", "x".repeat(at * 37 % 3000)).into_bytes();
        let mut text = Vec::new();
        let mut wanted = Vec::new();
        for at in 0..900 {
            text.extend(line(at));
            text.push(b'\n');
            wanted.push(line(at));
        }
        wanted.reverse();
        assert!(text.len() > 4 * BLOCK);
        assert_eq!(lines(&text), (wanted, 0));
    }

    #[test]
    fn a_line_that_is_too_long_is_counted_and_passed_over() {
        let long = vec![b'x'; 3 * BLOCK];
        let text = [&b"a\n"[..], &long, b"\nb\n"].concat();
        let (found, too_long) = lines(&text);
        let short: Vec<_> = found.iter().filter(|line| line.len() < BLOCK).cloned().collect();
        assert_eq!(short, [b"b".to_vec(), b"a".to_vec()]);
        assert_eq!(too_long + (found.len() - short.len()) as u64, 1);
    }
}
