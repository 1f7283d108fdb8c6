//! Both output streams of a command.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::output_sinks::{OutputSink, sinks_of};
use super::producer_copy::ProducerCopier;
use crate::pty::{CommandTerminal, LineEnds, TerminalTyper};
use crate::request::{CommandRequest, PlannedRun, SpillOptions, SpillPlace};
use crate::run::blocked_watch::LastLines;
use crate::run::command_listener::SpillAllocation;
use capture::{OutputStream, SpillDir, SpillFile, StreamCapture};

/// The most bytes that a live view shows of each stream.
pub const VIEW: usize = 8 * 1024;

/// Standard output, and standard error where it is not merged.
pub struct OutputStreams {
    pub stdout: CommandOutputReader,
    pub stderr: Option<CommandOutputReader>,
    /// The stream that has written last.
    pub last: OutputStream,
}

/// The streams that are not read now, so that a full pipe holds the command back.
#[derive(Debug, Clone, Copy)]
pub struct HeldStreams {
    pub stdout: bool,
    pub stderr: bool,
}

impl HeldStreams {
    pub fn any(self) -> bool {
        self.stdout || self.stderr
    }
}

impl OutputStreams {
    pub fn get_mut(&mut self, stream: OutputStream) -> Option<&mut CommandOutputReader> {
        match stream {
            OutputStream::Stdout => Some(&mut self.stdout),
            OutputStream::Stderr => self.stderr.as_mut(),
        }
    }

    pub fn get(&self, stream: OutputStream) -> Option<&CommandOutputReader> {
        match stream {
            OutputStream::Stdout => Some(&self.stdout),
            OutputStream::Stderr => self.stderr.as_ref(),
        }
    }

    pub fn all(&self) -> impl Iterator<Item = &CommandOutputReader> {
        [Some(&self.stdout), self.stderr.as_ref()].into_iter().flatten()
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut CommandOutputReader> {
        [Some(&mut self.stdout), self.stderr.as_mut()].into_iter().flatten()
    }

    /// Returns copies of the pipes that are open.
    pub fn pipes(&self) -> Vec<OwnedFd> {
        self.all().filter_map(CommandOutputReader::pipe).filter_map(|pipe| pipe.try_clone_to_owned().ok()).collect()
    }

    /// Returns whether a process may still write.
    pub fn is_open(&self) -> bool {
        self.all().any(CommandOutputReader::is_open)
    }

    /// Returns whether the caller still has to choose the path of a whole stream.
    pub fn await_path(&self) -> bool {
        self.all().any(CommandOutputReader::awaits_path)
    }

    /// Waits for a readable stream that is not held.
    pub async fn readable(&self, held: HeldStreams) -> OutputStream {
        tokio::select! {
            () = self.stdout.readable(), if !held.stdout => OutputStream::Stdout,
            () = readable(self.stderr.as_ref()), if !held.stderr => OutputStream::Stderr,
            else => std::future::pending().await,
        }
    }

    /// Returns the state of each pipe's reader, so that a shim can continue.
    pub fn resume_states(&self) -> Vec<Vec<u8>> {
        self.all().map(|reader| reader.capture.resume_bytes()).collect()
    }

    /// Returns the end of both streams, as a live view shows it.
    pub fn tails(&self) -> [String; 2] {
        [Some(&self.stdout), self.stderr.as_ref()]
            .map(|reader| reader.map(|reader| reader.capture.tail(VIEW)).unwrap_or_default())
    }

    /// Returns the unfinished lines.
    pub fn last_lines(&self) -> LastLines {
        let [stdout, stderr] = [Some(&self.stdout), self.stderr.as_ref()]
            .map(|reader| reader.map(|reader| reader.capture.pending_line()).unwrap_or_default());
        LastLines { stdout, stderr, count: self.all().map(|reader| reader.capture.lines()).sum() }
    }
}

async fn readable(reader: Option<&CommandOutputReader>) {
    match reader {
        Some(reader) => reader.readable().await,
        None => std::future::pending().await,
    }
}

// ---- one stream

/// The most bytes that are read at once: enough for few system calls, and few enough for the processor's cache.
const READ_BYTES: usize = 256 * 1024;
/// Reads of one stream before other events get their turn.
const READS_PER_TURN: usize = 8;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_BYTES]);
}

/// Reads several times, because a terminal returns no more than a page at once.
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

