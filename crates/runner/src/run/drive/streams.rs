//! Both output streams of a command.

use std::os::fd::OwnedFd;

use super::delivery::LiveText;
use super::output_reader::OutputReader;
use crate::run::blocked::LastLines;
use capture::Stream;

/// The most that a live view shows of each stream, bytes.
pub const VIEW: usize = 8 * 1024;

/// Standard output, and standard error where it is not merged.
pub struct Streams {
    pub stdout: OutputReader,
    pub stderr: Option<OutputReader>,
}

/// Which streams are not read now, so that a full pipe holds the command back.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    pub stdout: bool,
    pub stderr: bool,
}

impl Held {
    pub fn any(self) -> bool {
        self.stdout || self.stderr
    }
}

impl Streams {
    pub fn get_mut(&mut self, stream: Stream) -> Option<&mut OutputReader> {
        match stream {
            Stream::Stdout => Some(&mut self.stdout),
            Stream::Stderr => self.stderr.as_mut(),
        }
    }

    fn get(&self, stream: Stream) -> Option<&OutputReader> {
        match stream {
            Stream::Stdout => Some(&self.stdout),
            Stream::Stderr => self.stderr.as_ref(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &OutputReader> {
        [Some(&self.stdout), self.stderr.as_ref()].into_iter().flatten()
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut OutputReader> {
        [Some(&mut self.stdout), self.stderr.as_mut()].into_iter().flatten()
    }

    /// Returns copies of the pipes that are open.
    pub fn pipes(&self) -> Vec<OwnedFd> {
        self.all().filter_map(OutputReader::pipe).filter_map(|pipe| pipe.try_clone_to_owned().ok()).collect()
    }

    /// Whether a process may still write.
    pub fn is_open(&self) -> bool {
        self.all().any(OutputReader::is_open)
    }

    /// Whether the caller has not said yet where a whole stream goes.
    pub fn await_path(&self) -> bool {
        self.all().any(OutputReader::awaits_path)
    }

    /// Waits for a stream that can be read, and is not held.
    pub async fn readable(&self, held: Held) -> Stream {
        tokio::select! {
            () = self.stdout.readable(), if !held.stdout => Stream::Stdout,
            () = readable(self.stderr.as_ref()), if !held.stderr => Stream::Stderr,
            else => std::future::pending().await,
        }
    }

    /// For each pipe the state of its reader, for a shim to go on.
    pub fn resume(&self) -> Vec<Vec<u8>> {
        self.all().map(|reader| reader.capture.resume()).collect()
    }

    /// The end of both streams, as a live view shows it.
    pub fn tails(&self) -> [String; 2] {
        [Some(&self.stdout), self.stderr.as_ref()]
            .map(|reader| reader.map(|reader| reader.capture.tail(VIEW)).unwrap_or_default())
    }

    /// The unfinished lines.
    pub fn last_lines(&self) -> LastLines {
        let [stdout, stderr] = [Some(&self.stdout), self.stderr.as_ref()]
            .map(|reader| reader.map(|reader| reader.capture.pending()).unwrap_or_default());
        LastLines { stdout, stderr, count: self.all().map(|reader| reader.capture.lines()).sum() }
    }
}

impl LiveText for Streams {
    fn take(&mut self, stream: Stream, max_bytes: usize) -> Option<String> {
        self.get_mut(stream)?.capture.take_live(max_bytes)
    }

    fn has_more(&self, stream: Stream) -> bool {
        self.get(stream).is_some_and(|reader| reader.capture.live_bytes() > 0)
    }
}

async fn readable(reader: Option<&OutputReader>) {
    match reader {
        Some(reader) => reader.readable().await,
        None => std::future::pending().await,
    }
}
