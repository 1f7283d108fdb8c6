//! One output stream: its pipe, what is captured of it, and where it goes whole.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::capture::{Capture, SpillDir, SpillFile, Stream, sweep};
use crate::pty::{LineEnds, Terminal};
use crate::request::{Request, Spill, SpillPlace};
use crate::sys;

/// What is read at once: large enough for few system calls, small enough to stay in the processor's cache.
const CHUNK: usize = 256 * 1024;
/// A pipe holds this much by default; a read that fills it says that the writer is waiting.
const FULL_PIPE: usize = 64 * 1024;
/// What the pipe of a writer that is ahead of us is given.
const LARGE_PIPE: i32 = 1024 * 1024;
/// Reads of one stream before the other and the rest of the world get their turn.
const READS_PER_TURN: usize = 8;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; CHUNK]);
}

/// A terminal gives no more than a page at a time: reads until it has nothing more, or this is enough for one turn.
fn read_much(terminal: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < FULL_PIPE {
        match nix::unistd::read(terminal, &mut buffer[count..FULL_PIPE]) {
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
pub struct Flow {
    pub stream: Stream,
    pub capture: Capture,
    /// What it is drawn in, if its command has a terminal.
    terminal: Option<Arc<Terminal>>,
    /// Of a terminal, where nothing else makes its lines end as those of pipes do.
    line_ends: Option<LineEnds>,
    pipe: Option<AsyncFd<OwnedFd>>,
    large: bool,
    asked: bool,
}

/// What came of reading.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// There was output.
    Output,
    /// Nothing yet.
    Nothing,
    /// The last writer has closed its end.
    End,
}

impl Flow {
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
        Ok(Self { stream, capture, terminal, line_ends, pipe, large: false, asked: false })
    }

    /// Whether somebody may still write.
    pub fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Whether the caller's artifact store has not said yet where the stream goes.
    pub fn waits_for_place(&self) -> bool {
        self.asked
    }

    /// The place is not waited for any more: a log has the whole stream.
    pub fn moved_to(&mut self, log: &Path) {
        self.asked = false;
        self.capture.spill_elsewhere(log.to_owned());
    }

    /// Until there is something to read; for ever once the pipe is closed.
    pub async fn readable(&self) {
        match &self.pipe {
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    /// Reads what is there, as far as one turn goes, and captures it.
    pub fn read(&mut self) -> Step {
        BUFFER.with_borrow_mut(|buffer| {
            let mut step = Step::Nothing;
            for _ in 0..READS_PER_TURN {
                let Some(pipe) = &self.pipe else { return Step::End };
                let read = |fd: &OwnedFd| {
                    if self.terminal.is_some() { read_much(fd, buffer) } else { Ok(nix::unistd::read(fd, buffer)?) }
                };
                match pipe.try_io(Interest::READABLE, read) {
                    Ok(0) => {
                        self.close();
                        return Step::End;
                    }
                    Ok(count) => {
                        if count >= FULL_PIPE && !self.large {
                            sys::grow_pipe(pipe.get_ref().as_fd(), LARGE_PIPE);
                            self.large = true;
                        }
                        self.take(&buffer[..count]);
                        step = Step::Output;
                        if count < FULL_PIPE || self.capture.wants_spill() || self.capture.live_bytes() > 0 {
                            return step;
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return step,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => {
                        self.close();
                        return Step::End;
                    }
                }
            }
            step
        })
    }

    /// Whether there is something to read after all, asked of the system itself: under load the runtime hears of it late.
    pub fn read_at_last(&mut self) -> Step {
        BUFFER.with_borrow_mut(|buffer| {
            let Some(pipe) = &self.pipe else { return Step::End };
            match nix::unistd::read(pipe.get_ref(), buffer) {
                Ok(0) => {
                    self.close();
                    Step::End
                }
                Ok(count) => {
                    self.take(&buffer[..count]);
                    Step::Output
                }
                Err(_) => Step::Nothing,
            }
        })
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Some(terminal) = &self.terminal {
            terminal.wrote(bytes);
        }
        match &mut self.line_ends {
            Some(lines) => self.capture.push(&lines.normalize(bytes)),
            None => self.capture.push(bytes),
        }
    }

    fn close(&mut self) {
        if let Some(lines) = &mut self.line_ends {
            self.capture.push(lines.end());
        }
        self.pipe = None;
    }

    /// Has the stream written out whole from here on. `true`: the caller is to be asked where.
    pub fn spill(&mut self, request: &Request) -> bool {
        match &request.spill {
            None => self.capture.spill_off(),
            Some(Spill { place: SpillPlace::Allocated, .. }) => {
                let ask = !self.asked;
                self.asked = true;
                return ask;
            }
            Some(spill) => self.spill_to_folder(spill, request),
        }
        false
    }

    fn spill_to_folder(&mut self, spill: &Spill, request: &Request) {
        let opened = match &spill.place {
            SpillPlace::Folder(folder) => SpillDir::given(folder),
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

    /// The caller's artifact store has answered.
    pub fn allocated(&mut self, answer: Result<(String, String), String>, spill: Option<&Spill>) {
        if !std::mem::take(&mut self.asked) {
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
