//! One output stream: its pipe, its capture, and the file that the whole of it goes to.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::pty::{LineEnds, Terminal};
use crate::request::{Request, Spill, SpillPlace};
use capture::{Capture, SpillDir, SpillFile, Stream, sweep};

/// The most that is read at once: large enough for few system calls, small enough for the processor's cache.
const CHUNK: usize = 256 * 1024;
/// Reads of one stream before other events get their turn.
const READS_PER_TURN: usize = 8;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; CHUNK]);
}

/// Reads several times: a terminal gives no more than a page at once.
fn read_much(terminal: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < sys::PIPE_BYTES {
        match nix::unistd::read(terminal, &mut buffer[count..sys::PIPE_BYTES]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(nix::errno::Errno::EINTR) => {}
            Err(_) if count > 0 => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(count)
}

/// One output stream of a running command.
pub struct OutputReader {
    pub stream: Stream,
    pub capture: Capture,
    /// The terminal that draws it.
    terminal: Option<Arc<Terminal>>,
    /// Makes the lines of a terminal end as those of pipes do, where the sanitizer does not.
    line_ends: Option<LineEnds>,
    pipe: Option<AsyncFd<OwnedFd>>,
    large: bool,
    /// The caller was asked where the whole stream goes, and has not answered.
    awaits_path: bool,
}

/// The result of a read.
#[derive(Debug, PartialEq, Eq)]
pub enum ReadResult {
    /// There was output.
    Output,
    /// There was nothing to read yet.
    Nothing,
    /// The last writer has closed its end.
    End,
}

impl OutputReader {
    pub fn new(stream: Stream, pipe: OwnedFd, request: &Request) -> io::Result<Self> {
        let mut capture = Capture::new(stream.name(), request.truncate, request.sanitize, request.live);
        if request.sanitize.is_none() && request.streams.is_some_and(|streams| streams.bytes) {
            capture.keep_bytes();
        }
        if request.may_move() {
            capture.keep_journal();
        }
        let terminal = request.terminal.clone();
        let pipe = Some(sys::watch(pipe, Interest::READABLE)?);
        let line_ends = (terminal.is_some() && request.sanitize.is_none()).then(LineEnds::default);
        Ok(Self { stream, capture, terminal, line_ends, pipe, large: false, awaits_path: false })
    }

    /// Whether a process may still write.
    pub fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Whether the caller's artifact store has not said yet where the whole stream goes.
    pub fn awaits_path(&self) -> bool {
        self.awaits_path
    }

    /// A log has the whole stream: no path is needed any more.
    pub fn moved_to(&mut self, log: &Path) {
        self.awaits_path = false;
        self.capture.spill_elsewhere(log.to_owned());
    }

    /// The pipe or terminal, if it is open.
    pub fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(|pipe| pipe.get_ref().as_fd())
    }

    /// Waits for something to read; forever once the pipe is closed.
    pub async fn readable(&self) {
        match &self.pipe {
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    /// Reads and captures available output, up to the reads of one turn, and passes its text on.
    pub fn read(&mut self, reader: &mut impl FnMut(&str)) -> ReadResult {
        BUFFER.with_borrow_mut(|buffer| {
            let mut step = ReadResult::Nothing;
            for _ in 0..READS_PER_TURN {
                let Some(pipe) = &self.pipe else { return ReadResult::End };
                let read = |fd: &OwnedFd| {
                    if self.terminal.is_some() { read_much(fd, buffer) } else { Ok(nix::unistd::read(fd, buffer)?) }
                };
                match pipe.try_io(Interest::READABLE, read) {
                    Ok(0) => {
                        self.close(reader);
                        return ReadResult::End;
                    }
                    Ok(count) => {
                        if count >= sys::PIPE_BYTES && !self.large {
                            sys::grow_pipe(pipe.get_ref().as_fd(), sys::LARGE_PIPE_BYTES);
                            self.large = true;
                        }
                        self.push(&buffer[..count], reader);
                        step = ReadResult::Output;
                        if count < sys::PIPE_BYTES || self.capture.wants_spill() || self.capture.live_bytes() > 0 {
                            return step;
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return step,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => {
                        self.close(reader);
                        return ReadResult::End;
                    }
                }
            }
            step
        })
    }

    /// Reads without asking the runtime whether there is output: under load the runtime learns of it late.
    pub fn read_now(&mut self, reader: &mut impl FnMut(&str)) -> ReadResult {
        BUFFER.with_borrow_mut(|buffer| {
            let Some(pipe) = &self.pipe else { return ReadResult::End };
            match nix::unistd::read(pipe.get_ref(), buffer) {
                Ok(0) => {
                    self.close(reader);
                    ReadResult::End
                }
                Ok(count) => {
                    self.push(&buffer[..count], reader);
                    ReadResult::Output
                }
                Err(_) => ReadResult::Nothing,
            }
        })
    }

    fn push(&mut self, bytes: &[u8], reader: &mut impl FnMut(&str)) {
        if let Some(terminal) = &self.terminal {
            terminal.wrote(bytes);
        }
        match &mut self.line_ends {
            Some(lines) => self.capture.push_to(&lines.normalize(bytes), reader),
            None => self.capture.push_to(bytes, reader),
        }
    }

    fn close(&mut self, reader: &mut impl FnMut(&str)) {
        if let Some(lines) = &mut self.line_ends {
            self.capture.push_to(lines.end(), reader);
        }
        self.pipe = None;
    }

    /// Writes the whole stream to a file from here on. Returns whether the caller has to be asked for the path.
    pub fn spill(&mut self, request: &Request) -> bool {
        match &request.spill {
            None => self.capture.spill_off(),
            Some(Spill { place: SpillPlace::Allocated, .. }) => {
                let ask = !self.awaits_path;
                self.awaits_path = true;
                return ask;
            }
            Some(spill) => self.spill_to_directory(spill, request),
        }
        false
    }

    fn spill_to_directory(&mut self, spill: &Spill, request: &Request) {
        let opened = match &spill.place {
            SpillPlace::Directory(directory) => SpillDir::given(directory),
            SpillPlace::Private | SpillPlace::Allocated => SpillDir::private(&request.temp),
        }
        .and_then(|dir| {
            sweep(&dir, spill.retention);
            SpillFile::create(&dir, self.stream.name(), spill.max_bytes)
        });
        match opened {
            Ok(file) => self.capture.spill_to(file.with_thread()),
            Err(error) => self.capture.spill_failed(None, None, error.brief()),
        }
    }

    /// The caller's artifact store has given a path, or none.
    pub fn on_allocated(&mut self, answer: Result<(String, String), String>, spill: Option<&Spill>) {
        if !std::mem::take(&mut self.awaits_path) {
            return;
        }
        match answer {
            Ok((id, path)) => {
                let max_bytes = spill.map_or(u64::MAX, |spill| spill.max_bytes);
                match SpillFile::at(Path::new(&path), id.clone(), max_bytes) {
                    Ok(file) => self.capture.spill_to(file.with_thread()),
                    Err(error) => self.capture.spill_failed(None, None, error.brief()),
                }
            }
            Err(error) => self.capture.spill_failed(None, None, error),
        }
    }
}
