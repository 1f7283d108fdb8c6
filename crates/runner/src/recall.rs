//! Reads lines of a file with a whole output, which can be of any length.

use std::io::{self, Read};

use capture::{OutputCleaner, SanitizeRules};
use reduce::recall::{LARGEST, RecallSearch, RecallSelection, UnsearchablePattern, lines};

/// Bytes that are read at once. A recall gives less.
const CHUNK: usize = 256 * 1024;
const NEWLINE: u8 = b'\n';

/// Why no lines are read.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// The pattern cannot be searched for.
    #[error(transparent)]
    Unsearchable(#[from] UnsearchablePattern),
}

/// Returns the wanted lines, at most [`LARGEST`] bytes of them. Longer lines are not searched. `is_raw`: the file has
/// bytes as a program wrote them, which are cleaned as any output.
///
/// # Errors
/// If the file cannot be read, or the pattern not be searched for.
pub fn recall(file: impl Read, is_raw: bool, wanted: &RecallSelection) -> Result<String, RecallError> {
    match wanted {
        RecallSelection::Lines(from, to) => {
            let mut reader = TextFromLine { before: from.saturating_sub(1), text: Vec::new() };
            each_chunk(file, is_raw, &mut |chunk| reader.push(chunk))?;
            let text = String::from_utf8_lossy(&reader.text);
            Ok(lines(&text, 1, to.saturating_sub(*from).saturating_add(1)).to_owned())
        }
        RecallSelection::Pattern(pattern) => {
            let mut searcher = LineSearcher { search: RecallSearch::new(pattern)?, open: Vec::new(), too_long: false };
            each_chunk(file, is_raw, &mut |chunk| searcher.push(chunk))?;
            Ok(searcher.end())
        }
    }
}

/// Passes the text of a file on until it ends, or no more is wanted.
fn each_chunk(mut file: impl Read, is_raw: bool, take: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut cleaner = is_raw.then(|| OutputCleaner::new(Some(SanitizeRules::default())));
    let mut wants_more = true;
    while wants_more {
        let count = match file.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        match &mut cleaner {
            None => wants_more = count > 0 && take(&buffer[..count]),
            Some(cleaner) => {
                let mut pass = |text: &str| wants_more = wants_more && take(text.as_bytes());
                if count == 0 {
                    cleaner.end(&mut pass)
                } else {
                    cleaner.push(&buffer[..count], &mut pass)
                }
                wants_more &= count > 0;
            }
        }
    }
    Ok(())
}

/// Keeps the text from a line on.
struct TextFromLine {
    /// Lines that are still to be left out.
    before: usize,
    text: Vec<u8>,
}

impl TextFromLine {
    /// Takes the next bytes. Returns whether more are wanted.
    fn push(&mut self, mut chunk: &[u8]) -> bool {
        while self.before > 0
            && let Some(end) = memchr::memchr(NEWLINE, chunk)
        {
            chunk = &chunk[end + 1..];
            self.before -= 1;
        }
        if self.before == 0 {
            self.text.extend(chunk);
        }
        // More than a recall gives, so that a character that is cut at its end is not shown.
        self.text.len() < CHUNK
    }
}

/// Searches whole lines of text that comes in parts.
struct LineSearcher {
    search: RecallSearch,
    /// The line that has not ended.
    open: Vec<u8>,
    /// Whether that line is longer than a recall gives. Then it is not held.
    too_long: bool,
}

impl LineSearcher {
    /// Takes the next bytes. Returns whether more can be found.
    fn push(&mut self, chunk: &[u8]) -> bool {
        let Some(first) = memchr::memchr(NEWLINE, chunk) else {
            self.hold(chunk);
            return true;
        };
        self.hold(&chunk[..=first]);
        let last = memchr::memrchr(NEWLINE, chunk).unwrap_or(first);
        let more = self.search_open() && self.search.push(&String::from_utf8_lossy(&chunk[first + 1..=last]));
        self.hold(&chunk[last + 1..]);
        more
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.too_long |= self.open.len() + bytes.len() > LARGEST;
        if !self.too_long {
            self.open.extend(bytes);
        }
    }

    fn search_open(&mut self) -> bool {
        let line = std::mem::take(&mut self.open);
        std::mem::take(&mut self.too_long) || self.search.push(&String::from_utf8_lossy(&line))
    }

    fn end(mut self) -> String {
        self.search_open();
        self.search.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that gives few bytes at once.
    struct SlowReader<'a>(&'a [u8]);

    impl Read for SlowReader<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(7).min(buffer.len());
            let (now, later) = self.0.split_at(count);
            buffer[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    fn numbered(count: usize) -> String {
        (1..=count).map(|line| format!("line {line} é\n")).collect()
    }

    fn recalled(text: &str, wanted: &RecallSelection) -> String {
        let whole = recall(text.as_bytes(), false, wanted).expect("readable");
        assert_eq!(recall(SlowReader(text.as_bytes()), false, wanted).expect("readable"), whole);
        whole
    }

    #[test]
    fn lines_are_read_from_anywhere() {
        let text = numbered(50_000);
        assert!(text.len() > 2 * CHUNK);
        for (from, to, expected) in [
            (1, 1, "line 1 é\n"),
            (40_000, 40_001, "line 40000 é\nline 40001 é\n"),
            (50_000, 60_000, "line 50000 é\n"),
            (50_001, 60_000, ""),
        ] {
            assert_eq!(recalled(&text, &RecallSelection::Lines(from, to)), expected, "{from}-{to}");
        }
        let many = recalled(&text, &RecallSelection::Lines(1, usize::MAX));
        assert!(many.len() > LARGEST - 20 && many.len() <= LARGEST && text.starts_with(&many));
        assert_eq!(recalled("a\nb", &RecallSelection::Lines(2, 2)), "b");
    }

    #[test]
    fn lines_that_match_are_found_anywhere() {
        let text = format!("{}{}\nthe end", numbered(50_000), "x".repeat(LARGEST + 1));
        let found = |pattern: &str| recalled(&text, &RecallSelection::Pattern(pattern.into()));
        assert_eq!(found("^line 12345 "), "line 12345 é\n");
        assert_eq!(found("end$"), "the end\n");
        assert_eq!(found("x$"), "");
        let many = found("line");
        assert!(many.len() > LARGEST - 20 && many.len() <= LARGEST && text.starts_with(&many));
        let unsearchable = recall(text.as_bytes(), false, &RecallSelection::Pattern("a)(".into()));
        assert!(matches!(unsearchable, Err(RecallError::Unsearchable(_))));
    }

    #[test]
    fn what_a_program_wrote_is_cleaned() {
        let raw = b"1%\r100%\n\x1b[31mred\x1b[0m\nlast\xff";
        for (wanted, expected) in
            [(RecallSelection::Lines(1, 2), "100%\nred\n"), (RecallSelection::Pattern("last".into()), "last\u{fffd}\n")]
        {
            assert_eq!(recall(&raw[..], true, &wanted).expect("readable"), expected);
            assert_eq!(recall(SlowReader(raw), true, &wanted).expect("readable"), expected);
        }
    }
}
