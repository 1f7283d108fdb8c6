//! The log of a task, with one writer, its shim, and any number of readers.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::time::SystemTime;

use super::task::Task;

/// Bytes of a log that are read at once.
const CHUNK: usize = 256 * 1024;

/// The writing side. It holds the file's lock, which tells other processes that the task has a shim.
#[derive(Debug)]
pub struct TaskLog {
    file: File,
    written: u64,
    max_bytes: u64,
    /// Why nothing more is written, if so.
    stopped: Option<String>,
    /// Whether the last byte is not a newline.
    open_line: bool,
}

impl TaskLog {
    /// Continues a log that [`super::TaskStore::create_log`] has opened.
    pub fn lock_and_continue(file: File, max_bytes: u64) -> io::Result<Self> {
        file.try_lock().map_err(io::Error::from)?;
        let written = file.metadata()?.len();
        let mut last = [b'\n'];
        if written > 0 {
            file.read_exact_at(&mut last, written - 1)?;
        }
        // Only the note about the limit can extend the log beyond it.
        let stopped = (written > max_bytes).then(String::new);
        Ok(Self { file, written, max_bytes, stopped, open_line: last != *b"\n" })
    }

    /// Renews the age of the file, so that no process sweeps it before its next writer has the lock.
    pub fn renew(&self) -> io::Result<()> {
        self.file.set_modified(SystemTime::now())
    }

    /// Returns the number of output bytes in the log.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns whether further output is dropped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Returns the error that stopped the log, unless the limit stopped it.
    pub fn failure(&self) -> Option<&str> {
        self.stopped.as_deref().filter(|reason| !reason.is_empty())
    }

    /// Appends text, up to the limit.
    pub fn write(&mut self, text: &str) {
        if self.is_stopped() || text.is_empty() {
            return;
        }
        let room = usize::try_from(self.max_bytes.saturating_sub(self.written)).unwrap_or(usize::MAX);
        let fits = text.floor_char_boundary(room);
        self.append(&text[..fits]);
        if fits < text.len() && !self.is_stopped() {
            let line = if self.open_line { "\n" } else { "" };
            let max = self.max_bytes;
            self.append(&format!(
                "{line}[the log has reached its limit of {max} bytes; what the process writes from here on is dropped]\n"
            ));
            self.stopped = Some(String::new());
        }
    }

    /// Appends a note on a line of its own.
    pub fn write_line(&mut self, line: &str) {
        let start = if self.open_line { "\n" } else { "" };
        self.write(&format!("{start}{line}\n"));
    }

    /// Appends the closing line, which is not output. The state file already holds the task's end.
    pub fn close(mut self, task: &Task) {
        let line = if self.open_line { "\n" } else { "" };
        // Without the closing line, the end is still known from the state file.
        let _ = self.file.write_all(format!("{line}{}", task.closing_line()).as_bytes());
    }

    fn append(&mut self, text: &str) {
        match self.file.write_all(text.as_bytes()) {
            Ok(()) => {
                self.written += text.len() as u64;
                self.open_line = text.as_bytes().last().map_or(self.open_line, |last| *last != b'\n');
            }
            Err(error) => {
                // A part of the text may have been written.
                self.written = self.file.metadata().map_or(self.written, |meta| meta.len());
                self.stopped = Some(error.to_string());
            }
        }
    }
}

/// The output of a log in pieces, between two positions.
pub struct TaskLogReader {
    file: File,
    at: u64,
    end: u64,
    held: Vec<u8>,
}

impl TaskLogReader {
    /// Reads from `start` to `end`, a position from [`readable_end`]. A start within a character moves to the next
    /// character.
    pub fn of(mut file: File, start: u64, end: u64) -> io::Result<Self> {
        let mut first = [0; 4];
        let count = file.read_at(&mut first, start)?;
        let skip = first[..count].iter().take_while(|byte| is_continuation(**byte)).count();
        let at = end.min(start + skip as u64);
        file.seek(SeekFrom::Start(at))?;
        Ok(Self { file, at, end, held: Vec::new() })
    }

