//! The part of a run that has arrived here, for a result without its end.

use capture::{OutputStream, SanitizeRules, StreamCapture, TruncationPolicy};
use runner::run::outcome::CommandOutcome;

/// Bytes of a stream that a watcher gets first, at most.
const KEPT_BYTES: usize = 56 * 1024;
/// Bytes of a stream in which the last line is searched.
const LAST_BYTES: usize = 2 * 1024;

/// The part of a run that has arrived: its pid, and output that a listener has had.
pub struct PartialRunResult {
    /// The pid there. 0: the program has not told it.
    pid: i32,
    stdout: StreamCapture,
    stderr: StreamCapture,
    /// The stream that has written last.
    last: OutputStream,
}

impl PartialRunResult {
    /// `in_terminal`: the output is that of a terminal, which nobody has cleaned.
    pub fn new(in_terminal: bool) -> Self {
        let capture = |name| {
            StreamCapture::new(name, TruncationPolicy::default(), in_terminal.then(SanitizeRules::default), false)
        };
        Self { pid: 0, stdout: capture("stdout"), stderr: capture("stderr"), last: OutputStream::Stdout }
    }

    pub fn set_pid(&mut self, pid: i32) {
        self.pid = pid;
    }

    pub fn has_started(&self) -> bool {
        self.pid != 0
    }

    pub fn output(&mut self, stream: OutputStream, text: &str) {
        let capture = match stream {
            OutputStream::Stdout => &mut self.stdout,
            OutputStream::Stderr => &mut self.stderr,
        };
        capture.push(text.as_bytes());
        self.last = stream;
    }

    /// Returns the end of what the stream has written that wrote last.
    pub fn end(&self) -> String {
        let [stdout, stderr] = [&self.stdout, &self.stderr].map(|capture| capture.tail(LAST_BYTES));
        let (last, other) = if self.last == OutputStream::Stdout { (stdout, stderr) } else { (stderr, stdout) };
        if last.trim_end().is_empty() { other } else { last }
    }

    /// Returns the end of each stream, with the number of bytes before it.
    pub fn kept(&self) -> [(OutputStream, &str, u64); 2] {
        [(OutputStream::Stdout, &self.stdout), (OutputStream::Stderr, &self.stderr)].map(|(stream, capture)| {
            let (text, before) = capture.kept_tail(KEPT_BYTES);
            (stream, text, before)
        })
    }

    /// Puts the output that has arrived into an outcome, and returns it.
    pub fn complete_outcome(self, outcome: CommandOutcome) -> CommandOutcome {
        let [stdout, stderr] = [self.stdout, self.stderr].map(|mut capture| {
            capture.end();
            capture.finish()
        });
        let truncation = [stdout.truncation, stderr.truncation];
        CommandOutcome { pid: self.pid, stdout: stdout.text, stderr: stderr.text, truncation, ..outcome }
    }
}