/// An output stream of a running command.
pub struct CommandOutputReader {
    pub stream: OutputStream,
    pub capture: StreamCapture,
    /// Whether the text of the capture has a character for each byte.
    pub keeps_bytes: bool,
    sinks: Vec<Box<dyn OutputSink>>,
    is_terminal: bool,
    /// Turns line ends of a terminal into line ends of pipes, where the sanitizer does not.
    line_ends: Option<LineEnds>,
    pipe: Option<AsyncFd<OwnedFd>>,
    large: bool,
    /// The copy of what the command writes, if it is a producer.
    kept: Option<ProducerCopier>,
    /// Whether the caller was asked for the path of the whole stream, and has not answered.
    awaits_path: bool,
}

/// The result of a read.
#[derive(Debug, PartialEq, Eq)]
pub enum ReadResult {
    /// There was output.
    Output,
    /// No output was available yet.
    Nothing,
    /// The last writer has closed its end.
    End,
}

impl CommandOutputReader {
    pub fn new(stream: OutputStream, pipe: OwnedFd, request: &PlannedRun) -> io::Result<Self> {
        let mut capture = StreamCapture::new(stream.name(), request.truncate, request.sanitize, request.live);
        let keeps_bytes = request.sanitize.is_none() && request.streams.is_some_and(|streams| streams.bytes);
        if keeps_bytes {
            capture.keep_bytes();
        }
        if request.may_move() {
            capture.keep_journal();
        }
        let is_terminal = request.terminal.is_some();
        let kept = (request.is_producer && stream == OutputStream::Stdout).then(|| ProducerCopier::new(request));
        let pipe = Some(sys::watch(pipe, Interest::READABLE)?);
        let line_ends = (is_terminal && request.sanitize.is_none()).then(LineEnds::default);
        let (sinks, large, awaits_path) = (sinks_of(request), false, false);
        Ok(Self { stream, capture, keeps_bytes, sinks, kept, is_terminal, line_ends, pipe, large, awaits_path })
    }

    /// Takes the copy of the stream, if one is kept.
    pub fn take_kept(&mut self) -> Option<ProducerCopier> {
        self.kept.take()
    }

    /// Returns whether a process may still write.
    pub fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Returns whether the caller's artifact store still has to choose the path of the whole stream.
    pub fn awaits_path(&self) -> bool {
        self.awaits_path
    }

    /// Records that a log has the whole stream, so that no path is needed.
    pub fn moved_to(&mut self, log: &Path) {
        self.awaits_path = false;
        self.capture.spill_elsewhere(log.to_owned());
    }

    /// Returns the pipe or terminal, if it is open.
    pub fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(|pipe| pipe.get_ref().as_fd())
    }

    /// Waits until output can be read. Waits forever once the pipe is closed.
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
                    if self.is_terminal { read_much(fd, buffer) } else { Ok(nix::unistd::read(fd, buffer)?) }
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

    /// Reads without asking the runtime whether there is output. Under load the runtime learns of output late.
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
        for sink in &mut self.sinks {
            sink.on_bytes(self.stream, bytes);
        }
        if let Some(kept) = &mut self.kept {
            kept.on_bytes(self.stream, bytes);
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
    pub fn spill(&mut self, request: &CommandRequest) -> bool {
        match &request.spill {
            None => self.capture.spill_off(),
            Some(SpillOptions { place: SpillPlace::Allocated, .. }) => {
                let ask = !self.awaits_path;
                self.awaits_path = true;
                return ask;
            }
            Some(spill) => self.spill_to_directory(spill, request),
        }
        false
    }

    fn spill_to_directory(&mut self, spill: &SpillOptions, request: &CommandRequest) {
        let opened = match &spill.place {
            SpillPlace::Directory(directory) => SpillDir::create_given(directory),
            SpillPlace::Private | SpillPlace::Allocated => SpillDir::create_private(&request.temp),
        }
        .and_then(|dir| {
            dir.make_room(spill.retention, spill.max_bytes);
            SpillFile::create(&dir, self.stream.name(), spill.max_bytes)
        });
        match opened {
            Ok(file) => self.capture.spill_to(file.with_thread()),
            Err(error) => self.capture.spill_failed(None, None, error.brief()),
        }
    }

    /// Handles the answer of the caller's artifact store: a path, or a failure.
    pub fn on_allocated(&mut self, answer: SpillAllocation, spill: Option<&SpillOptions>) {
        if !std::mem::take(&mut self.awaits_path) {
            return;
        }
        match answer {
            SpillAllocation::File { id, path } => {
                let max_bytes = spill.map_or(u64::MAX, |spill| spill.max_bytes);
                match SpillFile::open_artifact(Path::new(&path), id.clone(), max_bytes) {
                    Ok(file) => self.capture.spill_to(file.with_thread()),
                    Err(error) => self.capture.spill_failed(None, None, error.brief()),
                }
            }
            SpillAllocation::Failed(error) => self.capture.spill_failed(None, None, error),
        }
    }
}

