//! A thread that writes a file, so that the reader of a flood does not wait for the disk.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// Most bytes that are queued. One read returns as many, so that both sides stay busy within the processor's cache.
const WAITING: usize = 256 * 1024;

/// Takes bytes and writes them in order as soon as possible. Memory: twice [`WAITING`] and a push.
#[derive(Debug)]
pub(super) struct SpillWriterThread {
    shared: Arc<SharedSpillQueue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct SharedSpillQueue {
    state: Mutex<SpillQueue>,
    /// Only one side can wait at a time: the thread for bytes, or the pusher for room.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SpillQueue {
    waiting: Vec<u8>,
    /// Number of bytes that were taken and will not reach the file.
    lost: u64,
    closed: bool,
    error: Option<io::Error>,
}

impl SpillWriterThread {
    /// Starts to write at the position of `file`.
    ///
    /// # Errors
    /// If no descriptor or thread is available.
    pub(super) fn start(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        let shared = Arc::new(SharedSpillQueue::default());
        let thread = thread::Builder::new().name("agent-bash-file".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.write_to(file)
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Takes bytes, and waits while the queue is full. Returns false if a write has failed and these bytes were not
    /// taken.
    pub(super) fn push(&self, bytes: &[u8]) -> bool {
        let mut state = self.shared.state();
        while state.waiting.len() >= WAITING && state.error.is_none() {
            state = self.shared.wait(state);
        }
        if state.error.is_some() {
            return false;
        }
        state.waiting.extend_from_slice(bytes);
        self.shared.changed.notify_one();
        true
    }

    /// Waits until all bytes are written. Returns the number of lost bytes, and the error.
    pub(super) fn finish(mut self) -> (u64, Option<io::Error>) {
        self.shared.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let mut state = self.shared.state();
        (state.lost, state.error.take())
    }
}

impl Drop for SpillWriterThread {
    /// Queued bytes are still written, but nothing waits for them.
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl SharedSpillQueue {
    fn state(&self) -> MutexGuard<'_, SpillQueue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, SpillQueue>) -> MutexGuard<'a, SpillQueue> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.state().closed = true;
        self.changed.notify_one();
    }

    fn write_to(&self, mut file: File) {
        let mut batch = Vec::new();
        loop {
            batch.clear();
            let mut state = self.state();
            while state.waiting.is_empty() && !state.closed {
                state = self.wait(state);
            }
            if state.waiting.is_empty() {
                return;
            }
            std::mem::swap(&mut batch, &mut state.waiting);
            drop(state);
            self.changed.notify_one();

            let (written, result) = write_counted(&mut file, &batch);
            if let Err(error) = result {
                let mut state = self.state();
                state.lost = (batch.len() + state.waiting.len()) as u64 - written;
                state.waiting = Vec::new();
                state.error = Some(error);
                drop(state);
                self.changed.notify_one();
                return;
            }
        }
    }
}

/// Writes like `write_all`, but returns how many bytes reached the file before an error.
pub(super) fn write_counted(file: &mut File, bytes: &[u8]) -> (u64, io::Result<()>) {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return (written as u64, Err(io::Error::other("nothing more can be written"))),
            Ok(n) => written += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written as u64, Err(error)),
        }
    }
    (written as u64, Ok(()))
}