    /// Returns the next piece, in whole characters, or `None` at the end.
    pub fn piece(&mut self) -> io::Result<Option<String>> {
        while self.at < self.end {
            let want = usize::try_from(self.end - self.at).unwrap_or(CHUNK).min(CHUNK);
            let from = self.held.len();
            self.held.resize(from + want, 0);
            let count = self.file.read(&mut self.held[from..])?;
            self.held.truncate(from + count);
            if count == 0 {
                break;
            }
            self.at += count as u64;
            let whole = whole_characters(&self.held);
            if whole > 0 {
                let rest = self.held.split_off(whole);
                let piece = std::mem::replace(&mut self.held, rest);
                return Ok(Some(String::from_utf8_lossy(&piece).into_owned()));
            }
        }
        Ok(None)
    }
}

/// Returns the end of readable output in a log whose output ends at `end`, without a partial character.
pub fn readable_end(file: &File, end: u64) -> io::Result<u64> {
    let from = end.saturating_sub(4);
    let mut last = vec![0; usize::try_from(end - from).unwrap_or(0)];
    file.read_exact_at(&mut last, from)?;
    // The bytes may start within a character.
    let skip = last.iter().take_while(|byte| is_continuation(**byte)).count();
    Ok(from + (skip + whole_characters(&last[skip..])) as u64)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Returns how many of these bytes form whole characters. Invalid bytes count as whole.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{TaskSpec, TaskState};
    use proptest::prelude::*;

    fn task(state: TaskState, output_bytes: Option<u64>) -> Task {
        let order = TaskSpec::sample("t1");
        Task { state, output_bytes, ..Task::begin(&order, 1, 1, "m", 0) }
    }

    fn log(max: u64) -> (tempfile::NamedTempFile, TaskLog) {
        let named = tempfile::NamedTempFile::new().expect("a temporary file");
        let file = File::options().append(true).read(true).open(named.path()).expect("it is there");
        (named, TaskLog::lock_and_continue(file, max).expect("nobody else has it"))
    }

    #[test]
    fn a_log_stops_at_its_limit_between_characters_and_says_so() {
        let (file, mut log) = log(5);
        log.write("a—b");
        log.write("—c");
        assert!(log.is_stopped());
        log.close(&Task { exit_code: Some(0), ..task(TaskState::Exited, None) });
        let text = std::fs::read_to_string(file.path()).expect("text");
        assert!(text.starts_with("a—b\n[the log has reached its limit of 5 bytes"), "{text}");
        assert!(text.ends_with("]\n[background process completed]\n"), "{text}");
    }

    #[test]
    fn the_closing_line_stands_alone_and_is_no_output() {
        let (file, mut log) = log(100);
        log.write("no newline");
        let ended = Task { exit_code: Some(3), ..task(TaskState::Exited, Some(log.written())) };
        log.close(&ended);
        let text = std::fs::read_to_string(file.path()).expect("text");
        assert_eq!(text, "no newline\n[background process failed: exit code 3]\n");
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole_from_any_start(text in "[aé日😀\n]{0,40}", start in 0_u64..60, cut in 0_usize..4) {
            let named = tempfile::NamedTempFile::new().expect("a temporary file");
            std::fs::write(named.path(), &text.as_bytes()[..text.len().saturating_sub(cut)]).expect("written");
            let open = || File::open(named.path()).expect("it is there");
            let length = open().metadata().expect("length").len();
            let end = readable_end(&open(), length).expect("read");
            let whole = &text[..usize::try_from(end).expect("short")];
            prop_assert!(text.len() - whole.len() < cut + 4);
            let start = start.min(end);
            let mut pieces = TaskLogReader::of(open(), start, end).expect("opened");
            let mut got = String::new();
            while let Some(piece) = pieces.piece().expect("read") {
                got.push_str(&piece);
            }
            let from = whole.ceil_char_boundary(usize::try_from(start).expect("short"));
            prop_assert_eq!(got, &whole[from..]);
        }
    }
}
