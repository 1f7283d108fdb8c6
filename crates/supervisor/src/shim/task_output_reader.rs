//! An output pipe of a task, read by its shim: bytes in, clean text out.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use capture::{OutputCleaner, SanitizeRules};

/// Silence after which an unfinished line goes into the log unchanged.
pub const QUIET: Duration = Duration::from_millis(250);

/// An output pipe and the state of its unfinished line.
pub struct TaskOutputReader {
    pipe: Option<OwnedFd>,
    cleaner: OutputCleaner,
    /// Time of the last change of the unfinished line. `None` if there is nothing to pass on.
    touched: Option<Instant>,
    large: bool,
}

impl TaskOutputReader {
    /// Creates a reader. `resume` brings its cleaner to the state of an earlier cleaner (see [`Cleaner::resume`]).
    pub fn new(pipe: OwnedFd, sanitize: Option<SanitizeRules>, resume: &[u8]) -> Self {
        let mut cleaner = OutputCleaner::new(sanitize);
        // The earlier cleaner has passed on all finished text already.
        cleaner.push(resume, &mut |_| {});
        Self { pipe: Some(pipe), cleaner, touched: (!resume.is_empty()).then(Instant::now), large: false }
    }

    /// Discards the unfinished line, which another process has shown already. Only later output counts.
    pub fn forget_shown(&mut self) {
        self.cleaner.settle(&mut |_| {});
        self.touched = None;
    }

    /// Returns the read end, while a process may still write.
    pub fn pipe(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref()
    }

    /// Reads once without waiting. Returns the number of bytes. `None` if no bytes are available or the pipe has ended.
    pub fn read(&mut self, buffer: &mut [u8], sink: &mut dyn FnMut(&str)) -> Option<usize> {
        let pipe = self.pipe.as_ref()?;
        match nix::unistd::read(pipe, buffer).map_err(io::Error::from) {
            Ok(0) => self.close(sink),
            Ok(count) => {
                if count >= sys::PIPE_BYTES && !self.large {
                    sys::grow_pipe(pipe.as_fd(), sys::LARGE_PIPE_BYTES);
                    self.large = true;
                }
                self.cleaner.push(&buffer[..count], sink);
                self.touched = Some(Instant::now());
                return Some(count);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.close(sink),
        }
        None
    }

    /// Closes the pipe, and passes on the unfinished line unchanged.
    pub fn close(&mut self, sink: &mut dyn FnMut(&str)) {
        self.cleaner.end(sink);
        self.pipe = None;
        self.touched = None;
    }

    /// Returns when the unfinished line is passed on if no more output arrives.
    pub fn settle_at(&self) -> Option<Instant> {
        self.touched.map(|touched| touched + QUIET)
    }

    /// Passes on the unfinished line if it was quiet for long enough, or at once.
    pub fn settle(&mut self, at_once: bool, sink: &mut dyn FnMut(&str)) {
        if self.settle_at().is_some_and(|at| at_once || Instant::now() >= at) {
            self.cleaner.settle(sink);
            self.touched = None;
        }
    }

    /// Returns the unfinished line in its present state.
    pub fn pending(&self) -> String {
        self.cleaner.pending_line()
    }
}
