//! What a terminal's program is given to read: typed as fast as it is taken, in order, nothing lost.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep, sleep_until};

use super::{Terminal, TerminalError};
use crate::sys;

/// What is typed at once, bytes.
const CHUNK: usize = 2048;
/// A terminal may take more without saying so.
const TRY_AGAIN: Duration = Duration::from_millis(20);
/// For those who draw a terminal to answer a question of its program, before we do.
const ANSWERED: Duration = Duration::from_millis(250);
/// The most that answers are kept of which nobody has read, bytes.
const MOST_ANSWERS: usize = 16 * 1024;

/// What is still to be typed.
#[derive(Default)]
pub(super) struct Input {
    state: Mutex<State>,
    /// There is something to do.
    woken: Notify,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Piece>,
    /// Bytes of the line that was begun: how many a program that reads whole lines cannot see yet.
    line: usize,
    /// What the program is answered if those who draw do not.
    answer: Option<(Instant, Vec<u8>)>,
}

struct Piece {
    bytes: Vec<u8>,
    typed: usize,
    /// Told once all of it was.
    done: Option<oneshot::Sender<()>>,
}

impl Input {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn wake(&self) {
        self.woken.notify_one();
    }

    /// Nobody reads any more: what is left is not typed.
    pub fn refuse(&self) {
        *self.state() = State::default();
    }
}

impl State {
    /// Types what the program takes now. `WouldBlock` when it takes no more.
    fn pump(&mut self, master: &OwnedFd) -> io::Result<()> {
        while let Some(piece) = self.queue.front_mut() {
            let rest = &piece.bytes[piece.typed..];
            let lines = sys::line_end_key(master);
            let key = [lines.unwrap_or_default()];
            // Where whole lines are read a longer one would be cut: what there is of it is handed over as it is.
            let (next, from_piece) = match lines {
                Some(_) if self.line >= sys::LONGEST_LINE => (&key[..], false),
                Some(_) => (&rest[..rest.len().min(CHUNK).min(sys::LONGEST_LINE - self.line)], true),
                None => (&rest[..rest.len().min(CHUNK)], true),
            };
            match nix::unistd::write(master, next) {
                Ok(count) => {
                    self.line = line_after(self.line, &next[..count], lines);
                    if from_piece {
                        piece.typed += count;
                    }
                }
                Err(nix::errno::Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            if piece.typed == piece.bytes.len()
                && let Some(done) = self.queue.pop_front().and_then(|piece| piece.done)
            {
                let _ = done.send(());
            }
        }
        Ok(())
    }
}

/// How long the unfinished line is once these bytes were typed.
fn line_after(line: usize, typed: &[u8], lines: Option<u8>) -> usize {
    const ERASE_LINE: u8 = 0x15;
    const BACKSPACES: [u8; 2] = [0x08, 0x7f];
    typed.iter().fold(line, |line, byte| match byte {
        b'\n' | b'\r' | &ERASE_LINE => 0,
        key if Some(*key) == lines => 0,
        key if BACKSPACES.contains(key) => line.saturating_sub(1),
        _ => line + 1,
    })
}

/// Whether this looks like what a terminal answers to a question, and no like a key.
fn is_answer(bytes: &[u8]) -> bool {
    match bytes {
        [0x1b, b'[', parameters @ .., last] => {
            matches!(last, b'R' | b'c' | b'n' | b'y' | b't')
                && parameters.first().is_some_and(|first| first.is_ascii_digit() || matches!(first, b'?' | b'>' | b'='))
        }
        [0x1b, b']' | b'P', ..] => true,
        _ => false,
    }
}

impl Terminal {
    /// Has this typed, after what was given before. `None`: the terminal has taken all of it. The receiver hears when it
    /// has; it ends without a word when the program has ended.
    ///
    /// # Errors
    /// [`TerminalError::NotStarted`], [`TerminalError::Ended`]
    pub fn write(&self, bytes: Vec<u8>) -> Result<Option<oneshot::Receiver<()>>, TerminalError> {
        let (done, typed) = oneshot::channel();
        self.with_master(|master| {
            let mut state = self.input.state();
            if is_answer(&bytes) {
                state.answer = None;
            }
            let first = state.queue.is_empty();
            state.queue.push_back(Piece { bytes, typed: 0, done: Some(done) });
            // At once, where it can be: no other thread has to be woken for a key.
            if first {
                let _ = state.pump(master);
            }
            let waits = !state.queue.is_empty();
            if waits {
                self.input.wake();
            }
            waits.then_some(typed)
        })
    }

    /// Answers a question of the program: at once, or where somebody draws the terminal if that one does not.
    pub(super) fn answer(&self, bytes: Vec<u8>, drawn: bool) {
        let mut state = self.input.state();
        if drawn {
            let (_, answer) = state.answer.get_or_insert_with(|| (Instant::now() + ANSWERED, Vec::new()));
            if answer.len() < MOST_ANSWERS {
                answer.extend(bytes);
            }
        } else if state.queue.iter().map(|piece| piece.bytes.len()).sum::<usize>() < MOST_ANSWERS {
            state.queue.push_back(Piece { bytes, typed: 0, done: None });
        }
        self.input.wake();
    }
}

/// Types for a terminal while its program runs.
pub struct Typing {
    terminal: Arc<Terminal>,
    master: AsyncFd<OwnedFd>,
}

impl Typing {
    /// # Errors
    /// When the terminal is not open, or cannot be watched.
    pub fn of(terminal: &Arc<Terminal>) -> io::Result<Self> {
        let master = sys::watch(terminal.master()?, Interest::WRITABLE)?;
        Ok(Self { terminal: Arc::clone(terminal), master })
    }

    /// Types what there is, as far as it is taken. May be dropped while it waits, and is to be called again.
    pub async fn go_on(&self) {
        let input = &self.terminal.input;
        let answer_at = input.state().answer.as_ref().map(|(at, _)| *at);
        let blocked = {
            let mut state = input.state();
            let pumped = self.master.try_io(Interest::WRITABLE, |master| state.pump(master));
            match pumped {
                Ok(()) => false,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => true,
                Err(_) => {
                    // It has hung up: nobody will ever read this.
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
                    state.queue.push_back(Piece { bytes, typed: 0, done: None });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_keys() {
        for answer in ["\x1b[3;4R", "\x1b[?62;c", "\x1b[0n", "\x1b[?2026;2$y", "\x1b]11;rgb:0/0/0\x07"] {
            assert!(is_answer(answer.as_bytes()), "{answer:?}");
        }
        for key in ["\x1b[A", "\x1b[5~", "\x1bOP", "c", "\x1b", "\x1b[1;5C", "\x1b[200~x"] {
            assert!(!is_answer(key.as_bytes()), "{key:?}");
        }
    }

    #[test]
    fn a_line_is_counted_up_to_its_end() {
        assert_eq!(line_after(0, b"abc", Some(4)), 3);
        assert_eq!(line_after(3, b"de\nf", Some(4)), 1);
        assert_eq!(line_after(3, b"\x04", Some(4)), 0);
        assert_eq!(line_after(3, b"\x04", None), 4);
        assert_eq!(line_after(2, b"\x7f\x7f\x7fa", Some(4)), 1);
    }
}
