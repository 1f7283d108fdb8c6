//! The part of a run that has arrived here, for a result without its end.

use capture::{OutputStream, SanitizeRules, StreamCapture, TruncationPolicy};
use runner::run::outcome::CommandOutcome;

/// The part of a run that has arrived: its pid, and output that a listener has had.
pub struct PartialRunResult {
    /// The pid there. 0: the program has not told it.
    pid: i32,
    stdout: StreamCapture,
    stderr: StreamCapture,
}

impl PartialRunResult {
    /// `in_terminal`: the output is that of a terminal, which nobody has cleaned.
    pub fn new(in_terminal: bool) -> Self {
        let capture = |name| {
            StreamCapture::new(name, TruncationPolicy::default(), in_terminal.then(SanitizeRules::default), false)
        };
        Self { pid: 0, stdout: capture("stdout"), stderr: capture("stderr") }
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