// ---- standard input

/// The most bytes that are written at once.
const WRITE_BYTES: usize = 256 * 1024;

/// The write end of standard input, and its unwritten bytes.
pub struct CommandInputWriter {
    /// The pipe. `None` once the input has ended, or the command reads no more.
    pipe: Option<AsyncFd<OwnedFd>>,
    bytes: Vec<u8>,
    written: usize,
    /// Whether the caller may give more bytes.
    open: bool,
    /// Whether the caller gets an answer once everything is written.
    reports: bool,
}

/// The answer to the last bytes of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputTaken {
    /// All bytes are written.
    Written,
    /// The command reads no more.
    Closed,
}

impl CommandInputWriter {
    /// `open`: whether more bytes may come, by [`CommandInputWriter::push`].
    pub fn new(pipe: Option<OwnedFd>, bytes: &[u8], open: bool) -> io::Result<Self> {
        let pipe = pipe.map(|pipe| sys::watch(pipe, Interest::WRITABLE)).transpose()?;
        Ok(Self { pipe, bytes: bytes.to_vec(), written: 0, open, reports: false })
    }

    /// Waits until the command takes more input. Waits forever if nothing has to be written.
    pub async fn writable(&self) {
        match &self.pipe {
            Some(pipe) if !self.open || self.written < self.bytes.len() => drop(pipe.writable().await),
            _ => std::future::pending().await,
        }
    }

    /// Appends bytes. `None` ends the input.
    pub fn push(&mut self, more: Option<Vec<u8>>) {
        match more {
            Some(more) => {
                self.reports = true;
                if self.pipe.is_some() {
                    self.bytes.drain(..self.written);
                    self.written = 0;
                    self.bytes.extend(more);
                }
            }
            None => self.open = false,
        }
    }

