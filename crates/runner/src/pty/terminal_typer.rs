//! Types into a terminal, at once where the terminal takes the input, else as soon as it does.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until};

use super::terminal::{CommandTerminal, TerminalError};
use super::terminal_input::{QueuedInput, is_answer};

/// Time between two attempts to type. A terminal may take more without reporting it.
const TRY_AGAIN: Duration = Duration::from_millis(20);
/// Time that the callers that draw a terminal have to answer a question of its program.
const ANSWERED: Duration = Duration::from_millis(250);
/// The most bytes of answers that are kept until the program reads them.
const MAX_ANSWERS: usize = 16 * 1024;

impl CommandTerminal {
    /// Types these bytes, after earlier ones. `None`: the terminal has taken all of them. Otherwise the receiver is
    /// notified once the terminal has taken them, or dropped when the program has ended.
    ///
    /// # Errors
    /// [`TerminalError::NotStarted`], [`TerminalError::Ended`]
    pub fn write(&self, bytes: Vec<u8>) -> Result<Option<oneshot::Receiver<()>>, TerminalError> {
        let (done, typed) = oneshot::channel();
        let Some(piece) = self.type_there(QueuedInput { bytes, typed: 0, done: Some(done) }) else {
            return Ok(Some(typed));
        };
        self.with_master(|master| {
            let mut state = self.input.state();
            if is_answer(&piece.bytes) {
                state.answer = None;
            }
            let first = state.queue.is_empty();
            state.queue.push_back(piece);
            // The bytes are typed at once if possible, so that no other thread has to be woken for a key.
            if first {
                let _ = state.type_queued(master);
            }
            let waits = !state.queue.is_empty();
            if waits {
                self.input.wake();
            }
            waits.then_some(typed)
        })
    }

    /// Records that the program of another machine has got the first input that was not typed yet.
    pub fn on_input_typed(&self) {
        if let Some(QueuedInput { done: Some(done), .. }) = self.input.state().queue.pop_front() {
            // The caller may not wait for it.
            let _gone = done.send(());
        }
    }

    /// Returns the number of bytes that were not typed yet.
    pub fn untyped_bytes(&self) -> usize {
        self.input.state().queue.iter().map(|piece| piece.bytes.len() - piece.typed).sum()
    }

    /// Answers a question of the program. If the terminal is drawn elsewhere, the drawing callers get time to answer
    /// first.
    pub(super) fn answer(&self, bytes: Vec<u8>, drawn: bool) {
        let mut state = self.input.state();
        if drawn {
            let (_, answer) = state.answer.get_or_insert_with(|| (Instant::now() + ANSWERED, Vec::new()));
            if answer.len() < MAX_ANSWERS {
                answer.extend(bytes);
            }
        } else if state.queue.iter().map(|piece| piece.bytes.len()).sum::<usize>() < MAX_ANSWERS {
            state.queue.push_back(QueuedInput { bytes, typed: 0, done: None });
        }
        self.input.wake();
    }
}

/// Types for a terminal while its program runs.
pub struct TerminalTyper {
    terminal: Arc<CommandTerminal>,
    master: AsyncFd<OwnedFd>,
}

impl TerminalTyper {
    /// # Errors
    /// If the terminal is not open, or cannot be watched.
    pub fn of(terminal: &Arc<CommandTerminal>) -> io::Result<Self> {
        let master = sys::watch(terminal.master()?, Interest::WRITABLE)?;
        Ok(Self { terminal: Arc::clone(terminal), master })
    }

    /// Types as much as the terminal takes, and waits for more. Returns now and then, and may be dropped at any time.
    pub async fn type_and_wait(&self) {
        let input = &self.terminal.input;
        let answer_at = input.state().answer.as_ref().map(|(at, _)| *at);
        let blocked = {
            let mut state = input.state();
            let pumped = self.master.try_io(Interest::WRITABLE, |master| state.type_queued(master));
            match pumped {
                Ok(()) => false,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => true,
                Err(_) => {
                    // The terminal has hung up, so no program will read the input.
                    state.queue.clear();
                    false
                }
            }
        };
        tokio::select! {
            () = input.woken.notified() => {}
            () = async { drop(self.master.writable().await) }, if blocked => {}
            () = sleep(TRY_AGAIN), if blocked => {}
            () = async {
                match answer_at {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            } => {
                let mut state = input.state();
                if let Some((_, bytes)) = state.answer.take() {
                    state.queue.push_back(QueuedInput { bytes, typed: 0, done: None });
                }
            }
        }
    }
}
