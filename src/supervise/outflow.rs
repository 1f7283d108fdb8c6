//! An output pipe of a task, read by its shim: bytes in, clean text out.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::capture::{Cleaner, Sanitize};
use crate::sys;

/// An unfinished line that was not touched for this long goes into the log as it stands.
const QUIET: Duration = Duration::from_millis(250);
/// A pipe holds this much by default; a read that fills it says that the writer is waiting.
const FULL_PIPE: usize = 64 * 1024;
/// What the pipe of a writer that is ahead of us is given.
const LARGE_PIPE: i32 = 1024 * 1024;

/// One pipe and what is known of its unfinished line.
pub struct Outflow {
    pipe: Option<OwnedFd>,
    cleaner: Cleaner,
    /// When the unfinished line was touched last.
    touched: Option<Instant>,
    large: bool,
}

impl Outflow {
    /// `resume` brings the cleaner to where another one was; see [`Cleaner::resume`].
    pub fn new(pipe: OwnedFd, sanitize: Option<Sanitize>, resume: &[u8]) -> Self {
        let mut cleaner = Cleaner::new(sanitize);
        // A cleaner that resumes has handed on all that is finished.
        cleaner.push(resume, &mut |_| {});
        Self { pipe: Some(pipe), cleaner, touched: (!resume.is_empty()).then(Instant::now), large: false }
    }

    /// Somebody else has shown what there is of the unfinished line: only what follows is of interest.
    pub fn forget_shown(&mut self) {
        self.cleaner.settle(&mut |_| {});
        self.touched = None;
    }

    /// The reading end, while somebody may still write.
    pub fn pipe(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref()
    }

    /// Reads once without waiting. Returns how many bytes came; `None` when nothing is there, or nothing any more.
    pub fn read(&mut self, buffer: &mut [u8], sink: &mut dyn FnMut(&str)) -> Option<usize> {
        let pipe = self.pipe.as_ref()?;
        match nix::unistd::read(pipe, buffer).map_err(io::Error::from) {
            Ok(0) => self.close(sink),
            Ok(count) => {
                if count >= FULL_PIPE && !self.large {
                    sys::grow_pipe(pipe.as_fd(), LARGE_PIPE);
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

    /// The end: the unfinished line is handed on as it stands.
    pub fn close(&mut self, sink: &mut dyn FnMut(&str)) {
        self.cleaner.end(sink);
        self.pipe = None;
        self.touched = None;
    }

    /// When the unfinished line is to be handed on, should nothing more come.
    pub fn settle_at(&self) -> Option<Instant> {
        self.touched.map(|touched| touched + QUIET)
    }

    /// Hands the unfinished line on if it was quiet for long enough, or at once.
    pub fn settle(&mut self, at_once: bool, sink: &mut dyn FnMut(&str)) {
        if self.settle_at().is_some_and(|at| at_once || Instant::now() >= at) {
            self.cleaner.settle(sink);
            self.touched = None;
        }
    }

    /// The unfinished line as it would be shown now.
    pub fn pending(&self) -> String {
        self.cleaner.pending()
    }
}