    /// Appends bytes of a person, of whom the caller does not know.
    pub fn push_from_person(&mut self, bytes: &[u8]) {
        if self.open && self.pipe.is_some() {
            self.bytes.drain(..self.written);
            self.written = 0;
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Returns the number of bytes that are not written yet.
    pub fn unwritten(&self) -> usize {
        if self.pipe.is_some() { self.bytes.len() - self.written } else { 0 }
    }

    /// Returns the answer that the caller is still owed, once it is known.
    pub fn take_answer(&mut self) -> Option<InputTaken> {
        let done = self.reports && (self.pipe.is_none() || self.written == self.bytes.len());
        if !done {
            return None;
        }
        self.reports = false;
        Some(if self.pipe.is_some() { InputTaken::Written } else { InputTaken::Closed })
    }

    /// Writes as much as fits. The pipe is closed at the end of the input, and when the command reads no more.
    pub fn write(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        let rest = &self.bytes[self.written..];
        let next = &rest[..rest.len().min(WRITE_BYTES)];
        if next.is_empty() {
            if !self.open {
                self.close();
            }
            return;
        }
        match pipe.try_io(Interest::WRITABLE, |fd| Ok(nix::unistd::write(fd, next)?)) {
            Ok(count) => self.written += count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.close(),
        }
    }

    /// Returns the pipe and a file with the unwritten bytes, so that a shim can continue. Empty if the input has ended.
    pub fn hand_over(&self) -> io::Result<Vec<OwnedFd>> {
        let Some(pipe) = &self.pipe else { return Ok(Vec::new()) };
        let rest = sys::anonymous_file(&self.bytes[self.written..])?;
        Ok(vec![pipe.get_ref().try_clone()?, rest])
    }

    /// Ends the input.
    pub fn close(&mut self) {
        self.pipe = None;
        self.bytes = Vec::new();
        self.written = 0;
    }
}

// ---- the terminal

/// The terminal of a running command.
pub struct TerminalIo {
    terminal: Arc<CommandTerminal>,
    typing: TerminalTyper,
    /// The programs' end, open until the shell has exited, so that the output cannot end earlier.
    other_end: Option<OwnedFd>,
}

impl TerminalIo {
    pub fn new(terminal: &Arc<CommandTerminal>, other_end: Option<OwnedFd>) -> io::Result<Self> {
        Ok(Self { terminal: Arc::clone(terminal), typing: TerminalTyper::of(terminal)?, other_end })
    }

    /// Handles the exit of the shell.
    pub fn on_exit(&mut self) {
        self.other_end = None;
    }

    /// Types queued input. Returns now and then, and has to be called again.
    pub async fn type_queued(&self) {
        self.typing.type_and_wait().await;
    }

    /// Returns whether reading must pause until the listeners have taken the text that waits.
    pub fn is_full(&self) -> bool {
        self.terminal.is_full()
    }

    /// Returns whether the terminal has more text than could be drawn at once.
    pub fn is_behind(&self) -> bool {
        self.terminal.is_behind()
    }

    pub fn draw_more(&self) {
        self.terminal.draw_on();
    }

    /// Returns the next text for the listeners, unless they are busy.
    pub fn next_data(&self) -> Option<String> {
        self.terminal.next_data()
    }

    /// Returns whether its listeners have not taken all text.
    pub fn awaits_listeners(&self) -> bool {
        self.terminal.awaits_listeners()
    }

    /// Ends the output.
    pub fn finish_data(&self) {
        self.terminal.finish_data();
    }

    /// Gives the listeners no more text.
    pub fn stop_listeners(&self) {
        self.terminal.drop_listeners();
    }

    /// Returns the group of processes that keys go to.
    pub fn foreground(&self) -> Option<i32> {
        self.terminal.foreground_group()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};

    fn pipe() -> (std::fs::File, OwnedFd) {
        let (read, write) = sys::pipe().expect("a pipe");
        sys::set_nonblocking(&write).expect("set");
        (read.into(), write)
    }

    #[tokio::test]
    async fn input_is_written_whole_and_then_ended() {
        let (mut read, write) = pipe();
        let mut input = CommandInputWriter::new(Some(write), b"hello", false).expect("watched");
        input.writable().await;
        input.write();
        input.write();
        let mut text = String::new();
        read.read_to_string(&mut text).expect("ended");
        assert_eq!(text, "hello");
        assert_eq!(input.take_answer(), None, "the caller gave it with the request");
    }

    #[tokio::test]
    async fn the_caller_is_answered_once_its_bytes_are_written() {
        let (_read, write) = pipe();
        let mut input = CommandInputWriter::new(Some(write), b"", true).expect("watched");
        input.push(Some(b"more".to_vec()));
        assert_eq!(input.take_answer(), None, "not written yet");
        input.writable().await;
        input.write();
        assert_eq!(input.take_answer(), Some(InputTaken::Written));
        assert_eq!(input.take_answer(), None, "once");
    }

    #[tokio::test]
    async fn a_command_that_reads_no_more_ends_the_input() {
        let (read, write) = pipe();
        let mut input = CommandInputWriter::new(Some(write), b"", true).expect("watched");
        drop(read);
        input.push(Some(b"lost".to_vec()));
        input.writable().await;
        input.write();
        assert_eq!(input.take_answer(), Some(InputTaken::Closed));
        input.push(Some(b"late".to_vec()));
        assert_eq!(input.take_answer(), Some(InputTaken::Closed));
    }

    #[tokio::test]
    async fn a_shim_gets_the_bytes_that_are_left() {
        let (_read, write) = pipe();
        let mut input = CommandInputWriter::new(Some(write), &vec![b'x'; 100_000], false).expect("watched");
        input.writable().await;
        input.write();
        let left = input.bytes.len() - input.written;
        assert!(left > 0, "more than a pipe holds");
        let handed = input.hand_over().expect("handed over");
        let [_, file] = <[OwnedFd; 2]>::try_from(handed).expect("a pipe and a file");
        let (mut file, mut rest) = (std::fs::File::from(file), Vec::new());
        file.rewind().expect("rewound");
        file.read_to_end(&mut rest).expect("read");
        assert_eq!(rest.len(), left);
        input.close();
        assert!(input.hand_over().expect("nothing").is_empty());
    }
}
